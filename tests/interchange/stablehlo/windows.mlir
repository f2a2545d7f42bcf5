// Convolutions and windows, in both forms. Expected: NumPy, window by window.
module {
  func.func @main() {
    %x = stablehlo.constant dense<[[[[0.0], [1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0], [7.0]], [[8.0], [9.0], [10.0], [11.0]], [[12.0], [13.0], [14.0], [15.0]]]]> : tensor<1x4x4x1xf32>
    %k = stablehlo.constant dense<[[[[1.0]], [[2.0]]], [[[-1.0]], [[0.5]]]]> : tensor<2x2x1x1xf32>
    %y = stablehlo.convolution(%x, %k)
      dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [1, 2], pad = [[1, 0], [0, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x4x2x1xf32>
    check.expect_eq_const %y, dense<[[[[0.5], [-0.5]], [[0.5], [5.5]], [[10.5], [15.5]], [[20.5], [25.5]]]]> : tensor<1x4x2x1xf32>
    %z = "stablehlo.convolution"(%x, %k) <{
      batch_group_count = 1 : i64,
      dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>,
      feature_group_count = 1 : i64, lhs_dilation = array<i64: 2, 2>
    }> : (tensor<1x4x4x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x6x6x1xf32>
    check.expect_eq_const %z, dense<[[[[0.0], [2.0], [1.0], [4.0], [2.0], [6.0]], [[-4.0], [2.5], [-5.0], [3.0], [-6.0], [3.5]], [[4.0], [10.0], [5.0], [12.0], [6.0], [14.0]], [[-8.0], [4.5], [-9.0], [5.0], [-10.0], [5.5]], [[8.0], [18.0], [9.0], [20.0], [10.0], [22.0]], [[-12.0], [6.5], [-13.0], [7.0], [-14.0], [7.5]]]]> : tensor<1x6x6x1xf32>
    %g = stablehlo.constant dense<[[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]]]> : tensor<2x2x2xf32>
    %h = stablehlo.constant dense<[[[1.0, 3.0]], [[2.0, -1.0]]]> : tensor<2x1x2xf32>
    %o = stablehlo.convolution(%g, %h) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x2x2xf32>, tensor<2x1x2xf32>) -> tensor<2x1x2xf32>
    check.expect_eq_const %o, dense<[[[4.0, 0.0]], [[16.0, 8.0]]]> : tensor<2x1x2xf32>
    %m = stablehlo.constant dense<[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0]]> : tensor<4x4xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %w = "stablehlo.reduce_window"(%m, %low) <{padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>,
      window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.maximum %p, %q : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<3x2xf32>
    check.expect_eq_const %w, dense<[[2.0, 3.0], [10.0, 11.0], [14.0, 15.0]]> : tensor<3x2xf32>
    // A kernel that lies reversed, and windows that begin with 6.
    %l = stablehlo.constant dense<[[[1.0], [2.0], [3.0], [4.0]]]> : tensor<1x4x1xf32>
    %n = stablehlo.constant dense<[[[1.0]], [[10.0]]]> : tensor<2x1x1xf32>
    %t = stablehlo.convolution(%l, %n) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {reverse = [true]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x3x1xf32>
    check.expect_eq_const %t, dense<[[[12.0], [23.0], [34.0]]]> : tensor<1x3x1xf32>
    %six = stablehlo.constant dense<6.0> : tensor<f32>
    %v = "stablehlo.reduce_window"(%m, %six) <{window_dimensions = array<i64: 2, 4>, window_strides = array<i64: 2, 1>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.maximum %p, %q : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<2x1xf32>
    check.expect_eq_const %v, dense<[[7.0], [15.0]]> : tensor<2x1xf32>
    %u = "stablehlo.reduce_window"(%m, %six) <{window_dimensions = array<i64: 1, 4>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.minimum %p, %q : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x1xf32>
    check.expect_eq_const %u, dense<[[0.0], [4.0], [6.0], [6.0]]> : tensor<4x1xf32>
    return
  }
}
