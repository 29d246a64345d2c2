// Two networks, node by node.
#pragma once

#include <gtest/gtest.h>

#include "capra/targets/ga2/network.h"

namespace capra::ga2 {

/// Every member of every node, numbers to their last bit.
inline void expect_same(const Network& found, const Network& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (NodeIndex i = 0; i < wanted.size(); ++i) {
    const NetworkNode& a = found.node(i);
    const NetworkNode& b = wanted.node(i);
    EXPECT_EQ(a.op, b.op) << i;
    EXPECT_EQ(a.operands, b.operands) << i;
    EXPECT_EQ(a.shape, b.shape) << i;
    EXPECT_EQ(a.name, b.name) << i;
    EXPECT_EQ(a.tag, b.tag) << i;
    EXPECT_TRUE(a.weights == b.weights) << i;
    EXPECT_EQ(a.bits, b.bits) << i;
    EXPECT_EQ(a.transpose_b, b.transpose_b) << i;
    EXPECT_EQ(a.factor, b.factor) << i;
    EXPECT_EQ(a.start, b.start) << i;
  }
}

}  // namespace capra::ga2
