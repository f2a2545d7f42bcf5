/// \file
/// Reflection of model structs: a model is a struct template over what stands at each parameter, its members declared
/// with BOOST_HANA_DEFINE_STRUCT; names come from the struct, nested ones joined by dots. It knows no model.
#pragma once

#include <boost/hana/accessors.hpp>
#include <boost/hana/core/to.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>
#include <string>
#include <type_traits>

namespace etalon::training {

/// Calls f(name, parameter) for every parameter of a model, in order of declaration.
template <class Leaf, class Model, class F>
void for_each_parameter(Model& model, F&& f, const std::string& prefix = "") {
  using Plain = std::remove_const_t<Model>;
  boost::hana::for_each(boost::hana::accessors<Plain>(), [&](auto accessor) {
    auto& member = boost::hana::second(accessor)(model);
    const std::string name = prefix + boost::hana::to<const char*>(boost::hana::first(accessor));
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>, Leaf>) {
      f(name, member);
    } else {
      for_each_parameter<Leaf>(member, f, name + ".");
    }
  });
}

}  // namespace etalon::training
