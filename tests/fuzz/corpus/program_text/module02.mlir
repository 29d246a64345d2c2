module {
  func.func @main(%x: tensor<6x9xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.slice %x [1:5:2, 0:7:3] : (tensor<6x9xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}
