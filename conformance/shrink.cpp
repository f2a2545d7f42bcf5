#include "conformance/shrink.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "conformance/shapes.hpp"
#include "conformance/values.hpp"
#include "spec/library/library.hpp"

namespace etalon::conformance {
namespace {

// The elements that lie in both shapes keep their place, counted from the first or from the last; others become 1.
HostTensor cropped(const HostTensor& old, const Dims& dims, bool from_last) {
  HostTensor fitted(old.dtype, dims);
  const auto count = static_cast<std::size_t>(dims.count());
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i);
    std::int64_t from = 0;
    std::int64_t stride = 1;
    bool inside = old.dims.rank == dims.rank;
    for (std::size_t axis = dims.rank; inside && axis-- > 0;) {
      const std::int64_t shift = from_last ? old.dims[axis] - dims[axis] : 0;
      const std::int64_t index = rest % dims[axis] + shift;
      rest /= dims[axis];
      inside = index >= 0 && index < old.dims[axis];
      from += index * stride;
      stride *= old.dims[axis];
    }
    if (!inside)
      from =
          static_cast<std::int64_t>(i) + (from_last ? std::max<std::int64_t>(0, old.dims.count() - dims.count()) : 0);
    const bool known = inside || from < old.dims.count();
    set_element(fitted, i, known ? element(old, static_cast<std::size_t>(from)) : 1);
  }
  return fitted;
}

std::vector<std::int64_t> smaller_extents(std::int64_t e) {
  std::vector<std::int64_t> candidates;
  for (const std::int64_t c : {std::int64_t{1}, std::int64_t{2}, e / 4 + 1, e / 2, e / 2 + 1, e - 1}) {
    if (c >= 0 && c < e && std::find(candidates.begin(), candidates.end(), c) == candidates.end())
      candidates.push_back(c);
  }
  return candidates;
}

std::vector<std::int64_t> smaller_integers(std::int64_t v) {
  std::vector<std::int64_t> candidates;
  for (const std::int64_t c : {std::int64_t{0}, std::int64_t{1}, v / 2, v - 1}) {
    if (std::abs(c) < std::abs(v)) candidates.push_back(c);
  }
  return candidates;
}

std::vector<spec::AttributeValue> smaller_attributes(const spec::AttributeValue& value) {
  std::vector<spec::AttributeValue> candidates;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    for (const std::int64_t c : smaller_integers(*integer)) candidates.emplace_back(c);
  } else if (const auto* truth = std::get_if<bool>(&value)) {
    if (*truth) candidates.emplace_back(false);
  } else if (const auto* real = std::get_if<double>(&value)) {
    for (const double c : {0.0, 1.0, 0.5}) {
      if (std::abs(c) < std::abs(*real)) candidates.emplace_back(c);
    }
  } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      for (const std::int64_t c : smaller_integers((*list)[i])) {
        std::vector<std::int64_t> changed = *list;
        changed[i] = c;
        candidates.emplace_back(std::move(changed));
      }
    }
  }
  return candidates;
}

std::set<std::int64_t> all_extents(const Assignment& a) {
  std::set<std::int64_t> extents;
  for (const auto& [name, row] : a.rows) extents.insert(row.begin(), row.end());
  for (const auto& [name, extent] : a.extents) extents.insert(extent);
  return extents;
}

std::vector<Assignment> smaller_assignments(const Assignment& a) {
  std::vector<Assignment> candidates;
  const auto with = [&](const std::function<void(Assignment&)>& change) {
    Assignment changed = a;
    change(changed);
    if (!(changed == a)) candidates.push_back(std::move(changed));
  };
  for (const auto& [name, count] : a.packs) {
    if (count > 1) with([&key = name, fewer = count - 1](Assignment& c) { c.packs[key] = fewer; });
  }
  // Equal extents together: what is wrong may need them equal.
  for (const std::int64_t old : all_extents(a)) {
    for (const std::int64_t e : smaller_extents(old)) {
      with([&](Assignment& c) {
        for (auto& [name, row] : c.rows) std::replace(row.begin(), row.end(), old, e);
        for (auto& [name, extent] : c.extents) extent = extent == old ? e : extent;
      });
    }
  }
  for (const auto& [name, row] : a.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      with([&key = name, i](Assignment& c) { c.rows[key].erase(c.rows[key].begin() + static_cast<std::ptrdiff_t>(i)); });
    }
  }
  for (const auto& [name, row] : a.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      for (const std::int64_t e : smaller_extents(row[i])) with([&key = name, i, e](Assignment& c) { c.rows[key][i] = e; });
    }
  }
  for (const auto& [name, extent] : a.extents) {
    for (const std::int64_t e : smaller_extents(extent)) with([&key = name, e](Assignment& c) { c.extents[key] = e; });
  }
  for (const auto& [name, value] : a.attributes) {
    for (const auto& v : smaller_attributes(value)) with([&key = name, &v](Assignment& c) { c.attributes[key] = v; });
  }
  return candidates;
}

// Closer to a small integer, the simplest first.
std::vector<double> simpler_values(double v, DType dtype) {
  std::vector<double> candidates;
  const auto offer = [&](double c) {
    const bool same = c == v && std::signbit(c) == std::signbit(v);
    if (!same && std::find(candidates.begin(), candidates.end(), c) == candidates.end()) candidates.push_back(c);
  };
  if (v == 0 && !std::signbit(v)) return {};
  offer(0);
  if (v == 1 || v == 0) return candidates;
  offer(1);
  if (v == -1 || v == 2) return candidates;
  if (!std::isfinite(v) || dtype == DType::boolean) return candidates;
  const double whole = std::nearbyint(v);
  if (whole != v && std::abs(whole) < 1e6) offer(whole);
  if (v < 0) offer(-v);
  if (whole == v) {
    offer(std::trunc(v / 2));
    offer(v - std::copysign(1, v));
  }
  return candidates;
}

