#include "conformance/measure/probe.hpp"

#include <functional>
#include <utility>

#include "conformance/signature.hpp"
#include "conformance/values.hpp"
#include "spec/error.hpp"
#include "spec/notation/elaborate.hpp"

namespace etalon::conformance {
namespace {

using spec::Definition;
using spec::Equation;
using spec::Expr;
using spec::Form;
using spec::ValueType;

/// Whether `e` reads that tensor at just these variables.
bool reads(const Expr& e, spec::TensorId tensor, const std::vector<spec::Binder>& at) {
  if (e.form() != Form::read || e->tensor != tensor || e->args.size() != at.size()) return false;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (e->args[i].form() != Form::variable || e->args[i]->variable != at[i].variable) return false;
  }
  return true;
}

/// Whether the equation writes its target at just its binders.
bool writes_plainly(const Equation& e) {
  if (e.place.size() != e.binders.size()) return false;
  for (std::size_t i = 0; i < e.place.size(); ++i) {
    if (e.place[i].form() != Form::variable || e.place[i]->variable != e.binders[i].variable) return false;
  }
  return true;
}

bool is_truth(const Expr& guard) {
  return guard.form() == Form::number && guard.kind() == Kind::boolean && !(guard == spec::boolean(false));
}

/// The call's only equation where it has just one, of real results.
std::optional<spec::Instance> only_equation(const Definition& definition, std::vector<std::optional<ValueType>> operands,
                                          const spec::Attributes& attributes) {
  try {
    spec::Instance instance = spec::instantiate(definition, operands, {}, attributes);
    const spec::System& system = instance.system;
    if (system.equations.size() != 1 || system.outputs.size() != 1) return std::nullopt;
    if (system.inputs.size() != operands.size() || !writes_plainly(system.equations[0])) return std::nullopt;
    return instance;
  } catch (const SpecViolation&) {
    return std::nullopt;
  }
}

using Fits = std::function<bool(const spec::System&, const Equation&)>;

/// The first definition (in order of names) that fits at these operands, under one of these attributes.
std::optional<Probe> find(const spec::Library& library, const std::vector<std::optional<ValueType>>& operands,
                          const std::function<std::vector<spec::Attributes>(const Definition&)>& choices,
                          const Fits& fits) {
  for (const Definition* definition : library.definitions()) {
    if (definition->operand_count != operands.size() || definition->result_count != 1) continue;
    for (const spec::Attributes& attributes : choices(*definition)) {
      const auto instance = only_equation(*definition, operands, attributes);
      if (!instance || !fits(instance->system, instance->system.equations[0])) continue;
      return Probe{std::string(definition->name), instance->attributes};
    }
  }
  return std::nullopt;
}

std::vector<spec::Attributes> none(const Definition&) { return {{}}; }

/// Every way in which one attribute places the axes to reduce.
std::vector<spec::Attributes> placements(const Definition& definition, std::int64_t axis) {
  std::vector<spec::Attributes> choices;
  for (const auto& [attribute, row] : names_of(definition).placed) {
    if (row) choices.push_back({{attribute, std::vector<std::int64_t>{axis}}});
    else choices.push_back({{attribute, axis}});
  }
  return choices;
}

}  // namespace

std::optional<Probe> bare_primitive(const spec::Library& library, spec::Primitive p, DType dtype) {
  const std::vector<std::optional<ValueType>> operands(spec::info(p).arity, ValueType{dtype, {3}});
  return find(library, operands, none, [&](const spec::System& s, const Equation& e) {
    if (!e.value.is(p) || e.value->args.size() != s.inputs.size()) return false;
    for (std::size_t i = 0; i < s.inputs.size(); ++i) {
      if (!reads(e.value->args[i], s.inputs[i], e.binders)) return false;
    }
    return true;
  });
}

std::optional<Probe> bare_reduction(const spec::Library& library, spec::Reduction r, DType dtype, bool last_axis) {
  const auto choices = [&](const Definition& d) { return placements(d, last_axis ? 1 : 0); };
  return find(library, {ValueType{dtype, {3, 5}}}, choices, [&](const spec::System& s, const Equation& e) {
    const Expr& v = e.value;
    if (v.form() != Form::reduce || v->reduction != r || v->binders.size() != 1 || e.binders.size() != 1) return false;
    auto at = e.binders;
    at.insert(last_axis ? at.end() : at.begin(), v->binders[0]);
    return is_truth(v->args[0]) && reads(v->args[1], s.inputs[0], at);
  });
}

std::optional<Probe> bare_contraction(const spec::Library& library, DType dtype) {
  const std::vector<std::optional<ValueType>> operands{ValueType{dtype, {3, 5}}, ValueType{dtype, {5, 4}}};
  return find(library, operands, none, [&](const spec::System& s, const Equation& e) {
    const Expr& v = e.value;
    if (v.form() != Form::reduce || v->reduction != spec::Reduction::sum) return false;
    if (v->binders.size() != 1 || e.binders.size() != 2 || !is_truth(v->args[0])) return false;
    const Expr& product = v->args[1];
    if (!product.is(spec::Primitive::mul)) return false;
    return reads(product->args[0], s.inputs[0], {e.binders[0], v->binders[0]}) &&
           reads(product->args[1], s.inputs[1], {v->binders[0], e.binders[1]});
  });
}

spec::Request request_of(const Probe& probe, std::vector<HostTensor> operands, std::optional<HostTensor> cotangent) {
  spec::Request request;
  request.id = "measure";
  spec::Call call;
  call.operation = probe.operation;
  call.attributes = probe.attributes;
  call.results = {"y"};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    spec::Input input;
    input.name = "x" + std::to_string(i);
    input.dtype = operands[i].dtype;
    input.dims = operands[i].dims;
    call.operands.emplace_back(input.name);
    request.program.inputs.push_back(std::move(input));
  }
  request.program.steps.emplace_back(std::move(call));
  request.program.outputs = {"y"};
  if (cotangent) {
    request.mode = spec::Mode::vjp;
    request.wrt.assign(operands.size(), false);
    request.wrt[0] = true;
    request.cotangents = {std::move(cotangent)};
  }
  request.inputs = std::move(operands);
  return request;
}

std::optional<HostTensor> ask(spec::Backend& backend, const Probe& probe, std::vector<HostTensor> operands,
                              std::optional<HostTensor> cotangent) {
  const DType dtype = operands[0].dtype;
  const bool backwards = cotangent.has_value();
  spec::Answer answer = backend.run(request_of(probe, std::move(operands), std::move(cotangent)));
  auto* numbers = std::get_if<spec::Numbers>(&answer);
  if (numbers == nullptr) return std::nullopt;
  std::optional<HostTensor> result;
  if (!backwards && numbers->outputs.size() == 1) result = std::move(numbers->outputs[0]);
  if (backwards && !numbers->cotangents.empty()) result = std::move(numbers->cotangents[0]);
  if (result && result->dtype != dtype) return std::nullopt;
  return result;
}

std::vector<double> doubles_of(const HostTensor& tensor) {
  std::vector<double> values(static_cast<std::size_t>(tensor.dims.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = element(tensor, i);
  return values;
}

HostTensor tensor_of(DType dtype, const Dims& dims, std::span<const double> values) {
  HostTensor tensor(dtype, dims);
  for (std::size_t i = 0; i < values.size(); ++i) set_element(tensor, i, values[i]);
  return tensor;
}

}  // namespace etalon::conformance
