// Products and reductions, in both forms. Expected: NumPy.
module {
  func.func @main() {
    %l = stablehlo.constant dense<[[[-5.0, -4.0, -3.0], [-2.0, -1.0, 0.0]], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]> : tensor<2x2x3xf32>
    %r = stablehlo.constant dense<[[[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]], [[3.0, 3.5], [4.0, 4.5], [5.0, 5.5]]]> : tensor<2x3x2xf32>
    %d = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x2x3xf32>, tensor<2x3x2xf32>) -> tensor<2x2x2xf32>
    check.expect_eq_const %d, dense<[[[-10.0, -16.0], [-1.0, -2.5]], [[26.0, 29.0], [62.0, 69.5]]]> : tensor<2x2x2xf32>
    %e = "stablehlo.dot_general"(%l, %r) <{
      dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 2], rhs_contracting_dimensions = [0, 1]>,
      precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]
    }> : (tensor<2x2x3xf32>, tensor<2x3x2xf32>) -> tensor<2x2xf32>
    check.expect_eq_const %e, dense<[[16.0, 13.0], [61.0, 67.0]]> : tensor<2x2xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%l init: %zero) applies stablehlo.add across dimensions = [0, 2] : (tensor<2x2x3xf32>, tensor<f32>) -> tensor<2xf32>
    check.expect_eq_const %sum, dense<[-6.0, 12.0]> : tensor<2xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %max = stablehlo.reduce(%l init: %low) across dimensions = [1] : (tensor<2x2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
     reducer(%p: tensor<f32>, %q: tensor<f32>) {
      %m = stablehlo.maximum %p, %q : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }
    check.expect_eq_const %max, dense<[[-2.0, -1.0, 0.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %top = "stablehlo.reduce"(%l, %zero) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %m = "stablehlo.maximum"(%q, %p) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%m) : (tensor<f32>) -> ()
    }) : (tensor<2x2x3xf32>, tensor<f32>) -> tensor<f32>
    check.expect_eq_const %top, dense<6.0> : tensor<f32>
    return
  }
}
