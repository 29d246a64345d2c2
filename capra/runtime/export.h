// What a target that writes programs is asked for, and what it says of what it wrote.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capra/ir/graph.h"
#include "capra/ir/parameters.h"
#include "capra/passes/pass.h"
#include "capra/runtime/executable.h"

namespace capra {

/// Where the data of parameters stand.
struct ConstantPlacement {
  /// Parameters of at least so many bytes stand in a file beside the program, 0: all of them; none:
  /// all stand in the program.
  std::optional<int64_t> external_from = {};
};

struct ProgramPass;

/// Which program passes of a target run; null: all of them.
using ProgramPassChoice = std::function<bool(const ProgramPass& pass)>;

/// How a program is to be written.
struct WriteOptions {
  /// Names of ops that survive whole, beside those of the target's granularity.
  std::vector<std::string> keep_fused = {};
  /// None: as the target has it.
  std::optional<ConstantPlacement> constants = {};
  /// Extensions of the program's language that are not to be used, by the names the target gives
  /// them.
  std::vector<std::string> without = {};
  /// Form of the file with the data that stand beside the program, by the name the target gives it;
  /// empty: as the target has it.
  std::string archive = {};
  /// Options for the program's compiler, in the place of the target's of the same name.
  std::vector<std::string> flags = {};
  /// A file with samples of the inputs, for targets that choose their integers by them; empty:
  /// none.
  std::string calibration = {};
  bool verify_each = false;  ///< runs the verifiers after each pass
  ProgramPassChoice program_passes = nullptr;
};

/// A node that stands in the program as one op of the program's language.
struct KeptOp {
  std::string node;  ///< path of the node in the model, or its value in text
  std::string op;    ///< name of its record
  std::string as;    ///< name and version in the program: `skainet.gelu 1`
  std::string body;  ///< name of its decomposition in the program
  std::string reason;
};

/// How many nodes of an op a program computes.
struct ComputedOp {
  const OpDef* op = nullptr;
  int64_t nodes = 0;
};

/// What came out when the written program was run.
struct Measurement {
  std::string what;
  double value = 0;
};

/// A parameter of the model whose data the program does not take: it takes those of another, which
/// are equal in the model and have to be in any archive that the program is run with.
struct EqualParameter {
  Port parameter;
  std::string same_as;  ///< the path of the other
};

/// What was written, for whoever reports it. The folder lists the files, the program first.
struct WrittenProgram {
  std::string archive;           ///< the file with data beside the program; empty: there is none
  std::string archive_scope;     ///< the name by which the program asks for it
  std::vector<Port> parameters;  ///< by path: those whose data stand beside the program
  std::vector<EqualParameter> equal_parameters = {};
  std::vector<KeptOp> kept;               ///< in the order of the program
  std::vector<ComputedOp> computed = {};  ///< by rows of the target's table; composites' bodies too
  PassReport passes;
  std::vector<Approximation> approximations;  ///< in force in the program
  std::vector<std::string> flags;             ///< for the compiler of the program's language
  std::vector<std::string> run;  ///< lines of a shell that compile and run it, in the folder
  std::string run_note = {};     ///< what to say below these lines; Markdown
  std::vector<Measurement> measured = {};
  /// A Python script that embeds texts by a program that ends in their vectors, told by
  /// `embed.json` how; empty where the target has none.
  std::string_view embed_script = {};
};

/// What a program computes, for those who evaluate graphs.
struct ReadProgram {
  PassReport passes;      ///< on the way to the program
  Parameters parameters;  ///< under the names by which the graph asks for them
  /// The program's function on inputs of these types, whose extents are numbers, with outputs in
  /// the program's order. Fails where no op says what an operation does.
  std::function<Result<Graph>(std::span<const TensorType> inputs)> graph;
};

}  // namespace capra
