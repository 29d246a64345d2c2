// The linear record of calls, in program order, and the sink that makes it.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "capra/ir/op_def.h"
#include "capra/ir/tensor.h"

namespace capra {

/// What a pass recorded on a node; no part of equality or hash.
struct Note {
  std::string name;  ///< `legalizedFrom`, `maxAbsError`, `reason`
  std::variant<std::string, double, int64_t> value;
  /// Equal kinds and values; NaN equals NaN.
  friend bool operator==(const Note& a, const Note& b);
};

/// One call. Operands are positions of earlier entries; -1 where an optional operand is absent.
struct TapeEntry {
  const OpDef* op = nullptr;
  std::vector<int32_t> operands;
  Attrs attrs;
  TensorType type;
  std::string path;  ///< scope of the model, `encoder.layer.3.attention`; may be empty
  std::vector<Note> notes = {};
  friend bool operator==(const TapeEntry& a, const TapeEntry& b);
};

/// Calls in the order in which they were made. Inputs, parameters and outputs are entries too.
struct Tape {
  std::string name;
  std::vector<TapeEntry> entries;
  friend bool operator==(const Tape&, const Tape&) = default;
};

/// Records calls on a tape. Holds no tensor data other than constants given by the program.
class TraceSink : public Sink {
 public:
  explicit TraceSink(std::string name);

  /// A context for a new tape called `name`.
  static Context begin(std::string name);

  Tensor input(const Context& self, std::string_view name, const TensorType& type);
  void output(const Tensor& value, std::string_view name);

  Tensor apply(const Context& self, const OpDef& op, std::span<const Tensor> operands, Attrs attrs,
               TensorType result) override;
  Tensor parameter(const Context& self, std::string_view path, TensorType type) override;
  void enter_scope(std::string_view name) override;
  void leave_scope() override;

  const Tape& tape() const { return tape_; }
  Tape take_tape() { return std::move(tape_); }

 private:
  Tensor record(const Context& self, TapeEntry entry);

  Tape tape_;
  std::vector<std::string> scopes_;  ///< full paths, innermost last
  std::vector<std::pair<std::string, int32_t>> parameters_;
};

}  // namespace capra
