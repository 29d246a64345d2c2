// Every subcommand and its options. The only file that knows CLI11.
#include "tools/capra/cli.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <sstream>

#include "capra/base/version.h"
#include "tools/capra/command.h"
#include "tools/capra/command_entry.h"
#include "tools/capra/output.h"
#include "tools/capra/usage.h"
#include "tools/capra/way_on.h"

namespace capra::driver {
namespace {

// `capra ga2 run`: how a command is called.
std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? "capra" : full_name(*parent) + " " + app.get_name();
}

bool has_commands(const CLI::App& app) {
  return !app.get_subcommands([](const CLI::App*) { return true; }).empty();
}

// Help on one screen: what it is for, how it is called, options by group, one example.
class HelpText : public CLI::Formatter {
 public:
  HelpText() { column_width(25); }

  std::string make_usage(const CLI::App* app, std::string /*name*/) const override {
    std::string usage = "\nUsage: " + full_name(*app);
    if (has_commands(*app)) return usage + " COMMAND [options]\n";
    for (const CLI::Option* option : app->get_options()) {
      if (!option->get_positional()) continue;
      usage += option->get_required() ? " " : " [";
      usage += option->get_option_text() + (option->get_required() ? "" : "]");
    }
    return usage + " [options]\n";
  }
  std::string make_positionals(const CLI::App* app) const override {
    std::string text;
    for (const CLI::Option* option : app->get_options()) {
      if (!option->get_positional()) continue;
      std::stringstream line;
      CLI::detail::format_help(line, option->get_option_text(), option->get_description(),
                               get_column_width());
      text += line.str();
    }
    return text.empty() ? text : "\n" + text;
  }
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    return make_description(app) + make_usage(app, std::move(name)) + make_positionals(app) +
           groups(app) + make_subcommands(app, mode) + "\n" + make_footer(app);
  }

 private:
  std::string groups(const CLI::App* app) const {
    std::string text;
    for (const char* group : {kInput, kModel, kGates, kRunning, kOutput, "Options"}) {
      const std::vector<const CLI::Option*> options = app->get_options(
          [&](const CLI::Option* o) { return o->nonpositional() && o->get_group() == group; });
      if (!options.empty()) text += make_group(group, false, options);
    }
    return text;
  }
};

// `value` names what the option takes: FILE, N, NAME.
CLI::Option* takes(CLI::Option* option, const char* value, const char* group) {
  return option->option_text(value)->group(group);
}

// One value each time that it is given.
void repeatable(CLI::Option* option) { option->take_all()->allow_extra_args(false); }

void comma_separated(CLI::Option* option) { option->delimiter(',')->allow_extra_args(false); }

void add_option(CLI::App& app, const OptionEntry& entry) {
  if (bool* const* flag = std::get_if<bool*>(&entry.value)) {
    app.add_flag(entry.name, **flag, entry.text)->group(entry.group);
  } else if (std::string* const* text = std::get_if<std::string*>(&entry.value)) {
    takes(app.add_option(entry.name, **text, entry.text), entry.takes, entry.group)
        ->required(entry.is_needed);
  } else {
    auto& values = *std::get<std::vector<std::string>*>(entry.value);
    repeatable(takes(app.add_option(entry.name, values, entry.text), entry.takes, entry.group));
  }
}

void add_common(CLI::App& app, OutputOptions& options) {
  for (const OptionEntry& entry : common_options(options)) add_option(app, entry);
}

void add_threads(CLI::App& app, int& threads) {
  takes(app.add_option("--threads", threads, "CPUs to use; default: all this process may use"), "N",
        kRunning)
      ->check(whole_number(1, 4096));
}

void add_plugins(CLI::App& app, TargetOptions& options) {
  repeatable(takes(
      app.add_option("--plugin", options.plugins, "a shared library with targets; repeatable"),
      "FILE", kRunning));
}

// Where models run.
constexpr const char* kModelTargets = "cpu, interp (f64), iree, or of a plugin";
constexpr const char* kGraphTargets = "cpu, ga2, interp (f64), iree, or of a plugin";

