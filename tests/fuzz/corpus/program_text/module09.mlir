module {
  func.func @main(%x: tensor<?x8xf32>) -> tensor<?x2x4xf32> {
    %0 = arith.constant 0 : index
    %1 = tensor.dim %x, %0 : tensor<?x8xf32>
    %2 = tensor.expand_shape %x [[0], [1, 2]] output_shape [%1, 2, 4] : tensor<?x8xf32> into tensor<?x2x4xf32>
    return %2 : tensor<?x2x4xf32>
  }
}
