#include "conformance/shrink_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <set>
#include <string>

#include "conformance/values.hpp"
#include "spec/error.hpp"
#include "spec/notation/attributes.hpp"

namespace etalon::conformance {
namespace {

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

/// The attribute's default, which need not be told, then what is nearer to 0; of the default nothing is simpler.
std::vector<spec::AttributeValue> simpler_attributes(const spec::Definition& d, const std::string& name, const spec::AttributeValue& value) {
  std::vector<spec::AttributeValue> candidates;
  const int which = d.attribute_named(name);
  if (which >= 0 && d.attributes[which].has_default && d.attributes[which].same_as < 0) {
    try {
      const auto complete = spec::attributes_from_text(d, name + "=" + std::string(d.at(d.attributes[which].value)));
      const auto at = complete.find(name);
      if (at != complete.end() && at->second == value) return {};
      if (at != complete.end()) candidates.push_back(at->second);
    } catch (const SpecViolation&) {  // a default that is known only beside other attributes
    }
  }
  for (auto& v : smaller_attributes(value)) candidates.push_back(std::move(v));
  return candidates;
}

std::set<std::int64_t> all_extents(const Assignment& a) {
  std::set<std::int64_t> extents;
  for (const auto& [name, row] : a.rows) extents.insert(row.begin(), row.end());
  for (const auto& [name, extent] : a.extents) extents.insert(extent);
  return extents;
}

/// The number with so many decimal digits.
double rounded(double v, int digits) {
  double to = v;
  const std::string text = fmt::format("{:.{}e}", v, digits - 1);
  (void)std::from_chars(text.data(), text.data() + text.size(), to);
  return to;
}

}  // namespace

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

std::vector<Assignment> smaller_assignments(const spec::Definition& definition, const Assignment& a) {
  std::vector<Assignment> candidates;
  const auto with = [&](const std::function<void(Assignment&)>& change) {
    Assignment changed = a;
    change(changed);
    if (!(changed == a)) candidates.push_back(std::move(changed));
  };
  for (const auto& [name, count] : a.packs) {
    if (count > 1) with([&key = name, fewer = count - 1](Assignment& c) { c.packs[key] = fewer; });
  }
  for (std::size_t i = 0; i < definition.operand_count; ++i) {
    if (definition.operands[i].optional) with([&](Assignment& c) { c.absent.emplace(definition.at(definition.operands[i].name)); });
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
    for (const auto& v : simpler_attributes(definition, name, value)) with([&key = name, &v](Assignment& c) { c.attributes[key] = v; });
  }
  return candidates;
}

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
    if (std::abs(v) <= 100) offer(v - std::copysign(1, v));
  }
  if (kind_of(dtype) != Kind::real) return candidates;
  for (const int digits : {1, 2, 4}) {
    const double r = rounded(v, digits);
    if (whole != v || std::abs(r) < std::abs(v)) offer(r);  // whole numbers only become smaller, so that the search ends
  }
  return candidates;
}

}  // namespace etalon::conformance
