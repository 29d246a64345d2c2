module {
  func.func @main(%ids: tensor<?xi32>, %table: tensor<512x4xf32>) -> tensor<?x4xf32> {
    %0 = stablehlo.constant dense<0> : tensor<2xi32>
    %1 = stablehlo.get_dimension_size %ids, dim = 0 : (tensor<?xi32>) -> tensor<i32>
    %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.constant dense<4> : tensor<1xi32>
    %4 = stablehlo.concatenate %2, %3, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = stablehlo.constant dense<1> : tensor<2xi32>
    %6 = stablehlo.real_dynamic_slice %table, %0, %4, %5 : (tensor<512x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x4xf32>
    %7 = "stablehlo.gather"(%6, %ids) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>, indices_are_sorted = false} : (tensor<?x4xf32>, tensor<?xi32>) -> tensor<?x4xf32>
    return %7 : tensor<?x4xf32>
  }
}
