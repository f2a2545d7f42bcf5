/// \file
/// Systems built by hand for the tests of passes and plans.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::test {

using Indices = std::vector<spec::Expr>;

inline spec::Expr exp_of(const spec::Expr& e) { return spec::apply(spec::Primitive::exp, {e}); }

/// Shorthand for building systems by hand.
struct Build {
  spec::System system;

  spec::TensorId input(const std::string& name, DType dtype, const Dims& dims) {
    const spec::TensorId t = system.add_tensor(name, dtype, dims);
    system.inputs.push_back(t);
    return t;
  }
  /// name[i…] = value(i…)
  template <class Value>
  spec::TensorId local(const std::string& name, DType dtype, const Dims& dims, Value value) {
    const spec::TensorId t = system.add_tensor(name, dtype, dims);
    const std::vector<spec::Binder> binders = system.bind_all(t);
    system.define(t, binders, value(spec::variables(binders)));
    return t;
  }
  template <class Body>
  spec::Expr sum(std::int64_t extent, Body body) {
    const spec::Binder k = system.bind("k", extent);
    return spec::reduce(spec::Reduction::sum, {k}, spec::boolean(true), body(spec::variable(k)));
  }
  spec::Expr at(spec::TensorId t, std::vector<spec::Expr> indices) { return system.at(t, std::move(indices)); }
};

}  // namespace etalon::test
