// Functions that are called, and constants in all their forms. Worked out by hand.
#loc = loc("model.py":3:1)
module @calls attributes {own.version = 1 : i32} {
  func.func @main() {
    %0:2 = call @pair() : () -> (tensor<2xf32>, tensor<2xf32>)
    %1 = func.call @twice(%0#0) : (tensor<2xf32>) -> tensor<2xf32>
    %2 = "func.call"(%0#1) <{callee = @twice}> : (tensor<2xf32>) -> tensor<2xf32>
    %3 = stablehlo.composite "own.twice" %0#1 {decomposition = @twice} : (tensor<2xf32>) -> tensor<2xf32>
    check.expect_eq_const %1, dense<[3.0, -5.0]> : tensor<2xf32>
    check.expect_eq_const %2, dense<[1.0, 0xFF800000]> : tensor<2xf32>
    check.expect_eq_const %3, dense<[1.0, 0xFF800000]> : tensor<2xf32>
    %4 = "stablehlo.constant"() <{value = dense<[[true, false], [false, true]]> : tensor<2x2xi1>}> : () -> tensor<2x2xi1> loc(#loc)
    check.expect_eq_const %4, dense<"0x09"> : tensor<2x2xi1>
    %5 = stablehlo.constant dense<0x3C00> : tensor<f16>
    %6 = stablehlo.convert %5 : (tensor<f16>) -> tensor<f64>
    check.expect_eq_const %6, dense<1.0> : tensor<f64>
    %7 = stablehlo.constant dense<"0x80BF4040"> : tensor<2xbf16>
    %8 = stablehlo.convert %7 : (tensor<2xbf16>) -> tensor<2xf32>
    check.expect_eq_const %8, dense<[-1.0, 3.0]> : tensor<2xf32>
    %9 = stablehlo.constant {own.name = "splat"} dense<-7> : tensor<3xi32>
    %10 = call @expected() : () -> tensor<3xi32>
    stablehlo.custom_call @check.expect_eq(%9, %10) {has_side_effect = true} : (tensor<3xi32>, tensor<3xi32>) -> ()
    return
  }
  func.func private @pair() -> (tensor<2xf32> {jax.result_info = "a"}, tensor<2xf32>) {
    %a = stablehlo.constant dense<"0x0000C03F000020C0"> : tensor<2xf32>
    %b = stablehlo.constant dense<[5.000000e-01, 0xFF800000]> : tensor<2xf32>
    return %a, %b : tensor<2xf32>, tensor<2xf32>
  }
  func.func private @twice(%x: tensor<2xf32> {own.note = "from a caller"}) -> tensor<2xf32> attributes {own.flag} {
    %y = stablehlo.add %x, %x : tensor<2xf32>
    return %y : tensor<2xf32>
  }
  func.func private @expected() -> tensor<3xi32> {
    %0 = "stablehlo.constant"() {value = dense<[-7, -7, -7]> : tensor<3xi32>} : () -> tensor<3xi32>
    return %0 : tensor<3xi32>
  }
}
