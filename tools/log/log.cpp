#include "tools/log/log.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "spec/program/extents.hpp"
#include "spec/program/number_text.hpp"
#include "spec/sha256.hpp"

namespace etalon::logging {

using spec::Program;
using spec::System;
using spec::TensorId;

namespace {

/// The text of a program without where its lines come from.
std::string plain_text(Program program) {
  for (spec::Input& input : program.inputs) input.source = {};
  for (spec::Buffer& buffer : program.buffers) buffer.source = {};
  for (auto& step : program.steps) std::visit([](auto& one) { one.source = {}; }, step);
  return to_text(program);
}

/// `w` selects `w`, and `w.2`, `w.3`, … which assignments make of it.
bool selects(std::string_view name, std::string_view tensor) {
  if (tensor == name) return true;
  if (tensor.size() < name.size() + 2 || !tensor.starts_with(name) || tensor[name.size()] != '.') return false;
  const std::string_view rest = tensor.substr(name.size() + 1);
  return std::all_of(rest.begin(), rest.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

Meaning meaning_of(const Program& program) {
  Meaning meaning;
  meaning.program = with_extents(program);
  meaning.system = lower(meaning.program, meaning.steps);
  return meaning;
}

const HostTensor* Log::value(TensorId tensor) const {
  const auto& held = values[static_cast<std::size_t>(tensor)];
  if (held) return &*held;
  const auto& given = meaning.system.inputs;
  const auto found = std::find(given.begin(), given.end(), tensor);
  return found == given.end() ? nullptr : &inputs[static_cast<std::size_t>(found - given.begin())];
}

std::vector<bool> Log::held() const {
  std::vector<bool> marks;
  for (const auto& value : values) marks.push_back(value.has_value());
  return marks;
}

bool same_program(const Program& a, const Program& b) { return plain_text(a) == plain_text(b); }

std::string digest_of(const Program& program) {
  return "sha256:" + sha256_of(plain_text(program));
}

std::string summary_of(const Program& program, std::size_t step) {
  if (step >= program.steps.size()) return "updates";
  Program one;
  one.steps = {program.steps[step]};
  std::string text = plain_text(std::move(one));
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

spec::Source source_of(const Program& program, std::size_t step) {
  if (step >= program.steps.size()) return {};
  return std::visit([](const auto& one) { return one.source; }, program.steps[step]);
}

std::vector<TensorId> selected(const System& system, const std::vector<std::string>& names) {
  std::vector<bool> is_defined(system.tensors.size());
  std::vector<TensorId> defined;
  for (const spec::Equation& e : system.equations) {
    if (is_defined[static_cast<std::size_t>(e.target)]) continue;
    is_defined[static_cast<std::size_t>(e.target)] = true;
    defined.push_back(e.target);
  }
  if (names.empty()) return defined;
  std::vector<bool> wanted(system.tensors.size());
  for (const std::string& name : names) {
    bool found = false;
    for (const TensorId t : defined) {
      if (!selects(name, system[t].name)) continue;
      found = wanted[static_cast<std::size_t>(t)] = true;
    }
    if (found) continue;
    const TensorId input = system.find(name);
    if (input >= 0) throw SpecViolation(name + " is given, which every log holds; name a value that is computed");
    std::vector<std::string> known;
    for (const TensorId t : defined) known.push_back(system[t].name);
    throw SpecViolation(unknown_name("value", name, known));
  }
  std::vector<TensorId> chosen;
  std::copy_if(defined.begin(), defined.end(), std::back_inserter(chosen), [&](TensorId t) { return wanted[static_cast<std::size_t>(t)]; });
  return chosen;
}

std::string element_name(const std::string& tensor, const Dims& dims, std::size_t position) {
  if (dims.rank == 0) return tensor;
  std::array<std::size_t, Dims::max_rank> index{};
  for (std::size_t axis = dims.rank; axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(dims[axis]);
    index[axis] = extent == 0 ? 0 : position % extent;
    position = extent == 0 ? 0 : position / extent;
  }
  return fmt::format("{}[{}]", tensor, fmt::join(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(dims.rank), ", "));
}

std::string element_text(const HostTensor& tensor, std::size_t position) {
  HostTensor one(tensor.dtype, {});
  const std::size_t size = size_of(tensor.dtype);
  std::memcpy(one.bytes.data(), tensor.bytes.data() + position * size, size);
  return spec::elements_text(one);
}

}  // namespace etalon::logging
