/// \file
/// Primitives of oneDNN written down as they are made and run, as statements of C++. It knows no operation and no request.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <dnnl.hpp>

namespace etalon::onednn {

/// As C++ reads them; numbers in the fewest digits that mean the same in f32.
[[nodiscard]] std::string text_of(float value);
[[nodiscard]] std::string text_of(int value);
[[nodiscard]] std::string text_of(const std::vector<float>& numbers);
[[nodiscard]] std::string text_of(const dnnl::memory::dims& dims);
[[nodiscard]] std::string text_of(dnnl::prop_kind kind);
[[nodiscard]] std::string text_of(dnnl::algorithm which);
[[nodiscard]] std::string text_of(dnnl::normalization_flags flags);
/// \param desc in f32, with strides or for the primitive to choose
[[nodiscard]] std::string text_of(const dnnl::memory::desc& desc);
/// Whether a description can be written with its strides.
[[nodiscard]] bool has_strides(const dnnl::memory::desc& desc);
/// An argument of a primitive by the name of its number.
[[nodiscard]] std::string argument_text(int argument);

/// Statements in the order in which they were made.
class Recording {
 public:
  /// A name that is free.
  [[nodiscard]] std::string fresh(const std::string& stem) { return stem + std::to_string(++count_); }
  /// A statement that defines or changes what bears this name.
  void add(const std::string& name, std::string statement) { statements_.emplace_back(name, std::move(statement)); }
  /// Those on which these names depend.
  [[nodiscard]] std::vector<std::string> needed(const std::vector<std::string>& names) const;

 private:
  std::vector<std::pair<std::string, std::string>> statements_;
  int count_ = 0;
};

}  // namespace etalon::onednn
