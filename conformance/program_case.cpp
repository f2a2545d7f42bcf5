#include "conformance/program_case.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <map>
#include <utility>
#include <variant>

#include "conformance/directions.hpp"
#include "conformance/random_program.hpp"
#include "conformance/values.hpp"
#include "reference/evaluate.hpp"
#include "reference/host.hpp"

namespace etalon::conformance {
namespace {

using Array = reference::Array<double>;

constexpr std::uint64_t period = 4;  // every fourth program takes any numbers

/// Numbers for the inputs of a program that grows, and what its calls make of them.
class Numbers {
 public:
  Numbers(DType dtype, bool moderate, Draw& draw)
      : largest_(dtype == DType::f16 ? 0x1p6 : 0x1p12), moderate_(moderate), draw_(draw) {}

  /// Draws the inputs that the last call added and computes it. False when its results are not wanted.
  [[nodiscard]] bool take(const spec::Program& program, const spec::Instance& instance) {
    const std::size_t before = inputs_.size();
    const auto& call = std::get<spec::Call>(program.steps.back());
    const bool taken = fits(program, call, instance);
    if (taken) return true;
    for (std::size_t i = before; i < inputs_.size(); ++i) values_.erase(program.inputs[i].name);
    inputs_.resize(before);
    return false;
  }

  [[nodiscard]] const std::vector<HostTensor>& inputs() const { return inputs_; }

 private:
  [[nodiscard]] bool fits(const spec::Program& program, const spec::Call& call, const spec::Instance& instance) {
    const auto roles = integer_roles(instance.system);
    std::vector<Array> operands;
    for (const auto& name : call.operands) {
      if (!name) continue;
      const IntegerRole& role = roles[operands.size()];
      if (const auto found = values_.find(*name); found != values_.end()) {
        if (!is_in_range(found->second, role)) return false;
        operands.push_back(found->second);
      } else {
        inputs_.push_back(drawn(program.inputs[inputs_.size()], role));
        operands.push_back(reference::from_host<double>(inputs_.back()));
        values_[*name] = operands.back();  // other operands may read it
      }
    }
    try {
      return keeps(call, instance, reference::evaluate<double>(instance.system, operands));
    } catch (const std::exception&) {
      return false;  // an integer divided by zero, say: such calls have cases of their own
    }
  }

  [[nodiscard]] HostTensor drawn(const spec::Input& input, const IntegerRole& role) {
    static const std::vector<Family> moderate{Family::normal, Family::normal, Family::unit, Family::positive, Family::signs};
    static const std::vector<Family> any{Family::large, Family::tiny,   Family::mixed,      Family::ties,
                                         Family::zeros, Family::special, Family::cancelling, Family::offset};
    switch (kind_of(input.dtype)) {
      case Kind::real: return draw_real(draw_, draw_.pick(moderate_ ? moderate : any), input.dtype, input.dims);
      case Kind::integer: return draw_integer(draw_, role, input.dtype, input.dims);
      default: return draw_boolean(draw_, input.dims);
    }
  }

  /// A computed index stays inside; beyond the ends libraries do as they like.
  [[nodiscard]] static bool is_in_range(const Array& value, const IntegerRole& role) {
    if (value.kind != Kind::integer || !role.extent) return true;
    return std::all_of(value.integer.begin(), value.integer.end(),
                       [&](std::int64_t i) { return i >= 0 && i < *role.extent; });
  }

  [[nodiscard]] bool keeps(const spec::Call& call, const spec::Instance& instance, std::vector<Array> results) {
    for (std::size_t r = 0; r < results.size(); ++r) {
      // As a backend would store it: half precision overflows where doubles do not.
      results[r] = reference::from_host<double>(reference::to_host(results[r], instance.results[r].dtype));
      const auto wanted = [&](double x) { return std::isfinite(x) && std::abs(x) <= largest_; };
      if (moderate_ && !std::all_of(results[r].real.begin(), results[r].real.end(), wanted)) return false;
    }
    for (std::size_t r = 0; r < results.size(); ++r) values_[call.results[r]] = std::move(results[r]);
    return true;
  }

