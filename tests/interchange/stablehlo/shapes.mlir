// Instructions that move elements, in the pretty form. Expected: NumPy.
module {
  func.func @main() {
    %x = stablehlo.constant dense<[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]> : tensor<2x3xf32>
    %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    check.expect_eq_const %t, dense<[[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]> : tensor<3x2xf32>
    %r = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
    check.expect_eq_const %r, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<6xf32>
    %v = stablehlo.reverse %x, dims = [0, 1] : tensor<2x3xf32>
    check.expect_eq_const %v, dense<[[5.0, 4.0, 3.0], [2.0, 1.0, 0.0]]> : tensor<2x3xf32>
    %s = stablehlo.slice %x [0:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>
    check.expect_eq_const %s, dense<[[0.0, 2.0], [3.0, 5.0]]> : tensor<2x2xf32>
    %c = stablehlo.concatenate %x, %v, dim = 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
    check.expect_eq_const %c, dense<[[0.0, 1.0, 2.0, 5.0, 4.0, 3.0], [3.0, 4.0, 5.0, 2.0, 1.0, 0.0]]> : tensor<2x6xf32>
    %w = stablehlo.broadcast_in_dim %x, dims = [2, 0] : (tensor<2x3xf32>) -> tensor<3x4x2xf32>
    check.expect_eq_const %w, dense<[[[0.0, 3.0], [0.0, 3.0], [0.0, 3.0], [0.0, 3.0]], [[1.0, 4.0], [1.0, 4.0], [1.0, 4.0], [1.0, 4.0]], [[2.0, 5.0], [2.0, 5.0], [2.0, 5.0], [2.0, 5.0]]]> : tensor<3x4x2xf32>
    %n = stablehlo.iota dim = 1 : tensor<2x3xi64>
    check.expect_eq_const %n, dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi64>
    %nine = stablehlo.constant dense<9.0> : tensor<f32>
    %p = stablehlo.pad %x, %nine, low = [1, -1], high = [1, 0], interior = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x4xf32>
    check.expect_eq_const %p, dense<[[9.0, 9.0, 9.0, 9.0], [9.0, 1.0, 9.0, 2.0], [9.0, 4.0, 9.0, 5.0], [9.0, 9.0, 9.0, 9.0]]> : tensor<4x4xf32>
    return
  }
}
