#include "conformance/program_case.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "conformance/directions.hpp"
#include "conformance/program_numbers.hpp"
#include "conformance/random_program.hpp"
#include "conformance/signature.hpp"
#include "conformance/values.hpp"
#include "spec/error.hpp"
#include "spec/program/program.hpp"

namespace etalon::conformance {
namespace {

constexpr std::uint64_t period = 4;  // every fourth program takes any numbers

/// What a program is like. The first two call one operation alone, so that every backend can answer them. A chain reads what
/// the operation gives, and what it reads; repeated, it comes once more on other numbers, which who keeps programs must look at;
/// a fan is read by several elementwise calls, each an output, of which compilers make something else; in pairs each result is
/// read by one call alone, and seen by nobody; in views a value is read as it is and moved, by calls that may overwrite it; in a
/// composition the operation reads its own result, under other attributes; operands that are constants of the program are what
/// compilers fold.
enum class Plot : std::uint8_t { doubled, twice, fan, pairs, views, composed, chain, repeated, constant, mixed };

constexpr std::size_t plots_of_quick = 8;  // as many as that asks of who answers all
using Plots = std::array<Plot, 12>;
constexpr std::uint64_t chain_at = 5;  // in every list
using enum Plot;
/// For both element types: what one meets late the other meets early.
using Lists = std::array<Plots, 2>;
constexpr Lists of_most{{{doubled, twice, pairs, views, composed, chain, constant, repeated, fan, mixed, views, mixed},
                         {doubled, twice, fan, views, composed, chain, pairs, repeated, constant, mixed, views, mixed}}};
// Functions of functions are what compilers simplify.
constexpr Lists of_elementwise{{{doubled, twice, pairs, pairs, composed, chain, constant, repeated, fan, views, mixed, pairs},
                                {doubled, twice, pairs, views, fan, chain, constant, repeated, composed, pairs, mixed, pairs}}};
// Steps after steps and orders of orders are what libraries join to one, reductions what they join with moves.
constexpr Lists of_moves{{{composed, twice, pairs, pairs, views, chain, composed, repeated, fan, doubled, pairs, mixed},
                          {composed, twice, pairs, pairs, fan, chain, composed, repeated, views, mixed, pairs, doubled}}};
constexpr Lists of_folds{{{doubled, twice, pairs, views, composed, chain, constant, repeated, fan, mixed, pairs, mixed},
                          {doubled, twice, pairs, views, fan, chain, constant, repeated, composed, mixed, pairs, mixed}}};

[[nodiscard]] bool is_second(const CaseKey& key) { return key.dtype == DType::f64 || key.dtype == DType::bf16; }

[[nodiscard]] const Plots& plots_of(const CaseKey& key) {
  const spec::Definition& d = key.library.named(key.operation);
  const Lists& lists = is_move(d) ? of_moves : is_elementwise(d) ? of_elementwise : is_fold(d) ? of_folds : of_most;
  return lists[is_second(key) ? 1 : 0];
}

[[nodiscard]] std::size_t place_of(const CaseKey& key) { return static_cast<std::size_t>(key.index % Plots().size()); }

/// Each plot in turn, mixed ones more often as cases go on.
[[nodiscard]] Plot plot_of(const CaseKey& key) { return plots_of(key)[place_of(key)]; }

/// How many earlier cases have the same plot.
[[nodiscard]] std::uint64_t number_in_plot(const CaseKey& key) {
  const Plots& plots = plots_of(key);
  const auto at = static_cast<std::ptrdiff_t>(place_of(key));
  const auto of_round = static_cast<std::uint64_t>(std::count(plots.begin(), plots.end(), plot_of(key)));
  return key.index / plots.size() * of_round + static_cast<std::uint64_t>(std::count(plots.begin(), plots.begin() + at, plot_of(key)));
}

/// How many cases have the plot among the first of either element type.
[[nodiscard]] std::uint64_t early_cases(const CaseKey& key) {
  std::uint64_t count = 0;
  for (const DType dtype : {DType::f32, DType::f64}) {
    CaseKey other = key;
    other.dtype = dtype;
    const Plots& plots = plots_of(other);
    count += static_cast<std::uint64_t>(std::count(plots.begin(), plots.begin() + plots_of_quick, plot_of(key)));
  }
  return std::max<std::uint64_t>(count, 1);
}

/// What equals itself, and what rewriting takes for the same, shows among infinities and NaN.
[[nodiscard]] Numerals numerals_of(Plot plot, const CaseKey& key) {
  const bool second = is_second(key);
  if (plot == Plot::pairs || plot == Plot::constant)
    return is_elementwise(key.library.named(key.operation)) ? Numerals::mostly_special : Numerals::mixed;
  if (plot == Plot::doubled) return second ? Numerals::special : Numerals::moderate;
  if (plot == Plot::chain) return second ? Numerals::any : Numerals::moderate;
  // What is added up tells nothing once one of the parts is infinite.
  if (plot == Plot::fan) return Numerals::moderate;
  return key.index % period == period - 1 ? Numerals::any : Numerals::moderate;
}

constexpr std::uint64_t fan_width = 4;
constexpr std::size_t epilogues = 3, surrounded = 2, compositions = 9;

/// How many consumers, or constants, one case of the plot meets: of definitions that compilers join with what reads them a
/// few cases meet nearly all.
[[nodiscard]] std::uint64_t width_of(Plot plot, const CaseKey& key) {
  const spec::Definition& d = key.library.named(key.operation);
  const bool joins = is_move(d) || is_elementwise(d);
  if (plot == Plot::pairs) return joins ? 36 : is_fold(d) ? 12 : 6;
  if (plot == Plot::constant) return joins ? 32 : 3;
  return fan_width;
}

/// Of so many pairs one has the operation behind, reading what is rewritten with it; of elementwise ones none.
[[nodiscard]] std::uint64_t feeding_each(const spec::Definition& d) {
  return is_elementwise(d) ? std::numeric_limits<std::uint64_t>::max() : is_move(d) ? 4 : 2;
}

[[nodiscard]] bool has_real_attribute(const spec::Definition& d) {
  return std::any_of(d.attributes, d.attributes + d.attribute_count, [](const auto& a) { return a.kind == spec::AttributeKind::real; });
}

[[nodiscard]] bool names_types(const spec::Definition& d) {
  return std::any_of(d.attributes, d.attributes + d.attribute_count, [](const auto& a) { return a.kind == spec::AttributeKind::dtype; });
}

/// The calls of a program; about one in four of those that are not told repeats the one before it.
[[nodiscard]] std::vector<Role> roles_of(Plot plot, const CaseKey& key, Draw& draw) {
  const spec::Definition& d = key.library.named(key.operation);
  const std::uint64_t width = width_of(plot, key);
  const auto some = [&](Role role) { return draw.chance(0.25) ? Role::again : role; };
  switch (plot) {
    case Plot::doubled: return {Role::about};
    case Plot::twice: return {Role::about, Role::again, Role::once_more, Role::exchanged, Role::nearly};
    case Plot::composed: {
      std::vector<Role> roles(compositions, Role::same);
      roles.front() = Role::about;
      if (is_elementwise(d)) roles.resize(roles.size() + ways_there_and_back, Role::there_and_back);
      else roles.insert(roles.end(), {Role::between_moves, Role::between_moves, Role::between_moves, Role::rejoined, Role::rejoined});
      return roles;
    }
    case Plot::fan: {
      // Where cotangents are added up, the last call comes first: what it hands on may be one array for several operands.
      std::vector<Role> roles{Role::about, Role::again};
      if (is_second(key)) roles = {Role::elementwise, Role::sharing, Role::sharing, Role::about};
      roles.resize(roles.size() + width, Role::consumer);
      return roles;
    }
    case Plot::views:
      // What was computed may be overwritten while a view of it is still to be read; or its views be taken for each other.
      if (draw.chance(0.5)) return {Role::elementwise, Role::move, Role::beside, Role::on_view, Role::beside, Role::over_itself, Role::over_itself, Role::read_twice};
      return {Role::elementwise, Role::move, Role::on_view, Role::other_view, Role::beside, Role::over_itself, Role::over_itself, Role::read_twice};
    case Plot::chain:
    case Plot::repeated: return {Role::about, has_real_attribute(d) ? Role::again : some(Role::elementwise), some(Role::elementwise)};
    case Plot::constant: return std::vector<Role>(width, Role::with_constant);
    case Plot::pairs: {
      std::vector<Role> roles;
      for (std::uint64_t k = 0; k < width; ++k) {
        const bool before = k % feeding_each(d) == 1;
        roles.insert(roles.end(), {before ? Role::feeder : Role::anew, before ? Role::fed : Role::reader});
      }
      if (!is_move(d) && !is_elementwise(d)) roles.insert(roles.end(), epilogues, Role::epilogue);
      roles.insert(roles.end(), surrounded, Role::surrounded);
      return roles;
    }
    case Plot::mixed: break;
  }
  std::vector<Role> roles{Role::about};
  for (std::int64_t k = draw.integer(1, 4); k > 0; --k) roles.push_back(some(Role::any));
  return roles;
}

/// Chains take attributes as values of the program, and ask for their derivatives.
[[nodiscard]] bool runs_attributes(const CaseKey& key) { return plot_of(key) == Plot::chain || plot_of(key) == Plot::repeated; }

/// Forward, or a derivative of the whole, as the index and the operation say: the first mixed cases of different operations
/// differ.
[[nodiscard]] spec::Mode mode_of(const CaseKey& key) {
  if (plot_of(key) == Plot::doubled || runs_attributes(key)) return spec::Mode::vjp;
  // Cotangents of what several read are added up, perhaps in place.
  if (plot_of(key) == Plot::fan && is_second(key)) return spec::Mode::vjp;
  // There and back through another element type slopes show what values of few digits do not.
  if (plot_of(key) == Plot::composed && names_types(key.library.named(key.operation))) return spec::Mode::vjp;
  // Memory is given out anew where no derivative is to find it.
  if (plot_of(key) == Plot::views && is_second(key) == is_elementwise(key.library.named(key.operation))) return spec::Mode::forward;
  // Slopes at constants are asked for in one element type of two: first by the mode that whole programs are mostly run in.
  if (plot_of(key) == Plot::constant && !is_second(key)) return spec::Mode::forward;
  if (plot_of(key) == Plot::constant) return number_in_plot(key) % 2 == 0 ? spec::Mode::vjp : spec::Mode::jvp;
  if (plot_of(key) == Plot::twice) return is_second(key) ? spec::Mode::jvp : spec::Mode::vjp;
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

/// Real attributes become scalars of the program, where typing needs no number: of about the same values the first time, which
/// narrower types do not hold, and of others where one comes again.
/// \returns how many did
std::size_t let_attributes_run(Case& c, Draw& draw) {
  const std::size_t before = c.operands.size();
  std::set<std::string> run;
  for (auto& step : c.program->steps) {
    auto* call = std::get_if<spec::Call>(&step);
    if (call == nullptr) continue;
    for (auto& [name, value] : call->attributes) {
      const auto* number = std::get_if<double>(&value);
      if (number == nullptr || draw.chance(0.3)) continue;
      const spec::AttributeValue kept = value;
      HostTensor scalar(c.key.dtype, Dims{});
      const bool again = !run.insert(call->operation + '.' + name).second;
      set_element(scalar, 0, *number * (again ? 0.75 : 1) * (is_second(c.key) && std::isfinite(*number) ? 1 + 0x1p-40 : 1));
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
  const Plot plot = plot_of(c.key);
  const bool all = plot == Plot::fan || plot == Plot::constant || plot == Plot::composed;
  for (std::size_t i = 0; i < c.wrt.size() && all; ++i) c.wrt[i] = c.operands[i] && kind_of(c.operands[i]->dtype) == Kind::real;
  if (!real || std::find(c.wrt.begin(), c.wrt.end(), true) == c.wrt.end()) {
    c.wrt.clear();
    return;
  }
  std::fill(c.wrt.end() - static_cast<std::ptrdiff_t>(last), c.wrt.end(), true);
  c.mode = mode_of(c.key);
  draw_directions(c, results, draw);
}

/// Each mark at the place of the next input that may be marked.
void turn_marks(Case& c) {
  std::vector<std::size_t> real;
  for (std::size_t i = 0; i < c.wrt.size(); ++i) {
    if (kind_of(c.operands[i]->dtype) == Kind::real) real.push_back(i);
  }
  const std::vector<bool> before = c.wrt;
  for (std::size_t k = 0; k < real.size(); ++k) c.wrt[real[k]] = before[real[(k + 1) % real.size()]];
}

}  // namespace

std::vector<std::string> operations_of(const spec::Program& program) {
  std::vector<std::string> operations;
  for (const auto& step : program.steps) {
    if (const auto* call = std::get_if<spec::Call>(&step)) operations.push_back(call->operation);
  }
  return operations;
}

namespace {

/// The chain before it, whose program a backend may have kept, on other numbers; in the second element type other inputs are
/// marked besides, as many as before.
std::optional<Case> on_other_numbers(const CaseKey& key) {
  CaseKey first = key;
  first.index = key.index / Plots().size() * Plots().size() + chain_at;
  auto c = make_program_case(first);
  if (!c) return std::nullopt;
  c->key = key;
  for (auto& t : c->operands) {
    if (!t || kind_of(t->dtype) != Kind::real || t->dims.count() == 0) continue;
    std::rotate(t->bytes.begin(), t->bytes.begin() + static_cast<std::ptrdiff_t>(size_of(t->dtype)), t->bytes.end());
    for (std::size_t i = 0; i < static_cast<std::size_t>(t->dims.count()); ++i) set_element(*t, i, 0.75 * element(*t, i));
  }
  if (is_second(key)) turn_marks(*c);
  return c;
}

}  // namespace

std::optional<Case> make_program_case(const CaseKey& key) {
  Draw draw(draw_key(key, "program", key.index));
  const Plot plot = plot_of(key);
  if (plot == Plot::repeated) return on_other_numbers(key);
  ProgramWish wish{.roles = roles_of(plot, key, draw), .dtype = key.dtype};
  wish.about = &key.library.named(key.operation);
  wish.library = key.library;
  // The early cases of one plot take turns around the circle of consumers, each of them going on where the others pass over;
  // constants follow each other.
  const std::uint64_t ordinal = 2 * number_in_plot(key) + (is_second(key) ? 1 : 0), width = width_of(plot, key);
  wish.stride = early_cases(key);
  const std::uint64_t rounds = ordinal / wish.stride;
  wish.turn = hash_of(key.operation) + (plot == Plot::constant ? ordinal * width : ordinal % wish.stride + rounds * wish.stride * width);
  wish.shared_inputs = plot == Plot::chain ? 0.7 : plot == Plot::twice ? 0.6 : plot == Plot::views ? 0.1 : 0.3;
  wish.read_outputs = 0.4;
  wish.input_outputs = 0.3;
  if (plot == Plot::doubled || plot == Plot::twice || plot == Plot::fan) wish.read_outputs = 1;
  // Orders of axes, steps and starts tell nothing on few axes.
  static const std::vector<std::vector<std::int64_t>> uneven{{4, 3, 5}, {5, 4, 3}, {7, 6}, {3, 5, 4}, {4, 1, 1}, {1, 3, 4}};
  // Where axes agree, what stands in another order has the same shape.
  static const std::vector<std::vector<std::int64_t>> even{{4, 4}, {3, 3, 3}};
  // Steps of steps tell nothing on short ones.
  static const std::vector<std::vector<std::int64_t>> lengthy{{24}, {16, 5}, {9, 12}};
  if (plot == Plot::pairs) wish.read_outputs = 0;
  if (plot == Plot::pairs || plot == Plot::constant) wish.shared_inputs = 0;
  const bool placed = is_move(*wish.about) || is_fold(*wish.about);
  if (plot == Plot::composed || plot == Plot::views || (plot == Plot::pairs && placed && draw.chance(0.6))) {
    const bool steps = plot == Plot::composed && number_in_plot(key) % 2 == 1;
    wish.extents = draw.pick(steps ? lengthy : draw.chance(0.7) ? uneven : even);
    wish.elements = 64;
  }
  // A cotangent that two share shows in arrays alone.
  if (plot == Plot::fan && is_second(key)) {
    static const std::vector<std::vector<std::int64_t>> small{{3, 4}, {5, 2}, {2, 3, 2}, {3, 3}};
    wish.extents = draw.pick(small);
    wish.shared_inputs = 0.05;
  }
  if (plot == Plot::twice && !names_of(*wish.about).placed.empty()) wish.extents = draw.pick(even);
  wish.alike = plot == Plot::twice && is_fold(*wish.about) && !names_of(*wish.about).placed.empty();
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
    ProgramNumbers numbers(key.dtype, numerals_of(plot, key), draw);
    auto found = random_program(key.library.definitions(), wish, draw,
                                [&](const spec::Program& p, const spec::Instance& i) { return numbers.take(p, i); });
    if (!found) {
      if (attempt > 0) wish.roles = {Role::about, Role::any};  // few operations read what this one gives
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
