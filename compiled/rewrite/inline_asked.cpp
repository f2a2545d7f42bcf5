#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compiled/ir/language.hpp"
#include "compiled/ir/local_definition.hpp"
#include "compiled/ir/uses.hpp"
#include "compiled/ir/wishes.hpp"
#include "compiled/machine/thresholds.hpp"
#include "compiled/rewrite/passes.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

namespace {

class Asking {
 public:
  explicit Asking(System& system)
      : system_(system),
        asked_(tensors_asked(system, spec::Asked::inlined)),
        uses_(uses_of(system)),
        locals_(system.tensors.size()) {}

  void run() {
    for (std::size_t i = 0; i < system_.equations.size(); ++i) {
      Equation& equation = system_.equations[i];
      for (const Expr& p : equation.place) spec::for_each(p, [&](const Expr& e) { refuse_place(e); });
      reader_ = reader_of(system_, equation);
      reader_name_ = system_[equation.target].name;
      size_ = size_of_expression(equation.value);
      equation.value = visit(equation.value, reader_.rounds_result);
      if (asked_[at(equation.target)]) note(equation);
    }
    std::erase_if(system_.equations, [&](const Equation& e) { return asked_[at(e.target)]; });
  }

 private:
  static std::size_t at(TensorId t) { return static_cast<std::size_t>(t); }

  void note(const Equation& equation) {
    const TensorId t = equation.target;
    if (uses_.writers[at(t)] != 1) refuse(t, "several equations write it");
    if (uses_.recurrent[at(t)]) refuse(t, "it depends on itself");
    locals_[at(t)] = definition_in(system_, equation);
    if (!locals_[at(t)].why_not.empty()) refuse(t, locals_[at(t)].why_not);
  }

  /// \param rounds whether the value is rounded to single precision where it stands
  Expr visit(const Expr& e, bool rounds) {
    if (e->args.empty() && e.form() != Form::read) return e;
    std::vector<Expr> args = e->args;
    for (std::size_t i = 0; i < args.size(); ++i) args[i] = visit(args[i], rounds_operand(system_, reader_, e, args, i));
    const Expr rebuilt = spec::with_args(e, std::move(args));
    return rebuilt.form() == Form::read && asked_[at(rebuilt->tensor)] ? definition(rebuilt, rounds) : rebuilt;
  }

  Expr definition(const Expr& read, bool rounds) {
    const TensorId t = read->tensor;
    const LocalDefinition& local = locals_[at(t)];
    if (!local.why_not.empty()) refuse(t, uses_.recurrent[at(t)] ? "it depends on itself" : local.why_not);
    if (!keeps_bits(local, reader_, rounds)) {
      refuse(t, local.rounded ? fmt::format("{} reads it where it would not be rounded to {}", reader_name_, name_of(local.arithmetic))
                              : fmt::format("{} reads it, and computes in another type than its {}", reader_name_, name_of(local.arithmetic)));
    }
    size_ += local.size;
    if (size_ > threshold<std::size_t>("longest_inlined"))
      refuse(t, fmt::format("{} reads it, and would have {} terms, more than {}", reader_name_, size_, threshold<std::size_t>("longest_inlined")));
    return value_at(system_.equations[uses_.equation[at(t)]], local, read);
  }

  void refuse_place(const Expr& e) const {
    if (e.form() == Form::read && asked_[at(e->tensor)]) refuse(e->tensor, "elements are placed by it");
  }

  [[noreturn]] void refuse(TensorId t, const std::string& why) const {
    const auto wish = std::find_if(system_.wishes.begin(), system_.wishes.end(), [&](const spec::TensorWish& w) {
      return w.tensor == t && w.asked == spec::Asked::inlined;
    });
    throw SpecViolation(fmt::format("{} cannot be: {}", wish->by, why));
  }

  System& system_;
  std::vector<bool> asked_;
  Uses uses_;
  std::vector<LocalDefinition> locals_;
  Reader reader_;
  std::string reader_name_;
  std::size_t size_ = 0;
};

}  // namespace

void inline_asked(System& system) {
  const auto inlined = [](const spec::TensorWish& w) { return w.asked == spec::Asked::inlined; };
  if (std::any_of(system.wishes.begin(), system.wishes.end(), inlined)) Asking(system).run();
}

}  // namespace etalon::compiled
