// Parsing of types, arrays and attributes: the parts of graph text that need no graph.
#pragma once

#include "capra/ir/attrs.h"
#include "capra/ir/op_def.h"
#include "capra/ir/tape.h"
#include "capra/ir/text/reader.h"

namespace capra {

/// Bytes that `splat` may still make in one text: a short text must not fill the memory.
struct SplatBudget {
  int64_t bytes = int64_t{128} << 20;
};

Result<Shape> read_shape(TextReader& reader);
/// `f32[tokens, 4]`; `f32` alone is a scalar.
Result<TensorType> read_type(TextReader& reader);
Result<Array> read_array(TextReader& reader, SplatBudget& splats);
/// One number as a scalar of `dtype`.
Result<Array> read_scalar(TextReader& reader, DType dtype);
/// `name = value, ...` up to (not including) `}` or the end; what is not named has its default.
/// `owner` is the op's name, for messages.
Result<Attrs> read_attrs(TextReader& reader, const AttrSchema& schema, std::string_view owner,
                         SplatBudget& splats);
/// `name = value, ...` up to (not including) `}`.
Result<std::vector<Note>> read_notes(TextReader& reader);

}  // namespace capra
