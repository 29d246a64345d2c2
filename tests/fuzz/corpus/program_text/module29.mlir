module {
  func.func @main(%x: tensor<2x4xf32>, %g: tensor<4xf32>) -> tensor<f32> {
    %0 = stablehlo.composite "capra.layer_norm" %x, %g {composite_attributes = {eps = 1.0e-12 : f64}, decomposition = @capra_layer_norm_eps_1em12_2x4xf32_4xf32, version = 1 : i32} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %1 = stablehlo.composite "capra.softmax" %0 {composite_attributes = {axis = -1 : i64}, decomposition = @capra_softmax_axis_m1_2x4xf32, version = 1 : i32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %2 = stablehlo.composite "capra.max" %1 {composite_attributes = {axes = array<i64: 0, 1>, keep_dims = false}, decomposition = @capra_max_axes_0_1_keep_dims_false_2x4xf32, version = 1 : i32} : (tensor<2x4xf32>) -> tensor<f32>
    return %2 : tensor<f32>
  }
  func.func private @capra_layer_norm_eps_1em12_2x4xf32_4xf32(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) -> tensor<2x4xf32> {
    %0 = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.reduce (%arg0 init: %0) applies stablehlo.add across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
    %2 = stablehlo.reshape %1 : (tensor<2xf32>) -> tensor<2x1xf32>
    %3 = stablehlo.constant dense<0.25> : tensor<2x1xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<2x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x4xf32>
    %6 = stablehlo.subtract %arg0, %5 : tensor<2x4xf32>
    %7 = stablehlo.multiply %6, %6 : tensor<2x4xf32>
    %8 = stablehlo.reduce (%7 init: %0) applies stablehlo.add across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
    %9 = stablehlo.reshape %8 : (tensor<2xf32>) -> tensor<2x1xf32>
    %10 = stablehlo.multiply %9, %3 : tensor<2x1xf32>
    %11 = stablehlo.constant dense<1.0e-12> : tensor<2x1xf32>
    %12 = stablehlo.add %10, %11 : tensor<2x1xf32>
    %13 = stablehlo.sqrt %12 : tensor<2x1xf32>
    %14 = stablehlo.constant dense<1.0> : tensor<2x1xf32>
    %15 = stablehlo.divide %14, %13 : tensor<2x1xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x4xf32>
    %17 = stablehlo.multiply %6, %16 : tensor<2x4xf32>
    %18 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
    %19 = stablehlo.multiply %17, %18 : tensor<2x4xf32>
    return %19 : tensor<2x4xf32>
  }
  func.func private @capra_softmax_axis_m1_2x4xf32(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce (%arg0 init: %0) applies stablehlo.maximum across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
    %2 = stablehlo.reshape %1 : (tensor<2xf32>) -> tensor<2x1xf32>
    %3 = stablehlo.constant dense<0xFF800000> : tensor<2x1xf32>
    %4 = stablehlo.compare EQ, %2, %3, FLOAT : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xi1>
    %5 = stablehlo.constant dense<0.0> : tensor<f32>
    %6 = stablehlo.constant dense<0.0> : tensor<2x1xf32>
    %7 = stablehlo.select %4, %6, %2 : tensor<2x1xi1>, tensor<2x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x4xf32>
    %9 = stablehlo.subtract %arg0, %8 : tensor<2x4xf32>
    %10 = stablehlo.exponential %9 : tensor<2x4xf32>
    %11 = stablehlo.reduce (%10 init: %5) applies stablehlo.add across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
    %12 = stablehlo.reshape %11 : (tensor<2xf32>) -> tensor<2x1xf32>
    %13 = stablehlo.constant dense<1.0> : tensor<2x1xf32>
    %14 = stablehlo.select %4, %13, %12 : tensor<2x1xi1>, tensor<2x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x4xf32>
    %16 = stablehlo.divide %10, %15 : tensor<2x4xf32>
    return %16 : tensor<2x4xf32>
  }
  func.func private @capra_max_axes_0_1_keep_dims_false_2x4xf32(%arg0: tensor<2x4xf32>) -> tensor<f32> {
    %0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce (%arg0 init: %0) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
}
