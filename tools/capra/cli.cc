// Every subcommand and its options. The only file that knows CLI11.
#include "tools/capra/cli.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "capra/base/nearest_name.h"
#include "capra/base/version.h"
#include "tools/capra/command.h"
#include "tools/capra/output.h"

namespace capra::driver {
namespace {

void add_common(CLI::App& app, CommonOptions& options) {
  app.add_flag("--json", options.json, "one JSON document on standard output")->group("Output");
  app.add_flag("--quiet", options.quiet, "no progress, no notes")->group("Output");
}

void add_threads(CLI::App& app, int& threads) {
  app.add_option("--threads", threads, "CPUs to use; default: all this process may use")
      ->check(CLI::Range(1, 4096))
      ->group("Running");
}

void add_target(CLI::App& app, std::string& target) {
  app.add_option("--target", target, "cpu or interp (double precision)")->group("Running");
}

void add_approximate(CLI::App& app, std::vector<std::string>& approximate) {
  app.add_option("--approximate", approximate, "a recorded approximation: gelu=tanh")
      ->group("Running");
}

void add_model(CLI::App& app, ModelOptions& options, const std::string& what) {
  app.add_option("model", options.model, what)->required();
  EmbeddingOptions& embedding = options.embedding;
  add_target(app, embedding.target);
  add_threads(app, embedding.threads);
  add_approximate(app, embedding.approximate);
  app.add_option("--max-length", embedding.max_length,
                 "tokens a text may have; default: the checkpoint's own limit")
      ->group("Model");
  app.add_option("--token-budget", embedding.token_budget, "tokens computed together")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 24))
      ->group("Running");
  add_common(app, options);
}

void add_head(CLI::App& app, EmbeddingOptions& embedding) {
  app.add_option("--pooling", embedding.pooling,
                 "cls, mean, max, mean_sqrt_len, weighted_mean or last_token")
      ->group("Model");
  app.add_flag_callback(
         "--no-normalize", [&embedding] { embedding.normalize = false; },
         "leave vectors as they are")
      ->group("Model");
  app.add_flag_callback(
         "--normalize", [&embedding] { embedding.normalize = true; }, "L2-normalize vectors")
      ->group("Model");
  app.add_option("--prompt", embedding.prompt,
                 "a prompt of the checkpoint by name, or the text to put before every text")
      ->group("Model");
  const std::map<std::string, Overflow> kOverflow = {{"truncate", Overflow::Truncate},
                                                     {"error", Overflow::Fail}};
  app.add_option("--on-overflow", embedding.on_overflow,
                 "what happens to a text over the limit: truncate or error")
      ->transform(CLI::CheckedTransformer(kOverflow).description(""))
      ->group("Model");
}

void example(CLI::App& app, const std::string& line) { app.footer("Example:\n  " + line); }

// One subcommand: its options live as long as the command that runs with them.
template <class Options>
std::shared_ptr<Options> subcommand(CLI::App& root, Command& chosen, const std::string& name,
                                    const std::string& summary, Result<int> (*run)(const Options&),
                                    const std::function<void(CLI::App&, Options&)>& declare) {
  auto options = std::make_shared<Options>();
  CLI::App* app = root.add_subcommand(name, summary);
  declare(*app, *options);
  app->callback([&chosen, options, run] { chosen = [options, run] { return run(*options); }; });
  return options;
}

void declare_embed(CLI::App& app, EmbedOptions& options) {
  add_model(app, options, "model folder");
  app.add_option("--text", options.source.texts, "a text; repeatable")
      ->take_all()
      ->allow_extra_args(false)
      ->group("Input");
  app.add_option("--input", options.source.input, "a file of texts, or - for standard input")
      ->group("Input");
  app.add_option("--input-format", options.source.format,
                 "lines, or jsonl with `text` and optional `id`; default: by suffix")
      ->group("Input");
  app.add_flag("--token-ids", options.source.token_ids, "rows are token ids, not text")
      ->group("Input");
  app.add_flag("--strict", options.embedding.strict_utf8, "refuse invalid UTF-8")->group("Input");
  app.add_option("--output", options.output, "a file, or - for standard output")->group("Output");
  app.add_option("--format", options.format, "jsonl, npy or csv")->group("Output");
  add_head(app, options.embedding);
  example(app, "capra embed all-MiniLM-L6-v2 --text \"a goat on a rock\"");
}