void add_target(CLI::App& app, TargetOptions& options, std::string& target, const char* text) {
  takes(app.add_option("--target", target, text), "NAME", kRunning);
  add_plugins(app, options);
}

void add_no_chlo(CLI::App& app, std::vector<std::string>& without) {
  app.add_flag_callback(
         "--no-chlo", [&without] { without = {"chlo"}; }, "write erf without operations of chlo")
      ->group(kRunning);
}

void add_write(CLI::App& app, WriteOptions& write) {
  add_no_chlo(app, write.without);
  add_option(app, {"--calibrate", &write.calibration, "FILE", kInput, "JSON of samples, for ga2"});
}

void add_tool_folder(CLI::App& app, std::string& folder) {
  takes(app.add_option("--iree-dir", folder, "folder of iree's tools, or above; default: PATH"),
        "FOLDER", kRunning);
}

// For targets that run the programs they write.
void add_tools(CLI::App& app, std::string& folder, double& seconds) {
  add_tool_folder(app, folder);
  takes(app.add_option("--tool-seconds", seconds, "time for each run of a tool; default: 600"), "X",
        kRunning)
      ->check(number(0.001, 1e7));
}

void add_model_tools(CLI::App& app, EmbeddingOptions& embedding) {
  add_no_chlo(app, embedding.without);
  add_tools(app, embedding.tool_folder, embedding.tool_seconds);
}

void add_approximate(CLI::App& app, std::vector<std::string>& approximate) {
  repeatable(
      takes(app.add_option("--approximate", approximate, "a recorded approximation: gelu=tanh"),
            "NAME", kRunning));
}

void add_policies(CLI::App& app, PolicyOptions& policies) {
  comma_separated(
      takes(app.add_option("--dtype-policy", policies.dtype_policy,
                           "ops that compute in another dtype: attention=bf16, SCOPE:OP=f32"),
            "A,B", kRunning));
  comma_separated(takes(app.add_option("--schedule", policies.schedule,
                                       "hints on what may run in parallel: attention=batch+heads"),
                        "A,B", kRunning));
}

void add_verify_each(CLI::App& app, bool& verify_each) {
  app.add_flag("--verify-each", verify_each, "run the verifier after each pass")->group(kRunning);
}

void add_model(CLI::App& app, ModelOptions& options, const char* what,
               const char* targets = kModelTargets) {
  app.add_option("model", options.model, what)->required()->option_text("MODEL");
  EmbeddingOptions& embedding = options.embedding;
  add_target(app, options, embedding.target, targets);
  add_threads(app, embedding.threads);
  add_approximate(app, embedding.approximate);
  takes(app.add_option("--max-length", embedding.max_length,
                       "tokens a text may have; default: the checkpoint's limit"),
        "N", kModel)
      ->check(whole_number());
  takes(app.add_option("--token-budget", embedding.token_budget, "tokens computed together"), "N",
        kRunning)
      ->check(whole_number(1, 1 << 24));
  add_common(app, options);
}

void add_overflow(CLI::App& app, EmbeddingOptions& embedding) {
  const auto known = [](const std::string& name) {
    return name == "truncate" || name == "error"
               ? std::string()
               : "'" + name + "' is not known; use truncate or error";
  };
  takes(app.add_option_function<std::string>(
            "--on-overflow",
            [&embedding](const std::string& name) {
              embedding.on_overflow = name == "error" ? Overflow::Fail : Overflow::Truncate;
            },
            "a text over the limit: truncate or error"),
        "HOW", kModel)
      ->check(known);
}

void add_head(CLI::App& app, EmbeddingOptions& embedding) {
  takes(app.add_option("--pooling", embedding.pooling,
                       "cls, mean, max, mean_sqrt_len, weighted_mean or last_token"),
        "NAME", kModel);
  app.add_flag_callback(
         "--no-normalize", [&embedding] { embedding.normalize = false; },
         "leave vectors as they are")
      ->group(kModel);
  app.add_flag_callback(
         "--normalize", [&embedding] { embedding.normalize = true; }, "L2-normalize vectors")
      ->group(kModel);
  takes(app.add_option("--prompt", embedding.prompt,
                       "a prompt of the checkpoint, or text to put before each text"),
        "PROMPT", kModel);
  add_overflow(app, embedding);
}

