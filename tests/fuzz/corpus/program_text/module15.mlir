module {
  func.func @main(%t: tensor<2x5x3xf32>, %i: tensor<4x1xi32>) -> tensor<2x4x1x3xf32> {
    %0 = "stablehlo.gather"(%t, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [0, 3], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 2, 1, 3>, indices_are_sorted = false} : (tensor<2x5x3xf32>, tensor<4x1xi32>) -> tensor<2x4x1x3xf32>
    return %0 : tensor<2x4x1x3xf32>
  }
}
