// What an exported folder holds beside the program: how to run it, for people and for texts.
#pragma once

#include <string>

#include "capra/base/new_folder.h"
#include "capra/ir/graph.h"
#include "capra/runtime/export.h"
#include "models/model_program.h"

namespace capra::driver {

/// `embed.py` of the target, and what it reads: `embed.json`, `tokenizer.json`. Fails with
/// `option-invalid` where no text has the fixed number of tokens that the graph takes.
Status write_embed_script(const ModelProgram& model, const Graph& graph,
                          const WrittenProgram& written, NewFolder& folder);

/// README.md: the commands that compile and run the program, its inputs, outputs and files.
std::string export_readme(const Graph& graph, const WrittenProgram& written, bool is_model,
                          const NewFolder& folder);

}  // namespace capra::driver
