// Globals and functions of a module, and what they name of each other.
#include "capra/targets/stablehlo/read/read.h"

#include <algorithm>
#include <set>
#include <utility>

#include "capra/targets/stablehlo/read/operation.h"

namespace capra::stablehlo {
namespace {

class ModuleReader {
 public:
  ModuleReader(std::string_view text, std::string_view source) : lexer_(text, source) {}

  Result<Module> run() {
    CAPRA_TRY(lexer_.expect("module"));
    if (lexer_.take("attributes")) {
      CAPRA_ASSIGN(module_.attributes, read_dictionary(lexer_));
    }
    CAPRA_TRY(lexer_.expect("{"));
    while (lexer_.peek().is("util.global")) CAPRA_TRY(read_global());
    while (lexer_.peek().is("func.func")) CAPRA_TRY(read_function());
    CAPRA_TRY(lexer_.expect("}"));
    CAPRA_TRY(lexer_.expect(TokenKind::End, "the end of the text"));
    for (const CompositeUse& use : composites_) CAPRA_TRY(check_composite(use));
    return std::move(module_);
  }

 private:
  // A name that no other function or global has.
  Result<std::string> new_symbol() {
    const Token token = lexer_.peek();
    CAPRA_ASSIGN(std::string name, read_symbol(lexer_));
    if (!symbols_.insert(name).second) {
      return lexer_.needed(token, "a name that no other function or global has");
    }
    return name;
  }

  Status read_global() {
    Global global;
    CAPRA_TRY(lexer_.expect_all("util.global private"));
    CAPRA_ASSIGN(global.name, new_symbol());
    CAPRA_TRY(lexer_.expect_all("= # flow.parameter.named <"));
    CAPRA_ASSIGN(global.scope, read_string(lexer_));
    CAPRA_TRY(lexer_.expect("::"));
    CAPRA_ASSIGN(global.key, read_string(lexer_));
    CAPRA_TRY(lexer_.expect_all("> :"));
    const Token token = lexer_.peek();
    CAPRA_ASSIGN(global.type, read_static_type(lexer_));
    if (loaded_type(global) != global.type) {
      return lexer_.needed(token, "a type of no unsigned integers");
    }
    module_.globals.push_back(std::move(global));
    return {};
  }

  Status read_function() {
    OperationReader reader(lexer_, module_.globals);
    Function& function = reader.function();
    CAPRA_TRY(lexer_.expect("func.func"));
    function.is_private = lexer_.take("private");
    CAPRA_ASSIGN(function.name, new_symbol());
    CAPRA_TRY(lexer_.expect("("));
    if (!lexer_.take(")")) {
      do {
        CAPRA_TRY(reader.read_argument());
      } while (lexer_.take(","));
      CAPRA_TRY(lexer_.expect(")"));
    }
    const Token declared = lexer_.peek();
    CAPRA_ASSIGN(const std::vector<TensorType> types, read_result_types());
    CAPRA_TRY(lexer_.expect("{"));
    while (lexer_.peek().kind == TokenKind::Value) CAPRA_TRY(reader.read_operation());
    CAPRA_TRY(reader.read_return());
    CAPRA_TRY(lexer_.expect("}"));
    std::vector<TensorType> returned;
    returned.reserve(function.results.size());
    for (const ValueId result : function.results) returned.push_back(function.type(result));
    if (returned != types) {
      return fail("type-mismatch", "the function declares other results than it returns",
                  lexer_.at(declared));
    }
    if (function.is_private && !reader.composites().empty()) {
      return fail("text-syntax",
                  "found a composite in the private function @" + function.name +
                      ", needed what it is made of",
                  lexer_.at(reader.composites().front().token));
    }
    composites_.insert(composites_.end(), reader.composites().begin(), reader.composites().end());
    module_.functions.push_back(std::move(function));
    return {};
  }

  Result<std::vector<TensorType>> read_result_types() {
    std::vector<TensorType> types;
    if (!lexer_.take("->")) return types;
    const bool is_list = lexer_.take("(");
    do {
      CAPRA_ASSIGN(TensorType type, read_type(lexer_));
      types.push_back(std::move(type));
    } while (is_list && lexer_.take(","));
    if (is_list) CAPRA_TRY(lexer_.expect(")"));
    return types;
  }

  // The decomposition is a private function of the composite's types.
  Status check_composite(const CompositeUse& use) const {
    const auto found = std::ranges::find(module_.functions, use.decomposition, &Function::name);
    if (found == module_.functions.end()) {
      return fail("text-syntax", "found no function @" + use.decomposition + " for the composite",
                  lexer_.at(use.token));
    }
    std::vector<TensorType> arguments;
    for (const Argument& argument : found->arguments) arguments.push_back(argument.type);
    const bool fits = found->results.size() == 1 && arguments == use.operands &&
                      found->type(found->results[0]) == use.result;
    if (fits && found->is_private) return {};
    return fail("type-mismatch",
                "@" + use.decomposition +
                    (fits ? " is public, needed a private function"
                          : " has other types than the composite"),
                lexer_.at(use.token));
  }

  Lexer lexer_;
  Module module_;
  std::set<std::string> symbols_;
  std::vector<CompositeUse> composites_;
};

}  // namespace

Result<Module> read_module(std::string_view text, std::string_view source) {
  return ModuleReader(text, source).run();
}

}  // namespace capra::stablehlo
