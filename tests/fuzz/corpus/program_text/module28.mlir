module {
  func.func @main(%x: tensor<?x4xui32>) -> tensor<?x1x2xui32> {
    %0 = stablehlo.bitcast_convert %x : (tensor<?x4xui32>) -> tensor<?x4xi32>
    %1 = stablehlo.bitcast_convert %x : (tensor<?x4xui32>) -> tensor<?x4xi32>
    %2 = arith.constant 0 : index
    %3 = tensor.dim %1, %2 : tensor<?x4xi32>
    %4 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [%3, 2, 2] : tensor<?x4xi32> into tensor<?x2x2xi32>
    %5 = stablehlo.bitcast_convert %4 : (tensor<?x2x2xi32>) -> tensor<?x2x2xui32>
    %6 = stablehlo.constant dense<0> : tensor<ui32>
    %7 = stablehlo.reduce (%5 init: %6) applies stablehlo.add across dimensions = [1] : (tensor<?x2x2xui32>, tensor<ui32>) -> tensor<?x2xui32>
    %8 = stablehlo.get_dimension_size %1, dim = 0 : (tensor<?x4xi32>) -> tensor<i32>
    %9 = stablehlo.reshape %8 : (tensor<i32>) -> tensor<1xi32>
    %10 = stablehlo.constant dense<1> : tensor<1xi32>
    %11 = stablehlo.constant dense<2> : tensor<1xi32>
    %12 = stablehlo.concatenate %9, %10, %11, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %13 = stablehlo.dynamic_broadcast_in_dim %7, %12, dims = [0, 2] {known_nonexpanding_dimensions = array<i64: 0, 1>} : (tensor<?x2xui32>, tensor<3xi32>) -> tensor<?x1x2xui32>
    return %13 : tensor<?x1x2xui32>
  }
}
