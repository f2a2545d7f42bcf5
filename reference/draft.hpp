/// \file
/// A tensor of an answer while it is being decided, element by element.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reference/host.hpp"

namespace etalon::reference {

struct Draft {
  std::string name;         ///< as messages call it
  HostTensor tensor;
  std::vector<bool> open;   ///< the elements that are not decided yet

  Draft(std::string of, DType dtype, const Dims& dims)
      : name(std::move(of)), tensor(dtype, dims), open(static_cast<std::size_t>(dims.count()), true) {}
};

/// An answer to be: as spec::Numbers, in the making.
struct Drafts {
  std::vector<Draft> outputs;
  std::vector<std::optional<Draft>> tangents;
  std::vector<std::optional<Draft>> cotangents;
};

}  // namespace etalon::reference
