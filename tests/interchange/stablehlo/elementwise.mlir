// Elementwise instructions, in the pretty form. Expected: NumPy.
module {
  func.func @main() {
    %a = stablehlo.constant dense<[[1.5, -2.0, 4.0], [0.25, 8.0, -2.5]]> : tensor<2x3xf32>
    %b = stablehlo.constant dense<[[0.5, 2.0, -4.0], [1.0, -0.25, 16.0]]> : tensor<2x3xf32>
    %add = stablehlo.add %a, %b : tensor<2x3xf32>
    check.expect_eq_const %add, dense<[[2.0, 0.0, 0.0], [1.25, 7.75, 13.5]]> : tensor<2x3xf32>
    %subtract = stablehlo.subtract %a, %b : tensor<2x3xf32>
    check.expect_eq_const %subtract, dense<[[1.0, -4.0, 8.0], [-0.75, 8.25, -18.5]]> : tensor<2x3xf32>
    %multiply = stablehlo.multiply %a, %b : tensor<2x3xf32>
    check.expect_eq_const %multiply, dense<[[0.75, -4.0, -16.0], [0.25, -2.0, -40.0]]> : tensor<2x3xf32>
    %divide = stablehlo.divide %a, %b : tensor<2x3xf32>
    check.expect_eq_const %divide, dense<[[3.0, -1.0, -1.0], [0.25, -32.0, -0.15625]]> : tensor<2x3xf32>
    %maximum = stablehlo.maximum %a, %b : tensor<2x3xf32>
    check.expect_eq_const %maximum, dense<[[1.5, 2.0, 4.0], [1.0, 8.0, 16.0]]> : tensor<2x3xf32>
    %minimum = stablehlo.minimum %a, %b : tensor<2x3xf32>
    check.expect_eq_const %minimum, dense<[[0.5, -2.0, -4.0], [0.25, -0.25, -2.5]]> : tensor<2x3xf32>
    %negate = stablehlo.negate %a : tensor<2x3xf32>
    check.expect_eq_const %negate, dense<[[-1.5, 2.0, -4.0], [-0.25, -8.0, 2.5]]> : tensor<2x3xf32>
    %abs = stablehlo.abs %a : tensor<2x3xf32>
    check.expect_eq_const %abs, dense<[[1.5, 2.0, 4.0], [0.25, 8.0, 2.5]]> : tensor<2x3xf32>
    %sign = stablehlo.sign %a : tensor<2x3xf32>
    check.expect_eq_const %sign, dense<[[1.0, -1.0, 1.0], [1.0, 1.0, -1.0]]> : tensor<2x3xf32>
    %floor = stablehlo.floor %a : tensor<2x3xf32>
    check.expect_eq_const %floor, dense<[[1.0, -2.0, 4.0], [0.0, 8.0, -3.0]]> : tensor<2x3xf32>
    %ceil = stablehlo.ceil %a : tensor<2x3xf32>
    check.expect_eq_const %ceil, dense<[[2.0, -2.0, 4.0], [1.0, 8.0, -2.0]]> : tensor<2x3xf32>
    %round_nearest_even = stablehlo.round_nearest_even %a : tensor<2x3xf32>
    check.expect_eq_const %round_nearest_even, dense<[[2.0, -2.0, 4.0], [0.0, 8.0, -2.0]]> : tensor<2x3xf32>
    %round_nearest_afz = stablehlo.round_nearest_afz %a : tensor<2x3xf32>
    check.expect_eq_const %round_nearest_afz, dense<[[2.0, -2.0, 4.0], [0.0, 8.0, -3.0]]> : tensor<2x3xf32>
    %less = stablehlo.compare LT, %a, %b, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    check.expect_eq_const %less, dense<[[false, true, false], [true, false, true]]> : tensor<2x3xi1>
    %not = stablehlo.not %less : tensor<2x3xi1>
    check.expect_eq_const %not, dense<[[true, false, true], [false, true, false]]> : tensor<2x3xi1>
    %above = stablehlo.compare GT, %less, %not, UNSIGNED : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
    check.expect_eq_const %above, dense<[[false, true, false], [true, false, true]]> : tensor<2x3xi1>
    %chosen = stablehlo.select %less, %a, %b : tensor<2x3xi1>, tensor<2x3xf32>
    check.expect_eq_const %chosen, dense<[[0.5, -2.0, -4.0], [0.25, -0.25, -2.5]]> : tensor<2x3xf32>
    %low = stablehlo.constant dense<-1.0> : tensor<f32>
    %high = stablehlo.constant dense<2.0> : tensor<f32>
    %clamped = stablehlo.clamp %low, %a, %high : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    check.expect_eq_const %clamped, dense<[[1.5, -1.0, 2.0], [0.25, 2.0, -1.0]]> : tensor<2x3xf32>
    %cut = stablehlo.convert %a : (tensor<2x3xf32>) -> tensor<2x3xi32>
    check.expect_eq_const %cut, dense<[[1, -2, 4], [0, 8, -2]]> : tensor<2x3xi32>
    %i = stablehlo.constant dense<[7, -7, 7, -7]> : tensor<4xi32>
    %j = stablehlo.constant dense<[2, 2, -2, -2]> : tensor<4xi32>
    %q = stablehlo.divide %i, %j : tensor<4xi32>
    check.expect_eq_const %q, dense<[3, -3, -3, 3]> : tensor<4xi32>
    %r = stablehlo.remainder %i, %j : tensor<4xi32>
    check.expect_eq_const %r, dense<[1, -1, 1, -1]> : tensor<4xi32>
    %c = stablehlo.constant dense<[[5.5, -7.0, 4.25], [0.25, 8.0, -3.5]]> : tensor<2x3xf32>
    %d = stablehlo.constant dense<[[2.0, 2.0, -1.5], [1.0, -0.75, 16.0]]> : tensor<2x3xf32>
    %rest = stablehlo.remainder %c, %d : tensor<2x3xf32>
    check.expect_eq_const %rest, dense<[[1.5, -1.0, 1.25], [0.25, 0.5, -3.5]]> : tensor<2x3xf32>
    return
  }
}
