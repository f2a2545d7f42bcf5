/// \file
/// How tests write systems by hand: inputs, locals and outputs, and an equation as a function of its indices.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::test::by_hand {

using namespace etalon::spec;
using P = Primitive;

inline Expr call(P p, std::vector<Expr> args) { return apply(p, std::move(args)); }
inline Expr operator+(const Expr& a, std::int64_t b) { return a + integer(b); }
inline Expr operator-(const Expr& a, std::int64_t b) { return a - integer(b); }
inline Expr operator*(const Expr& a, std::int64_t b) { return a * integer(b); }
inline Expr quotient(const Expr& a, std::int64_t b) { return call(P::floor_div, {a, integer(b)}); }
inline Expr remainder(const Expr& a, std::int64_t b) { return call(P::modulo, {a, integer(b)}); }
inline Expr inside(const Expr& e, std::int64_t n) { return call(P::le, {integer(0), e}) && call(P::lt, {e, integer(n)}); }
inline Expr always() { return boolean(true); }

/// Builds one system: inputs, locals, outputs.
struct Builder {
  System s;

  TensorId input(const std::string& name, Dims dims, DType dtype = DType::f64) {
    const TensorId t = s.add_tensor(name, dtype, dims);
    s.inputs.push_back(t);
    return t;
  }
  TensorId local(const std::string& name, Dims dims, DType dtype = DType::f64) { return s.add_tensor(name, dtype, dims); }
  TensorId output(const std::string& name, Dims dims, DType dtype = DType::f64) {
    const TensorId t = s.add_tensor(name, dtype, dims);
    s.outputs.push_back(t);
    return t;
  }
  Binder bind(const std::string& name, std::int64_t extent) { return s.bind(name, extent); }
  /// target[i…] = value(i…)
  void define(TensorId target, const auto& value) {
    std::vector<Binder> binders = s.bind_all(target);
    const Expr v = value(variables(binders));
    s.define(target, std::move(binders), v);
  }
  Expr at(TensorId t, std::vector<Expr> i) { return s.at(t, std::move(i)); }
  Expr padded(TensorId t, const std::vector<Expr>& i, Expr otherwise = decimal(0)) {
    Expr in;
    for (std::size_t axis = 0; axis < i.size(); ++axis) {
      const Expr c = inside(i[axis], s[t].dims[axis]);
      in = in.valid() ? in && c : c;
    }
    return select(in, at(t, i), std::move(otherwise));
  }
  Expr sum(const std::vector<Binder>& b, Expr body, Expr guard = always()) {
    return reduce(Reduction::sum, b, std::move(guard), std::move(body));
  }
};

inline Expr v(const Binder& b) { return variable(b); }

}  // namespace etalon::test::by_hand
