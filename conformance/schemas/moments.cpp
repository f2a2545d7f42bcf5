#include "conformance/schemas/moments.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace etalon::conformance {
namespace {

using spec::Binder;
using spec::Equation;
using spec::Expr;
using spec::Form;
using spec::Primitive;

/// A mean of `element` over a box, for each place of the equation's binders.
struct Mean {
  std::size_t equation = 0;
  std::vector<Binder> box;
  Expr element;
  std::int64_t count = 0;
  spec::TensorId moments[2] = {-1, -1};  ///< updated mean and sum of squares, once they are defined
};

[[nodiscard]] bool is_sum_over_box(const Expr& e) {
  return e.form() == Form::reduce && e->reduction == spec::Reduction::sum && e.kind() == Kind::real && e->args[0] == spec::boolean(true);
}

[[nodiscard]] bool is_number(const Expr& e, std::int64_t value) {
  return (e.is(Primitive::to_real) && e->args[0].is_integer(value)) || (e.form() == Form::number && e->number.is(value));
}

[[nodiscard]] std::int64_t places(const std::vector<Binder>& box) {
  std::int64_t count = 1;
  for (const Binder& b : box) count *= b.extent;
  return count;
}

[[nodiscard]] spec::Substitution renaming(const std::vector<Binder>& from, const std::vector<Expr>& to) {
  spec::Substitution by;
  for (std::size_t i = 0; i < from.size(); ++i) by[from[i].variable] = to[i];
  return by;
}

class Updating {
 public:
  explicit Updating(const spec::System& system) : system_(system), result_(system), written_(system.tensors.size()) {
    std::vector<int> writers(system.tensors.size(), 0);
    for (std::size_t e = 0; e < system.equations.size(); ++e) {
      const auto t = static_cast<std::size_t>(system.equations[e].target);
      if (++writers[t] == 1 && at_its_binders(system.equations[e])) written_[t] = e;
      else written_[t].reset();
    }
  }

  [[nodiscard]] std::optional<spec::System> run() {
    find_means();
    if (means_.empty()) return std::nullopt;
    result_.equations.clear();
    for (std::size_t e = 0; e < system_.equations.size(); ++e) {
      Equation q = system_.equations[e];
      q.value = of(q.value);
      if (const auto mean = means_.find(q.target); mean != means_.end()) {
        define_moments(mean->second, q);
        q.value = last(mean->second, spec::variables(q.binders), 0);
      }
      result_.equations.push_back(std::move(q));
    }
    return squared_ ? std::optional(std::move(result_)) : std::nullopt;
  }

 private:
  [[nodiscard]] static bool at_its_binders(const Equation& q) {
    return std::equal(q.place.begin(), q.place.end(), q.binders.begin(), q.binders.end(),
                      [](const Expr& p, const Binder& b) { return p.form() == Form::variable && p->variable == b.variable; });
  }

  /// What the element is computed from, where one equation says so; else the expression itself.
  [[nodiscard]] Expr text_of(const Expr& e) const {
    if (e.form() != Form::read || !written_[static_cast<std::size_t>(e->tensor)]) return e;
    const Equation& q = system_.equations[*written_[static_cast<std::size_t>(e->tensor)]];
    return spec::substitute(q.value, renaming(q.binders, e->args));
  }

  void find_means() {
    for (std::size_t e = 0; e < system_.equations.size(); ++e) {
      const Equation& q = system_.equations[e];
      const bool room = system_[q.target].dims.rank < Dims::max_rank;
      if (!q.value.is(Primitive::div) || !room || !written_[static_cast<std::size_t>(q.target)]) continue;
      const Expr sum = text_of(q.value->args[0]);
      if (!is_sum_over_box(sum) || sum->args[1].form() != Form::read || places(sum->binders) == 0 ||
          !is_number(q.value->args[1], places(sum->binders))) continue;
      means_[q.target] = {e, sum->binders, sum->args[1], places(sum->binders), {-1, -1}};
    }
  }

