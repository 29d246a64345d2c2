module {
  func.func @main(%a: tensor<2x1xui32>, %b: tensor<3xui32>) -> tensor<2x3xi1> {
    %0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<2x1xui32>) -> tensor<2x3xui32>
    %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<3xui32>) -> tensor<2x3xui32>
    %2 = stablehlo.compare LT, %0, %1, UNSIGNED : (tensor<2x3xui32>, tensor<2x3xui32>) -> tensor<2x3xi1>
    return %2 : tensor<2x3xi1>
  }
}
