module {
  func.func @main(%x: tensor<2x3xf32>) -> tensor<4x6xf32> {
    %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %1 = stablehlo.concatenate %0, %0, dim = 1 : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x4xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [1, 2] : (tensor<3x4xf32>) -> tensor<2x3x4xf32>
    %3 = stablehlo.reshape %2 : (tensor<2x3x4xf32>) -> tensor<4x6xf32>
    return %3 : tensor<4x6xf32>
  }
}
