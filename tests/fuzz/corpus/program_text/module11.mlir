module {
  func.func @main(%a: tensor<2xi1>, %b: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<i1>) -> tensor<2xi1>
    %1 = stablehlo.and %a, %0 : tensor<2xi1>
    %2 = stablehlo.not %1 : tensor<2xi1>
    %3 = stablehlo.or %2, %a : tensor<2xi1>
    %4 = stablehlo.select %3, %x, %x : tensor<2xi1>, tensor<2xf32>
    return %4 : tensor<2xf32>
  }
}
