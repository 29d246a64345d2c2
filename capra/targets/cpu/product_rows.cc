// Rows of matmul and linear: f32 on packed or plain right operands, f64, 16-bit floats by way of
// f32, and integers.
#include <optional>

#include "capra/ops/linear.h"
#include "capra/ops/matmul.h"
#include "capra/targets/cpu/kernels/elementwise.h"
#include "capra/targets/cpu/product.h"
#include "capra/targets/cpu/rows.h"

namespace capra::cpu {
namespace {

// One operand's last two axes as a matrix, after its transpose.
struct Matrix {
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t row = 0;  // stride
  int64_t col = 0;
};
Matrix matrix_of(const View& view, bool transpose) {
  Matrix m{view.dim(view.rank - 2), view.dim(view.rank - 1), view.stride(view.rank - 2),
           view.stride(view.rank - 1)};
  if (transpose) {
    std::swap(m.rows, m.cols);
    std::swap(m.row, m.col);
  }
  return m;
}

struct ProductOptions {
  bool transpose_a = false;
  bool transpose_b = false;
  double factor = 1.0;
  bool has_bias = false;  // operand 2
};

// A product over all batches. `Compute` runs one: (a, b, c, m, n, k and strides).
class ProductStep : public Step {
 public:
  ProductStep(const KernelTable& table, ProductOptions options, std::optional<PackedWeight> packed)
      : table_(table), options_(options), packed_(std::move(packed)) {}

  bool takes_strided(size_t) const override { return true; }
  bool reads(size_t index) const override { return index != 1 || !packed_; }

  StepWork work(const StepCall& call) const override {
    StepWork work = Step::work(call);
    if (packed_) work.bytes += static_cast<double>(packed_->floats->size());
    const Matrix a = matrix_of(*call.operands[0], options_.transpose_a);
    work.flops = 2.0 * static_cast<double>(call.result.elements()) * static_cast<double>(a.cols);
    return work;
  }

  Status run(const StepCall& call) const override {
    const View& x = *call.operands[0];
    const View& out = call.result;
    Matrix a = matrix_of(x, options_.transpose_a);
    const int64_t n = out.dim(out.rank - 1);
    const View* weight = packed_ ? nullptr : call.operands[1];
    Matrix b{a.cols, n, 0, 0};
    if (weight != nullptr) b = matrix_of(*weight, options_.transpose_b);
    int64_t batches = 1;
    for (int axis = 0; axis < out.rank - 2; ++axis) batches *= out.dim(axis);
    const bool one_b = weight == nullptr || weight->rank == 2;
    if (one_b && !options_.transpose_a && x.is_contiguous()) {
      a.rows *= batches;  // all rows lie one below the other
      batches = 1;
    }
    for (int64_t batch = 0; batch < batches; ++batch) {
      const int64_t a_offset = batch_offset(x, out, batch);
      const int64_t b_offset = weight == nullptr ? 0 : batch_offset(*weight, out, batch);
      const int64_t c_offset = batch * a.rows * n;
      one_product(call, a, b, a_offset, b_offset, c_offset);
    }
    return {};
  }

 private:
  // Elements from the start of `view` to its matrix for one batch of the result.
  static int64_t batch_offset(const View& view, const View& out, int64_t batch) {
    int64_t offset = 0;
    const int lead = out.rank - view.rank;
    for (int axis = out.rank - 2; axis-- > 0;) {
      const int64_t position = batch % out.dim(axis);
      batch /= out.dim(axis);
      if (axis >= lead && view.dim(axis - lead) != 1) offset += position * view.stride(axis - lead);
    }
    return offset;
  }

  void one_product(const StepCall& call, const Matrix& a, const Matrix& b, int64_t a_offset,
                   int64_t b_offset, int64_t c_offset) const {
    switch (call.result.dtype) {
      case DType::F32:
        return f32_product(call, a, b, a_offset, b_offset, c_offset);
      case DType::F64:
        return f64_product(call, a, b, a_offset, b_offset, c_offset);
      case DType::I64:
      case DType::U64:
        return integer_product<uint64_t>(call, a, b, a_offset, b_offset, c_offset);
      case DType::I32:
      case DType::U32:
        return integer_product<uint32_t>(call, a, b, a_offset, b_offset, c_offset);
      case DType::I16:
      case DType::U16:
        return integer_product<uint16_t>(call, a, b, a_offset, b_offset, c_offset);
      case DType::I8:
      case DType::U8:
        return integer_product<uint8_t>(call, a, b, a_offset, b_offset, c_offset);
      default:
        CAPRA_CHECK(false);
    }
  }

  template <class Product>
  static void fill(Product& product, const StepCall& call, const Matrix& a, const Matrix& b,
                   int64_t a_offset, int64_t b_offset, int64_t c_offset) {
    using T = std::remove_cvref_t<decltype(*product.c)>;
    product.m = static_cast<size_t>(a.rows);
    product.n = static_cast<size_t>(b.cols);
    product.k = static_cast<size_t>(a.cols);
    product.a = call.operands[0]->as<T>() + a_offset;
    product.a_row = a.row;
    product.a_col = a.col;
    product.b = call.operands[1]->as<T>() + b_offset;
    product.b_row = b.row;
    product.b_col = b.col;
    product.c = call.result.as<T>() + c_offset;
    product.c_row = b.cols;
  }

