module {
  func.func @main(%x: tensor<1x?x2x6x1xf32>) -> tensor<?x3x4xf32> {
    %0 = tensor.collapse_shape %x [[0, 1], [2, 3, 4]] : tensor<1x?x2x6x1xf32> into tensor<?x12xf32>
    %1 = arith.constant 1 : index
    %2 = tensor.dim %x, %1 : tensor<1x?x2x6x1xf32>
    %3 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [%2, 3, 4] : tensor<?x12xf32> into tensor<?x3x4xf32>
    return %3 : tensor<?x3x4xf32>
  }
}
