module {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.negate %x : tensor<2xf32>
    %1 = stablehlo.exponential %0 : tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}
