// Gather, scatter and slices at computed places. Expected: NumPy.
module {
  func.func @main() {
    %x = stablehlo.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0, 9.0], [10.0, 11.0, 12.0, 13.0, 14.0], [15.0, 16.0, 17.0, 18.0, 19.0]]> : tensor<4x5xf32>
    %i = stablehlo.constant dense<[[3, 1], [0, 9], [2, 0]]> : tensor<3x2xi64>
    %g = "stablehlo.gather"(%x, %i) <{
      dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 2>
    }> : (tensor<4x5xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
    check.expect_eq_const %g, dense<[[16.0, 17.0], [3.0, 4.0], [10.0, 11.0]]> : tensor<3x2xf32>
    %r = stablehlo.constant dense<[[1], [7], [1]]> : tensor<3x1xi64>
    %u = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0], [9.0, 9.0, 9.0, 9.0, 9.0], [10.0, 20.0, 30.0, 40.0, 50.0]]> : tensor<3x5xf32>
    %s = "stablehlo.scatter"(%x, %r, %u) <{
      scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
    }> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %a = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %a : tensor<f32>
    }) : (tensor<4x5xf32>, tensor<3x1xi64>, tensor<3x5xf32>) -> tensor<4x5xf32>
    check.expect_eq_const %s, dense<[[0.0, 1.0, 2.0, 3.0, 4.0], [16.0, 28.0, 40.0, 52.0, 64.0], [10.0, 11.0, 12.0, 13.0, 14.0], [15.0, 16.0, 17.0, 18.0, 19.0]]> : tensor<4x5xf32>
    %m = "stablehlo.scatter"(%x, %r, %u) <{
      scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
    }> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %a = stablehlo.maximum %p, %q : tensor<f32>
      stablehlo.return %a : tensor<f32>
    }) : (tensor<4x5xf32>, tensor<3x1xi64>, tensor<3x5xf32>) -> tensor<4x5xf32>
    check.expect_eq_const %m, dense<[[0.0, 1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0, 50.0], [10.0, 11.0, 12.0, 13.0, 14.0], [15.0, 16.0, 17.0, 18.0, 19.0]]> : tensor<4x5xf32>
    %n = stablehlo.constant dense<[[2], [0]]> : tensor<2x1xi64>
    %v = stablehlo.constant dense<[[-1.0, -2.0, -3.0, -4.0, -5.0], [-6.0, -7.0, -8.0, -9.0, -10.0]]> : tensor<2x5xf32>
    %t = "stablehlo.scatter"(%x, %n, %v) <{
      scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>,
      unique_indices = true
    }> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      stablehlo.return %q : tensor<f32>
    }) : (tensor<4x5xf32>, tensor<2x1xi64>, tensor<2x5xf32>) -> tensor<4x5xf32>
    check.expect_eq_const %t, dense<[[-6.0, -7.0, -8.0, -9.0, -10.0], [5.0, 6.0, 7.0, 8.0, 9.0], [-1.0, -2.0, -3.0, -4.0, -5.0], [15.0, 16.0, 17.0, 18.0, 19.0]]> : tensor<4x5xf32>
    %one = stablehlo.constant dense<1> : tensor<i64>
    %nine = stablehlo.constant dense<9> : tensor<i64>
    %d = stablehlo.dynamic_slice %x, %one, %nine, sizes = [2, 3] : (tensor<4x5xf32>, tensor<i64>, tensor<i64>) -> tensor<2x3xf32>
    check.expect_eq_const %d, dense<[[7.0, 8.0, 9.0], [12.0, 13.0, 14.0]]> : tensor<2x3xf32>
    %h = stablehlo.constant dense<[[100.0, 100.0, 100.0], [100.0, 100.0, 100.0]]> : tensor<2x3xf32>
    %p = stablehlo.dynamic_update_slice %x, %h, %one, %nine : (tensor<4x5xf32>, tensor<2x3xf32>, tensor<i64>, tensor<i64>) -> tensor<4x5xf32>
    check.expect_eq_const %p, dense<[[0.0, 1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 100.0, 100.0, 100.0], [10.0, 11.0, 100.0, 100.0, 100.0], [15.0, 16.0, 17.0, 18.0, 19.0]]> : tensor<4x5xf32>
    return
  }
}
