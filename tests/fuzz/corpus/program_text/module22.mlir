module {
  util.global private @layer.0.weight = #flow.parameter.named<"model"::"layer.0.weight"> : tensor<3x4xf32>
  util.global private @"layer 0/bias" = #flow.parameter.named<"model"::"layer 0/bias"> : tensor<3xf32>
  func.func @main(%x: tensor<2x4xf32>) -> tensor<2x3xf32> {
    %0 = util.global.load @layer.0.weight : tensor<3x4xf32>
    %1 = util.global.load @"layer 0/bias" : tensor<3xf32>
    %2 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [1] : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %4 = stablehlo.add %2, %3 : tensor<2x3xf32>
    return %4 : tensor<2x3xf32>
  }
}
