#include "compiled/emit/text/program_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace etalon::compiled::source {

using spec::TensorId;

namespace {

constexpr std::size_t longest_comment = 400;

std::string shortened(std::string text) {
  if (text.size() > longest_comment) text = text.substr(0, longest_comment) + " …";
  return text;
}

}  // namespace

Compilation lower_for_text(const Task& task, const CompileOptions& options, const Machine& machine) {
  CompileOptions plain = options;
  if (!machine.is_grid()) plain.off.insert("contractions");
  plain.threads = 1;
  return lower_to_loops(task.system, task.updates, plain, machine);
}

ProgramText::ProgramText(const Task& task, const Compilation& lowered, const std::string& name, Names& file)
    : task_(task), lowered_(lowered), name_(file.claim(name)) {
  tensors_.resize(lowered.system.tensors.size());
  for (std::size_t k = 0; k < lowered.nests.size(); ++k) kernels_.push_back(file.claim(fmt::format("kernel_{}_{}", k, lowered.nests[k].name)));
  claim_arguments(file);
}

/// Constants stand beside functions; everything else is inside of them, where other functions have the same names.
void ProgramText::claim_arguments(Names& file) {
  const spec::System& system = lowered_.system;
  const auto name_of_tensor = [&](TensorId id) -> std::string& { return tensors_[static_cast<std::size_t>(id)]; };
  for (std::size_t i = 0; i < task_.inputs.size(); ++i) {
    const TensorId id = system.inputs.at(i);
    if (task_.inputs[i].value) name_of_tensor(id) = file.claim(system[id].name);
  }
  names_ = file;
  for (std::size_t i = 0; i < task_.inputs.size(); ++i) {
    const spec::Input& input = task_.inputs[i];
    const TensorId id = system.inputs.at(i);
    if (!input.value) name_of_tensor(id) = names_.claim(system[id].name);
    const bool updated = std::any_of(task_.updates.begin(), task_.updates.end(), [&](const auto& u) { return u.input == i; });
    arguments_.push_back({name_of_tensor(id), id, updated, false, input.value ? &*input.value : nullptr});
  }
  for (std::size_t o = 0; o + task_.updates.size() < system.outputs.size(); ++o) {
    const TensorId id = system.outputs.at(o);
    name_of_tensor(id) = names_.claim(system[id].name);
    arguments_.push_back({name_of_tensor(id), id, true, true, nullptr});
  }
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    if (tensors_[t].empty() && lowered_.script.memories.at(t)) tensors_[t] = names_.claim(system.tensors[t].name);
  }
}

void ProgramText::describe_kernel(std::size_t k, Text& text) const {
  const spec::System& system = lowered_.system;
  for (const Statement& statement : lowered_.plan.kernels.at(k).statements) {
    const spec::Equation& e = system.equations.at(statement.equation);
    std::string place;
    for (const spec::Expr& p : e.place) place += (place.empty() ? "" : ", ") + to_text(system, p);
    text.comment(shortened(fmt::format("{}[{}] = {}", system[e.target].name, place, to_text(system, e.value))));
    if (e.origin < 0) continue;
    const spec::Origin& from = system.origins.at(static_cast<std::size_t>(e.origin));
    std::string where = from.operation.empty() ? "" : "  of " + from.operation;
    if (!from.file.empty()) where += fmt::format("{} at {}:{}", where.empty() ? " " : "", from.file, from.line);
    if (!from.section.empty()) where += fmt::format("{} in section \"{}\"", where.empty() ? " " : ",", from.section);
    if (!where.empty()) text.comment(where);
  }
}

std::string ProgramText::type_text(TensorId t) const {
  const spec::TensorInfo& info = lowered_.system[t];
  return std::string(name_of(info.dtype)) + to_string(info.dims);
}

std::string ProgramText::address(const Memory& memory, const std::string& before) const {
  if (memory.of == Memory::Of::arena) return fmt::format("workspace + {}", memory.offset);
  const Argument& a = arguments_.at(memory.of == Memory::Of::output ? task_.inputs.size() + memory.index : memory.index);
  return a.constant != nullptr ? a.name : before + a.name;
}

std::string ProgramText::pointer(const Operand& operand, const std::string& before) const {
  const std::string bytes = address(operand.memory, before);
  if (operand.memory.of != Memory::Of::arena) return bytes;
  return fmt::format("({} *)(void *)({})", element_type(lowered_.system[operand.tensor].dtype), bytes);
}

const Argument* ProgramText::constant(TensorId t) const {
  const auto it = std::find_if(arguments_.begin(), arguments_.end(), [&](const Argument& a) { return a.tensor == t && a.constant != nullptr; });
  return it == arguments_.end() ? nullptr : &*it;
}

bool ProgramText::overlaps(TensorId t, std::span<const TensorId> others) const {
  const auto memory = [&](TensorId of) { return lowered_.script.memories.at(static_cast<std::size_t>(of)); };
  return std::any_of(others.begin(), others.end(), [&](const TensorId other) {
    return other != t && memory(t) && memory(other) && overlap(*memory(t), *memory(other));
  });
}

std::string initialiser(const HostTensor& value) {
  std::string text;
  const std::size_t width = size_of(value.dtype);
  for (std::size_t at = 0; at + width <= value.bytes.size(); at += width) {
    const auto as = [&]<class T>(T number) {
      std::memcpy(&number, value.bytes.data() + at, sizeof number);
      return number;
    };
    if (!text.empty()) text += ", ";
    switch (value.dtype) {
      case DType::f32: text += literal(as(float{})); break;
      case DType::f64: text += literal(as(double{})); break;
      case DType::i32: text += literal(static_cast<std::int64_t>(as(std::int32_t{}))); break;
      case DType::i64: text += literal(as(std::int64_t{})); break;
      case DType::boolean: text += std::to_string(as(std::uint8_t{})); break;
      case DType::f16:
      case DType::bf16: text += fmt::format("0x{:04x}", as(std::uint16_t{})); break;
    }
  }
  return text.empty() ? "0" : text;
}

}  // namespace etalon::compiled::source
