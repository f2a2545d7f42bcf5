#include "conformance/schemas.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/along_tangents.hpp"
#include "conformance/divided_axes.hpp"
#include "conformance/values.hpp"
#include "reference/evaluate.hpp"
#include "reference/host.hpp"
#include "reference/number.hpp"
#include "spec/derivative/derivative.hpp"

namespace etalon::conformance {
namespace {

using reference::Array;
using reference::Real50;

constexpr std::uint64_t points = 12;  // at which a part is held to the meaning
const Real50 largest_difference("1e-35");  // of 50 digits, after cancellation

[[nodiscard]] bool is_real(DType dtype) { return kind_of(dtype) == Kind::real; }

[[nodiscard]] std::vector<std::size_t> marked(const std::vector<bool>& wrt) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    if (wrt[i]) positions.push_back(i);
  }
  return positions;
}

void add_seeds(std::vector<HostTensor>& inputs, const std::vector<std::optional<HostTensor>>& seeds,
               const std::vector<spec::ValueType>& types) {
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!is_real(types[i].dtype)) continue;
    inputs.push_back(i < seeds.size() && seeds[i] ? *seeds[i] : HostTensor(types[i].dtype, types[i].dims));
  }
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
void follow(Schema& schema, const Case& c, const std::vector<spec::ValueType>& results) {
  const auto real = std::count_if(results.begin(), results.end(), [](const spec::ValueType& t) { return is_real(t.dtype); });
  std::vector<std::size_t> moving = marked(c.wrt);
  const std::size_t first = schema.inputs.size();
  for (const std::size_t i : marked(c.wrt))
    schema.inputs.push_back(c.tangents[i] ? *c.tangents[i] : HostTensor(schema.inputs[i].dtype, schema.inputs[i].dims));
  // The last inputs are the cotangents.
  for (std::size_t i = first - static_cast<std::size_t>(real); i < first; ++i) moving.push_back(i);
  add_seeds(schema.inputs, c.cotangent_tangents, results);
  schema.system = spec::jvp(schema.system, moving);
  // Tangents of the results, which nobody asks for.
  const std::size_t derivatives = results.size() + marked(c.wrt).size();
  const auto unasked = schema.system.outputs.begin() + static_cast<std::ptrdiff_t>(derivatives);
  schema.system.outputs.erase(unasked, unasked + real);
  name_tangents(schema, first, derivatives);
}

