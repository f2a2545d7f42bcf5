#include "spec/program/extents.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "spec/error.hpp"
#include "spec/notation/typing.hpp"
#include "spec/program/analysis.hpp"
#include "spec/program/fault.hpp"
#include "spec/quoted.hpp"

namespace etalon::spec {
namespace {

using Types = std::map<std::string, ValueType>;

/// Two extents that are to be equal.
struct Equality {
  std::int64_t left = 0;
  std::int64_t right = 0;
};

/// What typing the program with numbers for its open extents shows.
struct Trial {
  std::vector<Equality> equalities;  ///< that should hold
  std::optional<std::size_t> stuck;  ///< the first step without types
  std::string why;                   ///< what is wrong with the first call that cannot be typed
  std::size_t wrong = 0;             ///< the step of that call
};

/// The program's extents with a number for every name that is open.
using Choice = std::map<std::string, std::int64_t>;

[[nodiscard]] Program chosen(Program program, const Choice& numbers) {
  for (Input& input : program.inputs) {
    for (std::size_t axis = 0; axis < input.open.size(); ++axis) {
      if (!input.open[axis].empty()) input.dims[axis] = numbers.at(input.open[axis]);
    }
    input.open.clear();
  }
  return program;
}

/// Types what can be typed, step by step, and notes what should be equal.
class Attempt {
 public:
  Attempt(const Program& program, const Library& library) : program_(program), library_(library) {}

  Trial run() {
    for (const Input& input : program_.inputs) types_[input.name] = {input.dtype, input.dims};
    for (const Buffer& buffer : program_.buffers) types_[buffer.name] = {buffer.dtype, buffer.dims};
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      if (trial_.why.empty()) trial_.wrong = i;
      const bool typed = std::visit([this](const auto& step) { return take(step); }, program_.steps[i]);
      if (!typed && !trial_.stuck) trial_.stuck = i;
    }
    for (const Update& update : program_.updates) require_equal(update.parameter, update.value);
    return std::move(trial_);
  }

  /// After `run`.
  [[nodiscard]] Types types() && { return std::move(types_); }

 private:
  bool take(const Call& call) {
    const Definition* definition = library_.find(call.operation);
    if (definition == nullptr) return false;
    std::vector<std::optional<ValueType>> operands;
    for (const auto& operand : call.operands) {
      if (operand && types_.count(*operand) == 0) return false;
      operands.push_back(operand ? std::optional(types_.at(*operand)) : std::nullopt);
    }
    const Typing typing = type_call(*definition, operands, call.packs, bind_attributes(*definition, call.attributes));
    if (!typing.ok()) {
      note(typing.disagreement[0], typing.disagreement[1]);
      if (trial_.why.empty()) trial_.why = fmt::format("{}; step {}{}", in_definition(typing.diagnosis), summary(call), at(call.source));
      return false;
    }
    for (std::size_t i = 0; i < call.results.size() && i < typing.result_count; ++i) types_[call.results[i]] = typing.results[i];
    return true;
  }

  bool take(const Differentiate& step) {
    const bool reverse = step.mode == Differentiate::Mode::vjp;
    const std::vector<std::string>& seeded = reverse ? step.of : step.wrt;
    const std::vector<std::string>& differentiated = reverse ? step.wrt : step.of;
    for (std::size_t i = 0; i < seeded.size() && i < step.seeds.size(); ++i) {
      if (step.seeds[i]) require_equal(seeded[i], *step.seeds[i]);
    }
    bool known = true;
    for (std::size_t i = 0; i < differentiated.size() && i < step.results.size(); ++i) {
      const auto found = types_.find(differentiated[i]);
      known = known && found != types_.end();
      if (found != types_.end()) types_.insert_or_assign(step.results[i], ValueType(found->second));
    }
    return known;
  }

  /// Only buffers that are declared apart have a type before the extents are known.
  bool take(const Assign& step) { return types_.count(step.buffer) != 0; }

  void require_equal(const std::string& a, const std::string& b) {
    const auto left = types_.find(a), right = types_.find(b);
    if (left != types_.end() && right != types_.end()) note(left->second.dims, right->second.dims);
  }

  void note(const Dims& left, const Dims& right) {
    if (left.rank != right.rank) return;
    for (std::size_t axis = 0; axis < left.rank; ++axis) trial_.equalities.push_back({left[axis], right[axis]});
  }

  const Program& program_;
  const Library& library_;
  Types types_;
  Trial trial_;
};

/// Types the program twice with stand-ins for what is open. A number that is the stand-in of one name both times is
/// that name, one that is the same both times is known, any other depends on open extents in some other way.
class Solver {
 public:
  explicit Solver(const Program& program) : program_(program), library_(library_of(program)) {
    for (const Input& input : program.inputs) {
      for (const std::string& name : input.open) {
        if (!name.empty()) open_.insert(name);
      }
    }
    for (const std::string& name : open_) found_[name] = name;
  }

  /// The types as far as they follow.
  Types types() {
    while (solve_some()) {
    }
    for (const std::string& name : open_) {
      if (stuck_ && root(name).is_open) refuse(name);
    }
    const Program with_numbers = chosen(program_, choice(0));
    Attempt attempt(with_numbers, library_);
    (void)attempt.run();
    return std::move(attempt).types();
  }

