// Graphs of the chip with their samples, as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capra/io/json.h"
#include "capra/targets/ga2/emit/program.h"

namespace capra::ga2 {

/// What a document asks to be compiled.
struct CompileRequest {
  Network network;
  std::vector<Sample> calibration;
  std::optional<Sample> test = {};  ///< inputs to run the program on
  CompileOptions options = {};
};

/// Reads an object with `graph` (its `nodes`, as docs/ga2.md lists them) or `build` (the calls that
/// make it), `calib`, and where they are there `test` and `compile`: `ranges` by tag and `reuse`.
/// Other members are passed over. Fails with `network-document` where the document has another
/// form, `network-invalid` where the graph breaks a rule, and `sample-invalid`; `at` names the
/// document.
Result<CompileRequest> read_request(const Json& document, const std::string& at);

/// The document of a request: `read_request` gives the same back.
Json request_json(const CompileRequest& request);

/// The member `compile` alone; the usual options where there is none. Fails with
/// `network-document`.
Result<CompileOptions> read_options(const Json& document, const std::string& at);
/// Samples alone: a list of them, or an object with `calib`, and where it is there `test`.
struct SampleSet {
  std::vector<Sample> calibration;
  std::optional<Sample> test = {};
};
/// Fails with `network-document`.
Result<SampleSet> read_samples(const Json& document, const std::string& at);
/// A list of rows of numbers. Fails with `network-document`.
Result<Matrix<double>> read_matrix(const Json& json, const std::string& at);

}  // namespace capra::ga2
