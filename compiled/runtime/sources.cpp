#include "compiled/runtime/sources.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include "spec/error.hpp"

namespace etalon::compiled {

using spec::Input;
using spec::Role;

namespace {

using Named = std::map<std::string, HostTensor>;

std::string type_text(DType dtype, const Dims& dims) { return std::string(name_of(dtype)) + to_string(dims); }

void require_type(const Input& input, DType dtype, const Dims& dims) {
  if (input.dtype == dtype && input.dims == dims) return;
  throw SpecViolation(fmt::format("run: input `{}` is {}, got {}", input.name, type_text(input.dtype, input.dims),
                                  type_text(dtype, dims)));
}

const Input& input_named(const std::vector<Input>& inputs, const std::string& name) {
  const auto it = std::find_if(inputs.begin(), inputs.end(), [&](const Input& i) { return i.name == name; });
  if (it == inputs.end()) throw SpecViolation(fmt::format("run: the program has no input `{}`", name));
  return *it;
}

void check_given(const std::vector<Input>& inputs, const Named& given) {
  for (const auto& [name, value] : given) {
    const Input& input = input_named(inputs, name);
    if (input.role == Role::parameter || input.role == Role::constant) {
      throw SpecViolation(fmt::format("run: `{}` is a {} and is not given at a run", name,
                                      input.role == Role::parameter ? "parameter" : "constant"));
    }
    require_bytes(input, value);
  }
}

InputSource source_of(const Input& input, Store& store, const Named& given) {
  if (input.value) return {&*input.value, nullptr, true};
  if (const auto it = given.find(input.name); it != given.end()) return {&it->second};
  return {nullptr, &entry_of(input, store)};
}

}  // namespace

void require_bytes(const Input& input, const HostTensor& value) {
  require_type(input, value.dtype, value.dims);
  const std::size_t bytes = static_cast<std::size_t>(value.dims.count()) * size_of(value.dtype);
  if (value.bytes.size() == bytes) return;
  throw SpecViolation(fmt::format("run: input `{}` takes {} bytes, got {}", input.name, bytes, value.bytes.size()));
}

void require_range(const Input& input, const std::byte* data) {
  if (!input.range || input.dims.rank != 0) return;
  std::int64_t value = 0;
  if (input.dtype == DType::i32) {
    std::int32_t narrow = 0;
    std::memcpy(&narrow, data, sizeof narrow);
    value = narrow;
  } else if (input.dtype == DType::i64) {
    std::memcpy(&value, data, sizeof value);
  } else {
    return;
  }
  if (value >= input.range->first && value <= input.range->second) return;
  throw SpecViolation(fmt::format("run: index `{}` is {}, its range is {}..{}", input.name, value, input.range->first,
                                  input.range->second));
}

Store::Entry& entry_of(const Input& input, Store& store) {
  Store::Entry* entry = store.find(input.name);
  if (entry == nullptr) throw SpecViolation(fmt::format("run: input `{}` is missing", input.name));
  require_type(input, entry->dtype, entry->dims);
  return *entry;
}

std::vector<InputSource> sources_of(const std::vector<Input>& inputs, Store& store, const Named& given) {
  check_given(inputs, given);
  std::vector<InputSource> sources;
  sources.reserve(inputs.size());
  for (const Input& input : inputs) sources.push_back(source_of(input, store, given));
  return sources;
}

std::vector<InputSource> sources_of(const std::vector<Input>& inputs, std::span<const HostTensor> given) {
  const auto constants =
      static_cast<std::size_t>(std::count_if(inputs.begin(), inputs.end(), [](const Input& i) { return i.value.has_value(); }));
  const bool all = given.size() == inputs.size();
  if (!all && given.size() != inputs.size() - constants) {
    throw SpecViolation(fmt::format("run: {} inputs expected, {} given", inputs.size(), given.size()));
  }
  std::vector<InputSource> sources;
  std::size_t next = 0;
  for (const Input& input : inputs) {
    if (!all && input.value) sources.push_back({&*input.value, nullptr, true});
    else sources.push_back({&given[next++]});
    require_bytes(input, *sources.back().tensor);
    require_range(input, sources.back().tensor->bytes.data());
  }
  return sources;
}

}  // namespace etalon::compiled
