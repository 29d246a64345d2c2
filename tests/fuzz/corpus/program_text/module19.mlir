module {
  func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %0 = stablehlo.constant dense<0.5> : tensor<f32>
    %1 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x8xf32>) -> tensor<i32>
    %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.constant dense<8> : tensor<1xi32>
    %4 = stablehlo.concatenate %2, %3, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = stablehlo.dynamic_broadcast_in_dim %0, %4, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x8xf32>
    %6 = stablehlo.multiply %x, %5 : tensor<?x8xf32>
    return %6 : tensor<?x8xf32>
  }
}
