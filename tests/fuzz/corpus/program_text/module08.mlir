module {
  func.func @main(%x: tensor<2x0xi8>) -> tensor<2xi8> {
    %0 = stablehlo.constant dense<-128> : tensor<i8>
    %1 = stablehlo.reduce (%x init: %0) applies stablehlo.maximum across dimensions = [1] : (tensor<2x0xi8>, tensor<i8>) -> tensor<2xi8>
    return %1 : tensor<2xi8>
  }
}
