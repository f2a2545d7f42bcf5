/// \file
/// The steps of both kernels of a reduction in parts (split.hpp) whose threads work alone, in CUDA C++.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "compiled/emit/text/nests.hpp"
#include "cuda/split.hpp"

namespace etalon::cuda {

/// Where a kernel finds partial results.
struct Joining {
  const Split& split;
  std::string memory;  ///< points to them
  std::string turn{};  ///< the turn at hand
  [[nodiscard]] std::string at(const std::string& part, const std::string& chain, compiled::loops::Type type) const;
};

/// A kernel whose threads make a partial result each.
class PartSteps final : public compiled::source::Steps {
 public:
  PartSteps(compiled::source::Scalars& scalars, const spec::System& system, compiled::source::Text& text, std::string_view index, const Split& split)
      : Steps(scalars, system, text, index), split_(split) {}

  /// All of the kernel's code behind what fills registers: \param memory gets the results
  void write(const compiled::loops::Nest& nest, const std::string& memory);

 protected:
  [[nodiscard]] Walk walk_of(const compiled::loops::Loop& loop) const override;
  [[nodiscard]] std::pair<std::string, std::string> stretch_of(const compiled::loops::Reduce& r) const override { return r.tree.blocks ? stretch_ : Steps::stretch_of(r); }

 private:
  const Split& split_;
  std::string chain_;
  std::pair<std::string, std::string> stretch_;
};

/// A kernel whose threads have a turn each, and find its reduction in parts.
class JoiningSteps final : public compiled::source::Steps {
 public:
  JoiningSteps(compiled::source::Scalars& scalars, const spec::System& system, compiled::source::Text& text, std::string_view index, const Joining& joining)
      : Steps(scalars, system, text, index), joining_(joining) {}

 protected:
  using Steps::step;
  void step(const compiled::loops::Reduce& r, const compiled::loops::Step& s) override;

 private:
  const Joining& joining_;
};

}  // namespace etalon::cuda
