// Kernels that move elements and compute nothing: strided copies (permute, slice, broadcast), the
// placing of a part of a concatenation, gather of rows and iota. Bits are copied as they are.
#pragma once

#include <cstdint>

#include "capra/targets/cpu/kernels/element.h"

namespace capra::kernels {

/// out[i...] = x[i...] where `x` has one element stride a dimension of the output: a permutation, a
/// slice with steps (negative too), a broadcast (stride 0) or any mix. `out` is contiguous.
void copy_strided(size_t element_size, Strided x, void* out, int rank, const int64_t* dims,
                  Range range);

/// Copies a contiguous [outer, inner] block into columns [offset, offset + inner) of a contiguous
/// [outer, out_inner]: one operand of a concatenation. `inner`, `offset`, `out_inner` in elements.
void copy_into_columns(size_t element_size, const void* x, int64_t outer, int64_t inner, void* out,
                       int64_t out_inner, int64_t offset);

/// Gathers along one axis: x is [outer, axis, inner], out is [outer, count, inner], all contiguous.
/// Indices must lie in [0, axis); `find_index_out_of_range` tells. `index_type` is an integer type.
void gather(size_t element_size, const void* x, int64_t outer, int64_t axis, int64_t inner,
            Element index_type, const void* indices, int64_t count, void* out);

/// The first i whose index is outside [0, axis), or -1.
int64_t find_index_out_of_range(Element index_type, const void* indices, int64_t count,
                                int64_t axis);

/// out[i] = i along one axis: out is [outer, axis, inner], of any type but bool; a value that the
/// type cannot hold wraps (integers) or rounds (floats).
void iota(Element type, int64_t outer, int64_t axis, int64_t inner, void* out);

}  // namespace capra::kernels
