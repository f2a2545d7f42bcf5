/// \file
/// Both kernels of a contraction whose depth is in parts (split.hpp), in CUDA C++: blocks add up a part of a tile each, and threads join the
/// parts of an element and do with it what is done with elements.
#pragma once

#include <string>
#include <utility>

#include "compiled/emit/text/nests.hpp"
#include "cuda/split.hpp"

namespace etalon::cuda {

class TileParts {
 public:
  /// \param memory points to the partial results
  TileParts(compiled::source::Scalars& scalars, const spec::System& system, compiled::source::Text& text, std::string index, const Split& split, std::string memory)
      : scalars_(scalars), system_(system), text_(text), index_(std::move(index)), split_(split), memory_(std::move(memory)) {}

  /// All of the code of the kernel that makes parts, behind what fills registers.
  void write_parts(const compiled::loops::Nest& nest);
  /// All of the code of the kernel that joins them.
  void write_joined(const compiled::loops::Nest& nest, compiled::source::Steps& steps);

 private:
  [[nodiscard]] std::int64_t results() const { return split_.turns * split_.chains; }
  [[nodiscard]] std::string at(const std::string& part, const std::string& number, compiled::loops::Type type) const;

  compiled::source::Scalars& scalars_;
  const spec::System& system_;
  compiled::source::Text& text_;
  std::string index_;
  const Split& split_;
  std::string memory_;
};

}  // namespace etalon::cuda
