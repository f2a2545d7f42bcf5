// Rows whose last vector is cut: it is written without a mask, so that rows in the place of others do not wait for each other.
#include <catch2/catch.hpp>

#include "tests/compiled/contraction_build.hpp"

using namespace etalon;
using namespace etalon::test;
using Catch::Matchers::Contains;

namespace {

/// y[i, j] = x[i, j] + x[i, j] for so many rows; doubling is exact in every type.
System doubled_rows(DType dtype, std::int64_t rows, std::int64_t columns) {
  System s;
  const TensorId x = input(s, "x", dtype, {rows, columns});
  const TensorId y = output(s, "y", dtype, {rows, columns});
  const std::vector<Binder> binders = s.bind_all(y);
  const Expr here = s.at(x, variables(binders));
  s.define(y, binders, here + here);
  return s;
}

}  // namespace

TEST_CASE("the cut last vector of a short row is stored without a mask", "[compiled][tails]") {
  for (const std::int64_t sixteenths : {9, 12, 14, 28, 31, 46}) {  // of a vector
    const std::int64_t columns = sixteenths * lanes_of(DType::f32) / 16;
    CAPTURE(columns);
    // Were these rows not written in vectors at all, nothing would be shown.
    const std::string text = dump_of(doubled_rows(DType::f32, 64, columns), "llvm");
    CHECK_THAT(text, Contains("fadd <"));
    CHECK_THAT(text, Contains("store <"));
    CHECK_THAT(text, !Contains("llvm.masked.store"));
  }
}

TEST_CASE("rows of every length and type are written as a whole", "[compiled][tails]") {
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    for (std::int64_t columns = 1; columns <= 83; ++columns) {
      CAPTURE(name_of(dtype), columns);
      const std::int64_t rows = 5;
      std::vector<double> numbers;
      std::vector<double> doubles;
      for (std::int64_t i = 0; i < rows * columns; ++i) numbers.push_back(static_cast<double>(i % 101 - 50));
      for (const double n : numbers) doubles.push_back(2 * n);
      const auto found = compiled_values(doubled_rows(dtype, rows, columns), {real_tensor(dtype, {rows, columns}, numbers)}, options());
      REQUIRE(found.size() == 1);
      CHECK(found[0] == real_tensor(dtype, {rows, columns}, doubles));
    }
  }
}