void declare_inspect(CLI::App& app, InspectOptions& options) {
  add_model(app, options, "model folder");
  example(app, "capra inspect all-MiniLM-L6-v2");
}

void declare_verify(CLI::App& app, VerifyOptions& options) {
  add_model(app, options, "model folder");
  app.add_option("--texts", options.texts,
                 "lines, JSON Lines, or a JSON array of {id, text, token_ids}; default: built in")
      ->group("Input");
  app.add_option("--against", options.against,
                 "a safetensors file with `embeddings`, `pooled` and named states")
      ->group("Input");
  app.add_option("--max-error", options.max_error, "gate on vectors; default 1e-6")
      ->check(CLI::NonNegativeNumber)
      ->group("Gates");
  app.add_flag("--budget", options.budget, "measure each approximation alone and all together")
      ->group("Gates");
  add_head(app, options.embedding);
  example(app, "capra verify all-MiniLM-L6-v2 --texts texts.txt");
}

void declare_graph(CLI::App& app, GraphOptions& options) {
  add_model(app, options, "model folder or FILE.tir");
  app.add_option("--stage", options.stage, "tape, graph or legal")->group("Output");
  app.add_option("--format", options.format, "text, json, dot or svg")->group("Output");
  app.add_option("--sequence", options.form, "packed (many sequences) or single")->group("Model");
  app.add_option("--length", options.length, "a fixed number of tokens; default: any")
      ->check(CLI::PositiveNumber)
      ->group("Model");
  app.add_flag("--states", options.states, "also output every intermediate state")->group("Model");
  example(app, "capra graph all-MiniLM-L6-v2 --stage legal --format svg > legal.svg");
}

void declare_opt(CLI::App& app, OptOptions& options) {
  app.add_option("file", options.file, "graph text")->required();
  app.add_option("--passes", options.passes, "passes, in order, with commas between them")
      ->required()
      ->delimiter(',');
  app.add_flag("--print-after-all", options.print_after_all,
               "print after each pass that changed it");
  app.add_flag("--verify-each", options.verify_each, "run the verifier after each pass");
  add_common(app, options);
  example(app, "capra opt model.tir --passes canonicalize,dead_code");
}

void declare_run(CLI::App& app, RunOptions& options) {
  app.add_option("file", options.file, "graph text")->required();
  app.add_option("--input", options.inputs,
                 "name=FILE (safetensors, or an array as text), or name=ARRAY")
      ->take_all()
      ->allow_extra_args(false)
      ->group("Input");
  app.add_option("--parameters", options.parameters, "a safetensors file with the parameters")
      ->group("Input");
  add_target(app, options.target);
  add_threads(app, options.threads);
  add_approximate(app, options.approximate);
  app.add_option("--output", options.output, "a safetensors file; default: print")->group("Output");
  add_common(app, options);
  example(app, "capra run gelu.tir --input 'x=f32[2] [0.5, -1]'");
}

void declare_bench(CLI::App& app, BenchOptions& options) {
  add_model(app, options, "model folder");
  app.add_option("--workload", options.workloads, "12, 32, 128, 256, mixed or 8x256; default: all")
      ->delimiter(',')
      ->group("Running");
  app.add_option("--seconds", options.seconds, "time a workload is run for")
      ->check(CLI::PositiveNumber)
      ->group("Running");
  app.add_option("--thread-counts", options.thread_counts, "default: 1 and --threads")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->group("Running");
  example(app, "capra bench all-MiniLM-L6-v2 --workload 12,8x256");
}

void declare_docs(CLI::App& app, DocsOptions& options) {
  app.add_option("--output", options.output, "folder");
  add_common(app, options);
  example(app, "capra docs --output docs/generated");
}

