// What holds of every module, checked where passes change one.
#include <algorithm>
#include <map>
#include <set>

#include "capra/base/number_text.h"
#include "capra/targets/stablehlo/module.h"
#include "capra/targets/stablehlo/read/check.h"

namespace capra::stablehlo {
namespace {

class Verifier {
 public:
  explicit Verifier(const Module& module) : module_(module) {}

  Status run(const Entry& entry) {
    for (const Global& global : module_.globals) {
      CAPRA_TRY(take_name(global.name));
      globals_.emplace(global.name, loaded_type(global));
    }
    for (const Function& function : module_.functions) {
      CAPRA_TRY(take_name(function.name));
      functions_.emplace(function.name, &function);
    }
    for (const Function& function : module_.functions) CAPRA_TRY(check_values(function));
    // From here on each value has a type.
    for (const Function& function : module_.functions) CAPRA_TRY(check_operations(function));
    return check_entry(entry);
  }

 private:
  Status take_name(const std::string& name) {
    if (names_.insert(name).second) return {};
    return fail("program-invalid", "two functions or globals have this name", "@" + name);
  }

  static std::string place(const Function& function, size_t index) {
    return "@" + function.name + ": %" + number_text(index) + " = " +
           std::string(function.operations[index].name);
  }

  static Status check_values(const Function& function) {
    const size_t arguments = function.arguments.size();
    std::set<std::string> names;
    for (const Argument& argument : function.arguments) {
      if (names.insert(argument.name).second) continue;
      return fail("program-invalid", "two arguments are called %" + argument.name,
                  "@" + function.name);
    }
    for (size_t i = 0; i < function.operations.size(); ++i) {
      for (const ValueId operand : function.operations[i].operands) {
        if (operand >= 0 && static_cast<size_t>(operand) < arguments + i) continue;
        return fail("program-invalid", "an operand does not come before its user",
                    place(function, i));
      }
    }
    for (const ValueId result : function.results) {
      if (result >= 0 && static_cast<size_t>(result) < arguments + function.operations.size()) {
        continue;
      }
      return fail("program-invalid", "a result is no value of the function", "@" + function.name);
    }
    return {};
  }

  Status check_operations(const Function& function) const {
    for (size_t i = 0; i < function.operations.size(); ++i) {
      const Operation& operation = function.operations[i];
      CAPRA_TRY(check_form_of(function, operation, place(function, i)));
      CAPRA_TRY(check_symbols(function, operation, place(function, i)));
    }
    return {};
  }

  // An operation that nobody knows here is written as its operands and one type.
  static Status check_form_of(const Function& function, const Operation& operation,
                              const std::string& at) {
    const OperationRule* rule = find_rule(operation.name);
    if (rule == nullptr) {
      if (operation.attributes.empty() && !operation.name.starts_with("tensor.")) return {};
      return fail("program-invalid", "there is no form to write the operation in", at);
    }
    const Status sound = check_form(*rule, function, operation);
    if (sound.ok()) return {};
    return fail("program-invalid", sound.error().message, at);
  }

  Status check_entry(const Entry& entry) const {
    const std::string at = "@" + entry.name;
    const auto found = functions_.find(entry.name);
    if (found == functions_.end() || found->second->is_private) {
      return fail("program-invalid", "the module has no public function of this name", at);
    }
    const Entry own = entry_of(*found->second);
    if (std::ranges::equal(own.arguments, entry.arguments, same) &&
        std::ranges::equal(own.results, entry.results, same)) {
      return {};
    }
    return fail("program-invalid", "the function takes or gives other types than the graph", at);
  }

  Status check_symbols(const Function& function, const Operation& operation,
                       const std::string& at) const {
    for (const NamedAttribute& attribute : operation.attributes) {
      const auto* symbol = std::get_if<Symbol>(&attribute.value);
      if (symbol == nullptr) continue;
      if (operation.name == "util.global.load") {
        const auto found = globals_.find(symbol->name);
        if (found == globals_.end()) return unknown(*symbol, at);
        if (found->second == operation.type) continue;
        return fail("program-invalid",
                    "@" + symbol->name + " is " + found->second.text() + ", what is loaded " +
                        operation.type.text(),
                    at);
      }
      const auto found = functions_.find(symbol->name);
      if (found == functions_.end()) return unknown(*symbol, at);
      if (fits(*found->second, function, operation)) continue;
      return fail("program-invalid", "@" + symbol->name + " takes or gives other types", at);
    }
    return {};
  }

  static Failure unknown(const Symbol& symbol, const std::string& at) {
    return fail("program-invalid", "the module has no @" + symbol.name, at);
  }

  // Symbolic dims are dynamic on both sides, whatever their names.
  static bool same(const TensorType& a, const TensorType& b) {
    return type_text(a) == type_text(b);
  }

  static bool fits(const Function& body, const Function& caller, const Operation& operation) {
    if (body.results.size() != 1 || !same(body.type(body.results[0]), operation.type)) return false;
    return std::ranges::equal(body.arguments, operation.operands,
                              [&](const Argument& argument, ValueId operand) {
                                return same(argument.type, caller.type(operand));
                              });
  }

  const Module& module_;
  std::set<std::string> names_;
  std::map<std::string, TensorType> globals_;
  std::map<std::string, const Function*> functions_;
};

}  // namespace

Status verify_module(const Module& module, const Entry& entry) {
  return Verifier(module).run(entry);
}

}  // namespace capra::stablehlo
