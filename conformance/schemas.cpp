#include "conformance/schemas.hpp"

#include <algorithm>

#include "conformance/question.hpp"
#include "conformance/schemas/laws.hpp"
#include "reference/bounds/envelope.hpp"
#include "reference/bounds/plan.hpp"
#include "spec/derivative/derivative.hpp"

namespace etalon::conformance {
namespace {

[[nodiscard]] bool is_real(DType dtype) { return kind_of(dtype) == Kind::real; }

[[nodiscard]] std::vector<std::size_t> marked(const std::vector<bool>& wrt) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    if (wrt[i]) positions.push_back(i);
  }
  return positions;
}

/// \returns positions of those that are not given, which are zero
[[nodiscard]] std::vector<std::size_t> add_seeds(std::vector<HostTensor>& inputs, const std::vector<std::optional<HostTensor>>& seeds,
                                                 const std::vector<spec::ValueType>& types) {
  std::vector<std::size_t> absent;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!is_real(types[i].dtype)) continue;
    const bool is_given = i < seeds.size() && seeds[i];
    if (!is_given) absent.push_back(inputs.size());
    inputs.push_back(is_given ? *seeds[i] : HostTensor(types[i].dtype, types[i].dims));
  }
  return absent;
}

/// The results and the cotangents that are asked for.
void keep_asked(spec::System& system, std::size_t results, const std::vector<std::size_t>& wrt) {
  std::vector<spec::TensorId> kept(system.outputs.begin(), system.outputs.begin() + static_cast<std::ptrdiff_t>(results));
  std::size_t output = results;
  for (std::size_t i = 0; i < system.inputs.size() && output < system.outputs.size(); ++i) {
    if (!is_real(system[system.inputs[i]].dtype)) continue;
    if (std::find(wrt.begin(), wrt.end(), i) != wrt.end()) kept.push_back(system.outputs[output]);
    ++output;
  }
  system.outputs = std::move(kept);
}

/// The inputs from the first one on are tangents, which the outputs from the first one on are linear in.
void name_tangents(Schema& schema, std::size_t first_input, std::size_t first_output) {
  for (std::size_t i = first_input; i < schema.inputs.size(); ++i) schema.tangents.push_back(i);
  schema.first_tangent = first_output;
}

/// Of a schema that answers cotangents: these and their derivatives along the case's tangents and cotangent tangents.
void follow(Schema& schema, const Case& c, std::vector<std::size_t>& absent) {
  const std::size_t first_input = schema.inputs.size(), first_output = schema.system.outputs.size();
  move_cotangents(schema.system, schema.inputs, c.wrt, c.tangents, c.cotangent_tangents, absent);
  name_tangents(schema, first_input, first_output);
}

/// The cotangents of the operands by the adjoint of what a part states of tangents, in which they are linear.
[[nodiscard]] Schema adjoint_of(const Case& c, std::size_t part) {
  const spec::Instance instance = spec::instantiate_part(definition_of(c), part, c.call.operands, c.call.packs, c.call.attributes);
  const auto results = static_cast<std::ptrdiff_t>(instance.results.size());
  Schema schema{instance.system, present(c)};
  std::vector<spec::ValueType> types;
  for (const HostTensor& t : schema.inputs) types.push_back({t.dtype, t.dims});
  std::vector<std::size_t> tangents;
  for (std::size_t i = 0, next = types.size(); i < types.size(); ++i) {
    if (!is_real(types[i].dtype)) continue;
    if (c.wrt[i]) tangents.push_back(next);
    ++next;
  }
  // Nothing reads the tangents, whose cotangents are asked for.
  (void)add_seeds(schema.inputs, {}, types);
  std::vector<std::size_t> absent = add_seeds(schema.inputs, c.cotangents, instance.results);
  const std::vector<spec::TensorId> outputs = instance.system.outputs;
  schema.system.outputs.erase(schema.system.outputs.begin(), schema.system.outputs.begin() + results);
  const std::size_t stated = schema.system.outputs.size();
  schema.system = spec::vjp(schema.system, tangents);
  std::vector<spec::TensorId> asked(outputs.begin(), outputs.begin() + results);
  asked.insert(asked.end(), schema.system.outputs.begin() + static_cast<std::ptrdiff_t>(stated), schema.system.outputs.end());
  schema.system.outputs = std::move(asked);
  if (c.mode == spec::Mode::jvp_of_vjp) follow(schema, c, absent);
  leave_out(schema.system, absent);
  return schema;
}

/// Times that something is evaluated, at most: what a part sums over is summed for each element of the other side.
[[nodiscard]] double evaluations(const spec::Expr& e) {
  double inside = 1;
  for (const spec::Expr& a : e->args) inside += evaluations(a);
  for (const spec::Binder& b : e->binders) inside *= static_cast<double>(b.extent);
  return inside;
}

