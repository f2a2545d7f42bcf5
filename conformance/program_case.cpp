#include "conformance/program_case.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <limits>
#include <map>
#include <utility>
#include <variant>

#include "conformance/directions.hpp"
#include "conformance/random_program.hpp"
#include "conformance/signature.hpp"
#include "conformance/values.hpp"
#include "reference/evaluate.hpp"
#include "reference/host.hpp"
#include "spec/error.hpp"
#include "spec/program/program.hpp"

namespace etalon::conformance {
namespace {

using Array = reference::Array<double>;

constexpr std::uint64_t period = 4;  // every fourth program takes any numbers

/// Which numbers inputs hold.
enum class Numerals : std::uint8_t { moderate, any, mixed, special };

/// Numbers for the inputs of a program that grows, and what its calls make of them.
class Numbers {
 public:
  Numbers(DType dtype, Numerals numerals, Draw& draw)
      : largest_(dtype == DType::f16 ? 0x1p6 : 0x1p12), numerals_(numerals), draw_(draw) {}

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
    static const std::vector<Family> special{Family::special};
    static const std::vector<std::vector<Family>> either{moderate, any, special};
    const auto& families = numerals_ == Numerals::moderate ? moderate : numerals_ == Numerals::any ? any : numerals_ == Numerals::mixed ? draw_.pick(either) : special;
    switch (kind_of(input.dtype)) {
      case Kind::real: return real(draw_.pick(families), input);
      case Kind::integer: return draw_integer(draw_, role, input.dtype, input.dims);
      default: return draw_boolean(draw_, input.dims);
    }
  }

  [[nodiscard]] HostTensor real(Family family, const spec::Input& input) {
    HostTensor t = draw_real(draw_, family, input.dtype, input.dims);
    // Few elements hold few extremes by chance; what is compared with itself is NaN for sure.
    const double inf = std::numeric_limits<double>::infinity();
    std::vector<double> sure{inf, -inf, std::numeric_limits<double>::quiet_NaN()};
    if (numerals_ != Numerals::special) sure.clear();
    for (const double x : sure) {
      if (t.dims.count() > 0) set_element(t, static_cast<std::size_t>(draw_.integer(0, t.dims.count() - 1)), x);
    }
    return t;
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
      if (numerals_ == Numerals::moderate && !std::all_of(results[r].real.begin(), results[r].real.end(), wanted)) return false;
    }
    for (std::size_t r = 0; r < results.size(); ++r) values_[call.results[r]] = std::move(results[r]);
    return true;
  }

  double largest_;
  Numerals numerals_;
  Draw& draw_;
  std::vector<HostTensor> inputs_;
  std::map<std::string, Array> values_;
};

/// What a program is like. The first two call one operation alone, so that every backend can answer them. A chain reads what
/// the operation gives, and what it reads; a fan is read by several elementwise calls, each an output, of which compilers make
/// something else; in pairs each result of the operation is read by one call alone, and seen by nobody; what is moved stands otherwise in memory before the operation reads it, and after; in a composition the
/// operation reads its own result, under other attributes; operands that are constants of the program are what compilers fold.
enum class Plot : std::uint8_t { doubled, twice, fan, pairs, moved, composed, chain, constant, mixed };

using Plots = std::array<Plot, 12>;
constexpr Plots of_most{Plot::doubled,  Plot::twice, Plot::fan,   Plot::moved, Plot::composed, Plot::chain,
                        Plot::constant, Plot::pairs, Plot::mixed, Plot::fan,   Plot::moved,    Plot::mixed};
// Functions of functions are what compilers simplify.
constexpr Plots of_elementwise{Plot::doubled,  Plot::twice, Plot::pairs, Plot::pairs, Plot::composed, Plot::chain,
                               Plot::constant, Plot::fan,   Plot::mixed, Plot::moved, Plot::pairs,    Plot::mixed};
// Steps after steps and orders of orders are what libraries join to one.
constexpr Plots of_moves{Plot::composed, Plot::twice, Plot::pairs, Plot::pairs,   Plot::composed, Plot::chain,
                         Plot::pairs,    Plot::fan,   Plot::mixed, Plot::doubled, Plot::pairs,    Plot::moved};

[[nodiscard]] const Plots& plots_of(const CaseKey& key) {
  const spec::Definition& d = key.library.named(key.operation);
  return is_move(d) ? of_moves : is_elementwise(d) ? of_elementwise : of_most;
}

/// The last that the quick tier meets and the first that it does not change places in the second element type.
constexpr std::uint64_t last_of_quick = 6;