void example(CLI::App& app, const std::string& line) { app.footer("Example:\n  " + line); }

// What a command was given: of each option its last value, or nothing.
AskedFor asked_for(const CLI::App& app) {
  AskedFor asked{.place = full_name(app), .options = {}};
  for (const CLI::Option* option : app.get_options()) {
    asked.options[option->get_name()] = option->count() == 0 ? "" : option->results().back();
  }
  return asked;
}

CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& summary) {
  CLI::App* app = parent.add_subcommand(name, summary);
  app->group("Commands")->set_help_flag("-h,--help", "this text")->group("");
  return app;
}

// One subcommand: its options live as long as the command that runs with them.
template <class Options>
void subcommand(CLI::App& root, Command& chosen, const std::string& name,
                const std::string& summary, Result<int> (*run)(const Options&),
                const std::function<void(CLI::App&, Options&)>& declare) {
  auto options = std::make_shared<Options>();
  CLI::App* app = add_command(root, name, summary);
  declare(*app, *options);
  app->callback([&chosen, options, run, app] {
    chosen = with_place(asked_for(*app), [options, run]() -> Result<int> {
      CAPRA_TRY(load_targets(*options));
      return guarded(*options, [&] { return run(*options); });
    });
  });
}

// One that is declared as data.
void add_entry(CLI::App& parent, Command& chosen, const CommandEntry& entry) {
  CLI::App* app = add_command(parent, entry.name, entry.summary);
  for (const OptionEntry& one : entry.options) add_option(*app, one);
  example(*app, entry.example);
  app->callback([&chosen, app, run = entry.run] { chosen = with_place(asked_for(*app), run); });
}

void declare_embed(CLI::App& app, EmbedOptions& options) {
  add_model(app, options, "model folder");
  add_model_tools(app, options.embedding);
  repeatable(
      takes(app.add_option("--text", options.source.texts, "a text; repeatable"), "TEXT", kInput));
  takes(app.add_option("--input", options.source.input, "a file of texts, or - for standard input"),
        "FILE", kInput);
  add_option(app, {"--input-format", &options.source.format, "FORMAT", kInput,
                   "lines, or jsonl with `text` and `id`; default: by suffix"});
  app.add_flag("--token-ids", options.source.token_ids, "rows are token ids, not text")
      ->group(kInput);
  app.add_flag("--strict", options.embedding.strict_utf8, "refuse invalid UTF-8")->group(kInput);
  takes(app.add_option("--output", options.output, "a file, or - for standard output"), "FILE",
        kOutput);
  takes(app.add_option("--format", options.format, "jsonl, npy or csv"), "FORMAT", kOutput);
  add_head(app, options.embedding);
  example(app, "capra embed all-MiniLM-L6-v2 --text \"a goat on a rock\"");
}

void declare_inspect(CLI::App& app, InspectOptions& options) {
  add_model(app, options, "model folder");
  example(app, "capra inspect all-MiniLM-L6-v2");
}

void declare_verify(CLI::App& app, VerifyOptions& options) {
  add_model(app, options, "model folder");
  add_model_tools(app, options.embedding);
  add_option(app, {"--texts", &options.texts, "FILE", kInput,
                   "lines, JSON Lines, or a JSON array of {id, text, token_ids}"});
  add_option(app, {"--against", &options.against, "FILE", kInput,
                   "safetensors with `embeddings`, `pooled` and named states"});
  takes(app.add_option("--max-error", options.max_error,
                       "gate on vectors; default: 1e-6, of iree 2e-6"),
        "X", kGates)
      ->check(number(0));
  app.add_flag("--budget", options.budget, "measure each approximation alone and together")
      ->group(kGates);
  add_head(app, options.embedding);
  example(app, "capra verify all-MiniLM-L6-v2 --texts texts.txt");
}

