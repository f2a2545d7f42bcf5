/// \file
/// The loops of a whole program as one text that knows in which line each of their parts stands, so that machine code can
/// point at it. It knows neither files nor LLVM.
#pragma once

#include <span>
#include <string>
#include <unordered_map>

#include "compiled/ir/nest.hpp"

namespace etalon::compiled::loops {

/// Lines count from 1. Parts are known by their address: nests, steps, loops of reductions, and what is
/// computed inside of larger ones (that is `Reduce::body`, `Contract::target`, `Transpose::target` and `Transpose::store`). They must stay where they are while the listing is used.
class Listing {
 public:
  Listing(const spec::System& system, std::span<const Nest> nests);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// The line of a part; 0 where it has none.
  [[nodiscard]] unsigned line_of(const void* part) const;

 private:
  std::string text_;
  std::unordered_map<const void*, unsigned> lines_;
};

}  // namespace etalon::compiled::loops
