#include "tests/adequacy/sums.hpp"

#include "conformance/values.hpp"
#include "tests/adequacy/number_changes.hpp"

namespace etalon::adequacy {
namespace {

bool gives_every_element_in_order(const spec::Equation& e, const Dims& dims) {
  if (e.place.size() != e.binders.size()) return false;
  for (std::size_t k = 0; k < e.place.size(); ++k) {
    if (e.place[k].form() != spec::Form::variable || e.place[k]->variable != e.binders[k].variable ||
        e.binders[k].extent != dims[k])
      return false;
  }
  return true;
}

}  // namespace

std::optional<Terms> terms_of_sum(const spec::System& system, std::size_t equation) {
  const spec::Equation& e = system.equations[equation];
  if (e.binders.size() + e.value->binders.size() > Dims::max_rank ||
      !gives_every_element_in_order(e, system[e.target].dims))
    return std::nullopt;
  Terms terms{system, -1, e.target};
  spec::Equation term = e;
  term.binders.insert(term.binders.end(), e.value->binders.begin(), e.value->binders.end());
  term.place = spec::variables(term.binders);
  Dims dims;
  for (const spec::Binder& b : term.binders) dims.push_back(b.extent);
  terms.tensor = terms.system.add_tensor("terms of a sum", system[e.target].dtype, dims);
  term.target = terms.tensor;
  const spec::Expr &guard = e.value->args[0], &body = e.value->args[1];
  term.value = guard.form() == spec::Form::number ? body : spec::select(guard, body, spec::decimal(0));
  terms.system.equations[equation] = term;
  return terms;
}

HostTensor added_in(const HostTensor& terms, const Dims& target, DType type) {
  HostTensor sums(terms.dtype, target);
  const auto count = static_cast<std::size_t>(target.count());
  const std::size_t each = count == 0 ? 0 : static_cast<std::size_t>(terms.dims.count()) / count;
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < each; ++k) sum = rounded_to(sum + conformance::element(terms, i * each + k), type);
    conformance::set_element(sums, i, sum);
  }
  return sums;
}

}  // namespace etalon::adequacy
