// The script's settings, and the page.
#include "tools/capra/export_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "capra/base/version.h"
#include "capra/io/json.h"
#include "capra/ir/structural_ops.h"

namespace capra::driver {
namespace {

constexpr const char* kScript = "embed.py";
constexpr const char* kSettings = "embed.json";
constexpr const char* kTokenizer = "tokenizer.json";

// In a cell of a table: code, whatever is in it.
std::string code(std::string_view text) {
  std::string shown;
  size_t ticks = 0;
  size_t most_ticks = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 0x7f) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += c == '|' ? "\\|" : std::string(1, c);
    }
    ticks = c == '`' ? ticks + 1 : 0;
    most_ticks = std::max(most_ticks, ticks);
  }
  const std::string fence(most_ticks + 1, '`');
  const std::string_view pad = most_ticks > 0 || text.empty() ? " " : "";
  return fmt::format("{}{}{}{}{}", fence, pad, shown, pad, fence);
}

template <class Attrs>
std::string port_rows(const Graph& graph, const std::vector<NodeId>& ids, std::string_view role) {
  std::string rows;
  for (const NodeId id : ids) {
    rows += fmt::format("| {} | {} | {} |\n", role, code(graph.node(id).attrs_as<Attrs>().name),
                        code(graph.node(id).type.text()));
  }
  return rows;
}

// A name of letters, digits and '_' is what it is; Markdown reads others otherwise.
std::string title(const std::string& name) {
  const auto is_plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return std::ranges::all_of(name, is_plain) ? name : code(name);
}

// Longer texts are cut to the model's limit, and no cut takes the special tokens.
Status check_length(const ModelProgram& model, int64_t length) {
  const TokenLimit& limit = model.limit;
  const auto refused = [&](const std::string& why, const std::string& help) {
    return fail("option-invalid",
                fmt::format("with the number of tokens fixed at {} the program embeds no text: {}",
                            length, why),
                "--length", help);
  };
  if (length > limit.tokens) {
    return refused(fmt::format("the model cuts texts to {} ({})", limit.tokens, limit.source),
                   fmt::format("give at most {}, or leave the option out for any number of tokens",
                               limit.tokens));
  }
  if (length < model.special_tokens) {
    return refused(fmt::format("an empty one has {}, the special tokens; the model takes up to {}",
                               model.special_tokens, limit.tokens),
                   fmt::format("give {} to {}, or leave the option out for any number of tokens",
                               model.special_tokens, limit.tokens));
  }
  return {};
}

}  // namespace

Status write_embed_script(const ModelProgram& model, const Graph& graph,
                          const WrittenProgram& written, NewFolder& folder) {
  const Dim tokens = graph.node(graph.inputs()[0]).type.shape[0];
  if (tokens.is_static()) CAPRA_TRY(check_length(model, tokens.size()));
  Json poolings = Json::array();
  for (const Pooling one : model.head.poolings()) poolings.push(pooling_name(one));
  Json settings = Json::object();
  settings.set("tokenizer", kTokenizer).set("prompt", model.prompt);
  settings.set("max_length", tokens.is_static() ? tokens.size() : model.limit.tokens);
  settings.set("truncation_side", model.config.truncate_left ? "left" : "right");
  settings.set("length", tokens.is_static() ? Json(tokens.size()) : Json());
  settings.set("pooling", std::move(poolings)).set("normalized", model.head.normalizes());
  settings.set("archive_scope", written.archive.empty() ? Json() : Json(written.archive_scope));
  settings.set("dimension", model.head.dimension()).set("similarity", model.config.similarity);
  CAPRA_TRY(folder.write(kScript, "embeds texts with the program", written.embed_script));
  CAPRA_TRY(folder.write(kSettings, "what the script is told of texts", settings.text(2) + "\n"));
  return folder.write(kTokenizer, "the tokenizer", model.tokenizer_json);
}

std::string export_readme(const Graph& graph, const WrittenProgram& written, bool is_model,
                          const NewFolder& folder) {
  std::string page =
      fmt::format("# {}\n\nA program that capra {} wrote. In this folder:\n\n```sh\n",
                  title(graph.name()), version());
  for (const std::string& line : written.run) page += line + "\n";
  page += "```\n";
  std::string files;
  bool embeds = false;
  for (const FolderFile& file : folder.files()) {
    embeds = embeds || file.name == kScript;
    files += fmt::format("| `{}` | {} |\n", file.name, file.holds);
  }
  if (embeds) {
    page += fmt::format(
        "\nTo embed texts, one a line or one an argument; a row of JSON a text comes out:\n\n"
        "```sh\npython3 -m pip install 'iree-base-compiler>=3.12' 'iree-base-runtime>=3.12' numpy "
        "tokenizers\n"
        "python3 {} 'a text' 'another'\n```\n",
        kScript);
  }
  page += "\n| | name | type |\n|---|---|---|\n";
  page += port_rows<InputAttrs>(graph, graph.inputs(), "input");
  page += port_rows<OutputAttrs>(graph, graph.outputs(), "output");
  page += "\nA name in a type stands for any number.\n" + written.run_note;
  if (is_model) {
    page += "The input is the token ids of one text, special tokens included.\n";
  }
  page += "\n| file | holds |\n|---|---|\n" + files;
  page +=
      "| `report.json` | what was written and changed, with the SHA-256 of the files above and of "
      "this page |\n";
  page += "| `report.html` | the same as a page for a browser, with a drawing of the graph |\n";
  page += "\n`capra export --check FOLDER` compares the files with the report";
  page += written.archive.empty() ? ".\n" : ", and the archive with what the program takes.\n";
  return page;
}

}  // namespace capra::driver
