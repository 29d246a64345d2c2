// What capra verify found, as text and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capra/io/json.h"
#include "models/error_budget.h"
#include "models/verify.h"
#include "tools/capra/command.h"

namespace capra::driver {

/// Rows whose ids differ from what the file says.
struct TokenCheck {
  int64_t declared = 0;
  std::vector<int64_t> differing;
};

struct Verdict {
  double gate = 0;
  double error = 0;  ///< the larger of the errors against the oracle and the file
  std::vector<std::string> failures = {};
};

struct VerifyReport {
  const VerifyOptions& options;
  const Verification& result;
  const TokenCheck& tokens;
  const ErrorBudget* budget = nullptr;  ///< null: not asked for
  Verdict verdict;
};

std::string report_text(const VerifyReport& report);
Json report_json(const VerifyReport& report);

}  // namespace capra::driver
