// Lanes whose elements lie some apart: what is read for them ends with the last lane's element.
#include <catch2/catch.hpp>

#include "tests/compiled/between_pages.hpp"
#include "tests/compiled/build_systems.hpp"

using namespace etalon;
using namespace etalon::test;

namespace {

/// y[i] = x[i, column] for so many rows.
System one_column(DType dtype, std::int64_t rows, std::int64_t columns, std::int64_t column) {
  System s;
  const TensorId x = input(s, "x", dtype, {rows, columns});
  const TensorId y = output(s, "y", dtype, {rows});
  const std::vector<Binder> binders = s.bind_all(y);
  s.define(y, binders, s.at(x, {spec::variable(binders[0]), spec::integer(column)}));
  return s;
}

Bytes bytes_of_column(const HostTensor& x, std::int64_t rows, std::int64_t columns, std::int64_t column) {
  const std::size_t size = size_of(x.dtype);
  Bytes wanted;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::byte* from = x.bytes.data() + static_cast<std::size_t>(row * columns + column) * size;
    wanted.insert(wanted.end(), from, from + size);
  }
  return wanted;
}

HostTensor counted(DType dtype, const Dims& dims) {
  HostTensor t(dtype, dims);
  for (std::size_t i = 0; i < t.bytes.size(); ++i) t.bytes[i] = static_cast<std::byte>(i % 61);
  return t;
}

}  // namespace

TEST_CASE("columns of every length are read from within the tensor", "[compiled][neighbours]") {
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::i64}) {
    for (std::int64_t columns = 2; columns <= 5; ++columns) {
      for (std::int64_t rows = 1; rows <= 35; ++rows) {
        for (const std::int64_t column : {std::int64_t{0}, columns - 1}) {
          CAPTURE(name_of(dtype), rows, columns, column);
          const HostTensor x = counted(dtype, {rows, columns});
          compiled::Unit unit(one_column(dtype, rows, columns, column), options(), *shared_processor(), {});
          const Bytes wanted = bytes_of_column(x, rows, columns, column);
          for (const auto at : {BetweenPages::At::end, BetweenPages::At::begin}) {
            const auto found = run_between_pages(unit, {x}, at, std::byte{0x7E});
            REQUIRE(found.size() == 1);
            REQUIRE(found[0] == wanted);
          }
        }
      }
    }
  }
}