[[nodiscard]] std::size_t place_of(const CaseKey& key) {
  const std::uint64_t place = key.index % Plots().size();
  const bool changes = key.dtype == DType::f64 && (place == last_of_quick || place == last_of_quick + 1);
  return static_cast<std::size_t>(changes ? 2 * last_of_quick + 1 - place : place);
}

/// Each plot in turn, mixed ones more often as cases go on.
[[nodiscard]] Plot plot_of(const CaseKey& key) { return plots_of(key)[place_of(key)]; }

/// How many earlier cases have the same plot.
[[nodiscard]] std::uint64_t number_in_plot(const CaseKey& key) {
  const Plots& plots = plots_of(key);
  const auto at = static_cast<std::ptrdiff_t>(place_of(key));
  const auto of_round = static_cast<std::uint64_t>(std::count(plots.begin(), plots.end(), plot_of(key)));
  return key.index / plots.size() * of_round + static_cast<std::uint64_t>(std::count(plots.begin(), plots.begin() + at, plot_of(key)));
}

/// What equals itself, and what rewriting takes for the same, shows among infinities and NaN.
[[nodiscard]] Numerals numerals_of(Plot plot, const CaseKey& key) {
  const bool second = key.dtype == DType::f64;
  if (plot == Plot::pairs) return Numerals::mixed;
  if (plot == Plot::doubled) return second ? Numerals::special : Numerals::moderate;
  if (plot == Plot::chain || plot == Plot::fan) return second ? Numerals::any : Numerals::moderate;
  return key.index % period == period - 1 ? Numerals::any : Numerals::moderate;
}

constexpr std::uint64_t fan_width = 4;

/// How many consumers, or constants, one case of the plot meets: of definitions that compilers join with what reads them a
/// few cases meet nearly all.
[[nodiscard]] std::uint64_t width_of(Plot plot, const CaseKey& key) {
  const spec::Definition& d = key.library.named(key.operation);
  const bool joins = is_move(d) || is_elementwise(d);
  if (plot == Plot::pairs) return joins ? 20 : 4;
  if (plot == Plot::constant) return joins ? 20 : 3;
  return fan_width;
}

/// The calls of a program; about one in four of those that are not told repeats the one before it.
[[nodiscard]] std::vector<Role> roles_of(Plot plot, std::uint64_t width, Draw& draw) {
  const auto some = [&](Role role) { return draw.chance(0.25) ? Role::again : role; };
  switch (plot) {
    case Plot::doubled: return {Role::about};
    case Plot::twice: return {Role::about, Role::again, Role::exchanged};
    case Plot::composed: return {Role::about, Role::same, Role::same};
    case Plot::fan: {
      std::vector<Role> roles{Role::about, Role::again};
      roles.resize(2 + width, Role::consumer);
      return roles;
    }
    case Plot::moved: {
      std::vector<Role> roles{Role::move, Role::about, Role::move, Role::elementwise};
      if (draw.chance(0.5)) roles.insert(roles.begin() + 1, Role::move);
      // What was computed may be overwritten while a view of it is still to be read.
      if (draw.chance(0.5)) roles.insert(roles.begin(), Role::elementwise);
      return roles;
    }
    case Plot::chain: return {Role::about, some(Role::elementwise), some(Role::elementwise)};
    case Plot::constant: return std::vector<Role>(width, Role::with_constant);
    case Plot::pairs: {
      std::vector<Role> roles;
      for (std::uint64_t k = 0; k < width; ++k) roles.insert(roles.end(), {Role::anew, Role::reader});
      return roles;
    }
    case Plot::mixed: break;
  }
  std::vector<Role> roles{Role::about};
  for (std::int64_t k = draw.integer(1, 4); k > 0; --k) roles.push_back(some(Role::any));
  return roles;
}

/// Chains take attributes as values of the program, and ask for their derivatives.
[[nodiscard]] bool runs_attributes(const CaseKey& key) { return plot_of(key) == Plot::chain; }