  /// The element of a mean at the place j of its box.
  [[nodiscard]] static Expr element_at(const Mean& mean, const Expr& j) {
    std::vector<Expr> digits(mean.box.size());
    std::int64_t below = 1;
    for (std::size_t b = mean.box.size(); b-- > 0;) {
      const Expr rest = below == 1 ? j : spec::apply(Primitive::floor_div, {j, spec::integer(below)});
      digits[b] = spec::apply(Primitive::modulo, {rest, spec::integer(mean.box[b].extent)});
      below *= mean.box[b].extent;
    }
    return spec::substitute(mean.element, renaming(mean.box, digits));
  }

  [[nodiscard]] Expr last(const Mean& mean, std::vector<Expr> place, std::size_t moment) const {
    place.push_back(spec::integer(mean.count - 1));
    return result_.at(mean.moments[moment], std::move(place));
  }

  void define_moments(Mean& mean, const Equation& q) {
    Dims dims = system_[q.target].dims;
    dims.extent[dims.rank++] = mean.count;
    for (const std::size_t moment : {0U, 1U})
      mean.moments[moment] = result_.add_tensor(moment == 0 ? "mean so far" : "squares so far", system_[q.target].dtype, dims);
    for (const std::size_t moment : {0U, 1U}) define_moment(mean, q, moment);
  }

  void define_moment(const Mean& mean, const Equation& q, std::size_t moment) {
    std::vector<Binder> binders;
    for (const Binder& b : q.binders) binders.push_back(result_.bind(b.name, b.extent));
    binders.push_back(result_.bind("j", mean.count));
    const std::vector<Expr> here = spec::variables(binders);
    const Expr& j = here.back();
    std::vector<Expr> place = here;
    place.back() = j - spec::integer(1);
    const auto before = [&](std::size_t m) {
      return spec::select(spec::apply(Primitive::ge, {j, spec::integer(1)}), result_.at(mean.moments[m], place), spec::decimal(0));
    };
    const std::vector<Expr> outer(here.begin(), here.end() - 1);
    const Expr x = spec::substitute(element_at(mean, j), renaming(q.binders, outer));
    const Expr away = x - before(0);
    const Expr step = moment == 0 ? away / spec::as_real(j + spec::integer(1)) : away * (x - result_.at(mean.moments[0], here));
    result_.define(mean.moments[moment], binders, before(moment) + step, q.origin);
  }

  /// The place of the mean from which the squared distances are added up.
  [[nodiscard]] std::optional<Expr> squares_from(const Expr& sum) const {
    const Expr& body = sum->args[1];
    if (!body.is(Primitive::mul) || !(body->args[0] == body->args[1])) return std::nullopt;
    const Expr distance = text_of(body->args[0]);
    if (!distance.is(Primitive::sub) || distance->args[1].form() != Form::read) return std::nullopt;
    const Expr& read = distance->args[1];
    const auto found = means_.find(read->tensor);
    if (found == means_.end() || found->second.moments[1] < 0 || places(sum->binders) != found->second.count) return std::nullopt;
    const Mean& mean = found->second;
    const auto free = spec::free_variables(read);
    for (const Binder& b : sum->binders) {
      if (std::binary_search(free.begin(), free.end(), b.variable)) return std::nullopt;
    }
    if (sum->binders.size() != mean.box.size()) return std::nullopt;
    spec::Substitution here = renaming(mean.box, spec::variables(sum->binders));
    here.merge(renaming(system_.equations[mean.equation].binders, read->args));
    if (!(spec::substitute(mean.element, here) == distance->args[0])) return std::nullopt;
    return last(mean, read->args, 1);
  }

  [[nodiscard]] Expr of(const Expr& e) {
    if (e->args.empty()) return e;
    if (is_sum_over_box(e)) {
      if (const auto squares = squares_from(e)) {
        squared_ = true;
        return *squares;
      }
    }
    std::vector<Expr> args;
    for (const Expr& a : e->args) args.push_back(of(a));
    return spec::with_args(e, std::move(args));
  }

  const spec::System& system_;
  spec::System result_;
  std::vector<std::optional<std::size_t>> written_;  ///< per tensor its one equation, where it is at its binders
  std::map<spec::TensorId, Mean> means_;
  bool squared_ = false;
};

}  // namespace

std::optional<spec::System> with_updated_moments(const spec::System& system) { return Updating(system).run(); }

}  // namespace etalon::conformance
