#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <iterator>

#include "golden_file.hpp"
#include "reference/differentiate.hpp"
#include "reference/evaluate.hpp"
#include "reference/exact/precisions.hpp"
#include "reference/exact/undecided.hpp"
#include "reference/number.hpp"
#include "spec/derivative/derivative.hpp"
#include "spec/error.hpp"
#include "spec/library/library.hpp"
#include "spec/notation/attributes.hpp"
#include "spec/notation/elaborate.hpp"

namespace {

using namespace etalon;
using golden::Case;
using golden::File;
using golden::Line;
using golden::Written;
using reference::Array;
using reference::Rational;
using spec::Definition;
using spec::Instance;
using spec::ValueType;
/// Numbers as the reference backend computes with them; of the first precision that tells equal ones.
using Enclosed = reference::Precise<511>;

Enclosed enclosed_whole(const boost::multiprecision::cpp_int& v) {
  std::vector<std::uint32_t> digits;
  export_bits(boost::multiprecision::cpp_int(abs(v)), std::back_inserter(digits), 32);
  Enclosed total;
  for (const std::uint32_t d : digits) total = total * Enclosed::of(0x1p32) + Enclosed(std::int64_t{d});
  return v < 0 ? -total : total;
}
Enclosed enclosed(const Rational& v) { return Enclosed::quotient(enclosed_whole(numerator(v)), enclosed_whole(denominator(v))); }

/// A number of the type, from how it is written.
template <class T>
T number_of(const Written& w);
template <>
Rational number_of(const Written& w) {
  if (w.form != Written::Form::finite) throw Unsupported("rational numbers: special value");
  return w.value;
}
template <>
Enclosed number_of(const Written& w) {
  if (w.form == Written::Form::nan) return Enclosed::of(std::numeric_limits<double>::quiet_NaN());
  const double infinity = std::numeric_limits<double>::infinity();
  if (w.form == Written::Form::infinite) return Enclosed::of(w.value > 0 ? infinity : -infinity);
  return enclosed(w.value);
}

template <class T>
Array<T> array_of(const Line& line, const ValueType& type) {
  Array<T> a(kind_of(type.dtype), type.dims);
  if (a.size() != line.values.size()) {
    throw std::runtime_error("line " + std::to_string(line.number) + ": " + std::to_string(a.size()) +
                             " values expected for " + line.name);
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a.kind == Kind::real) {
      a.real[i] = number_of<T>(line.values[i]);
    } else {
      a.integer[i] = numerator(line.values[i].value).convert_to<std::int64_t>();
    }
  }
  return a;
}

bool agrees(const Rational& got, const Written& want) {
  const Rational off = abs(got - want.value);
  return want.approximate ? off <= want.half_unit : off == 0;
}

/// An enclosure has to hold the value written, or one within half a unit of its last digit, and be 400 bits narrow.
bool agrees(const Enclosed& got, const Written& want) {
  if (want.form == Written::Form::nan) return got.is_nan();
  if (want.form == Written::Form::infinite) return got.is_inf() && got.lower().is_negative() == (want.value < 0);
  if (got.is_nan() || got.is_inf()) return false;
  const Enclosed exact = enclosed(want.value);
  const Enclosed off = got - exact;
  const Enclosed half_unit = want.approximate ? enclosed(want.half_unit) : Enclosed();
  const Enclosed allowed = half_unit + Enclosed::of(0x1p-400) * (Enclosed(1) + Enclosed::abs(exact));
  const bool holds = (off.lower().is_negative() || off.lower().is_zero()) && (!off.upper().is_negative() || off.upper().is_zero());
  return (want.approximate || holds) && Enclosed::abs(off) < allowed;
}

std::string shown(const Rational& v) { return v.str(); }
std::string shown(const Enclosed& v) {
  return v.is_nan() || v.is_inf() ? std::to_string(v.lower().is_nan()) : std::to_string(std::ldexp(v.lower().rounded_quotient(-60), -60));
}

struct Operands {
  std::vector<std::optional<ValueType>> types;
  std::vector<std::size_t> packs;
  std::vector<const Line*> present;  ///< in the order of the system's inputs
};

Operands bind(const Definition& d, const Case& c) {
  Operands o;
  const auto take = [&](const Line& l) {
    o.types.push_back(l.absent ? std::nullopt : std::optional(l.type));
    if (!l.absent) o.present.push_back(&l);
  };
  for (std::size_t i = 0; i < d.operand_count; ++i) {
    const std::string name(d.at(d.operands[i].name));
    if (d.operands[i].pack) {
      std::size_t members = 0;
      while (const Line* l = c.find(name + "#" + std::to_string(members))) {
        take(*l);
        ++members;
      }
      o.packs.push_back(members);
      continue;
    }
    const Line* l = c.find(name);
    if (l == nullptr) throw std::runtime_error("case " + c.name + ": operand " + name + " is missing");
    take(*l);
  }
  return o;
}

