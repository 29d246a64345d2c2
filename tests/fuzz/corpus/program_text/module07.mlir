module {
  func.func @main(%a: tensor<2x4x3xf32>, %b: tensor<6x4xf32>) -> tensor<2x3x6xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<2x4x3xf32>, tensor<6x4xf32>) -> tensor<2x3x6xf32>
    return %0 : tensor<2x3x6xf32>
  }
}