void declare_graph(CLI::App& app, GraphOptions& options) {
  add_model(app, options, "model folder or FILE.tir", kGraphTargets);
  takes(app.add_option("--stage", options.stage, "tape, graph or legal"), "STAGE", kOutput);
  takes(app.add_option("--format", options.format, "text, json, dot or svg"), "FORMAT", kOutput);
  takes(app.add_option("--sequence", options.form, "packed (many sequences) or single"), "FORM",
        kModel);
  takes(app.add_option("--length", options.length, "a fixed number of tokens; default: any"), "N",
        kModel)
      ->check(whole_number(1));
  app.add_flag("--states", options.states, "also output every intermediate state")->group(kModel);
  add_verify_each(app, options.verify_each);
  example(app, "capra graph all-MiniLM-L6-v2 --stage legal --format svg > legal.svg");
}

void declare_opt(CLI::App& app, OptOptions& options) {
  app.add_option("file", options.file, "graph text")->required()->option_text("FILE.tir");
  comma_separated(
      takes(app.add_option("--passes", options.passes, "passes, in order"), "A,B", kRunning)
          ->required());
  add_verify_each(app, options.verify_each);
  app.add_flag("--print-after-all", options.print_after_all,
               "print after each pass that changed it")
      ->group(kOutput);
  add_common(app, options);
  example(app, "capra opt model.tir --passes canonicalize,dead-code");
}

void declare_run(CLI::App& app, RunOptions& options) {
  app.add_option("file", options.file, "graph text")->required()->option_text("FILE.tir");
  repeatable(takes(app.add_option("--input", options.inputs,
                                  "FILE: safetensors, or an array as text; or the array itself"),
                   "NAME=FILE", kInput));
  takes(app.add_option("--parameters", options.parameters, "safetensors with the parameters"),
        "FILE", kInput);
  add_target(app, options, options.target, kGraphTargets);
  add_write(app, options.write);
  add_tools(app, options.tools.folder, options.tools.seconds);
  add_threads(app, options.threads);
  add_approximate(app, options.approximate);
  add_policies(app, options.policies);
  takes(app.add_option("--output", options.output, "a safetensors file; default: print"), "FILE",
        kOutput);
  add_common(app, options);
  example(app, "capra run gelu.tir --input 'x=f32[2] [0.5, -1]'");
}

void declare_export(CLI::App& app, ExportOptions& options) {
  app.add_option("model", options.model,
                 "model folder, FILE.tir, or with --check an exported folder")
      ->required()
      ->option_text("MODEL");
  add_option(app, {"--parameters", &options.parameters, "FILE", kInput,
                   "safetensors with the parameters of FILE.tir"});
  add_option(app, {"--target", &options.target, "NAME", kRunning,
                   "stablehlo (default), ga2, or a plugin's"});
  add_plugins(app, options);
  add_approximate(app, options.approximate);
  add_policies(app, options.policies);
  comma_separated(takes(
      app.add_option("--keep-fused", options.write.keep_fused, "ops that stay one composite each"),
      "A,B", kRunning));
  add_write(app, options.write);
  repeatable(takes(app.add_option("--flag", options.write.flags,
                                  "for the program's compiler, --flag=--name=value; repeatable"),
                   "FLAG", kRunning));
  add_verify_each(app, options.write.verify_each);
  takes(app.add_option("--length", options.length, "a number of tokens, or dynamic (default)"), "N",
        kModel);
  takes(app.add_option("--outputs", options.outputs, "hidden (default), pooled or embedding"),
        "WHAT", kModel);
  add_option(app, {"--constants", &options.constants, "WHERE", kOutput,
                   "inline, external or threshold:BYTES; default: the target's"});
  add_option(app, {"--weights", &options.write.archive, "FORM", kOutput,
                   "irpa (default) or safetensors, for data beside the program"});
  CLI::Option* output =
      takes(app.add_option("--output", options.output, "the folder to make"), "FOLDER", kOutput);
  CLI::Option* check =
      app.add_flag("--check", options.check, "check an exported folder; write nothing")
          ->group(kOutput)
          ->option_text(" ")  // in the place of "Excludes: --output"
          ->excludes(output);
  takes(app.add_option("--archive", options.archive, "check this archive for the program"), "FILE",
        kOutput)
      ->needs(check);
  add_common(app, options);
  example(app, "capra export all-MiniLM-L6-v2 --target stablehlo --output minilm");
}