  Program run() {
    while (solve_some()) {
    }
    const Choice first = choice(0);
    for (const auto& [name, value] : found_) {
      if (root(name).is_open) refuse(name);
    }
    return chosen(program_, first);
  }

 private:
  struct Root {
    bool is_open = true;
    std::string name;        ///< of an open extent
    std::int64_t value = 0;  ///< of one that is found
  };

  [[nodiscard]] Root root(std::string name) const {
    for (;;) {
      if (const auto known = values_.find(name); known != values_.end()) return {false, name, known->second};
      const std::string& next = found_.at(name);
      if (next == name) return {true, name, 0};
      name = next;
    }
  }

  /// Numbers with many divisors, unlike those that programs hold, and small enough for products of three.
  [[nodiscard]] Choice choice(int which) const {
    Choice numbers;
    std::int64_t next = which == 0 ? 5 : 173;
    for (const std::string& name : open_) {
      const Root r = root(name);
      if (!r.is_open) numbers[name] = r.value;
      else if (r.name == name) numbers[name] = 720 * (next += 2);
    }
    for (const std::string& name : open_) {
      if (numbers.count(name) == 0) numbers[name] = numbers.at(root(name).name);
    }
    return numbers;
  }

  bool solve_some() {
    const Choice numbers[2] = {choice(0), choice(1)};
    const Program programs[2] = {chosen(program_, numbers[0]), chosen(program_, numbers[1])};
    const Trial a = Attempt(programs[0], library_).run(), b = Attempt(programs[1], library_).run();
    stuck_ = a.stuck ? a.stuck : b.stuck;
    why_ = a.why == b.why ? a.why : "";  // the same whatever the open extents are
    wrong_ = a.wrong;
    if (a.equalities.size() != b.equalities.size()) return false;
    bool progress = false;
    for (std::size_t i = 0; i < a.equalities.size(); ++i) {
      const auto name_of = [&](std::int64_t first, std::int64_t second) -> std::optional<std::string> {
        for (const std::string& name : open_) {
          if (root(name).is_open && numbers[0].at(name) == first && numbers[1].at(name) == second) return root(name).name;
        }
        return std::nullopt;
      };
      const auto left = name_of(a.equalities[i].left, b.equalities[i].left);
      const auto right = name_of(a.equalities[i].right, b.equalities[i].right);
      if (left && right && *left != *right) found_[*left] = *right, progress = true;
      else if (left && !right && a.equalities[i].right == b.equalities[i].right) values_[*left] = a.equalities[i].right, progress = true;
      else if (right && !left && a.equalities[i].left == b.equalities[i].left) values_[*right] = a.equalities[i].left, progress = true;
      if (progress) return true;
    }
    return false;
  }

  [[noreturn]] void refuse(const std::string& name) const {
    const auto has = [&](const Input& i) { return std::find(i.open.begin(), i.open.end(), name) != i.open.end(); };
    const Input& input = *std::find_if(program_.inputs.begin(), program_.inputs.end(), has);
    if (!why_.empty()) throw PartViolation(why_, Part::step, wrong_, {std::get<Call>(program_.steps[wrong_]).operation});
    const auto left_open = [&](const std::string& what) {
      return PartViolation(what, Part::input, static_cast<std::size_t>(&input - program_.inputs.data()), {input.name, true});
    };
    std::string what = fmt::format("parameter {}{}: its extent ?{} is left open", as_quoted(input.name), at(input.source), as_quoted(name));
    std::optional<std::size_t> step = stuck_;
    for (std::size_t i = 0; !step && i < program_.steps.size(); ++i) {
      if (reads(program_.steps[i], input.name)) step = i;
    }
    if (!step) throw left_open(what + ": no call takes it");
    const auto& found = program_.steps[*step];
    what += std::visit([&](const auto& s) { return fmt::format(" by {}{}", on_one_line(summary(s)), at(s.source)); }, found);
    throw left_open(what + "; state it as a number");
  }

  [[nodiscard]] static bool reads(const std::variant<Call, Differentiate, Assign>& step, const std::string& name) {
    const auto* call = std::get_if<Call>(&step);
    return call != nullptr && std::find(call->operands.begin(), call->operands.end(), name) != call->operands.end();
  }

  const Program& program_;
  Library library_;
  std::set<std::string> open_;
  std::map<std::string, std::string> found_;   ///< another name of the same extent, or the name itself
  std::map<std::string, std::int64_t> values_;
  std::optional<std::size_t> stuck_;
  std::string why_;
  std::size_t wrong_ = 0;  ///< the step of which `why_` speaks
};

}  // namespace

bool has_open_extents(const Program& program) {
  return std::any_of(program.inputs.begin(), program.inputs.end(), [](const Input& i) { return !i.open.empty(); });
}

std::map<std::string, ValueType> types_so_far(const Program& program) { return Solver(program).types(); }

Program with_extents(Program program) {
  if (!has_open_extents(program)) return program;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const Input& input = program.inputs[i];
    const std::string what = "input " + as_quoted(input.name);
    if (input.open.empty()) continue;
    in_part(Part::input, i, {input.name, true}, [&] {
      if (input.role != Role::parameter) throw SpecViolation(what + ": only a parameter has open extents");
      if (input.open.size() != input.dims.rank) throw SpecViolation(what + ": expected a name or none per axis");
    });
  }
  return Solver(program).run();
}

}  // namespace etalon::spec