/// Names of the results as lines have them: `y`, or `y#0`, `y#1` for a pack.
std::vector<std::string> result_names(const Definition& d, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < d.result_count; ++i) {
    const std::string name(d.at(d.results[i].name));
    if (!d.results[i].pack) {
      names.push_back(name);
      continue;
    }
    const std::size_t members = count - (d.result_count - 1);
    for (std::size_t m = 0; m < members; ++m) names.push_back(name + "#" + std::to_string(m));
  }
  return names;
}

class Runner {
 public:
  Runner(const Definition& d, const Case& c)
      : case_(c), operands_(bind(d, c)),
        instance_(spec::instantiate(d, operands_.types, operands_.packs, spec::attributes_from_text(d, c.attributes))),
        results_(result_names(d, instance_.results.size())) {}

  /// Number of elements compared; Unsupported when the number type does not reach.
  template <class T>
  std::size_t run() {
    compared_ = 0;
    for (const Line* l : operands_.present) inputs<T>().push_back(array_of<T>(*l, l->type));
    check_values<T>();
    check_tangents<T>();
    check_cotangents<T>();
    check_every_line_was_used();
    return compared_;
  }

 private:
  template <class T>
  std::vector<Array<T>>& inputs() {
    if constexpr (std::is_same_v<T, Rational>) {
      return rationals_;
    } else {
      return enclosures_;
    }
  }

  template <class T>
  void compare(const Array<T>& got, const Line& want, const ValueType& type) {
    INFO("line " << want.number << ", " << want.name);
    const Array<T> shape(kind_of(type.dtype), type.dims);
    REQUIRE(want.values.size() == shape.size());
    REQUIRE(got.dims == type.dims);
    ++compared_;
    for (std::size_t i = 0; i < want.values.size(); ++i) {
      INFO("element " << i);
      if (got.kind == Kind::real) {
        INFO("got " << shown(got.real[i]));
        REQUIRE(agrees(got.real[i], want.values[i]));
      } else {
        REQUIRE(got.integer[i] == numerator(want.values[i].value).template convert_to<std::int64_t>());
      }
      ++compared_;
    }
  }

  template <class T>
  void check_values() {
    const auto out = reference::evaluate<T>(instance_.system, inputs<T>());
    REQUIRE(out.size() == results_.size());
    for (std::size_t r = 0; r < results_.size(); ++r) {
      const Line* want = case_.find(results_[r]);
      if (want == nullptr) continue;
      ++used_;
      INFO(results_[r] << " has type " << to_string(instance_.results[r]));
      REQUIRE(want->typed);
      REQUIRE(instance_.results[r] == want->type);
      compare(out[r], *want, want->type);
    }
  }

  template <class T>
  std::vector<std::optional<Array<T>>> operand_lines(const std::string& mark) {
    std::vector<std::optional<Array<T>>> found;
    for (const Line* l : operands_.present) {
      const Line* marked = case_.find(l->name + mark);
      used_ += marked != nullptr ? 1U : 0U;
      found.push_back(marked != nullptr ? std::optional(array_of<T>(*marked, l->type)) : std::nullopt);
    }
    return found;
  }

  template <class T>
  void check_tangents() {
    const auto tangents = operand_lines<T>("'");
    if (std::none_of(tangents.begin(), tangents.end(), [](const auto& t) { return t.has_value(); })) return;
    const auto got = reference::jvp_by_definition<T>(instance_.system, inputs<T>(), tangents);
    for (std::size_t r = 0; r < results_.size(); ++r) {
      if (const Line* want = case_.find(results_[r] + "'")) {
        ++used_;
        compare(*got.tangents[r], *want, instance_.results[r]);
      }
    }
  }

