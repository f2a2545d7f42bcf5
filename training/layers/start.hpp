/// \file
/// How the parameters of layers start. It knows no layer.
#pragma once

#include <string>

#include "training/model/parameter.hpp"
#include "training/model/structure.hpp"

namespace etalon::training {

/// A model whose gains start at 1, whose other vectors start at 0, and whose weights are drawn by `weights` and decay.
/// What the model itself says of a parameter's start holds.
template <class Model>
[[nodiscard]] Model started(const std::string& weights = "kaiming_uniform", Model model = {}) {
  for_each_leaf(model, [&](const std::string& path, Parameter& parameter) {
    if (parameter.initialiser) return;
    parameter.decays = parameter.dims.rank > 1;
    const bool gain = path == "gain" || path.ends_with(".gain");
    parameter.initialiser = Initialiser{parameter.decays ? weights : gain ? "ones" : "zeros"};
  });
  return model;
}

}  // namespace etalon::training
