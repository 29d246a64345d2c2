// Every op of the library, one line each, sorted by name.
#include "capra/ops/all_ops.h"

namespace capra {

// Declares the record and gives its address, so that an op needs one line here and no include.
#define RECORD(record)         \
  [] {                         \
    extern const OpDef record; \
    return &record;            \
  }()

// clang-format off
static constexpr const OpDef* kAllOps[] = {
    RECORD(kAbs),
    RECORD(kAdd),
    RECORD(kArgmax),
    RECORD(kAttention),
    RECORD(kBroadcast),
    RECORD(kCompare),
    RECORD(kConcat),
    RECORD(kConstant),
    RECORD(kConvert),
    RECORD(kDiv),
    RECORD(kErf),
    RECORD(kErfc),
    RECORD(kExp),
    RECORD(kGather),
    RECORD(kGelu),
    RECORD(kIota),
    RECORD(kLayerNorm),
    RECORD(kLinear),
    RECORD(kLog),
    RECORD(kLogicalAnd),
    RECORD(kLogicalNot),
    RECORD(kLogicalOr),
    RECORD(kMatmul),
    RECORD(kMax),
    RECORD(kMaximum),
    RECORD(kMean),
    RECORD(kMinimum),
    RECORD(kMul),
    RECORD(kNeg),
    RECORD(kPermute),
    RECORD(kRelu),
    RECORD(kReshape),
    RECORD(kRsqrt),
    RECORD(kSelect),
    RECORD(kSigmoid),
    RECORD(kSilu),
    RECORD(kSlice),
    RECORD(kSoftmax),
    RECORD(kSqrt),
    RECORD(kSub),
    RECORD(kSum),
    RECORD(kTanh),
    RECORD(kVariance),
};
// clang-format on

#undef RECORD

OpSet all_ops() { return kAllOps; }

}  // namespace capra
