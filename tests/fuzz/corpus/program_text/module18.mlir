module {
  func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
    %0 = stablehlo.constant dense<0.70710677> : tensor<1x4xf32>
    %1 = stablehlo.multiply %x, %0 : tensor<1x4xf32>
    %2 = chlo.erf %1 : tensor<1x4xf32> -> tensor<1x4xf32>
    %3 = stablehlo.constant dense<1.0> : tensor<1x4xf32>
    %4 = stablehlo.add %2, %3 : tensor<1x4xf32>
    %5 = stablehlo.constant dense<0.5> : tensor<1x4xf32>
    %6 = stablehlo.multiply %x, %5 : tensor<1x4xf32>
    %7 = stablehlo.multiply %6, %4 : tensor<1x4xf32>
    return %7 : tensor<1x4xf32>
  }
}