void declare_explain(CLI::App& app, ExplainOptions& options) {
  app.add_option("code", options.code, "a code such as weights-incomplete; without it, all codes");
  add_common(app, options);
  example(app, "capra explain weights-incomplete");
}

void declare_list(CLI::App& app, CommonOptions& options, const std::string& line) {
  add_common(app, options);
  example(app, line);
}

// The flag or command that the user most likely meant.
std::string nearest_hint(const CLI::App& app, std::string_view found) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  found = found.substr(0, found.find('='));
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view nearest = nearest_name(found, views);
  const std::string help =
      "see 'capra " + (app.get_parent() == nullptr ? "" : app.get_name() + " ") + "--help'";
  return nearest.empty() ? help : "did you mean '" + std::string(nearest) + "'? " + help;
}

// The subcommand that was named, or the root.
const CLI::App& active(const CLI::App& root) {
  const auto chosen = root.get_subcommands();
  return chosen.empty() ? root : *chosen.front();
}

Failure usage(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& app = active(root);
  const std::vector<std::string> extra = root.remaining(true);
  if (!extra.empty()) {
    const bool is_command = &app == &root;
    return fail("command-line",
                "there is no " + std::string(is_command ? "command" : "option or argument") + " '" +
                    extra.front() + "'" + (is_command ? "" : " of 'capra " + app.get_name() + "'"),
                {}, nearest_hint(app, extra.front()));
  }
  return fail("command-line", error.what(), {}, nearest_hint(app, ""));
}

Command printing(std::string text) {
  return [text = std::move(text)]() -> Result<int> {
    CAPRA_TRY(print_result(text));
    return kDone;
  };
}

}  // namespace

Result<Command> parse_command_line(int argc, const char* const* argv) {
  CLI::App root("Text to vectors from a checkpoint folder, and proof that they are right.",
                "capra");
  Command chosen;
  subcommand<EmbedOptions>(root, chosen, "embed", "text to vectors", run_embed, declare_embed);
  subcommand<InspectOptions>(root, chosen, "inspect", "what a folder declares and what will run",
                             run_inspect, declare_inspect);
  subcommand<VerifyOptions>(root, chosen, "verify", "the proof of parity with double precision",
                            run_verify, declare_verify);
  subcommand<BenchOptions>(root, chosen, "bench", "speed as a share of this machine's limits",
                           run_bench, declare_bench);
  subcommand<GraphOptions>(root, chosen, "graph", "print or draw a graph", run_graph,
                           declare_graph);
  subcommand<OptOptions>(root, chosen, "opt", "run passes on graph text", run_opt, declare_opt);
  subcommand<RunOptions>(root, chosen, "run", "execute graph text", run_run, declare_run);
  subcommand<CommonOptions>(
      root, chosen, "ops", "the ops and which target runs them", run_ops,
      [](CLI::App& app, CommonOptions& options) { declare_list(app, options, "capra ops"); });
  subcommand<CommonOptions>(
      root, chosen, "targets", "the targets and what they need", run_targets,
      [](CLI::App& app, CommonOptions& options) { declare_list(app, options, "capra targets"); });
  subcommand<DocsOptions>(root, chosen, "docs", "write the operator pages", run_docs, declare_docs);
  subcommand<ExplainOptions>(root, chosen, "explain", "what a diagnostic code means", run_explain,
                             declare_explain);
  root.require_subcommand(1);
  example(root, "capra embed all-MiniLM-L6-v2 --text \"a goat on a rock\"");
  root.set_version_flag("--version", std::string(version()));
  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return printing(active(root).help());
  } catch (const CLI::CallForAllHelp&) {
    return printing(root.help("", CLI::AppFormatMode::All));
  } catch (const CLI::CallForVersion&) {
    return printing("capra " + std::string(version()) + "\n");
  } catch (const CLI::ParseError& error) {
    return usage(root, error);
  }
  return chosen;
}

}  // namespace capra::driver
