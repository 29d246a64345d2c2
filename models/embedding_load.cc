// Opening a folder: configs, encoder, weights, head, tokenizer, and the compiled graph.
#include <unistd.h>

#include <algorithm>
#include <future>
#include <iterator>

#include "capra/base/number_text.h"
#include "capra/ops/attention.h"
#include "capra/ops/op_table.h"
#include "capra/passes/approximate.h"
#include "capra/runtime/target.h"
#include "capra/targets/all_targets.h"
#include "models/embedding_parts.h"
#include "models/sentence_parts.h"
#include "models/weights.h"

namespace capra {
namespace {

using Parts = EmbeddingModel::Parts;

// Tokens computed together when nobody says: the widest activations of a batch take four times the
// second-level caches in use. Fewer leave tiles of products unfilled, more only travel further.
int64_t default_token_budget(const Encoder& encoder, int threads) {
  const int64_t known = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
  const int64_t cache = known > 0 ? known : int64_t{1} << 20;
  const int64_t widest = std::max(3 * encoder.hidden_size(), encoder.intermediate_size());
  const int64_t tokens = 4 * cache * threads / (widest * static_cast<int64_t>(sizeof(float)));
  return std::clamp<int64_t>(tokens, 256, 8192);
}

// Spelled in other ops, attention sums over all tokens of a batch in an order that depends on where
// a text begins. A program takes one text at a time.
bool is_packed(const Target& target, const Graph& graph) {
  const Target whole = resolved(target);
  if (whole.write != nullptr || whole.table == nullptr) return true;
  Granularity granularity;
  if (whole.optimizer.granularity != nullptr) granularity = whole.optimizer.granularity();
  return std::ranges::all_of(graph.nodes(), [&](const Node& node) {
    return node.op != &kAttention ||
           takes(*whole.table, granularity, *node.op, operand_types(graph, node.operands),
                 node.attrs, node.type);
  });
}

Status choose_limit(Parts& parts) {
  const int64_t positions = parts.encoder->longest_sequence();
  const TokenLimit declared = token_limit(parts.config, positions);
  parts.limit = declared;
  if (!parts.options.max_length) return {};
  const int64_t asked = *parts.options.max_length;
  if (asked < 1 || asked > positions) {
    return fail("max-length-out-of-range",
                "a length of " + number_text(asked) +
                    " tokens was asked for, the model has positions for 1 to " +
                    number_text(positions),
                "--max-length", "give a length within these positions");
  }
  parts.limit = {asked, "--max-length"};
  if (asked > declared.tokens) {
    parts.remarks.push_back("the length limit is " + number_text(asked) + " tokens as asked; " +
                            declared.source + " says " + number_text(declared.tokens));
  }
  return {};
}

// Prompts are text: token ids are used as they are.
Status choose_prompt(Parts& parts) {
  const SentenceConfig& config = parts.config;
  if (!parts.options.tokenizer) {
    if (!parts.options.prompt) return {};
    return fail("option-invalid", "a prompt cannot be put before token ids", "--prompt",
                "give text, or ids that hold the prompt");
  }
  if (parts.options.prompt) {
    const auto named = config.prompts.find(*parts.options.prompt);
    parts.prompt = named == config.prompts.end() ? *parts.options.prompt : named->second;
    parts.remarks.push_back("every text is preceded by the prompt \"" + parts.prompt +
                            "\", as asked");
  } else {
    parts.prompt = default_prompt(config);
    if (!parts.prompt.empty()) {
      parts.remarks.push_back("every text is preceded by the checkpoint's default prompt \"" +
                              parts.prompt + "\"");
    }
  }
  return {};
}

// Without a tokenizer the model still takes token ids; whoever gives text is told what is wrong.
Status take_tokenizer(Parts& parts, Result<Tokenizer> loaded) {
  if (!loaded.ok()) {
    parts.no_tokenizer = loaded.error();
    return {};
  }
  CAPRA_TRY(check_vocabulary(*loaded, *parts.encoder, parts.folder));
  parts.tokenizer = *std::move(loaded);
  CAPRA_ASSIGN(parts.prompt_size, unpooled_tokens(parts.config, *parts.tokenizer, parts.prompt));
  return {};
}

// A head for another task looks like this.
std::string unused_remark(const std::vector<std::string>& names) {
  constexpr size_t kMost = 3;
  std::string list;
  for (size_t i = 0; i < names.size() && i < kMost; ++i) list += (i == 0 ? "" : ", ") + names[i];
  return number_text(names.size()) +
         " tensors of the checkpoint play no part in these vectors: " + list +
         (names.size() > kMost ? ", ..." : "");
}

}  // namespace

Result<Graph> EmbeddingModel::Parts::approximated(Graph traced, PassReport* made) const {
  CAPRA_ASSIGN(Graph changed,
               approximate(std::move(traced), options.approximate, target->name, made));
  return approximate_for(*target, std::move(changed), made);
}

std::vector<Approximation> approximations_made(std::span<const Rewrite> rewrites,
                                               const Graph& graph) {
  std::vector<Approximation> made = approximations(rewrites);
  const std::vector<Approximation> notes = approximations(graph);
  const auto take_where_empty = [](std::string& text, const std::string& other) {
    if (text.empty()) text = other;
  };
  for (Approximation& one : made) {
    const auto note = std::ranges::find(notes, one.node, &Approximation::node);
    if (note == notes.end()) continue;
    take_where_empty(one.legalized_from, note->legalized_from);
    take_where_empty(one.legalized_to, note->legalized_to);
    take_where_empty(one.reason, note->reason);
  }
  return made;
}

CompileOptions EmbeddingModel::Parts::compile_options() const {
  return {.pool = pool,
          .program = {.without = options.without},
          .tools = {.folder = options.tool_folder, .seconds = options.tool_seconds}};
}

Result<EmbeddingModel> EmbeddingModel::load(const std::string& folder,
                                            const EmbeddingOptions& options) {
  return as_result<Result<EmbeddingModel>>([&]() -> Result<EmbeddingModel> {
    CAPRA_ASSIGN(std::unique_ptr<Parts> parts, open_parts(folder, options));
    return EmbeddingModel(std::move(parts));
  });
}

Result<std::unique_ptr<EmbeddingModel::Parts>> EmbeddingModel::open_parts(
    const std::string& folder, const EmbeddingOptions& options) {
  if (options.threads < 0) {
    return fail("option-invalid", number_text(options.threads) + " threads were asked for",
                "threads", "give a number from 1, or 0 for all CPUs");
  }
  auto parts = std::make_unique<Parts>();
  parts->folder = folder;
  parts->options = options;
  CAPRA_ASSIGN(parts->target,
               find_target(options.targets.empty() ? all_targets() : TargetSet(options.targets),
                           options.target));
  CAPRA_ASSIGN(parts->config, read_sentence_config(folder));
  parts->remarks = parts->config.remarks;
  const std::string& home = parts->config.transformer_folder;
  CAPRA_ASSIGN(const ModelConfig config, ModelConfig::open_folder(home));
  CAPRA_ASSIGN(parts->encoder, open_encoder(config));
  CAPRA_ASSIGN(parts->head,
               load_head(parts->config, parts->encoder->hidden_size(), options, parts->remarks));
  CAPRA_TRY(choose_limit(*parts));
  CAPRA_TRY(choose_prompt(*parts));

  // The tokenizer takes as long to load as the weights; neither needs the other.
  std::future<Result<Tokenizer>> loading;
  if (options.tokenizer) {
    loading = std::async(std::launch::async, [&home, lower = parts->config.lower_case] {
      return Tokenizer::open_folder(home, lower);
    });
  }

  parts->exact_graph = parts->encoder->trace({.form = SequenceForm::Packed});
  CAPRA_ASSIGN(const Checkpoint checkpoint, Checkpoint::open_folder(home));
  CAPRA_ASSIGN(parts->weights, load_weights(*parts->encoder, parts->exact_graph, checkpoint));
  if (!parts->weights.unused.empty())
    parts->remarks.push_back(unused_remark(parts->weights.unused));
  PassReport made;
  CAPRA_ASSIGN(parts->graph, parts->approximated(parts->exact_graph, &made));
  std::ranges::move(made.lines, std::back_inserter(parts->remarks));
  parts->approximations = approximations_made(made.rewrites, parts->graph);

  parts->pool = std::make_shared<ThreadPool>(options.threads);
  parts->token_budget = options.token_budget > 0
                            ? options.token_budget
                            : default_token_budget(*parts->encoder, parts->pool->threads());
  if (!is_packed(*parts->target, parts->graph)) parts->token_budget = 1;
  if (options.compile) {
    CompileOptions compile_options = parts->compile_options();
    compile_options.report = &parts->report;
    CAPRA_ASSIGN(parts->executable,
                 compile(*parts->target, parts->graph, parts->weights.parameters, compile_options));
  }

  if (loading.valid()) CAPRA_TRY(take_tokenizer(*parts, loading.get()));
  return parts;
}

}  // namespace capra
