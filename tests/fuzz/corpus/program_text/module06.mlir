module {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xi1> {
    %0 = stablehlo.constant dense<0.0> : tensor<2xf32>
    %1 = stablehlo.compare NE, %x, %0, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    return %1 : tensor<2xi1>
  }
}
