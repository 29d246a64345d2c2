module {
  func.func @main() -> (tensor<5xf32>, tensor<2xf64>, tensor<2xbf16>, tensor<2xui64>, tensor<2xi1>, tensor<2x0xi32>, tensor<8x16xf32>) {
    %0 = stablehlo.constant dense<[0.1, -0.0, 0x7F800000, 0xFF800000, 1.0e-45]> : tensor<5xf32>
    %1 = stablehlo.constant dense<[1.0e-300, 0x7FF8000000000000]> : tensor<2xf64>
    %2 = stablehlo.constant dense<[0.100097656, 3.0]> : tensor<2xbf16>
    %3 = stablehlo.constant dense<[18446744073709551615, 0]> : tensor<2xui64>
    %4 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
    %5 = stablehlo.constant dense<> : tensor<2x0xi32>
    %6 = stablehlo.constant dense<7.0> : tensor<8x16xf32>
    return %0, %1, %2, %3, %4, %5, %6 : tensor<5xf32>, tensor<2xf64>, tensor<2xbf16>, tensor<2xui64>, tensor<2xi1>, tensor<2x0xi32>, tensor<8x16xf32>
  }
}
