module {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.constant dense<0.70710677> : tensor<4xf32>
    %1 = stablehlo.multiply %x, %0 : tensor<4xf32>
    %2 = stablehlo.composite "skainet.erf" %1 {composite_attributes = {}, decomposition = @skainet_erf_4xf32, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    %3 = stablehlo.constant dense<1.0> : tensor<4xf32>
    %4 = stablehlo.add %2, %3 : tensor<4xf32>
    %5 = stablehlo.constant dense<0.5> : tensor<4xf32>
    %6 = stablehlo.multiply %x, %5 : tensor<4xf32>
    %7 = stablehlo.multiply %6, %4 : tensor<4xf32>
    return %7 : tensor<4xf32>
  }
  func.func private @skainet_erf_4xf32(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = chlo.erf %arg0 : tensor<4xf32> -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