class Search {
 public:
  Search(const Case& failing, const Outcome& outcome, Asked& backend, const spec::Contract& contract,
         std::size_t budget)
      : best_{failing, outcome, 0},
        backend_(backend),
        contract_(contract),
        budget_(budget),
        definition_(failing.key.library.find(failing.key.operation)) {}

  Shrunk run() {
    if (definition_ == nullptr || best_.smallest.key.check == Check::rejection) return best_;
    while (smaller_types() && !spent()) {
    }
    while (simpler_numbers() && !spent()) {
    }
    return best_;
  }

 private:
  [[nodiscard]] bool spent() const { return best_.attempts >= budget_; }

  bool accept(Case candidate) {
    if (spent()) return false;
    ++best_.attempts;
    Outcome outcome = check(candidate, backend_, contract_);
    if (outcome.verdict != best_.outcome.verdict) return false;
    best_.smallest = std::move(candidate);
    best_.outcome = std::move(outcome);
    return true;
  }

  std::optional<Case> retyped(const Assignment& assignment, bool from_last) const {
    const Case& old = best_.smallest;
    const auto call = call_of(*definition_, assignment, old.key.dtype);
    if (!call || call->operands.size() != old.operands.size()) return std::nullopt;
    Case c = old;
    c.assignment = assignment;
    c.call = *call;
    std::size_t input = 0;
    for (std::size_t i = 0; i < call->operands.size(); ++i) {
      if (call->operands[i].has_value() != old.operands[i].has_value()) return std::nullopt;
      if (!call->operands[i]) continue;
      c.operands[i] = cropped(*old.operands[i], call->operands[i]->dims, from_last);
      if (input < c.tangents.size() && c.tangents[input])
        c.tangents[input] = cropped(*c.tangents[input], call->operands[i]->dims, from_last);
      ++input;
    }
    const spec::Instance instance = instance_of(c);
    if (instance.results.size() < c.cotangents.size()) return std::nullopt;
    for (std::size_t r = 0; r < c.cotangents.size(); ++r) {
      if (c.cotangents[r]) c.cotangents[r] = cropped(*c.cotangents[r], instance.results[r].dims, from_last);
    }
    return c;
  }

  bool smaller_types() {
    if (best_.smallest.assignment == Assignment{}) return false;
    for (const Assignment& assignment : smaller_assignments(best_.smallest.assignment)) {
      for (const bool from_last : {true, false}) {
        if (spent()) return false;
        if (auto candidate = retyped(assignment, from_last); candidate && accept(std::move(*candidate))) return true;
      }
    }
    return false;
  }

  // Every tensor of the case by position: operands, tangents, cotangents.
  static std::vector<std::optional<HostTensor>*> tensors(Case& c) {
    std::vector<std::optional<HostTensor>*> all;
    for (auto* group : {&c.operands, &c.tangents, &c.cotangents}) {
      for (auto& t : *group) all.push_back(&t);
    }
    return all;
  }

  bool simpler_numbers() {
    bool changed = false;
    const std::size_t count = tensors(best_.smallest).size();
    for (std::size_t t = 0; t < count && !spent(); ++t) {
      for (const double fill : {0.0, 1.0}) changed |= filled(t, fill);
    }
    for (std::size_t t = 0; t < count && !spent(); ++t) changed |= simpler_elements(t);
    return changed;
  }

  bool filled(std::size_t t, double value) {
    Case candidate = best_.smallest;
    auto& tensor = *tensors(candidate)[t];
    if (!tensor || tensor->dims.count() < 2) return false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(tensor->dims.count()); ++i) {
      const double now = element(*tensor, i);
      if (now != 0 && now != 1) {
        for (std::size_t k = 0; k < static_cast<std::size_t>(tensor->dims.count()); ++k) set_element(*tensor, k, value);
        return accept(std::move(candidate));
      }
    }
    return false;
  }

  bool simpler_elements(std::size_t t) {
    bool changed = false;
    const auto& now = *tensors(best_.smallest)[t];
    const std::size_t count = now ? static_cast<std::size_t>(now->dims.count()) : 0;
    for (std::size_t i = 0; i < count && !spent(); ++i) {
      const HostTensor& tensor = **tensors(best_.smallest)[t];
      for (const double v : simpler_values(element(tensor, i), tensor.dtype)) {
        Case candidate = best_.smallest;
        set_element(**tensors(candidate)[t], i, v);
        if (accept(std::move(candidate))) {
          changed = true;
          break;
        }
      }
    }
    return changed;
  }

  Shrunk best_;
  Asked& backend_;
  const spec::Contract& contract_;
  std::size_t budget_;
  const spec::Definition* definition_;
};

}  // namespace

Shrunk shrink(const Case& failing, const Outcome& outcome, Asked& backend, const spec::Contract& contract,
              std::size_t attempts) {
  if (failing.key.check == Check::step) {
    if (const auto one = failing_step(failing, backend, contract)) {
      Outcome alone = check(*one, backend, contract);
      if (alone.verdict == outcome.verdict) return Search(*one, alone, backend, contract, attempts).run();
    }
  }
  return Search(failing, outcome, backend, contract, attempts).run();
}

}  // namespace etalon::conformance