[[nodiscard]] Schema schema_of(const Case& c, std::size_t part) {
  const spec::Definition& d = definition_of(c);
  const spec::Instance instance = spec::instantiate_part(d, part, c.call.operands, c.call.packs, c.call.attributes);
  Schema schema{instance.system, present(c)};
  if (d.parts[part - 1] == spec::PartForm::vjp) {
    add_seeds(schema.inputs, c.cotangents, instance.results);
    keep_asked(schema.system, instance.results.size(), marked(c.wrt));
    if (c.mode == spec::Mode::jvp_of_vjp) follow(schema, c, instance.results);
  } else if (d.parts[part - 1] == spec::PartForm::jvp) {
    std::vector<spec::ValueType> types;
    for (const HostTensor& t : present(c)) types.push_back({t.dtype, t.dims});
    add_seeds(schema.inputs, c.tangents, types);
    name_tangents(schema, types.size(), instance.results.size());
  }
  return schema;
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
  add_seeds(schema.inputs, {}, types);
  add_seeds(schema.inputs, c.cotangents, instance.results);
  const std::vector<spec::TensorId> outputs = instance.system.outputs;
  schema.system.outputs.erase(schema.system.outputs.begin(), schema.system.outputs.begin() + results);
  const std::size_t stated = schema.system.outputs.size();
  schema.system = spec::vjp(schema.system, tangents);
  std::vector<spec::TensorId> asked(outputs.begin(), outputs.begin() + results);
  asked.insert(asked.end(), schema.system.outputs.begin() + static_cast<std::ptrdiff_t>(stated), schema.system.outputs.end());
  schema.system.outputs = std::move(asked);
  if (c.mode == spec::Mode::jvp_of_vjp) follow(schema, c, instance.results);
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

[[nodiscard]] bool applies(spec::PartForm part, spec::Mode mode) {
  switch (part) {
    case spec::PartForm::also: return true;
    case spec::PartForm::jvp: return mode == spec::Mode::jvp;
    case spec::PartForm::vjp: return mode == spec::Mode::vjp || mode == spec::Mode::jvp_of_vjp;
  }
  return false;
}

/// What the definition itself says of the case, derivatives as they follow from its equations.
[[nodiscard]] Schema meaning_of(const Case& c) {
  const spec::Instance instance = instance_of(c);
  Schema meaning{instance.system, present(c)};
  if (c.mode == spec::Mode::vjp || c.mode == spec::Mode::jvp_of_vjp) {
    add_seeds(meaning.inputs, c.cotangents, instance.results);
    meaning.system = spec::vjp(instance.system, marked(c.wrt));
    if (c.mode == spec::Mode::jvp_of_vjp) follow(meaning, c, instance.results);
  } else if (c.mode == spec::Mode::jvp) {
    for (const std::size_t i : marked(c.wrt))
      meaning.inputs.push_back(c.tangents[i] ? *c.tangents[i] : HostTensor(meaning.inputs[i].dtype, meaning.inputs[i].dims));
    meaning.system = spec::jvp(instance.system, marked(c.wrt));
    name_tangents(meaning, present(c).size(), instance.results.size());
  }
  return meaning;
}

[[nodiscard]] std::vector<Array<Real50>> values_of(const Schema& schema) {
  std::vector<Array<Real50>> inputs;
  for (const HostTensor& t : schema.inputs) inputs.push_back(reference::from_host<Real50>(t));
  return reference::evaluate<Real50>(schema.system, inputs);
}

/// NaN and infinities are the business of bounds.
[[nodiscard]] bool differ(const Real50& a, const Real50& b) {
  using boost::multiprecision::isfinite;
  if (!isfinite(a) || !isfinite(b)) return false;
  const Real50 scale = 1 + boost::multiprecision::abs(a) + boost::multiprecision::abs(b);
  return !(boost::multiprecision::abs(a - b) <= largest_difference * scale);
}

/// Where numbers are meant, and where numbers are stated there too.
struct Numbers {
  std::size_t meant = 0;
  std::size_t stated = 0;
};

[[nodiscard]] std::optional<std::string> difference(const Case& c, std::size_t part, Numbers& numbers) {
  const Schema schema = schema_of(c, part);
  const auto stated = values_of(schema);
  const auto meant = values_of(meaning_of(c));
  for (std::size_t o = 0; o < stated.size(); ++o) {
    const std::string& name = schema.system[schema.system.outputs[o]].name;
    for (std::size_t i = 0; i < stated[o].integer.size(); ++i) {
      if (stated[o].integer[i] == meant[o].integer[i]) continue;
      return fmt::format("{} is {}, the definition means {}", name, stated[o].integer[i], meant[o].integer[i]);
    }
    for (std::size_t i = 0; i < stated[o].real.size(); ++i) {
      const bool number = boost::multiprecision::isfinite(meant[o].real[i]);
      numbers.meant += number ? 1 : 0;
      numbers.stated += number && boost::multiprecision::isfinite(stated[o].real[i]) ? 1 : 0;
      if (!differ(stated[o].real[i], meant[o].real[i])) continue;
      return fmt::format("{} is {}, the definition means {}", name, stated[o].real[i].str(12), meant[o].real[i].str(12));
    }
  }
  return std::nullopt;
}

/// The case with numbers at which no kink is likely.
void draw_ordinary(Case& c, std::uint64_t number) {
  Draw draw(fmt::format("parts of {} {}", c.key.operation, number));
  for (auto* tensors : {&c.operands, &c.tangents, &c.cotangents, &c.cotangent_tangents}) {
    for (auto& t : *tensors) {
      if (t && is_real(t->dtype)) t = draw_real(draw, Family::normal, t->dtype, t->dims);
    }
  }
}

constexpr auto no_mark = static_cast<std::uint8_t>(~reference::undecided);

/// Where the meaning decides, so must a schema: its interval counts, however wide it is.
[[nodiscard]] reference::Envelope decided(reference::Envelope schema, const reference::Envelope& meaning) {
  for (std::size_t i = 0; i < schema.flags.size() && i < meaning.flags.size(); ++i) {
    if ((meaning.flags[i] & reference::undecided) == 0) schema.flags[i] &= no_mark;
  }
  return schema;
}

/// The envelope of another schema in place of an output's own: its decisions are not those of the other outputs.
void put_in_place(reference::Envelopes& bounds, std::size_t output, reference::Envelope schema) {
  std::size_t unused = 0;
  for (const reference::Envelope& e : bounds.outputs) {
    for (const reference::Alternatives& a : e.alternatives) unused = std::max(unused, a.component + 1);
  }
  for (reference::Alternatives& a : schema.alternatives) a.component += unused;
  bounds.outputs[output] = std::move(schema);
}

/// The questions that show what a part states: of cotangents also their derivatives, which follow from its equations.
[[nodiscard]] std::vector<Check> checks_of(spec::PartForm part) {
  switch (part) {
    case spec::PartForm::also: return {Check::value};
    case spec::PartForm::jvp: return {Check::jvp};
    case spec::PartForm::vjp: return {Check::vjp, Check::second};
  }
  return {};
}

[[nodiscard]] std::optional<std::string> contradiction(const spec::Library& library, const std::string& operation,
                                                       std::size_t part, Check check) {
  const std::string its = fmt::format("{}: its {} part", operation, name_of(library.named(operation).parts[part - 1]));
  Numbers numbers;
  std::size_t cases = 0;
  for (std::uint64_t i = 0; i < points; ++i) {
    auto c = make_case({operation, check, DType::f64, 4 * i, 1, library});
    if (!c) continue;
    ++cases;
    draw_ordinary(*c, i);
    const auto found = difference(*c, part, numbers);
    if (found) return fmt::format("{} differs from what it means: {}", its, *found);
  }
  if (cases == 0) return fmt::format("{} was not held to its meaning: no call of it can be drawn", its);
  if (numbers.meant > 0 && numbers.stated == 0) return fmt::format("{} gives no number where the definition means one", its);
  return std::nullopt;
}

}  // namespace

