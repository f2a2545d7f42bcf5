/// \file
/// A map whose threads have four neighbours at a time (fours.hpp), in CUDA C++. It takes no decision of its own.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "compiled/emit/text/nests.hpp"
#include "cuda/fours.hpp"

namespace etalon::cuda {

/// What the text needs before its kernels: four numbers that lie as an instruction moves them.
inline constexpr std::string_view definition_of_four = "template <class T> struct alignas(sizeof(T) < 4 ? 4 * sizeof(T) : 16) et_four { T at[4]; };\n";

class FourSteps final : public compiled::source::Steps {
 public:
  FourSteps(compiled::source::Scalars& scalars, const spec::System& system, compiled::source::Text& text, std::string_view index, const Fours& fours)
      : Steps(scalars, system, text, index), fours_(fours) {}

  /// All of the kernel's code.
  void write(const compiled::loops::Nest& nest);

 protected:
  using Steps::step;
  void step(const compiled::loops::Store& store, const compiled::loops::Step& s) override;

 private:
  void rest(const compiled::loops::Nest& nest, const std::string& first, const std::string& turns);
  void four(const compiled::loops::Nest& nest, const std::string& first);
  [[nodiscard]] std::string type_of(spec::TensorId t) const;

  const Fours& fours_;
  std::unordered_map<const compiled::loops::Store*, std::string> put_;  ///< where values of stores wait for the others; empty where there is one turn
};

}  // namespace etalon::cuda
