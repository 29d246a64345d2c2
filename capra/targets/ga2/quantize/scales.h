// Which real number one step of each tensor's levels stands for.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "capra/targets/ga2/quantize/evaluate.h"

namespace capra::ga2 {

/// Ranges set from outside, by the tag of a tensor.
using TaggedRanges = std::map<std::string, double>;

struct ScalePlan {
  std::vector<double>
      ranges;  ///< by node: the largest absolute value seen, or the one that was set
  std::vector<double> scales;      ///< by node; 0 for an argmax, whose integers are indices
  std::vector<std::string> notes;  ///< what will saturate
};

/// Chooses scales from calibration samples. The parts and the result of a concatenation, the two
/// sides of a relu and of a slice, and an output and its source share one scale: the largest range
/// of the group / 127, or 1 / 127 where it is 0. A sum's group also holds the ranges of its
/// operands. The input of a softmax has 1/16 (the unit reads Q4.4), its result 1/127; where two of
/// these meet, the later node's stands. A weight of 4 bits and what is cut from it have its
/// range / 7. Fails with
/// `sample-invalid` where no sample is given or one does not fit, `range-invalid` for a range that
/// is not positive and finite, belongs to no tag, or grows beyond double precision.
Result<ScalePlan> plan_scales(const Network& network, std::span<const Sample> calibration,
                              const TaggedRanges& ranges);

/// Fails with `placement-impossible` where a softmax reads or gives what has the scale that another
/// one needs: its units would take the steps for their own.
Status check_softmaxes(const Network& network, const ScalePlan& plan);

}  // namespace capra::ga2
