module {
  func.func @main() -> tensor<300xui8> {
    %0 = stablehlo.iota dim = 0 : tensor<300xi64>
    %1 = stablehlo.convert %0 : (tensor<300xi64>) -> tensor<300xui8>
    return %1 : tensor<300xui8>
  }
}
