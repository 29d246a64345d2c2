module {
  func.func @model.encoder(%token_ids: tensor<2xi32>, %token_ids_2: tensor<2xi32>, %_7: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) {
    %0 = stablehlo.add %token_ids, %token_ids_2 : tensor<2xi32>
    %1 = stablehlo.add %0, %_7 : tensor<2xi32>
    return %1, %1, %token_ids : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>
  }
}
