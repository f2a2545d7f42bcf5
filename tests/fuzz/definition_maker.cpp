#include "tests/fuzz/definition_maker.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "spec/error.hpp"
#include "spec/library/library.hpp"
#include "tests/fuzz/small_call.hpp"

namespace etalon::fuzz {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();

using Texts = std::vector<std::string>;

class Maker {
 public:
  explicit Maker(std::string_view bytes) : bytes_(bytes) {}

  spec::Program run() {
    const std::vector<std::int64_t> extents{1, 2, 3, 4, 5, 7, 0};
    const std::int64_t n = extents[below(7)], m = extents[below(7)];
    axes_ = below(2) == 0 ? Texts{"n"} : Texts{"n", "m"};
    const std::string own = text();
    spec::Program p;
    p.definitions.push_back(own);
    const auto dims = [&](const Texts& axes) {
      Dims d;
      for (const std::string& a : axes) d.push_back(a == "n" ? n : m);
      return d;
    };
    p.inputs.push_back({.name = "x", .dtype = below(2) == 0 ? DType::f32 : DType::f64, .dims = dims(axes_), .range = {}, .value = {}, .source = {}});
    p.inputs.push_back({.name = "t", .dtype = below(3) == 0 ? DType::i32 : DType::i64, .dims = dims({"n"}), .range = {}, .value = {}, .source = {}});
    const std::vector<std::int64_t> numbers{0, 1, -1, 2, 3, 5, -2, most, least, std::int64_t{1} << 31, std::int64_t{1} << 61, -(std::int64_t{1} << 62)};
    p.steps.emplace_back(spec::Call{"mine", {"x", "t"}, {}, {{"by", numbers[below(2) == 0 ? below(4) : below(numbers.size())]}}, {"y"}, {}});
    p.outputs.push_back("y");
    return p;
  }

 private:
  /// 0 where the bytes have ended, so that every text ends.
  std::size_t below(std::size_t n) { return at_ < bytes_.size() ? static_cast<unsigned char>(bytes_[at_++]) % n : 0; }
  bool one_in(std::size_t n) { return at_ < bytes_.size() && below(n) == 0; }
  const std::string& of(const Texts& all) { return all[below(all.size())]; }

  static std::string joined(const Texts& items) {
    std::string all;
    for (const std::string& i : items) all += (all.empty() ? "" : ", ") + i;
    return all;
  }

  std::string text() {
    Texts result = axes_;
    if (one_in(4)) result = {of({"n + 1", "2*n", "n*m", "n", "m", "maximum(n - 1, 0)", "by"})};
    if (result[0].find('m') != std::string::npos && axes_.size() == 1) result[0] = "n";
    std::string body;
    if (one_in(4)) body += "  requires " + of({"n > 0", "n > 1", "by >= 0", "by >= 0 and by < n"}) + "\n";
    if (one_in(3)) {
      scope_ = {"i"};
      body += "  u[i < " + of({"n", "n + 1", "2*n", "3"}) + "] = " + real(2) + "\n";
      local_ = true;
    }
    for (std::size_t equations = 1 + (one_in(4) ? below(3) : 0); equations > 0; --equations) body += equation(result);
    return "mine(x[" + joined(axes_) + "], t[n] : int) {by : int} -> y[" + joined(result) + "]\n" + body;
  }

  std::string equation(const Texts& result) {
    scope_.clear();
    Texts places;
    for (std::size_t a = 0; a < result.size(); ++a) {
      const std::string i(1, "ij"[a]);
      switch (at_ < bytes_.size() ? below(16) : 0) {
        case 1: places.push_back(of({"0", "1", "n - 1", "by"})); break;
        case 2: places.push_back(i + " < " + of({"n - 1", "n", "m", "n + 1", "by"})); scope_.push_back(i); break;
        case 3: places.push_back(of({"2*", "3*", ""}) + i + of({"", " + 1", " + by", " - 1"})); scope_.push_back(i); break;
        default: places.push_back(i); scope_.push_back(i);
      }
    }
    const std::string when = one_in(12) ? " when " + of({"n > 1", "n == 1", "by > 0", "n <= 1"}) : "";
    if (scope_.empty()) scope_.push_back("0");
    return "  y[" + joined(places) + "]" + when + " = " + real(3) + "\n";
  }