[[nodiscard]] double evaluations(const spec::System& system) {
  double all = 0;
  for (const spec::Equation& q : system.equations) {
    double one = evaluations(q.value);
    for (const spec::Binder& b : q.binders) one *= static_cast<double>(b.extent);
    all += one;
  }
  return all;
}

// Some seconds.
constexpr double longest_adjoint = 1e8;

/// Locals that are read once stand where they are read, as in the bounds: a law sees what is one expression there.
void add_by_laws(std::vector<Schema>& schemas, const Schema& from) {
  for (spec::System& system : by_laws(reference::bounds::inline_single_uses(from.system))) {
    schemas.push_back({std::move(system), from.inputs});
    schemas.back().by_law = true;
  }
}

/// Whether anything is differentiated. Where nothing is, a part that reads tangents or cotangents has none to read.
[[nodiscard]] bool differentiates(const Case& c) {
  const auto is_given = [](const auto& t) { return t.has_value(); };
  return std::find(c.wrt.begin(), c.wrt.end(), true) != c.wrt.end() || std::any_of(c.tangents.begin(), c.tangents.end(), is_given);
}

[[nodiscard]] bool applies(spec::PartForm part, const Case& c, spec::Mode mode) {
  if (part != spec::PartForm::also && !differentiates(c)) return false;
  switch (part) {
    case spec::PartForm::also: return true;
    case spec::PartForm::jvp: return mode == spec::Mode::jvp;
    case spec::PartForm::vjp: return mode == spec::Mode::vjp || mode == spec::Mode::jvp_of_vjp;
  }
  return false;
}

}  // namespace

Schema stated_by(const Case& c, std::size_t part) {
  const spec::Definition& d = definition_of(c);
  const spec::Instance instance = spec::instantiate_part(d, part, c.call.operands, c.call.packs, c.call.attributes);
  Schema schema{instance.system, present(c)};
  if (d.parts[part - 1] == spec::PartForm::vjp) {
    std::vector<std::size_t> absent = add_seeds(schema.inputs, c.cotangents, instance.results);
    keep_asked(schema.system, instance.results.size(), marked(c.wrt));
    if (c.mode == spec::Mode::jvp_of_vjp) follow(schema, c, absent);
    leave_out(schema.system, absent);
  } else if (d.parts[part - 1] == spec::PartForm::jvp) {
    std::vector<spec::ValueType> types;
    for (const HostTensor& t : present(c)) types.push_back({t.dtype, t.dims});
    leave_out(schema.system, add_seeds(schema.inputs, c.tangents, types));
    name_tangents(schema, types.size(), instance.results.size());
  }
  return schema;
}

Schema meaning_of(const Case& c) {
  Question question = question_of(request_of(c));
  return {std::move(question.system), std::move(question.inputs), std::move(question.tangents), question.first_tangent};
}

std::vector<Schema> other_schemas(const Case& c, spec::Mode mode) {
  const spec::Definition& d = definition_of(c);
  std::vector<Schema> schemas;
  for (std::size_t p = 1; p <= d.part_count; ++p) {
    if (applies(d.parts[p - 1], c, mode)) schemas.push_back(stated_by(c, p));
  }
  for (std::size_t p = 1; p <= d.part_count && applies(spec::PartForm::vjp, c, mode); ++p) {
    if (d.parts[p - 1] != spec::PartForm::jvp) continue;
    Schema adjoint = adjoint_of(c, p);
    if (evaluations(adjoint.system) <= longest_adjoint) schemas.push_back(std::move(adjoint));
  }
  for (std::size_t s = 0, stated = schemas.size(); s < stated; ++s) add_by_laws(schemas, Schema(schemas[s]));
  for (Schema& schema : schemas) schema.by_reciprocals = true;
  for (Schema& schema : schemas_by_form(meaning_of(c))) schemas.push_back(std::move(schema));
  // Of nothing the definition says what there is: a mean of no elements is 0/0, whatever a part would make of it.
  for (Schema& schema : schemas) schema.beside_nothing = holds_nothing(c);
  return schemas;
}

std::vector<Schema> schemas_by_form(Schema own) {
  std::vector<Schema> schemas;
  add_by_laws(schemas, own);
  own.system = reference::with_recomputed_elements(own.system);
  add_by_laws(schemas, own);
  schemas.push_back(own);
  schemas.back().by_law = true;
  for (Schema& schema : schemas) schema.by_reciprocals = true;
  schemas.push_back(std::move(own));
  return schemas;
}

}  // namespace etalon::conformance
