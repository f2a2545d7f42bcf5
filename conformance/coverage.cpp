#include "conformance/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <set>
#include <tuple>

#include "conformance/shapes.hpp"
#include "spec/library/library.hpp"

namespace etalon::conformance {
namespace {

constexpr std::size_t family_count = static_cast<std::size_t>(Family::special) + 1;
constexpr std::array shape_classes{"empty", "single", "absent", "integers"};

std::vector<std::string> all_classes() {
  std::vector<std::string> names;
  for (std::size_t f = 0; f < family_count; ++f) names.emplace_back(name_of(static_cast<Family>(f)));
  names.insert(names.end(), shape_classes.begin(), shape_classes.end());
  return names;
}

/// What the tensors of a call have in common: whether one of them has no elements, whether each has one.
struct Extremes {
  bool empty = false;
  bool single = true;
};

Extremes extremes(const CallTypes& call, std::span<const spec::ValueType> results) {
  Extremes found;
  const auto meet = [&found](const spec::ValueType& type) {
    found.empty = found.empty || type.dims.count() == 0;
    found.single = found.single && type.dims.count() == 1;
  };
  for (const auto& type : call.operands) {
    if (type) meet(*type);
  }
  for (const spec::ValueType& type : results) meet(type);
  return found;
}

/// What a definition's calls can be at all: learned from many draws, since typing alone knows.
class Possible {
 public:
  Possible(const spec::Definition& definition, DType dtype) {
    Draw draw(std::string(definition.name) + " coverage");
    const std::array wishes{SizeWish{.elements = 8}, SizeWish{.elements = 8, .edges = true},
                            SizeWish{.elements = 8, .edges = true, .empty = true}, SizeWish{.elements = 1}};
    for (int attempt = 0; attempt < 50; ++attempt) {
      for (const SizeWish& wish : wishes) {
        const auto assignment = draw_assignment(definition, draw, wish, dtype);
        if (!assignment) continue;
        if (const auto call = call_of(definition, *assignment, dtype)) learn(definition, *call);
      }
    }
  }

  /// Why nothing is in the cell: one letter, or nothing when there is no reason.
  [[nodiscard]] char reason(const std::string& name, bool is_family) const {
    if (is_family) return real_operand_ ? '\0' : 'r';
    if (name == "empty") return empty_ ? '\0' : 's';
    if (name == "single") return single_ ? '\0' : 's';
    if (name == "absent") return absent_ ? '\0' : 'o';
    return 'n';
  }

 private:
  void learn(const spec::Definition& definition, const CallTypes& call) {
    for (const auto& type : call.operands) {
      absent_ = absent_ || !type;
      real_operand_ = real_operand_ || (type && kind_of(type->dtype) == Kind::real);
    }
    const spec::Instance instance = spec::instantiate(definition, call.operands, call.packs, call.attributes);
    const Extremes found = extremes(call, instance.results);
    empty_ = empty_ || found.empty;
    single_ = single_ || found.single;
  }

  bool real_operand_ = false, empty_ = false, single_ = false, absent_ = false;
};

using RowKey = std::tuple<std::string, spec::Mode, DType>;

char empty_cell(const RowKey& key, const std::map<std::string, std::size_t>& met, const std::string& name,
                bool is_family, const Possible& possible) {
  if (met.empty() && std::get<1>(key) != spec::Mode::forward) return 'd';
  if (name == name_of(Family::special) && std::get<1>(key) != spec::Mode::forward) return 'v';
  // Integers and truth values have no derivative.
  if (name == "integers" && std::get<1>(key) != spec::Mode::forward) return 'd';
  return possible.reason(name, is_family);
}

}  // namespace

std::vector<std::string> classes_of(const Case& c, const std::vector<Family>& families,
                                    std::span<const spec::ValueType> results) {
  std::set<std::string> found;
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    if (!c.operands[i]) {
      found.insert("absent");
      continue;
    }
    if (kind_of(c.operands[i]->dtype) == Kind::real && i < families.size()) found.emplace(name_of(families[i]));
  }
  const Extremes extremes_met = extremes(c.call, results);
  if (extremes_met.empty) found.insert("empty");
  if (extremes_met.single) found.insert("single");
  if (c.assignment.shared_type) found.insert("integers");
  return {found.begin(), found.end()};
}

Coverage cover(const std::vector<Record>& records, const spec::Library& library, std::ostream* table) {
  std::map<RowKey, std::map<std::string, std::size_t>> rows;
  for (const Record& r : records) {
    const DType dtype = dtype_named(r.dtype).value_or(DType::f32);
    for (const spec::Mode mode : {spec::Mode::forward, spec::Mode::jvp, spec::Mode::vjp}) {
      auto& row = rows[{r.operation, mode, dtype}];
      if (r.mode != name_of(mode) || r.check == name_of(Check::rejection)) continue;
      for (const std::string& name : r.classes) ++row[name];
    }
  }
  const std::vector<std::string> names = all_classes();
  if (table != nullptr) {
    *table << "# Cases by operation, mode, element type and class\n\nEmpty cells: d no derivative, r no real operand, "
              "s no such shape is well-typed, o no optional operand, n operands of one kind only, v asked of values only, ? no "
              "reason.\n\n"
              "| operation | mode | type |";
    for (const std::string& name : names) *table << ' ' << name << " |";
    *table << "\n|---|---|---|";
    for (std::size_t i = 0; i < names.size(); ++i) *table << "--:|";
    *table << '\n';
  }
  Coverage coverage;
  for (const auto& [key, met] : rows) {
    const Possible possible(library.named(std::get<0>(key)), std::get<2>(key));
    std::string line = fmt::format("| {} | {} | {} |", std::get<0>(key), name_of(std::get<1>(key)), name_of(std::get<2>(key)));
    for (std::size_t i = 0; i < names.size(); ++i) {
      ++coverage.cells;
      const auto found = met.find(names[i]);
      if (found != met.end()) {
        line += fmt::format(" {} |", found->second);
        continue;
      }
      const char why = empty_cell(key, met, names[i], i < family_count, possible);
      ++(why == '\0' ? coverage.unexplained : coverage.explained);
      line += fmt::format(" {} |", why == '\0' ? '?' : why);
    }
    if (table != nullptr) *table << line << '\n';
  }
  return coverage;
}

}  // namespace etalon::conformance
