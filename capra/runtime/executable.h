// A compiled graph: immutable, shared between threads. What a run changes lives in a workspace.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capra/base/result.h"
#include "capra/base/thread_pool.h"
#include "capra/ir/array.h"
#include "capra/ir/shape.h"

namespace capra {

class Graph;

/// Data that a run reads: a static type and row-major bytes that stay valid during the run.
struct InputRef {
  InputRef(const Array& array)  // NOLINT(google-explicit-constructor)
      : dtype(array.dtype()), sizes(array.sizes()), data(array.data()) {}
  InputRef(DType type, std::span<const int64_t> extents, const void* bytes)
      : dtype(type), sizes(extents), data(static_cast<const std::byte*>(bytes)) {}

  DType dtype;
  std::span<const int64_t> sizes;
  const std::byte* data;
};

/// Where a run writes one output: exactly its size, aligned for its dtype, apart from all inputs.
struct OutputRef {
  OutputRef(Array& array)  // NOLINT(google-explicit-constructor)
      : dtype(array.dtype()), data(array.mutable_data()), bytes(array.byte_size()) {}
  OutputRef(DType type, void* memory, size_t size)
      : dtype(type), data(static_cast<std::byte*>(memory)), bytes(size) {}

  DType dtype;
  std::byte* data;
  size_t bytes;
};

/// An input or output of an executable. Extents may be symbolic.
struct Port {
  std::string name;
  TensorType type;
};

/// What was executed as one kernel: a group under its label, or a single op under its name.
struct ExecutionRecord {
  std::string label;
  std::string path;         ///< scope of the model
  double flops = 0;         ///< of matmuls, in the last run
  double bytes = 0;         ///< read and written at least, in the last run
  int64_t nanoseconds = 0;  ///< in the last run; 0 unless timing is on
};

/// The buffers of one caller. Not shared between threads; made by the executable it serves.
class Workspace {
 public:
  class State {
   public:
    virtual ~State() = default;
    virtual std::span<const ExecutionRecord> records() const { return {}; }
    virtual size_t bytes() const { return 0; }
    virtual std::vector<std::string> remarks() const { return {}; }
    virtual void set_timing(bool) {}
  };

  Workspace() = default;
  explicit Workspace(std::unique_ptr<State> state) : state_(std::move(state)) {}

  /// One record for each executed kernel, in order, as of the last run.
  std::span<const ExecutionRecord> records() const { return state_->records(); }
  /// Bytes held for values and scratch. They only grow.
  size_t bytes() const { return state_->bytes(); }
  /// What must be said of the last run, a line each: how far an approximation moved it.
  std::vector<std::string> remarks() const { return state_->remarks(); }
  /// Fills in flops, bytes and nanoseconds of the records. Off at first.
  void set_timing(bool on) { state_->set_timing(on); }

  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// Safe for concurrent calls, each with a workspace of its own.
class Executable {
 public:
  virtual ~Executable() = default;

  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }
  /// Position of a name, or -1.
  int find_input(std::string_view name) const;
  int find_output(std::string_view name) const;

  /// A workspace that computes on `pool`, which callers may share; null: on the calling thread
  /// alone.
  virtual Workspace make_workspace(std::shared_ptr<ThreadPool> pool = nullptr) const = 0;

  /// What the symbols stand for with these inputs. Checks number, dtypes and extents; fails with
  /// `input-count`, `input-type` or `symbol-conflict`.
  Result<DimBindings> bind(std::span<const InputRef> inputs) const;

  /// Computes all outputs into the caller's buffers. Further failures: `output-count`,
  /// `output-size`, `index-out-of-range`, `offsets-invalid`, `slice-out-of-range`; the outputs'
  /// content is then undefined. A second run with the same symbols allocates nothing.
  virtual Status run(Workspace& workspace, std::span<const InputRef> inputs,
                     std::span<const OutputRef> outputs) const = 0;

  /// Computes into new arrays of the declared dtypes. Further failure: `out-of-memory`.
  Result<std::vector<Array>> run(Workspace& workspace, std::span<const InputRef> inputs) const;
  /// The same in the dtypes that the target computes in.
  Result<std::vector<Array>> run_unrounded(Workspace& workspace,
                                           std::span<const InputRef> inputs) const;

  /// The dtype in which output `index` can be taken without another rounding.
  virtual DType computed_dtype(size_t index) const { return outputs_[index].type.dtype; }

 protected:
  Executable(std::vector<Port> inputs, std::vector<Port> outputs)
      : inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  /// The part of `bind` that needs no memory: number, dtypes, static extents.
  Status check_inputs(std::span<const InputRef> inputs) const;
  Status check_output_count(std::span<const OutputRef> outputs) const;
  /// Writes a result out; a float output may be taken as f64, unrounded, else it is rounded once to
  /// the dtype of its port. Fails with `output-size`.
  static Status store(const Array& result, const OutputRef& output, const Port& port);
  static Failure output_size_failure(const Port& port, size_t bytes, const OutputRef& output);
  static Failure symbol_conflict(const Port& port, const std::string& symbol, int64_t known,
                                 int64_t found);

 private:
  Result<std::vector<Array>> run_into(Workspace& workspace, std::span<const InputRef> inputs,
                                      std::span<const DType> dtypes) const;

  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
};

/// `out-of-memory`: what a run says when the system has no memory for its values.
Failure out_of_memory();

/// The ports of a graph, in the order of its nodes.
std::vector<Port> input_ports(const Graph& graph);
std::vector<Port> output_ports(const Graph& graph);

}  // namespace capra