  // Cuts a plain product into parts.
  template <class Product, class Kernel>
  void run_parts(const StepCall& call, const Product& product, Kernel kernel) const {
    const kernels::MatmulKernels& matmul = table_.matmul;
    const auto threads = static_cast<size_t>(call.pool.threads());
    const size_t each = aligned(matmul.scratch_bytes(product.k));
    std::byte* memory = call.scratch.get(each * threads);
    const size_t parts = kernels::matmul_parts(matmul, product.m, product.n, product.k, threads);
    call.pool.run(static_cast<int64_t>(parts), [&](int64_t part, int worker) {
      kernel(product,
             kernels::matmul_tile(matmul, product.m, product.n, parts, static_cast<size_t>(part)),
             memory + static_cast<size_t>(worker) * each);
    });
  }

  const std::byte* bias(const StepCall& call) const {
    return options_.has_bias ? call.operands[2]->data : nullptr;
  }

  void f32_product(const StepCall& call, const Matrix& a, const Matrix& b, int64_t a_offset,
                   int64_t b_offset, int64_t c_offset) const {
    kernels::MatmulEpilogue epilogue;
    epilogue.factor = static_cast<float>(options_.factor);
    epilogue.bias = reinterpret_cast<const float*>(bias(call));
    if (packed_) {
      run_product(table_,
                  {.weight = *packed_,
                   .x = call.operands[0]->as<float>() + a_offset,
                   .x_row = a.row,
                   .x_col = a.col,
                   .m = static_cast<size_t>(a.rows),
                   .out = call.result.as<float>() + c_offset,
                   .out_row = b.cols,
                   .epilogue = epilogue},
                  call.pool, call.scratch);
      return;
    }
    kernels::MatmulPlainF32 product;
    fill(product, call, a, b, a_offset, b_offset, c_offset);
    product.epilogue = epilogue;
    run_parts(call, product, table_.matmul.plain_f32);
  }

  void f64_product(const StepCall& call, const Matrix& a, const Matrix& b, int64_t a_offset,
                   int64_t b_offset, int64_t c_offset) const {
    kernels::MatmulPlainF64 product;
    fill(product, call, a, b, a_offset, b_offset, c_offset);
    product.factor = options_.factor;
    run_parts(call, product, table_.matmul.plain_f64);
    if (!options_.has_bias) return;
    const int64_t dims[] = {a.rows, b.cols};
    const int64_t c_strides[] = {b.cols, 1};
    const int64_t bias_strides[] = {0, 1};
    kernels::binary(table_, kernels::BinaryOp::Add, Element::F64, {product.c, c_strides},
                    {bias(call), bias_strides}, product.c, 2, dims, {0, a.rows * b.cols});
  }

  // Integers wrap, so signed ones are computed as unsigned.
  template <class T>
  static void integer_product(const StepCall& call, const Matrix& a, const Matrix& b,
                              int64_t a_offset, int64_t b_offset, int64_t c_offset) {
    const T* x = call.operands[0]->as<T>() + a_offset;
    const T* y = call.operands[1]->as<T>() + b_offset;
    T* out = call.result.as<T>() + c_offset;
    split(call.pool, a.rows, row_grain(a.cols * b.cols), [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t j = 0; j < b.cols; ++j) {
          uint64_t sum = 0;
          for (int64_t k = 0; k < a.cols; ++k) {
            sum += static_cast<uint64_t>(x[i * a.row + k * a.col]) *
                   static_cast<uint64_t>(y[k * b.row + j * b.col]);
          }
          out[i * b.cols + j] = static_cast<T>(sum);
        }
      }
    });
  }

  const KernelTable& table_;
  ProductOptions options_;
  std::optional<PackedWeight> packed_;
};

Result<std::unique_ptr<Step>> make_product(const StepRequest& request, const KernelTable& table,
                                           const ProductOptions& options) {
  std::optional<PackedWeight> packed;
  const Array* weight = request.constants[1];
  if (request.reused && weight != nullptr && weight->dtype() == DType::F32 &&
      weight->sizes().size() == 2) {
    const int64_t rows = weight->sizes()[0];
    const int64_t cols = weight->sizes()[1];
    const float* data = weight->as<float>().data();
    packed = options.transpose_b
                 ? pack_weight(table, data, 1, cols, static_cast<size_t>(cols),
                               static_cast<size_t>(rows), request.pool, request.memory)
                 : pack_weight(table, data, cols, 1, static_cast<size_t>(rows),
                               static_cast<size_t>(cols), request.pool, request.memory);
  }
  return std::unique_ptr<Step>(std::make_unique<ProductStep>(table, options, std::move(packed)));
}

Result<std::unique_ptr<Step>> make_matmul(const StepRequest& request, const KernelTable& table) {
  if (is_half(request.node.type.dtype)) return make_widened(request, table, make_matmul);
  const auto attrs = request.node.attrs_as<MatmulAttrs>();
  return make_product(
      request, table,
      {.transpose_a = attrs.transpose_a, .transpose_b = attrs.transpose_b, .factor = attrs.factor});
}

Result<std::unique_ptr<Step>> make_linear(const StepRequest& request, const KernelTable& table) {
  if (is_half(request.node.type.dtype)) return make_widened(request, table, make_linear);
  const bool has_bias = request.operands.size() > 2 && request.operands[2] != nullptr;
  return make_product(request, table, {.transpose_b = true, .has_bias = has_bias});
}

}  // namespace

constinit const CpuRow kProductRows[] = {
    {{&kMatmul}, make_matmul},
    {{&kLinear}, make_linear},
};

}  // namespace capra::cpu