  template <class T>
  void check_cotangents() {
    std::vector<std::optional<Array<T>>> seeds;
    bool any = false;
    for (std::size_t r = 0; r < results_.size(); ++r) {
      const Line* seed = case_.find(results_[r] + "~");
      any = any || seed != nullptr;
      used_ += seed != nullptr ? 1U : 0U;
      seeds.push_back(seed != nullptr ? std::optional(array_of<T>(*seed, instance_.results[r])) : std::nullopt);
    }
    if (!any) return;
    std::vector<bool> wrt;
    std::vector<std::size_t> positions;
    for (std::size_t k = 0; k < operands_.present.size(); ++k) {
      wrt.push_back(case_.find(operands_.present[k]->name + "~") != nullptr);
      if (wrt.back()) positions.push_back(k);
    }
    REQUIRE(!positions.empty());
    const auto by_definition = reference::vjp_by_definition<T>(instance_.system, inputs<T>(), seeds, wrt);
    const auto symbolic = symbolic_vjp<T>(seeds, positions);
    for (std::size_t p = 0; p < positions.size(); ++p) {
      const Line& operand = *operands_.present[positions[p]];
      const Line& want = *case_.find(operand.name + "~");
      ++used_;
      compare(*by_definition[positions[p]], want, operand.type);
      INFO("by the symbolic derivative");
      compare(symbolic[p], want, operand.type);
    }
  }

  template <class T>
  std::vector<Array<T>> symbolic_vjp(const std::vector<std::optional<Array<T>>>& seeds,
                                     const std::vector<std::size_t>& positions) {
    std::vector<Array<T>> all = inputs<T>();
    for (std::size_t r = 0; r < seeds.size(); ++r) {
      if (kind_of(instance_.results[r].dtype) != Kind::real) continue;
      all.push_back(seeds[r] ? *seeds[r] : Array<T>(Kind::real, instance_.results[r].dims));
    }
    auto out = reference::evaluate<T>(spec::vjp(instance_.system, positions), all);
    out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(results_.size()));
    return out;
  }

  void check_every_line_was_used() {
    for (const Line& l : case_.lines) {
      if (l.absent) ++used_;
    }
    REQUIRE(used_ + operands_.present.size() == case_.lines.size());
  }

  const Case& case_;
  Operands operands_;
  Instance instance_;
  std::vector<std::string> results_;
  std::vector<Array<Rational>> rationals_;
  std::vector<Array<Enclosed>> enclosures_;
  std::size_t compared_ = 0;
  std::size_t used_ = 0;
};

std::size_t check_rejected(const Definition& d, const Case& c) {
  const Operands o = bind(d, c);
  try {
    (void)spec::instantiate(d, o.types, o.packs, spec::attributes_from_text(d, c.attributes));
  } catch (const SpecViolation& e) {
    REQUIRE_THAT(std::string(e.what()), Catch::Contains(c.rejected));
    return 1;
  }
  FAIL("accepted, expected: " << c.rejected);
  return 0;
}

std::size_t check(const Definition& d, const Case& c) {
  if (!c.rejected.empty()) return check_rejected(d, c);
  std::size_t compared = Runner(d, c).run<Enclosed>();
  try {
    compared += Runner(d, c).run<Rational>();
  } catch (const Unsupported&) {
    // A function, NaN or an infinity: no rational number.
  }
  return compared;
}

std::string path_of(std::string_view operation) {
  return std::string(ETALON_SOURCE_DIR) + "/tests/golden/" + std::string(operation) + ".txt";
}

}  // namespace

TEST_CASE("every operation has golden cases and meets them", "[golden]") {
  REQUIRE(!spec::library().empty());
  for (const Definition* d : spec::library()) {
    DYNAMIC_SECTION(d->name) {
      const File file = golden::read_file(path_of(d->name));
      REQUIRE(file.says_source);
      std::size_t compared = 0;
      for (const Case& c : file.cases) {
        INFO(d->name << ", case " << c.name);
        const std::size_t n = check(*d, c);
        CHECK(n > 0);
        compared += n;
      }
      CHECK(compared > 0);
    }
  }
}

TEST_CASE("every golden file belongs to an operation", "[golden]") {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(ETALON_SOURCE_DIR) + "/tests/golden")) {
    if (entry.path().extension() != ".txt") continue;
    ++files;
    INFO(entry.path().string());
    CHECK(spec::find_definition(entry.path().stem().string()) != nullptr);
  }
  REQUIRE(files > 0);
}

TEST_CASE("numbers of golden files are read as written", "[golden]") {
  REQUIRE(golden::parse_number("-1/3").value == Rational(-1, 3));
  REQUIRE(golden::parse_number("2.50").value == Rational(5, 2));
  REQUIRE(golden::parse_number("1.5e-3").value == Rational(3, 2000));
  const Written w = golden::parse_number("0.693~");
  REQUIRE(w.approximate);
  REQUIRE(w.half_unit == Rational(1, 2000));
  REQUIRE(agrees(Rational(6935, 10000), w));
  REQUIRE(!agrees(Rational(6936, 10000), w));
  REQUIRE(!agrees(Enclosed::of(std::numeric_limits<double>::quiet_NaN()), w));
  REQUIRE_THROWS(golden::parse_number("1,5"));
}