  double largest_;
  bool moderate_;
  Draw& draw_;
  std::vector<HostTensor> inputs_;
  std::map<std::string, Array> values_;
};

/// What a program is about. The first two call one operation alone, so that every backend can answer them. In a chain
/// elementwise calls read what the first gives, and what it reads: compilers fuse and rewrite those.
enum class Plot : std::uint8_t { doubled, twice, chain, mixed };

/// Each plot once, then three mixed ones, and so on.
[[nodiscard]] Plot plot_of(const CaseKey& key) {
  constexpr std::array plots{Plot::doubled, Plot::twice, Plot::chain, Plot::mixed, Plot::mixed, Plot::mixed};
  return plots[static_cast<std::size_t>(key.index % plots.size())];
}

/// Forward, or a derivative of the whole, as the index and the operation say: the first mixed cases of different operations
/// differ.
[[nodiscard]] spec::Mode mode_of(const CaseKey& key) {
  if (plot_of(key) == Plot::doubled) return spec::Mode::vjp;
  if (plot_of(key) == Plot::twice) return key.dtype == DType::f64 ? spec::Mode::jvp : spec::Mode::vjp;
  constexpr std::array modes{spec::Mode::forward, spec::Mode::vjp, spec::Mode::forward, spec::Mode::jvp};
  return modes[static_cast<std::size_t>((key.index + hash_of(key.operation) + static_cast<std::uint64_t>(key.dtype)) % modes.size())];
}

[[nodiscard]] std::vector<std::string> texts_of(const spec::Program& program, const spec::Library& library) {
  std::vector<std::string> texts;
  for (const std::string& operation : operations_of(program)) {
    for (const std::string& text : library.texts_for(operation)) {
      if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
    }
  }
  return texts;
}

void draw_derivative(Case& c, Draw& draw) {
  const auto types = spec::types_of(*c.program);
  std::vector<spec::ValueType> results;
  for (const std::string& name : c.program->outputs) results.push_back(types.at(name));
  const bool real = std::any_of(results.begin(), results.end(),
                                [](const spec::ValueType& t) { return kind_of(t.dtype) == Kind::real; });
  c.wrt = draw_wrt(draw, c.operands);
  if (c.wrt.empty() || !real) {
    c.wrt.clear();
    return;
  }
  c.mode = mode_of(c.key);
  draw_directions(c, results, draw);
}

}  // namespace

std::vector<std::string> operations_of(const spec::Program& program) {
  std::vector<std::string> operations;
  for (const auto& step : program.steps) {
    if (const auto* call = std::get_if<spec::Call>(&step)) operations.push_back(call->operation);
  }
  return operations;
}

std::optional<Case> make_program_case(const CaseKey& key) {
  Draw draw(draw_key(key, "program", key.index));
  const Plot plot = plot_of(key);
  const bool moderate = key.index % period != period - 1 && !(plot == Plot::chain && key.dtype == DType::f64);
  ProgramWish wish{.calls = static_cast<std::size_t>(draw.integer(2, 5)), .elements = 12, .dtype = key.dtype};
  wish.first = &key.library.named(key.operation);
  wish.library = key.library;
  wish.repeats = 0.25;
  wish.shared_inputs = 0.3;
  wish.read_outputs = 0.4;
  if (plot == Plot::doubled || plot == Plot::twice) {
    wish.alone = true;
    wish.doubled = plot == Plot::doubled && wish.first->operand_count > 1;
    wish.calls = wish.doubled ? 1 : 2;
    wish.read_outputs = 1;
    wish.shared_inputs = plot == Plot::doubled ? 1 : 0.6;
  }
  if (plot == Plot::chain) {
    wish.elementwise_after = true;
    wish.calls = 3;
    wish.shared_inputs = 0.7;
  }
  constexpr int patience = 4;
  for (int attempt = 0; attempt < patience; ++attempt) {
    Numbers numbers(key.dtype, moderate, draw);
    auto found = random_program(key.library.definitions(), wish, draw,
                                [&](const spec::Program& p, const spec::Instance& i) { return numbers.take(p, i); });
    if (!found) {
      wish.calls = std::min<std::size_t>(wish.calls, 2);  // few operations read what this one gives
      continue;
    }
    Case c;
    c.key = key;
    c.program = std::move(found->program);
    c.program->definitions = texts_of(*c.program, key.library);
    c.assignments = std::move(found->assignments);
    c.call.operation = key.operation;
    for (const HostTensor& t : numbers.inputs()) {
      c.operands.emplace_back(t);
      c.call.operands.emplace_back(spec::ValueType{t.dtype, t.dims});
    }
    if (mode_of(key) != spec::Mode::forward) draw_derivative(c, draw);
    return c;
  }
  return std::nullopt;
}

}  // namespace etalon::conformance
