module attributes {skainet.schedule = {encoder.layer.0 = {linear = "parallel(rows)"}, "%y" = {matmul = "parallel(rows)"}}} {
  util.global private @w = #flow.parameter.named<"model"::"w@permute(axes=[1, 0])"> : tensor<3x2xf32>
  func.func @main(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
    %0 = util.global.load @w : tensor<3x2xf32>
    %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    return %1 : tensor<2x2xf32>
  }
}
