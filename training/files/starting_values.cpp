#include "training/files/starting_values.hpp"

#include <fmt/format.h>

#include <span>
#include <string_view>
#include <utility>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/nearest.hpp"
#include "spec/quoted.hpp"
#include "training/files/npz.hpp"
#include "training/files/safetensors.hpp"

namespace etalon::training {

namespace {

[[nodiscard]] Named tensors_in(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  const auto bytes = std::as_bytes(std::span(text));
  return std::string_view(text).starts_with("PK") ? read_npz(bytes, file.string())
                                                  : read_safetensors(bytes, file.string());
}

void rename(Named& tensors, const std::string& map, const std::string& where) {
  const std::size_t equals = map.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == map.size()) {
    throw SpecViolation(fmt::format("--map '{}': expected NAME=NAME", as_quoted(map)));
  }
  const std::string from = map.substr(0, equals), to = map.substr(equals + 1);
  auto node = tensors.extract(from);
  if (node.empty()) {
    std::vector<std::string> known;
    for (const auto& entry : tensors) known.push_back(as_quoted(entry.first));
    throw SpecViolation(where + ": " + unknown_name("tensor", as_quoted(from), known));
  }
  node.key() = to;
  if (!tensors.insert(std::move(node)).inserted)
    throw SpecViolation(fmt::format("{}: two tensors are `{}`", where, as_quoted(to)));
}

void require_parameter(const std::string& name, const HostTensor& value, const Parameters& parameters,
                       const std::string& where) {
  if (!parameters.contains(name))
    throw SpecViolation(where + ": " + unknown_name("parameter", as_quoted(name), parameters.names()));
  const Parameter& parameter = parameters.at(name);
  const spec::ValueType want{parameter.dtype, parameter.dims}, got{value.dtype, value.dims};
  if (!(want == got))
    throw SpecViolation(fmt::format("{}: `{}` is {}, expected {}", where, name, to_string(got), to_string(want)));
}

}  // namespace

Named read_starting_values(const std::filesystem::path& file, const std::vector<std::string>& maps,
                           const Parameters& parameters) {
  Named tensors = tensors_in(file);
  const std::string where = file.string();
  for (const std::string& map : maps) rename(tensors, map, where);
  for (const auto& [name, value] : tensors) require_parameter(name, value, parameters, where);
  for (const std::string& name : parameters.names()) {
    if (tensors.count(name) == 0) throw SpecViolation(fmt::format("{}: `{}` is missing", where, name));
  }
  return tensors;
}

}  // namespace etalon::training
