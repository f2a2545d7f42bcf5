// Normalisations by features, with numbers whose roots are exact. Expected: worked out by hand.
module {
  func.func @main() {
    %x = stablehlo.constant dense<[[1.0, 10.0], [5.0, 6.0]]> : tensor<2x2xf32>
    %g = stablehlo.constant dense<[2.0, -1.0]> : tensor<2xf32>
    %b = stablehlo.constant dense<[0.5, 3.0]> : tensor<2xf32>
    %m = stablehlo.constant dense<[3.0, 2.0]> : tensor<2xf32>
    %v = stablehlo.constant dense<[3.75, 15.75]> : tensor<2xf32>
    %y = "stablehlo.batch_norm_inference"(%x, %g, %b, %m, %v) <{epsilon = 0.25 : f32, feature_index = 1 : i64}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
    check.expect_eq_const %y, dense<[[-1.5, 1.0], [2.5, 2.0]]> : tensor<2x2xf32>
    // The variances are 4 and 4; along the other axis 20.25 and 0.25.
    %t:3 = "stablehlo.batch_norm_training"(%x, %g, %b) <{epsilon = 0.0 : f32, feature_index = 1 : i64}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
    check.expect_eq_const %t#0, dense<[[-1.5, 2.0], [2.5, 4.0]]> : tensor<2x2xf32>
    check.expect_eq_const %t#1, dense<[3.0, 8.0]> : tensor<2xf32>
    check.expect_eq_const %t#2, dense<[4.0, 4.0]> : tensor<2xf32>
    %u:3 = "stablehlo.batch_norm_training"(%x, %g, %b) <{epsilon = 0.0 : f32, feature_index = 0 : i64}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
    check.expect_eq_const %u#0, dense<[[-1.5, 2.5], [4.0, 2.0]]> : tensor<2x2xf32>
    check.expect_eq_const %u#1, dense<[5.5, 5.5]> : tensor<2xf32>
    check.expect_eq_const %u#2, dense<[20.25, 0.25]> : tensor<2xf32>
    // Distances from the means are -2, 2 and 2, -2; the variances are said to be 0, so that 1 is divided by.
    %d = stablehlo.constant dense<[[1.0, 0.0], [2.0, -4.0]]> : tensor<2x2xf32>
    %n = stablehlo.constant dense<[3.0, 8.0]> : tensor<2xf32>
    %z = stablehlo.constant dense<[0.0, 0.0]> : tensor<2xf32>
    %k:3 = "stablehlo.batch_norm_grad"(%x, %g, %n, %z, %d) <{epsilon = 1.0 : f32, feature_index = 1 : i64}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
    check.expect_eq_const %k#0, dense<[[3.0, 6.0], [-3.0, -6.0]]> : tensor<2x2xf32>
    check.expect_eq_const %k#1, dense<[2.0, 8.0]> : tensor<2xf32>
    check.expect_eq_const %k#2, dense<[3.0, -4.0]> : tensor<2xf32>
    return
  }
}
