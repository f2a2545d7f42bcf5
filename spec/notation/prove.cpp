/// \file
/// The proof that an elaborated definition reads nothing beyond its tensors and gives each element once, and what is said
/// where there is none.
#include <algorithm>
#include <string>

#include "spec/notation/elaborator.hpp"

namespace etalon::spec::notation {

namespace {

/// `has 5 elements (0 to 4)`
std::string elements(std::int64_t extent) {
  if (extent == 0) return "has no elements";
  if (extent == 1) return "has 1 element (0)";
  return "has " + std::to_string(extent) + " elements (0 to " + std::to_string(extent - 1) + ")";
}

/// From the name to the bracket that closes its indices.
std::string_view with_indices(std::string_view text, std::size_t begin) {
  std::size_t depth = 0;
  for (std::size_t i = text.find('[', begin); i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']' && --depth == 0) return text.substr(begin, i + 1 - begin);
  }
  return text.substr(begin);
}

}  // namespace

void Elaborator::prove() const {
  try {
    verify(system_);
  } catch (const IllFormed& error) {
    refute(error.broken());
    throw;
  }
}

/// Returns where the system breaks another rule than those that a definition can break by itself.
void Elaborator::refute(const Broken& broken) const {
  if (broken.miswritten) refute_write(broken);
  if (!broken.fault) return;
  const NodeId n = source_of(broken.fault->where);
  if (n < 0) return;
  if (broken.fault->where.form() == Form::read) refute_read(*broken.fault, n);
  fail_at(n, broken.fault->rule);
}

void Elaborator::refute_read(const Fault& fault, NodeId read) const {
  const std::int64_t extent = system_[fault.where->tensor].dims[fault.axis];
  Diagnosis d = diagnose(d_.name, " reads ", with_indices(d_.text, d_[read].text.begin));
  const std::string axis = axis_of(fault.where->tensor, fault.axis);
  if (fault.index) d.add(" at ").add(*fault.index).add(", but ").add(axis).add(" ").add(elements(extent));
  else d.add(" at an index that is not proved to be within ").add(axis).add(", which ").add(elements(extent)).add("; a read that may leave its tensor has an else");
  unsound(d, d_[read].text.begin);
}

void Elaborator::refute_write(const Broken& broken) const {
  const TensorInfo& target = system_[broken.tensor];
  const Miswritten& wrong = *broken.miswritten;
  std::size_t where = 0;  // the result's name, or the equation at fault
  for (std::size_t r = 0; r < d_.result_count; ++r) {
    if (target.name.substr(0, target.name.find('#')) == d_.at(d_.results[r].name)) where = d_.results[r].name.begin;
  }
  const bool by_equation = broken.equation && wrong.element.size() == target.dims.rank;
  if (by_equation) {
    const auto clause = clauses_.find(system_.equations[*broken.equation].origin);
    if (clause != clauses_.end()) where = clause->second;
  }
  Diagnosis d = diagnose(d_.name);
  if (wrong.element.size() != target.dims.rank) unsound(d.add(": ").add(target.name).add(": ").add(wrong.rule), where);
  const auto outside = [&](std::size_t axis) { return wrong.element[axis] < 0 || wrong.element[axis] >= target.dims[axis]; };
  std::size_t axis = 0;
  while (axis < target.dims.rank && !outside(axis)) ++axis;
  std::string element = target.name;
  for (std::size_t a = 0; a < wrong.element.size(); ++a) element += (a == 0 ? "[" : ", ") + std::to_string(wrong.element[a]);
  if (!wrong.element.empty()) element += "]";
  d.add(" gives ").add(element);
  if (axis < target.dims.rank) d.add(", but ").add(axis_of(broken.tensor, axis)).add(" ").add(elements(target.dims[axis]));
  else d.add(by_equation ? " a second time" : " no value").add("; each element of a result is given by exactly one equation");
  unsound(d, where);
}

void Elaborator::unsound(Diagnosis diagnosis, std::size_t where) const {
  diagnosis.at(d_.text, where);
  if (d_.file.empty()) throw Unsound("", {diagnosis.line, diagnosis.column}, std::string(diagnosis.message()));
  throw Unsound(d_.file, {d_.first_line + diagnosis.line - 1, diagnosis.column}, std::string(diagnosis.rule()));
}

/// The node that an expression was made of, or -1.
NodeId Elaborator::source_of(const Expr& e) const {
  for (const auto& [made, node] : sources_) {
    if (&*made == &*e) return node;
  }
  return -1;
}

/// `axis n`, or `axis 0` where the axis has no name of its own.
std::string Elaborator::axis_of(TensorId tensor, std::size_t axis) const {
  const auto named = [&](const OperandText& o, const Storage& s) -> std::string {
    const Layout l = layout_of(d_, o.axes);
    for (std::size_t k = 0; k < std::min(l.count, s.groups.size()); ++k) {
      const auto& axes = s.groups[k].axes;
      const bool here = std::find(axes.begin(), axes.end(), axis) != axes.end();
      if (here && d_[l.items[k].node].form == NodeForm::name) return "axis " + std::string(d_.at(l.items[k].node));
    }
    return "axis " + std::to_string(axis);
  };
  for (const auto& [key, s] : tensors_) {
    if (!s.present || s.id != tensor) continue;
    for (std::size_t i = 0; i < d_.operand_count; ++i) {
      if (d_.at(d_.operands[i].name) == key.first) return named(d_.operands[i], s);
    }
    for (std::size_t r = 0; r < d_.result_count; ++r) {
      if (d_.at(d_.results[r].name) == key.first) return named(d_.results[r], s);
    }
  }
  return "axis " + std::to_string(axis);
}

}  // namespace etalon::spec::notation
