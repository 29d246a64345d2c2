// Every op of the library, one line each, sorted by name.
#include "capra/ops/all_ops.h"

#include "capra/ops/abs.h"
#include "capra/ops/add.h"
#include "capra/ops/argmax.h"
#include "capra/ops/attention.h"
#include "capra/ops/broadcast.h"
#include "capra/ops/compare.h"
#include "capra/ops/concat.h"
#include "capra/ops/constant.h"
#include "capra/ops/convert.h"
#include "capra/ops/div.h"
#include "capra/ops/erf.h"
#include "capra/ops/erfc.h"
#include "capra/ops/exp.h"
#include "capra/ops/gather.h"
#include "capra/ops/gelu.h"
#include "capra/ops/iota.h"
#include "capra/ops/layer_norm.h"
#include "capra/ops/linear.h"
#include "capra/ops/log.h"
#include "capra/ops/logical_and.h"
#include "capra/ops/logical_not.h"
#include "capra/ops/logical_or.h"
#include "capra/ops/matmul.h"
#include "capra/ops/max.h"
#include "capra/ops/maximum.h"
#include "capra/ops/mean.h"
#include "capra/ops/minimum.h"
#include "capra/ops/mul.h"
#include "capra/ops/neg.h"
#include "capra/ops/permute.h"
#include "capra/ops/relu.h"
#include "capra/ops/reshape.h"
#include "capra/ops/rsqrt.h"
#include "capra/ops/select.h"
#include "capra/ops/sigmoid.h"
#include "capra/ops/silu.h"
#include "capra/ops/slice.h"
#include "capra/ops/softmax.h"
#include "capra/ops/sqrt.h"
#include "capra/ops/sub.h"
#include "capra/ops/sum.h"
#include "capra/ops/tanh.h"
#include "capra/ops/variance.h"

namespace capra {
namespace {

constexpr const OpDef* kAllOps[] = {
    &kAbs,       &kAdd,     &kArgmax,    &kAttention, &kBroadcast, &kCompare,    &kConcat,
    &kConstant,  &kConvert, &kDiv,       &kErf,       &kErfc,      &kExp,        &kGather,
    &kGelu,      &kIota,    &kLayerNorm, &kLinear,    &kLog,       &kLogicalAnd, &kLogicalNot,
    &kLogicalOr, &kMatmul,  &kMax,       &kMaximum,   &kMean,      &kMinimum,    &kMul,
    &kNeg,       &kPermute, &kRelu,      &kReshape,   &kRsqrt,     &kSelect,     &kSigmoid,
    &kSilu,      &kSlice,   &kSoftmax,   &kSqrt,      &kSub,       &kSum,        &kTanh,
    &kVariance,
};

}  // namespace

OpSet all_ops() { return kAllOps; }

}  // namespace capra
