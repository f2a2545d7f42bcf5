#include "compiled/machine/instruction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "spec/error.hpp"
#include "spec/notation/elaborate.hpp"

namespace etalon::compiled {

namespace {

/// The extent that the meaning states, or else the lanes that are asked for.
std::int64_t extent_of(const spec::Definition& d, spec::NodeId axis, std::int64_t lanes) {
  if (d[axis].form != spec::NodeForm::number) return lanes;
  const std::string_view text = d.at(axis);
  std::int64_t extent = 0;
  std::from_chars(text.data(), text.data() + text.size(), extent);
  return extent;
}

InstructionValue operand_of(const Instruction& i, const spec::Definition& d, const spec::OperandText& text, DType type, std::int64_t lanes) {
  InstructionValue value{std::string(d.at(text.name)), type, {}, text.range == spec::Range::boolean};
  for (spec::NodeId axis = text.axes; axis >= 0; axis = d[axis].next) value.dims.push_back(extent_of(d, axis, lanes));
  for (const HeldOperand& held : i.held) {
    if (held.name == value.name) value.dtype = held.dtype;
  }
  if (value.mask) value.dtype = DType::boolean;
  return value;
}

/// The signature and its equations.
std::string on_one_line(std::string_view meaning) {
  std::string text;
  std::string_view between = ":  ";
  for (std::size_t begin = 0; begin < meaning.size();) {
    const std::size_t first = meaning.find_first_not_of(' ', begin);
    const std::size_t end = std::min(meaning.find('\n', begin), meaning.size());
    if (begin > 0) text += std::exchange(between, "; ");
    text += meaning.substr(first, end - first);
    begin = end + 1;
  }
  return text;
}

}  // namespace

spec::Library library_of(const Instruction& i) { return spec::Library().with(i.meaning, name_of(i)); }

InstructionSignature signature_of(const Instruction& i, DType type, std::int64_t lanes) {
  if (std::find(i.types.begin(), i.types.end(), type) == i.types.end()) {
    throw SpecViolation(fmt::format("{}: its types are not {}", name_of(i), name_of(type)));
  }
  const spec::Library library = library_of(i);
  const spec::Definition& d = library.named(name_of(i));
  InstructionSignature signature;
  std::vector<std::optional<spec::ValueType>> types;
  for (std::size_t o = 0; o < d.operand_count; ++o) {
    signature.operands.push_back(operand_of(i, d, d.operands[o], type, lanes));
    const InstructionValue& value = signature.operands.back();
    types.emplace_back(spec::ValueType{value.mask ? DType::boolean : type, value.dims});
  }
  const spec::ValueType result = spec::instantiate(d, types, {}, {}).results.at(0);
  signature.result = {std::string(d.at(d.results[0].name)), result.dtype, result.dims, false};
  return signature;
}

spec::System system_of(const Instruction& i, DType type, std::int64_t lanes) {
  std::vector<std::optional<spec::ValueType>> types;
  for (const InstructionValue& o : signature_of(i, type, lanes).operands) types.emplace_back(spec::ValueType{o.mask ? DType::boolean : type, o.dims});
  const spec::Library library = library_of(i);
  return spec::instantiate(library.named(name_of(i)), types, {}, {}).system;
}

spec::Contract contract_of(const Instruction& i) {
  spec::Contract contract = spec::parse_contract(i.contract);
  contract.name = name_of(i);
  return contract;
}

std::string to_text(const Instruction& i) {
  std::string types;
  for (const DType t : i.types) types += fmt::format("{}{}", types.empty() ? "" : " ", name_of(t));
  for (const HeldOperand& held : i.held) {
    if (!held.name.empty()) types += fmt::format(", {} {}", held.name, name_of(held.dtype));
  }
  const std::string wide = i.least_lanes > 2 ? fmt::format("vectors of {}", i.least_lanes) : i.least_lanes > 1 ? "vectors" : "";
  const std::string needs = i.feature.empty() ? wide : std::string(i.feature);
  return fmt::format("{}  ({}{}{}{}{})", on_one_line(i.meaning), types, needs.empty() ? "" : "; ", needs, i.contract == "{}" ? "" : "; ",
                     i.contract == "{}" ? "" : i.contract);
}

}  // namespace etalon::compiled
