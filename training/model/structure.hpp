/// \file
/// Reflection of model structs: a model is a struct template over a world, `template <template <class> class V>`, whose
/// members are `V<Shape<…>>`, other such structs, or arrays of these, declared with BOOST_HANA_DEFINE_STRUCT. Path names
/// come from the struct, nested ones joined by dots. It knows no model and no world.
#pragma once

#include <boost/hana/accessors.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/core/to.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>
#include <array>
#include <cstddef>
#include <string>
#include <type_traits>

namespace etalon::training {

namespace detail {
template <class T>
inline constexpr bool is_array = false;
template <class T, std::size_t n>
inline constexpr bool is_array<std::array<T, n>> = true;
}  // namespace detail

/// Calls f(path, leaf) for every leaf of a model, in order of declaration; members of an array are numbered from 0.
template <class Model, class F>
void for_each_leaf(Model& model, F&& f, const std::string& path = "") {
  using Plain = std::remove_const_t<Model>;
  const std::string prefix = path.empty() ? "" : path + ".";
  if constexpr (detail::is_array<Plain>) {
    std::size_t n = 0;
    for (auto& member : model) for_each_leaf(member, f, prefix + std::to_string(n++));
  } else if constexpr (boost::hana::Struct<Plain>::value) {
    boost::hana::for_each(boost::hana::accessors<Plain>(), [&](auto accessor) {
      for_each_leaf(boost::hana::second(accessor)(model), f, prefix + boost::hana::to<const char*>(boost::hana::first(accessor)));
    });
  } else {
    f(path, model);
  }
}

}  // namespace etalon::training
