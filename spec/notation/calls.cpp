#include <algorithm>

#include "spec/error.hpp"
#include "spec/notation/elaborator.hpp"
#include "spec/system/simplify.hpp"
#include "spec/system/splice.hpp"

namespace etalon::spec::notation {

namespace {

/// Stands for an absent operand, and for a result that nobody needs.
constexpr std::string_view nothing = "_";

}  // namespace

std::vector<std::string> Elaborator::targets_of(const ClauseText& clause) const {
  std::vector<std::string> targets{std::string(d_.at(clause.target))};
  for (NodeId n = clause.places; n >= 0; n = d_[n].next) targets.emplace_back(d_.at(n));
  return targets;
}

/// The equations of the operation that is called become equations of this one; what they give are locals or results.
void Elaborator::call(const ClauseText& clause) {
  const NodeId n = clause.value;
  const Definition* callee = d_.callee(n);
  if (callee == nullptr) fail_at(n, "no operation ", d_.at(n), " stands before this definition");
  const std::vector<std::string> targets = targets_of(clause);
  const auto needed = [&](const std::string& t) { return t != nothing && !dead_.contains(t); };
  if (std::none_of(targets.begin(), targets.end(), needed)) return;
  Passed passed;
  for (NodeId c = d_[n].first; c >= 0 && d_[c].form != NodeForm::setting; c = d_[c].next) pass_operand(c, passed);
  Instance instance = called(clause, *callee, passed);
  if (instance.results.size() != targets.size()) {
    fail(clause.target.begin, d_.at(n), " gives ", static_cast<std::int64_t>(instance.results.size()), " results, ",
         static_cast<std::int64_t>(targets.size()), " are named");
  }
  System& part = instance.system;
  std::vector<TensorId> kept;
  std::vector<TensorId> results;
  std::string stem;
  for (std::size_t r = 0; r < targets.size(); ++r) {
    if (!needed(targets[r])) continue;
    if (stem.empty()) stem = targets[r];
    kept.push_back(part.outputs[r]);
    results.push_back(result_of_call(clause, targets[r], instance.results[r]));
  }
  part.outputs = kept;
  remove_dead(part);
  std::vector<TensorId> place(part.tensors.size(), -1);
  for (std::size_t i = 0; i < part.inputs.size(); ++i) place[static_cast<std::size_t>(part.inputs[i])] = passed.tensors[i];
  for (std::size_t i = 0; i < part.outputs.size(); ++i) place[static_cast<std::size_t>(part.outputs[i])] = results[i];
  for (const Equation& e : part.equations) {
    TensorId& at = place[static_cast<std::size_t>(e.target)];
    if (at >= 0) continue;
    const TensorInfo& local = part[e.target];
    at = system_.add_tensor(stem + "." + local.name, local.dtype, local.dims);
    system_.tensors.back().range = local.range;
  }
  (void)splice(system_, part, std::move(place));
}

/// A tensor as a whole, all members of a pack, or nothing. A local of halves is arithmetic in f32; the callee sees the
/// type that it stands for.
void Elaborator::pass_operand(NodeId n, Passed& passed) const {
  const std::string name(d_.at(n));
  const auto pass = [&](const Storage& s) {
    passed.types.emplace_back();
    if (!s.present) return;
    DType dtype = system_[s.id].dtype;
    const bool halves = typing_.common == DType::f16 || typing_.common == DType::bf16;
    if (halves && dtype == DType::f32) dtype = *typing_.common;
    passed.types.back() = ValueType{dtype, s.dims};
    passed.tensors.push_back(s.id);
  };
  if (d_[n].form == NodeForm::pack_name) {
    std::size_t members = 0;
    for (auto s = tensors_.find({name, 0}); s != tensors_.end(); s = tensors_.find({name, static_cast<int>(members)})) {
      pass(s->second);
      ++members;
    }
    passed.packs.push_back(members);
    return;
  }
  if (name == nothing) {
    passed.types.emplace_back();
    return;
  }
  const auto s = tensors_.find({name, -1});
  if (s == tensors_.end()) {
    if (tensors_.contains({name, 0})) fail_at(n, name, " is a pack; write ", name, "#");
    fail_at(n, name, " is not a tensor that stands before this call");
  }
  pass(s->second);
}

/// The value that a call gives to an attribute: one of its own, a word, or what follows from extents and attributes.
AttributeValue Elaborator::setting(NodeId value, const AttributeText& declared) const {
  if (d_[value].form == NodeForm::list) {
    std::vector<std::int64_t> items;
    for (NodeId c = d_[value].first; c >= 0; c = d_[c].next) items.push_back(known_integer(c));
    return items;
  }
  const std::string text(d_.at(value));
  if (d_[value].form == NodeForm::name) {
    const Attributes own = to_attributes(d_, typing_.attributes);
    const auto passed_on = own.find(text);
    const bool word = declared.kind == AttributeKind::symbol || declared.kind == AttributeKind::dtype;
    if (passed_on != own.end()) {
      if (std::holds_alternative<ValueName>(passed_on->second)) return ValueName{text};
      return passed_on->second;
    }
    if (word || text == "all" || text == "inf" || text == "nan") return text;
  }
  if (text == "-inf") return text;
  const std::optional<StaticValue> v = known(value);
  if (!v) fail_at(value, text, " does not follow from extents and attributes");
  switch (v->form) {
    case StaticValue::Form::integer: return v->integer;
    case StaticValue::Form::real: return v->real;
    case StaticValue::Form::boolean: return v->truth;
    case StaticValue::Form::symbol: return std::string(v->symbol);
    case StaticValue::Form::row: return std::vector<std::int64_t>(v->row.begin(), v->row.end());
    case StaticValue::Form::unknown: break;
  }
  fail_at(value, text, " does not follow from extents and attributes");
}

Instance Elaborator::called(const ClauseText& clause, const Definition& callee, Passed& passed) {
  Attributes attributes;
  std::vector<std::pair<std::string, TensorId>> scalars;
  for (NodeId c = d_[clause.value].first; c >= 0; c = d_[c].next) {
    if (d_[c].form != NodeForm::setting) continue;
    const std::string name(d_.at(c));
    const int which = callee.attribute_named(name);
    if (which < 0) fail_at(c, d_.at(clause.value), " has no attribute ", name);
    AttributeValue value = setting(d_[c].first, callee.attributes[which]);
    if (const auto* scalar = std::get_if<ValueName>(&value)) scalars.emplace_back(name, scalars_.at(scalar->name));
    if (!attributes.emplace(name, std::move(value)).second) fail_at(c, "attribute ", name, " is given twice");
  }
  const auto pack = [](const OperandText& o) { return o.pack; };
  const auto packs = std::count_if(callee.operands, callee.operands + callee.operand_count, pack);
  const bool stated = static_cast<std::size_t>(packs) == passed.packs.size();
  try {
    Instance instance =
        instantiate(callee, passed.types, stated ? passed.packs : std::vector<std::size_t>{}, attributes);
    std::sort(scalars.begin(), scalars.end());
    for (const auto& [name, tensor] : scalars) passed.tensors.push_back(tensor);
    return instance;
  } catch (const Unsound&) {
    throw;
  } catch (const SpecViolation& error) {
    throw SpecViolation(std::string(d_.name) + ": " + error.what());
  }
}

/// The tensor that receives a result of a call: a result of this operation, or a new local.
TensorId Elaborator::result_of_call(const ClauseText& clause, const std::string& target, const ValueType& type) {
  const Kind kind = kind_of(type.dtype);
  const auto found = tensors_.find({target, -1});
  if (found != tensors_.end()) {
    const Storage& s = found->second;
    const bool is_result = std::count(system_.outputs.begin(), system_.outputs.end(), s.id) > 0;
    if (!is_result) fail(clause.target.begin, target, " is defined twice");
    if (!(s.dims == type.dims) || kind_of(system_[s.id].dtype) != kind) {
      Diagnosis diagnosis = diagnose(d_.name, ": ", target, " has extents ");
      add_row(diagnosis, s.dims).add(", ").add(d_.at(clause.value)).add(" gives ");
      add_row(diagnosis, type.dims).at(d_.text, clause.target.begin);
      raise(diagnosis);
    }
    return s.id;
  }
  if (tensors_.contains({target, 0})) fail(clause.target.begin, target, " is a pack");
  Storage s;
  s.dims = type.dims;
  s.id = system_.add_tensor(target, kind == Kind::real ? local_type(kind) : type.dtype, type.dims);
  for (std::size_t a = 0; a < type.dims.rank; ++a) s.groups.push_back({false, {a}, {}});
  const TensorId id = s.id;
  tensors_[{target, -1}] = std::move(s);
  return id;
}

}  // namespace etalon::spec::notation
