#include "spec/program/binding.hpp"

#include <fmt/format.h>

#include "spec/error.hpp"
#include "spec/program/extents.hpp"

namespace etalon::spec {
namespace {

void verify_index(const Input& input, const HostTensor& value) {
  const std::int64_t n = value.dtype == DType::i32 ? value.view<std::int32_t>()[0] : value.view<std::int64_t>()[0];
  if (n < input.range->first || n > input.range->second)
    throw SpecViolation(fmt::format("input {}: expected a value in {}..{}, found {}", input.name, input.range->first,
                                    input.range->second, n));
}

}  // namespace

void verify_inputs(const Program& program, std::span<const HostTensor> values) {
  if (has_open_extents(program)) return verify_inputs(with_extents(program), values);
  if (values.size() != program.inputs.size())
    throw SpecViolation(fmt::format("inputs: expected {} values, found {}", program.inputs.size(), values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Input& input = program.inputs[i];
    const ValueType expected{input.dtype, input.dims};
    const ValueType found{values[i].dtype, values[i].dims};
    if (!(expected == found))
      throw SpecViolation(fmt::format("input {}: expected {}, found {}", input.name, to_string(expected), to_string(found)));
    if (values[i].bytes.size() != static_cast<std::size_t>(found.dims.count()) * size_of(found.dtype))
      throw SpecViolation(fmt::format("input {}: expected {} bytes, found {}", input.name,
                                      static_cast<std::size_t>(found.dims.count()) * size_of(found.dtype), values[i].bytes.size()));
    if (input.role == Role::index && input.range && kind_of(input.dtype) == Kind::integer && input.dims.rank == 0) verify_index(input, values[i]);
  }
}

}  // namespace etalon::spec