void declare_bench(CLI::App& app, BenchOptions& options) {
  add_model(app, options, "model folder");
  add_model_tools(app, options.embedding);
  comma_separated(takes(app.add_option("--workload", options.workloads,
                                       "12, 32, 128, 256, mixed or 8x256; default: all"),
                        "A,B", kRunning));
  takes(app.add_option("--seconds", options.seconds, "time a workload is run for"), "X", kRunning)
      ->check(number(1e-9, 1e9));
  takes(app.add_option("--thread-counts", options.thread_counts, "default: 1 and --threads"), "N,M",
        kRunning)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(whole_number(1, 4096));
  example(app, "capra bench all-MiniLM-L6-v2 --workload 12,8x256");
}

void declare_list(CLI::App& app, TargetOptions& options, const std::string& line) {
  add_plugins(app, options);
  add_common(app, options);
  example(app, line);
}

void declare_targets(CLI::App& app, ListTargetsOptions& options) {
  add_tool_folder(app, options.tools.folder);
  declare_list(app, options, "capra targets");
}

// The subcommand that was named, or the root.
const CLI::App& active(const CLI::App& root) {
  const auto chosen = root.get_subcommands();
  return chosen.empty() ? root : active(*chosen.front());
}

Failure usage(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& app = active(root);
  const std::string name = full_name(app);
  const std::vector<std::string> extra = root.remaining(true);
  if (!extra.empty()) {
    std::vector<std::string> known;
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& one : option->get_lnames()) known.push_back("--" + one);
    }
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
      known.push_back(sub->get_name());
    }
    return unknown_word(extra.front(), has_commands(app), name, known);
  }
  std::string said = error.what();
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr ||
      dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    return bad_value(said, name);
  }
  const bool lacks = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (lacks && has_commands(app)) said = "no command was given";
  // "--threads: 1 required INT missing"
  const bool lacks_value = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  if (lacks_value) said = said.substr(0, said.find(':')) + " needs a value";
  return bad_line(said, name);
}

}  // namespace

Result<Command> parse_command_line(int argc, const char* const* argv) {
  CLI::App root("Text to vectors from a checkpoint folder, and proof that they are right.",
                "capra");
  root.formatter(std::make_shared<HelpText>());
  root.set_help_flag("-h,--help", "this text; of a command: capra COMMAND --help");
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
  subcommand<ExportOptions>(root, chosen, "export", "write a program for another machine",
                            run_export, declare_export);
  subcommand<TargetOptions>(
      root, chosen, "ops", "the ops and which target runs them", run_ops,
      [](CLI::App& app, TargetOptions& options) { declare_list(app, options, "capra ops"); });
  subcommand<ListTargetsOptions>(root, chosen, "targets", "the targets and what they need",
                                 run_targets, declare_targets);
  add_entry(root, chosen, docs_entry());
  add_entry(root, chosen, explain_entry());
  CLI::App* ga2 = add_command(root, "ga2", "programs for the GA-2 int8 chip");
  for (const CommandEntry& entry : ga2_entries()) add_entry(*ga2, chosen, entry);
  ga2->require_subcommand(1);
  example(*ga2, "capra ga2 compile attention.json");
  root.require_subcommand(1);
  example(root, "capra embed all-MiniLM-L6-v2 --text \"a goat on a rock\"");
  root.set_version_flag("--version", std::string(version()), "the version");
  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return printing(active(root).help());
  } catch (const CLI::CallForVersion&) {
    return printing("capra " + std::string(version()) + "\n");
  } catch (const CLI::ParseError& error) {
    return usage(root, error);
  }
  return chosen;
}

}  // namespace capra::driver
