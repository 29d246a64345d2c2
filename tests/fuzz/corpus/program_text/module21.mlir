module {
  func.func @main(%x: tensor<?x8xf32>, %w: tensor<?x1xf32>) -> tensor<?x8xf32> {
    %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x8xf32>) -> tensor<i32>
    %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.constant dense<8> : tensor<1xi32>
    %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %4 = stablehlo.dynamic_broadcast_in_dim %w, %3, dims = [0, 1] {known_expanding_dimensions = array<i64: 1>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x8xf32>
    %5 = stablehlo.subtract %x, %4 : tensor<?x8xf32>
    return %5 : tensor<?x8xf32>
  }
}
