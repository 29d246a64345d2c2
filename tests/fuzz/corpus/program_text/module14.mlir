module {
  func.func @main(%a: tensor<2x3xf16>, %b: tensor<3x2xf16>) -> tensor<2x2xf16> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3xf16>, tensor<3x2xf16>) -> tensor<2x2xf32>
    %1 = stablehlo.constant dense<0.5> : tensor<2x2xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x2xf32>
    %3 = stablehlo.convert %2 : (tensor<2x2xf32>) -> tensor<2x2xf16>
    return %3 : tensor<2x2xf16>
  }
}
