#include "spec/system/splice.hpp"

#include <unordered_map>
#include <utility>

#include "spec/error.hpp"

namespace etalon::spec {
namespace {

/// Carries expressions of one system over into another.
class Transfer {
 public:
  Transfer(const System& whole, std::vector<TensorId> tensors, VariableId shift)
      : whole_(whole), tensors_(std::move(tensors)), shift_(shift) {}

  [[nodiscard]] TensorId operator[](TensorId part) const { return tensors_[static_cast<std::size_t>(part)]; }

  [[nodiscard]] Binder operator()(const Binder& b) const { return {b.variable + shift_, b.extent, b.name}; }

  [[nodiscard]] std::vector<Binder> operator()(const std::vector<Binder>& binders) const {
    std::vector<Binder> result;
    for (const Binder& b : binders) result.push_back((*this)(b));
    return result;
  }

  [[nodiscard]] Expr operator()(const Expr& e) {
    const auto seen = done_.find(&*e);
    if (seen != done_.end()) return seen->second;
    Expr result = carry(e);
    done_.emplace(&*e, result);
    return result;
  }

  [[nodiscard]] std::vector<Expr> operator()(const std::vector<Expr>& args) {
    std::vector<Expr> result;
    result.reserve(args.size());
    for (const Expr& arg : args) result.push_back((*this)(arg));
    return result;
  }

 private:
  [[nodiscard]] Expr carry(const Expr& e) {
    switch (e.form()) {
      case Form::number: return e;
      case Form::variable: return variable({e->variable + shift_, 0, e->name});
      case Form::read: return carry_read(e);
      case Form::reduce: {
        std::vector<Expr> args = (*this)(e->args);
        return reduce(e->reduction, (*this)(e->binders), args[0], args[1], args.size() > 2 ? args[2] : Expr{});
      }
      default: return with_args(e, (*this)(e->args));
    }
  }

  [[nodiscard]] Expr carry_read(const Expr& e) {
    const TensorId tensor = (*this)[e->tensor];
    Expr result = whole_.at(tensor, (*this)(e->args));
    if (result.kind() == e.kind()) return result;
    if (e.kind() != Kind::real) throw InternalError("splice: " + whole_[tensor].name + " is not of the kind read");
    return as_real(std::move(result));
  }

  const System& whole_;
  std::vector<TensorId> tensors_;
  VariableId shift_;
  std::unordered_map<const Node*, Expr> done_;
};

}  // namespace

std::int32_t splice(System& whole, const System& part, std::vector<TensorId> place) {
  Transfer transfer(whole, std::move(place), whole.next_variable);
  whole.next_variable += part.next_variable;
  const auto first_origin = static_cast<std::int32_t>(whole.origins.size());
  whole.origins.insert(whole.origins.end(), part.origins.begin(), part.origins.end());
  for (const Equation& e : part.equations) {
    whole.equations.push_back({transfer[e.target], transfer(e.binders), transfer(e.place), transfer(e.value),
                               e.origin < 0 ? -1 : e.origin + first_origin});
  }
  return first_origin;
}

}  // namespace etalon::spec
