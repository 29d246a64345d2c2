// A program before anything has an address: its instructions name blocks of memory, and what is to
// be loaded has a place outside.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "capra/targets/ga2/emit/program.h"
#include "capra/targets/ga2/schedule/needed_rows.h"

namespace capra::ga2 {

/// A word of a block.
struct Spot {
  int64_t block = -1;  ///< -1: none
  int64_t offset = 0;
};

/// An instruction whose addresses in the scratchpad are spots, in the order of its fields. That of
/// a store has no address outside yet.
struct DraftInstruction {
  Instruction instruction;
  std::array<Spot, 3> spots = {};
  NodeIndex output = -1;  ///< of a store
};

/// Words that lie together from their first use to their last.
struct Block {
  int64_t words = 0;
  std::vector<int64_t> parts = {};  ///< those to be loaded before any use
  int64_t last = -1;                ///< the last instruction that uses it
};

/// Words of a block that come from outside. Neighbours may be loaded at once.
struct LoadedPart {
  int64_t block = 0;
  int64_t offset = 0;  ///< in the block
  int64_t words = 0;
  int64_t external = 0;  ///< address
};

struct Draft {
  std::vector<DraftInstruction> instructions;
  std::vector<Block> blocks;
  std::vector<LoadedPart> parts;        ///< by external address
  std::vector<ExternalRegion> regions;  ///< inputs and weights, by external address
  int64_t external_words = 0;           ///< of these
  std::vector<int64_t> together = {};   ///< blocks that are placed side by side
};

struct DraftOptions {
  /// Outputs stay in the scratchpad and are stored at the end, side by side if they can.
  bool stores_at_end = true;
  /// What is loaded lies in the order of its use, else so that few loads get all.
  bool in_order_of_use = false;
  /// Weights of 4 bits stand outside one value a word.
  bool unpacked = true;
};

/// What both need to know of a graph.
struct ScheduledGraph {
  const Network& network;
  const ScalePlan& plan;
  const Places& places;
  const std::vector<Requantizer>& requantizers;
  Needs needs;
};

/// The instructions that the outputs need, without the loads. Fails with
/// `inner-dimension-too-large`.
Result<Draft> draft_program(const ScheduledGraph& graph, const DraftOptions& options);

}  // namespace capra::ga2
