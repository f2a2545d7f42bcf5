/// \file
/// The world of host values: a batch as it is given to a session or a routine, with its types checked.
#pragma once

#include <string>
#include <vector>

#include "spec/error.hpp"
#include "spec/value_type.hpp"
#include "training/model/element.hpp"
#include "training/model/parameters.hpp"

namespace etalon::training {

/// A host tensor of the type that S says; reals are f32.
template <class S>
struct Given {
  static constexpr spec::ValueType type{dtype_of_t<ElementOf<S>>::value, ShapeOf<S>::dims};
  HostTensor value{type.dtype, type.dims};

  Given() = default;
  /// \throws SpecViolation unless there is one value per element.
  Given(const std::vector<ElementOf<S>>& values) : Given(checked(values)) {}  // NOLINT: it is these values
  /// \throws SpecViolation for another type.
  Given(HostTensor tensor) : value(std::move(tensor)) {  // NOLINT: the same with its type known at run time
    const spec::ValueType got{value.dtype, value.dims};
    if (!(got == type)) throw SpecViolation("given: " + to_string(type) + " expected, got " + to_string(got));
  }

 private:
  [[nodiscard]] static HostTensor checked(const std::vector<ElementOf<S>>& values) {
    if (static_cast<std::int64_t>(values.size()) != type.dims.count()) {
      throw SpecViolation("given: " + to_string(type) + " takes " + std::to_string(type.dims.count()) + " values, got " +
                          std::to_string(values.size()));
    }
    return HostTensor::of(type.dims, values);
  }
};

/// The tensors of a struct of given values by path name, as a routine takes them.
template <template <template <class> class> class Batch>
[[nodiscard]] Named named(const Batch<Given>& batch) {
  Named all;
  for_each_leaf(batch, [&](const std::string& path, const auto& leaf) { all.emplace(path, leaf.value); });
  return all;
}

}  // namespace etalon::training