std::vector<Schema> other_schemas(const Case& c, spec::Mode mode) {
  const spec::Definition& d = definition_of(c);
  std::vector<Schema> schemas;
  for (std::size_t p = 1; p <= d.part_count; ++p) {
    if (applies(d.parts[p - 1], mode)) schemas.push_back(schema_of(c, p));
  }
  for (std::size_t p = 1; p <= d.part_count && applies(spec::PartForm::vjp, mode); ++p) {
    if (d.parts[p - 1] != spec::PartForm::jvp) continue;
    Schema adjoint = adjoint_of(c, p);
    if (evaluations(adjoint.system) <= longest_adjoint) schemas.push_back(std::move(adjoint));
  }
  Schema own = meaning_of(c);
  if (auto divided = with_divided_axes(own.system)) schemas.push_back({std::move(*divided), own.inputs});
  own.system = reference::with_recomputed_elements(own.system);
  schemas.push_back(std::move(own));
  return schemas;
}

namespace {

/// Puts envelopes of one schema in place where they admit what the definition's own do not.
class Admission {
 public:
  Admission(reference::Envelopes& bounds, std::span<const HostTensor> got, const Freedoms& freedoms)
      : bounds_(bounds), got_(got), freedoms_(freedoms) {
    for (std::size_t o = 0; o < bounds_.outputs.size() && o < got_.size(); ++o) {
      if (!admits(o)) free(o, bounds_.outputs[o]);
    }
    meaning_ = bounds_;
  }

  [[nodiscard]] bool is_complete() const { return reference::judge(got_, bounds_).passed(); }

  void offer(reference::Envelopes others) {
    for (std::size_t o = 0; o < others.outputs.size() && o < got_.size(); ++o) {
      others.outputs[o] = decided(others.outputs[o], meaning_.outputs[o]);
      if (admits(o)) continue;
      free(o, others.outputs[o]);
      if (judge(got_[o], others.outputs[o]).passed()) put_in_place(bounds_, o, others.outputs[o]);
    }
    // Tensors that differ in a decision, each admitted alone: readers that compute anew decide anew.
    if (others.outputs.size() == got_.size() && !is_complete() && judge(got_, others).passed()) bounds_ = std::move(others);
  }

 private:
  [[nodiscard]] bool admits(std::size_t o) const { return judge(got_[o], bounds_.outputs[o]).passed(); }
  void free(std::size_t o, reference::Envelope& e) const {
    if (o < freedoms_.size()) admit(e, freedoms_[o]);
  }

  reference::Envelopes& bounds_;
  std::span<const HostTensor> got_;
  const Freedoms& freedoms_;
  reference::Envelopes meaning_;
};

}  // namespace

void admit_schemas(reference::Envelopes& bounds, std::span<const HostTensor> got, std::span<const Schema> schemas,
                   const Freedoms& freedoms, const spec::Contract& contract) {
  Admission admission(bounds, got, freedoms);
  std::vector<reference::Envelopes> along_all;
  for (std::size_t s = 0; s < schemas.size() && !admission.is_complete(); ++s) {
    along_all.push_back(reference::envelopes(schemas[s].system, schemas[s].inputs, contract));
    admission.offer(along_all.back());
  }
  for (std::size_t s = 0; s < schemas.size() && !admission.is_complete(); ++s) {
    if (has_directions(schemas[s])) admission.offer(along_directions(schemas[s], along_all[s], contract));
  }
}

void widen_by_schemas(reference::Envelopes& bounds, std::span<const Schema> schemas, const spec::Contract& contract) {
  for (const Schema& schema : schemas) {
    const reference::Envelopes others = reference::envelopes(schema.system, schema.inputs, contract);
    for (std::size_t o = 0; o < others.outputs.size(); ++o) {
      reference::Envelope& to = bounds.outputs[o];
      const reference::Envelope& from = others.outputs[o];
      for (std::size_t i = 0; i < to.lower.size() && i < from.lower.size(); ++i) {
        to.lower[i] = std::min(to.lower[i], from.lower[i]);
        to.upper[i] = std::max(to.upper[i], from.upper[i]);
        to.deviation[i] = std::max(to.deviation[i], from.deviation[i]);
        to.flags[i] |= static_cast<std::uint8_t>(from.flags[i] & no_mark);
      }
    }
  }
}

std::optional<std::string> contradiction(const spec::Library& library, const std::string& operation) {
  const spec::Definition& d = library.named(operation);
  for (std::size_t p = 1; p <= d.part_count; ++p) {
    for (const Check check : checks_of(d.parts[p - 1])) {
      if (auto found = contradiction(library, operation, p, check)) return found;
    }
  }
  return std::nullopt;
}

}  // namespace etalon::conformance