/// Forward, or a derivative of the whole, as the index and the operation say: the first mixed cases of different operations
/// differ.
[[nodiscard]] spec::Mode mode_of(const CaseKey& key) {
  if (plot_of(key) == Plot::doubled || runs_attributes(key)) return spec::Mode::vjp;
  // Cotangents of what several read are added up, perhaps in place.
  if (plot_of(key) == Plot::fan && key.dtype == DType::f64) return spec::Mode::vjp;
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

/// Real attributes become scalars of the program, of the same values, where typing needs no number.
/// \returns how many did
std::size_t let_attributes_run(Case& c, Draw& draw) {
  const std::size_t before = c.operands.size();
  for (auto& step : c.program->steps) {
    auto* call = std::get_if<spec::Call>(&step);
    if (call == nullptr) continue;
    for (auto& [name, value] : call->attributes) {
      const auto* number = std::get_if<double>(&value);
      if (number == nullptr || draw.chance(0.3)) continue;
      const spec::AttributeValue kept = value;
      HostTensor scalar(c.key.dtype, Dims{});
      set_element(scalar, 0, *number);
      spec::Input input;
      input.name = "a" + std::to_string(c.program->inputs.size());
      input.dtype = c.key.dtype;
      value = spec::ValueName{input.name};
      c.program->inputs.push_back(input);
      try {
        spec::verify(*c.program);
        c.operands.emplace_back(scalar);
        c.call.operands.emplace_back(spec::ValueType{scalar.dtype, scalar.dims});
      } catch (const SpecViolation&) {
        value = kept;
        c.program->inputs.pop_back();
      }
    }
  }
  return c.operands.size() - before;
}

/// With respect to some inputs, and to the last ones for sure.
void draw_derivative(Case& c, std::size_t last, Draw& draw) {
  const std::vector<spec::ValueType> results = result_types(c);
  const bool real = std::any_of(results.begin(), results.end(),
                                [](const spec::ValueType& t) { return kind_of(t.dtype) == Kind::real; });
  c.wrt = draw_wrt(draw, c.operands);
  if (c.wrt.empty() || !real) {
    c.wrt.clear();
    return;
  }
  std::fill(c.wrt.end() - static_cast<std::ptrdiff_t>(last), c.wrt.end(), true);
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
  ProgramWish wish{.roles = roles_of(plot, width_of(plot, key), draw), .dtype = key.dtype};
  wish.about = &key.library.named(key.operation);
  wish.library = key.library;
  // Fans of one operation take up where the one before left off, and those of the second element type from the other side.
  const bool second = key.dtype == DType::f64;
  wish.turn = hash_of(key.operation) + (2 * number_in_plot(key) + (second ? 1 : 0)) * width_of(plot, key);
  wish.shared_inputs = plot == Plot::chain ? 0.7 : plot == Plot::twice ? 0.6 : plot == Plot::moved ? 0.1 : 0.3;
  wish.read_outputs = 0.4;
  wish.input_outputs = 0.3;
  if (plot == Plot::doubled || plot == Plot::twice || plot == Plot::fan) wish.read_outputs = 1;
  // Orders of axes, steps and starts tell nothing on few axes.
  static const std::vector<std::vector<std::int64_t>> uneven{{4, 3, 5}, {5, 4, 3}, {7, 6}, {3, 5, 4}};
  // Where axes agree, what stands in another order has the same shape.
  static const std::vector<std::vector<std::int64_t>> even{{4, 4}, {3, 3, 3}};
  if (plot == Plot::pairs) wish.read_outputs = wish.shared_inputs = 0;
  if (plot == Plot::composed || plot == Plot::moved || (plot == Plot::pairs && is_move(*wish.about) && draw.chance(0.6))) {
    wish.extents = draw.pick(draw.chance(0.7) ? uneven : even);
    wish.elements = 64;
  }
  wish.there_and_back = plot == Plot::composed;
  wish.defaults = plot != Plot::composed;
  wish.twins = plot == Plot::twice && wish.about->operand_count > 1;
  if (plot == Plot::doubled && wish.about->operand_count > 1) {
    wish.doubled = true;
    wish.shared_inputs = 1;
  } else if (plot == Plot::doubled) {
    wish.roles.push_back(Role::again);
  }
  constexpr int patience = 4;
  for (int attempt = 0; attempt < patience; ++attempt) {
    Numbers numbers(key.dtype, numerals_of(plot, key), draw);
    auto found = random_program(key.library.definitions(), wish, draw,
                                [&](const spec::Program& p, const spec::Instance& i) { return numbers.take(p, i); });
    if (!found) {
      wish.roles = {Role::about, Role::any};  // few operations read what this one gives
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
    const bool at_run_time = runs_attributes(key) || (plot == Plot::mixed && draw.chance(0.25));
    const std::size_t scalars = at_run_time ? let_attributes_run(c, draw) : 0;
    if (mode_of(key) != spec::Mode::forward) draw_derivative(c, scalars, draw);
    return c;
  }
  return std::nullopt;
}

}  // namespace etalon::conformance
