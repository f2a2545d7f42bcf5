#include "conformance/interchange/program_writer.hpp"

#include <algorithm>
#include <cctype>

#include "spec/einsum/einsum.hpp"
#include "spec/program/trace_state.hpp"

namespace etalon::conformance::interchange {
namespace {

/// The name with what no name has made `_`.
[[nodiscard]] std::string plain_name(const std::string& name) {
  std::string plain;
  for (const char c : name) {
    const bool fits = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    if (c == '/' && plain.empty()) continue;
    plain += fits ? c : c == '/' || c == ':' ? '.' : '_';
  }
  if (plain.empty() || plain == "_") return "value";
  if (plain[0] == '.' || std::isdigit(static_cast<unsigned char>(plain[0])) != 0) plain.insert(0, "v");
  return plain;
}

}  // namespace

void refuse(bool condition, const std::string& why) {
  if (condition) throw Refused(why);
}

Value known_value(HostTensor numbers) {
  auto item = std::make_shared<Item>();
  item->type = {numbers.dtype, numbers.dims};
  item->known = std::move(numbers);
  item->folds = true;
  item->role = spec::Role::constant;
  return item;
}

void Writer::at_node(std::size_t number, const std::string& name) {
  node_ = static_cast<std::uint32_t>(number);
  label_ = name.empty() ? "" : plain_name(name);
}

std::string Writer::free_name(const std::string& name) const {
  const std::string plain = plain_name(name);
  return state_ == nullptr ? plain : state_->free_name(plain);
}

spec::Traced Writer::declared(const Item& item) {
  const std::string name = free_name(item.name);
  switch (item.role) {
    case spec::Role::parameter:
      parameters_.emplace(name, *item.known);
      return tracer_.parameter(name, item.type.dtype, item.type.dims, line());
    case spec::Role::constant: return tracer_.constant(item.name.empty() ? free_name("constant") : name, *item.known, line());
    default: inputs_.emplace(name, item.name); return tracer_.input(name, item.type.dtype, item.type.dims, line());
  }
}

spec::Traced Writer::traced(const Value& value) {
  if (!value->traced) value->traced = declared(*value);
  state_ = value->traced->state();
  return *value->traced;
}

std::vector<spec::TracedOperand> Writer::operands_of(const Values& values) {
  std::vector<spec::TracedOperand> operands;
  for (const Value& value : values) {
    const bool is_scalar =
        value != nullptr && !value->traced && value->role == spec::Role::constant && value->name.empty() && value->type.dims.rank == 0;
    if (value == nullptr) operands.emplace_back(std::nullopt, line());
    else if (is_scalar) operands.emplace_back(*value->known, line());  // equal ones become one constant
    else operands.emplace_back(traced(value), line());
  }
  return operands;
}

Values Writer::call(std::string_view operation, const Values& operands, const spec::Attributes& attributes,
                    const std::vector<std::size_t>& packs) {
  const std::vector<spec::TracedOperand> given = operands_of(operands);
  std::optional<spec::Section> section;
  if (!label_.empty() && state_ != nullptr) section.emplace(state_, label_);
  Values results;
  for (const spec::Traced& result : tracer_.call(operation, given, attributes, packs, line())) {
    state_ = result.state();
    auto item = std::make_shared<Item>();
    item->type = result.type();
    item->traced = result;
    results.push_back(std::move(item));
  }
  return results;
}

Values Writer::define(const std::string& definition, const Values& operands) {
  const spec::Library library = spec::Library().with(definition);
  for (const Value& value : operands) traced(value).state()->define(library, library.added().front());
  return call(library.added().front(), operands, {});
}

Value Writer::einsum(const std::string& specification, const Values& operands) {
  return define(spec::einsum_definition(specification), operands).front();
}

std::string Writer::output(const Value& value, const std::string& name) {
  // An output is a step's result, and answered once.
  const auto& outputs = state_ == nullptr ? std::vector<std::string>{} : state_->program().outputs;
  const bool is_result =
      value->traced && value->name.empty() && std::find(outputs.begin(), outputs.end(), value->traced->name()) == outputs.end();
  const Value answered =
      is_result
          ? value
          : call("reshape", {value}, {{"shape", std::vector<std::int64_t>(value->type.dims.begin(), value->type.dims.end())}}).front();
  const std::string free = free_name(name);
  tracer_.output(free, *answered->traced);
  return free;
}

}  // namespace etalon::conformance::interchange
