module {
  func.func @main(%a: tensor<2xui8>, %b: tensor<2xui8>) -> tensor<2xui8> {
    %0 = stablehlo.constant dense<0> : tensor<2xui8>
    %1 = stablehlo.constant dense<1> : tensor<2xui8>
    %2 = stablehlo.compare EQ, %b, %0, UNSIGNED : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>
    %3 = stablehlo.select %2, %1, %b : tensor<2xi1>, tensor<2xui8>
    %4 = stablehlo.divide %a, %3 : tensor<2xui8>
    %5 = stablehlo.select %2, %0, %4 : tensor<2xi1>, tensor<2xui8>
    return %5 : tensor<2xui8>
  }
}