  std::string real(std::size_t depth) {
    if (depth == 0) return read();
    switch (below(16)) {
      case 0: return of({"0.5", "1", "2"});
      case 1: return "(" + real(depth - 1) + of({" + ", " - ", "*"}) + real(depth - 1) + ")";
      case 2: return "(if " + condition(2) + " then " + real(depth - 1) + " else " + real(depth - 1) + ")";
      case 3:
      case 4: return reduction(depth);
      case 5: return "real(t[" + index(1) + "]" + of({" else 0", ""}) + ")";
      case 6: return local_ ? "u[" + index(1) + "]" + of({"", " else 0"}) : read();
      case 7: return of({"exp", "abs", "detach"}) + "(" + real(depth - 1) + ")";
      default: return read();
    }
  }

  std::string reduction(std::size_t depth) {
    const std::string k = "k" + std::to_string(scope_.size());
    scope_.push_back(k);
    const std::string range = of({"n", "n", "n + 1", "3", "m", "by"});
    std::string head = of({"sum", "sum", "max", "min", "prod"});
    head += "[" + k + (one_in(3) ? "" : " < " + (axes_.size() == 1 && range == "m" ? "n" : range)) + (one_in(3) ? " where " + condition(2) : "") + "] ";
    const std::string body = real(depth - 1);
    scope_.pop_back();
    return "(" + head + body + (head[0] == 'm' && !one_in(4) ? " else 0" : "") + ")";
  }

  std::string read() {
    Texts indices;
    for (std::size_t a = 0; a < axes_.size(); ++a) indices.push_back(one_in(2) ? index(2) : scope_[std::min(a, scope_.size() - 1)]);
    const std::string r = "x[" + joined(indices) + "]";
    return one_in(2) ? "(" + r + " else 0)" : r;
  }

  std::string index(std::size_t depth) {
    if (depth == 0) return of(scope_);
    switch (below(18)) {
      case 0: return of({"0", "1", "2", "n - 1"});
      case 1: return "(" + index(depth - 1) + " + " + index(depth - 1) + ")";
      case 2: return "(" + index(depth - 1) + " - " + index(depth - 1) + ")";
      case 3: return of({"2", "3", "by", "n"}) + "*" + index(depth - 1);
      case 4: return "(" + index(depth - 1) + " // " + of({"2", "3", "n", "by"}) + ")";
      case 5: return "(" + index(depth - 1) + " % " + of({"2", "n", "n", "by"}) + ")";
      case 6: return "(n - 1 - " + index(depth - 1) + ")";
      case 7: return "t[" + of(scope_) + "]";
      case 8: return "(t[" + index(depth - 1) + "] else 0)";
      case 9: return "by";
      case 10: return of({"9223372036854775807", "4611686018427387904", "2147483648", "1152921504606846976"});
      case 11: return "(if " + condition(1) + " then " + index(depth - 1) + " else " + index(depth - 1) + ")";
      case 12: return of({"maximum", "minimum"}) + "(" + index(depth - 1) + ", " + index(depth - 1) + ")";
      case 13: return of({"abs", "sign"}) + "(" + index(depth - 1) + ")";
      case 14: return "(" + index(depth - 1) + of({" + 1", " - 1", " + by"}) + ")";
      default: return of(scope_);
    }
  }

