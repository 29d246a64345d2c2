module {
  func.func @main(%x: tensor<2x3xf32>) -> tensor<2x1xi64> {
    %0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce (%x init: %0) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
    %3 = stablehlo.compare EQ, %x, %2, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %4 = stablehlo.compare NE, %x, %x, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %5 = stablehlo.or %3, %4 : tensor<2x3xi1>
    %6 = stablehlo.iota dim = 1 : tensor<2x3xi64>
    %7 = stablehlo.constant dense<9223372036854775807> : tensor<i64>
    %8 = stablehlo.constant dense<9223372036854775807> : tensor<2x3xi64>
    %9 = stablehlo.select %5, %6, %8 : tensor<2x3xi1>, tensor<2x3xi64>
    %10 = stablehlo.reduce (%9 init: %7) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3xi64>, tensor<i64>) -> tensor<2xi64>
    %11 = stablehlo.reshape %10 : (tensor<2xi64>) -> tensor<2x1xi64>
    return %11 : tensor<2x1xi64>
  }
}
