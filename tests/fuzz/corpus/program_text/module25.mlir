module {
  func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
    %0 = stablehlo.multiply %x, %x : tensor<1x4xf32>
    %1 = stablehlo.multiply %0, %x : tensor<1x4xf32>
    %2 = stablehlo.constant dense<0.044715> : tensor<1x4xf32>
    %3 = stablehlo.multiply %1, %2 : tensor<1x4xf32>
    %4 = stablehlo.add %x, %3 : tensor<1x4xf32>
    %5 = stablehlo.constant dense<0.7978846> : tensor<1x4xf32>
    %6 = stablehlo.multiply %4, %5 : tensor<1x4xf32>
    %7 = stablehlo.tanh %6 : tensor<1x4xf32>
    %8 = stablehlo.constant dense<1.0> : tensor<1x4xf32>
    %9 = stablehlo.add %7, %8 : tensor<1x4xf32>
    %10 = stablehlo.constant dense<0.5> : tensor<1x4xf32>
    %11 = stablehlo.multiply %x, %10 : tensor<1x4xf32>
    %12 = stablehlo.multiply %11, %9 : tensor<1x4xf32>
    return %12 : tensor<1x4xf32>
  }
}
