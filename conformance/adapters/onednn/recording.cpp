#include "conformance/adapters/onednn/recording.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string_view>

#include <dnnl_debug.h>

namespace etalon::onednn {
namespace {

template <class List>
[[nodiscard]] std::string listed(const List& list) {
  std::string text;
  for (const auto& item : list) {
    if constexpr (std::is_same_v<std::decay_t<decltype(item)>, float>) text += (text.empty() ? "" : ", ") + text_of(item);
    else text += (text.empty() ? "" : ", ") + std::to_string(item);
  }
  return "{" + text + "}";
}

[[nodiscard]] bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

void insert_names(std::string_view text, std::set<std::string>& into) {
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && is_of_name(text[end])) ++end;
    if (end > begin) into.emplace(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace

std::string text_of(float value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
  std::array<char, 32> text{};
  for (int digits = 1; digits <= 9; ++digits) {
    std::snprintf(text.data(), text.size(), "%.*g", digits, static_cast<double>(value));
    if (std::strtof(text.data(), nullptr) == value) break;
  }
  // An integer has no negative zero.
  return value == 0 && std::signbit(value) ? "-0.0" : text.data();
}

std::string text_of(int value) { return std::to_string(value); }
std::string text_of(const std::vector<float>& numbers) { return "Numbers" + listed(numbers); }
std::string text_of(const dnnl::memory::dims& dims) { return "memory::dims" + listed(dims); }
std::string text_of(dnnl::prop_kind kind) { return std::string("prop_kind::") + dnnl_prop_kind2str(dnnl::convert_to_c(kind)); }
std::string text_of(dnnl::algorithm which) { return std::string("algorithm::") + dnnl_alg_kind2str(dnnl::convert_to_c(which)); }

std::string text_of(dnnl::normalization_flags flags) {
  std::string text = "normalization_flags::none";
  for (const auto& [flag, name] : {std::pair(dnnl::normalization_flags::use_scale, "scale"), std::pair(dnnl::normalization_flags::use_shift, "shift")}) {
    if ((flags & flag) == flag) text += std::string(" | normalization_flags::use_") + name;
  }
  return text;
}

bool has_strides(const dnnl::memory::desc& desc) {
  const dnnl_memory_desc_t& d = desc.data;
  return d.format_kind == dnnl_blocked && d.format_desc.blocking.inner_nblks == 0 && d.data_type == dnnl_f32 && d.extra.flags == 0;
}

std::string text_of(const dnnl::memory::desc& desc) {
  const dnnl_memory_desc_t& d = desc.data;
  const std::string shape = listed(desc.dims());
  if (d.format_kind == dnnl_format_kind_any) return "any(" + shape + ")";
  return "desc(" + shape + ", " + listed(dnnl::memory::dims(d.format_desc.blocking.strides, d.format_desc.blocking.strides + d.ndims)) + ")";
}

std::string argument_text(int argument) {
  constexpr std::pair<int, const char*> names[] = {
      {DNNL_ARG_SRC_0, "SRC_0"},       {DNNL_ARG_SRC_1, "SRC_1"},         {DNNL_ARG_DST, "DST"},
      {DNNL_ARG_WEIGHTS, "WEIGHTS"},   {DNNL_ARG_BIAS, "BIAS"},           {DNNL_ARG_MEAN, "MEAN"},
      {DNNL_ARG_VARIANCE, "VARIANCE"}, {DNNL_ARG_SCALE, "SCALE"},         {DNNL_ARG_SHIFT, "SHIFT"},
      {DNNL_ARG_WORKSPACE, "WORKSPACE"}, {DNNL_ARG_DIFF_SRC, "DIFF_SRC"}, {DNNL_ARG_DIFF_DST, "DIFF_DST"},
      {DNNL_ARG_DIFF_WEIGHTS, "DIFF_WEIGHTS"}, {DNNL_ARG_DIFF_BIAS, "DIFF_BIAS"}, {DNNL_ARG_DIFF_SCALE, "DIFF_SCALE"},
      {DNNL_ARG_DIFF_SHIFT, "DIFF_SHIFT"}};
  for (const auto& [number, name] : names) {
    if (number == argument) return std::string("DNNL_ARG_") + name;
  }
  if (argument < DNNL_ARG_MULTIPLE_SRC) return std::to_string(argument);
  return "DNNL_ARG_MULTIPLE_SRC + " + std::to_string(argument - DNNL_ARG_MULTIPLE_SRC);
}

std::vector<std::string> Recording::needed(const std::vector<std::string>& names) const {
  std::set<std::string> wanted(names.begin(), names.end());
  std::vector<std::string> kept;
  for (auto at = statements_.rbegin(); at != statements_.rend(); ++at) {
    if (!wanted.contains(at->first)) continue;
    insert_names(at->second, wanted);
    kept.push_back(at->second);
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

}  // namespace etalon::onednn