  std::string condition(std::size_t depth) {
    if (depth == 0) return index(1) + " < n";
    switch (below(8)) {
      case 0: return "(" + condition(depth - 1) + of({" and ", " or "}) + condition(depth - 1) + ")";
      case 1: return "not (" + condition(depth - 1) + ")";
      case 2: return axes_.size() == 1 ? "inside(x[" + index(1) + "])" : "inside(t[" + index(1) + "])";
      case 3: return "0 <= " + index(2);
      case 4: return index(1) + " == " + index(1);
      case 5: return "x[" + joined(Texts(axes_.size(), "0")) + "] > 0";
      default: return index(2) + of({" < ", " <= ", " > ", " >= "}) + of({"n", "n - 1", "0", "by", "1"});
    }
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  Texts axes_;
  Texts scope_;   ///< indices in sight
  bool local_ = false;
};

}  // namespace

spec::Program made_program(std::string_view bytes) { return Maker(bytes).run(); }

std::vector<spec::Program> programs_with(const std::string& text) {
  std::optional<spec::Library> library;
  try {
    library = spec::Library().with(text);
  } catch (const SpecViolation&) {
    return {};
  }
  std::vector<spec::Program> programs;
  for (const std::string& name : library->added()) {
    const spec::Definition& d = library->named(name);
    for (const Smallness& size : small_sizes()) {
      SmallCall small = small_call(d, size);
      spec::Program p;
      p.definitions.push_back(text);
      spec::Call call{name, {}, small.packs, small.attributes, {}, {}};
      for (const auto& type : small.operands) {
        const std::string operand = "x" + std::to_string(call.operands.size());
        call.operands.push_back(type ? std::optional(operand) : std::nullopt);
        if (type) p.inputs.push_back({.name = operand, .dtype = type->dtype, .dims = type->dims, .range = {}, .value = {}, .source = {}});
      }
      for (std::size_t r = 0; r < d.result_count; ++r) call.results.push_back("y" + std::to_string(r));
      p.outputs = call.results;
      p.steps.emplace_back(std::move(call));
      programs.push_back(std::move(p));
    }
  }
  return programs;
}

bool is_small(const spec::Program& program) {
  constexpr std::int64_t points = 4000;
  std::int64_t left = points;
  const spec::System system = spec::lower(program);
  const auto take = [&](std::int64_t extent) {
    // Of the extents of nested loops the product counts.
    left = extent > 0 ? left / extent : left;
  };
  for (const spec::TensorInfo& t : system.tensors) {
    left = points;
    for (const std::int64_t e : t.dims) take(e);
    if (left <= 0) return false;
  }
  bool small = true;
  for (const spec::Equation& e : system.equations) {
    left = points;
    for (const spec::Binder& b : e.binders) take(b.extent);
    for_each(e.value, [&](const spec::Expr& x) {
      if (x.form() != spec::Form::reduce) return;
      for (const spec::Binder& b : x->binders) take(b.extent);
    });
    small = small && left > 0;
  }
  return small;
}

std::vector<HostTensor> values_for(const spec::Program& program) {
  std::vector<HostTensor> values;
  std::int64_t next = 1;
  for (const spec::Input& input : program.inputs) {
    HostTensor t(input.dtype, input.dims);
    const std::vector<std::int64_t> whole{0, 1, 2, -1, most, least, 3, -2, most - 1, least + 1, 4, std::int64_t{1} << 32};
    const auto at = [&](std::size_t i) { return whole[(i + static_cast<std::size_t>(next)) % whole.size()]; };
    for (std::int64_t i = 0; i < t.dims.count(); ++i, ++next) {
      const auto k = static_cast<std::size_t>(i);
      switch (t.dtype) {
        case DType::f32: t.view<float>()[k] = static_cast<float>(next % 7) - 2.5F; break;
        case DType::f64: t.view<double>()[k] = static_cast<double>(next % 7) - 2.5; break;
        case DType::i32: t.view<std::int32_t>()[k] = static_cast<std::int32_t>(std::clamp<std::int64_t>(at(k), std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max())); break;
        case DType::i64: t.view<std::int64_t>()[k] = at(k); break;
        case DType::boolean: t.view<std::uint8_t>()[k] = next % 2 == 0 ? 1 : 0; break;
        default: break;
      }
    }
    values.push_back(std::move(t));
  }
  return values;
}

}  // namespace etalon::fuzz
