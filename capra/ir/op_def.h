// What an op record is: everything about one op that every other room reads.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "capra/base/result.h"
#include "capra/ir/attrs.h"
#include "capra/ir/shape.h"
#include "capra/ir/tensor.h"

namespace capra {

enum class Arity : uint8_t { Required, Optional, Variadic };

/// One operand of an op. Optional operands come after required ones, a variadic one comes last.
struct Operand {
  std::string_view name;
  std::string_view doc;  ///< shape and meaning
  Arity arity = Arity::Required;
};

/// How far a row may be from the real-number meaning, at f32. A zero bound says: exact (data
/// movement, integers) or correctly rounded.
struct Accuracy {
  double max_abs = 0;
  double max_ulp = 0.5;
  double max_ulp_per_term = 0;  ///< more for each term, where many are added in any order
  std::string_view note = {};   ///< range, or what the bound is relative to
};

/// The name under which an op survives in dialects with composites; empty when it has none.
struct Composite {
  std::string_view name = {};
  int version = 0;
};

/// A case whose result comes from outside. Texts are in the syntax of graph text:
/// operands such as `f32[2] [1, 2]`, attributes such as `axis = 0`.
struct Example {
  std::string_view attrs = {};
  std::span<const std::string_view> operands = {};
  std::string_view result = {};
  std::string_view source = {};  ///< table, publication or program the value comes from
};

using TypeRefs = std::span<const TensorType* const>;  ///< null where an optional operand is absent
using InferFn = Result<TensorType> (*)(TypeRefs operands, const Attrs& attrs);
using DecomposeFn = Tensor (*)(std::span<const Tensor> operands, const Attrs& attrs);

/// One op. Records are constinit and live for ever; their address is their identity.
struct OpDef {
  std::string_view name;
  std::string_view formula = {};
  std::string_view summary = {};  ///< one sentence
  std::string_view prose = {};    ///< what a user should know beyond the summary
  std::span<const Operand> operands = {};
  AttrSchema attrs = {};
  InferFn infer = nullptr;
  DecomposeFn decompose = nullptr;  ///< null: a primitive, whose meaning interp holds
  Accuracy accuracy = {};
  Composite composite = {};
  /// Names of dims along which parts of the result are independent: what a schedule hint may name.
  std::span<const std::string_view> parallel_dims = {};
  std::span<const Example> examples = {};
};

/// A sorted list of records; what a parser or a table may name.
using OpSet = std::span<const OpDef* const>;

/// The record called `name`, or null.
const OpDef* find_op(OpSet ops, std::string_view name);

/// The types of tensors that are given as operands; null where one is absent.
std::vector<const TensorType*> operand_types(std::span<const Tensor> operands);

/// `gelu(f32[2, 3])`, as diagnostics name a call; `_` stands for an absent operand.
std::string call_text(const OpDef& op, TypeRefs operands);

/// The result type of `op` on these operands: checks their number, then asks the record. The
/// diagnostic names the op and the operand types.
Result<TensorType> infer_type(const OpDef& op, TypeRefs operands, const Attrs& attrs);

// --- erasing typed shape rules and decompositions
// -------------------------------------------------

namespace detail {

template <class T>
struct OperandReader;
template <>
struct OperandReader<const TensorType&> {
  static const TensorType& read(TypeRefs all, size_t& next) { return *all[next++]; }
};
template <>
struct OperandReader<const TensorType*> {
  static const TensorType* read(TypeRefs all, size_t& next) {
    return next < all.size() ? all[next++] : nullptr;
  }
};
template <>
struct OperandReader<TypeRefs> {
  static TypeRefs read(TypeRefs all, size_t& next) {
    const size_t first = next;
    next = all.size();
    return all.subspan(first);
  }
};

Tensor tensor_operand(std::span<const Tensor> all, size_t& next);

template <class T>
struct TensorReader;
template <>
struct TensorReader<const Tensor&> {
  static Tensor read(std::span<const Tensor> all, size_t& next) {
    return tensor_operand(all, next);
  }
};
template <>
struct TensorReader<std::span<const Tensor>> {
  static std::span<const Tensor> read(std::span<const Tensor> all, size_t& next) {
    const size_t first = next;
    next = all.size();
    return all.subspan(first);
  }
};

template <auto F, class Signature>
struct EraseInfer;
template <auto F, class... Params>
struct EraseInfer<F, Result<TensorType> (*)(Params...)> {
  template <size_t... I>
  static Result<TensorType> call(TypeRefs operands, const Attrs& attrs, std::index_sequence<I...>) {
    using All = std::tuple<Params...>;
    using A = std::remove_cvref_t<std::tuple_element_t<sizeof...(Params) - 1, All>>;
    size_t next = 0;
    static_cast<void>(operands), static_cast<void>(next);  // a rule may take no operands
    // Braces fix the order of evaluation.
    std::tuple<std::tuple_element_t<I, All>...> read{
        OperandReader<std::tuple_element_t<I, All>>::read(operands, next)...};
    return F(std::get<I>(read)..., unpack<A>(attrs));
  }
  static Result<TensorType> erased(TypeRefs operands, const Attrs& attrs) {
    return call(operands, attrs, std::make_index_sequence<sizeof...(Params) - 1>());
  }
};

template <auto F, class Signature>
struct EraseDecompose;
template <auto F, class... Params>
struct EraseDecompose<F, Tensor (*)(Params...)> {
  template <class T>
  using Held = decltype(TensorReader<T>::read({}, std::declval<size_t&>()));
  template <size_t... I>
  static Tensor call(std::span<const Tensor> operands, const Attrs& attrs,
                     std::index_sequence<I...>) {
    using All = std::tuple<Params...>;
    using A = std::remove_cvref_t<std::tuple_element_t<sizeof...(Params) - 1, All>>;
    size_t next = 0;
    static_cast<void>(operands), static_cast<void>(next);
    std::tuple<Held<std::tuple_element_t<I, All>>...> read{
        TensorReader<std::tuple_element_t<I, All>>::read(operands, next)...};
    return F(std::get<I>(read)..., unpack<A>(attrs));
  }
  static Tensor erased(std::span<const Tensor> operands, const Attrs& attrs) {
    return call(operands, attrs, std::make_index_sequence<sizeof...(Params) - 1>());
  }
};

}  // namespace detail

/// A typed shape rule as an InferFn. The rule takes `const TensorType&` for a required operand,
/// `const TensorType*` for an optional one (null when absent), `TypeRefs` for a variadic one, and
/// the attribute struct last.
template <auto F>
inline constexpr InferFn erase_infer = &detail::EraseInfer<F, decltype(F)>::erased;

/// A typed decomposition as a DecomposeFn. It takes `const Tensor&` for required and optional
/// operands (an empty tensor when absent), `std::span<const Tensor>` for a variadic one, and the
/// attributes last.
template <auto F>
inline constexpr DecomposeFn erase_decompose = &detail::EraseDecompose<F, decltype(F)>::erased;

}  // namespace capra
