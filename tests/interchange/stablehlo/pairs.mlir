// Reductions of two values at once, and what is put where windows have their extrema. Expected: worked out by hand.
module {
  func.func @main() {
    %x = stablehlo.constant dense<[[1.0, 5.0, 5.0, -2.0], [7.0, 0.0, 7.0, 7.0]]> : tensor<2x4xf32>
    %i = stablehlo.iota dim = 1 : tensor<2x4xi32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %high = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %none = stablehlo.constant dense<0> : tensor<i32>
    // The first of the largest: ties are told apart by the places.
    %a:2 = stablehlo.reduce(%x init: %low), (%i init: %none) across dimensions = [1] : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
     reducer(%p: tensor<f32>, %q: tensor<f32>) (%m: tensor<i32>, %n: tensor<i32>) {
      %1 = stablehlo.compare GT, %p, %q, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.compare NE, %p, %p, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.or %1, %2 : tensor<i1>
      %4 = stablehlo.compare EQ, %p, %q, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %5 = stablehlo.compare LT, %m, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %6 = stablehlo.and %4, %5 : tensor<i1>
      %7 = stablehlo.or %3, %6 : tensor<i1>
      %8 = stablehlo.select %3, %p, %q : tensor<i1>, tensor<f32>
      %9 = stablehlo.select %7, %m, %n : tensor<i1>, tensor<i32>
      stablehlo.return %8, %9 : tensor<f32>, tensor<i32>
    }
    check.expect_eq_const %a#0, dense<[5.0, 7.0]> : tensor<2xf32>
    check.expect_eq_const %a#1, dense<[1, 0]> : tensor<2xi32>
    // The first of the smallest along the other axis, in the words of another framework.
    %r = stablehlo.iota dim = 0 : tensor<2x4xi64>
    %zero = stablehlo.constant dense<0> : tensor<i64>
    %b:2 = "stablehlo.reduce"(%x, %r, %high, %zero) <{dimensions = array<i64: 0>}> ({
    ^bb0(%p: tensor<f32>, %m: tensor<i64>, %q: tensor<f32>, %n: tensor<i64>):
      %1 = stablehlo.compare LE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.select %1, %p, %q : tensor<i1>, tensor<f32>
      %3 = stablehlo.compare EQ, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.minimum %m, %n : tensor<i64>
      %5 = stablehlo.select %1, %m, %n : tensor<i1>, tensor<i64>
      %6 = stablehlo.select %3, %4, %5 : tensor<i1>, tensor<i64>
      stablehlo.return %2, %6 : tensor<f32>, tensor<i64>
    }) : (tensor<2x4xf32>, tensor<2x4xi64>, tensor<f32>, tensor<i64>) -> (tensor<4xf32>, tensor<4xi64>)
    check.expect_eq_const %b#0, dense<[1.0, 0.0, 5.0, -2.0]> : tensor<4xf32>
    check.expect_eq_const %b#1, dense<[0, 1, 0, 0]> : tensor<4xi64>
    // The last of the largest over both axes, and another tensor there.
    %t = stablehlo.constant dense<[[10.0, 20.0, 30.0, 40.0], [50.0, 60.0, 70.0, 80.0]]> : tensor<2x4xf32>
    %nought = stablehlo.constant dense<0.0> : tensor<f32>
    %c:2 = "stablehlo.reduce"(%x, %t, %low, %nought) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%p: tensor<f32>, %m: tensor<f32>, %q: tensor<f32>, %n: tensor<f32>):
      %1 = stablehlo.compare GT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.select %1, %p, %q : tensor<i1>, tensor<f32>
      %3 = stablehlo.select %1, %m, %n : tensor<i1>, tensor<f32>
      stablehlo.return %2, %3 : tensor<f32>, tensor<f32>
    }) : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
    check.expect_eq_const %c#0, dense<7.0> : tensor<f32>
    check.expect_eq_const %c#1, dense<80.0> : tensor<f32>
    // Windows of two columns, padded by one before: the first of the largest of each, and another tensor there.
    %d:2 = "stablehlo.reduce_window"(%x, %t, %low, %nought) <{padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>,
      window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
    ^bb0(%p: tensor<f32>, %m: tensor<f32>, %q: tensor<f32>, %n: tensor<f32>):
      %1 = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.select %1, %p, %q : tensor<i1>, tensor<f32>
      %3 = stablehlo.select %1, %m, %n : tensor<i1>, tensor<f32>
      stablehlo.return %2, %3 : tensor<f32>, tensor<f32>
    }) : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
    check.expect_eq_const %d#0, dense<[[1.0, 5.0], [7.0, 7.0]]> : tensor<2x2xf32>
    check.expect_eq_const %d#1, dense<[[10.0, 20.0], [50.0, 70.0]]> : tensor<2x2xf32>
    // Windows of three columns that overlap: what is chosen twice has both.
    %s = stablehlo.constant dense<[[1.0, 10.0], [100.0, 1000.0]]> : tensor<2x2xf32>
    %e = "stablehlo.select_and_scatter"(%x, %s, %nought) <{window_dimensions = array<i64: 1, 3>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %1 = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }, {
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %1 = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<2x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
    check.expect_eq_const %e, dense<[[0.0, 11.0, 0.0, 0.0], [100.0, 0.0, 1000.0, 0.0]]> : tensor<2x4xf32>
    // Of equal elements the last; windows reach beyond the end, where nothing is.
    %f = "stablehlo.select_and_scatter"(%x, %s, %nought) <{window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>,
      padding = dense<[[0, 0], [0, 1]]> : tensor<2x2xi64>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %1 = stablehlo.compare GT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }, {
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %1 = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<2x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
    check.expect_eq_const %f, dense<[[0.0, 0.0, 11.0, 0.0], [0.0, 0.0, 100.0, 1000.0]]> : tensor<2x4xf32>
    return
  }
}
