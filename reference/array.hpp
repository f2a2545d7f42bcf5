/// \file
/// The values of one tensor over a number type: dense, row-major. It knows no storage format; element types are the
/// business of host.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spec/dims.hpp"
#include "spec/dtype.hpp"

namespace etalon::reference {

/// Elements of one kind: `real` holds them when the kind is real, `integer` otherwise (booleans as 0 and 1).
template <class T>
struct Array {
  Kind kind = Kind::real;
  Dims dims;
  std::vector<T> real;
  std::vector<std::int64_t> integer;

  Array() = default;
  /// Zero-filled.
  Array(Kind k, const Dims& d) : kind(k), dims(d) {
    if (k == Kind::real) {
      real.resize(static_cast<std::size_t>(d.count()));
    } else {
      integer.resize(static_cast<std::size_t>(d.count()));
    }
  }
  [[nodiscard]] static Array of_reals(const Dims& d, std::vector<T> values) {
    Array a;
    a.dims = d;
    a.real = std::move(values);
    return a;
  }
  [[nodiscard]] static Array of_integers(const Dims& d, std::vector<std::int64_t> values, Kind k = Kind::integer) {
    Array a;
    a.kind = k;
    a.dims = d;
    a.integer = std::move(values);
    return a;
  }
  [[nodiscard]] std::size_t size() const { return kind == Kind::real ? real.size() : integer.size(); }
};

}  // namespace etalon::reference
