// Tensors and equations of a run; integers.cpp, reals.cpp and sums.cpp evaluate expressions.
#include "tests/simulator/simulator.hpp"

#include "reference/bounds/host_element.hpp"
#include "reference/bounds/plan.hpp"
#include "spec/half.hpp"
#include "tests/simulator/recomputed.hpp"

namespace etalon::bounds_test {

template <class T>
Simulator<T>::Simulator(const spec::System& system, std::span<const HostTensor> inputs, const spec::Contract& contract,
                        Choices choices, Elements elements)
    : random_(std::move(choices)),
      system_(random_() % 2 == 0 ? system : reference::bounds::inline_single_uses(system)),
      contract_(contract),
      values_(system.tensors.size()),
      integers_(system.tensors.size()),
      variables_(4096 + index(system.next_variable)),
      rounding_(contract_, random_),
      trees_(rounding_, random_),
      fuse_(random_() % 2 == 0) {
  if (elements == Elements::anew) {
    recomputable_ = recomputable(system_);
    always_anew_ = random_() % 2 == 0;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) load(system_.inputs[i], inputs[i]);
}

template <class T>
std::vector<HostTensor> Simulator<T>::run() {
  const std::vector<spec::Recurrence> recurrences = spec::recurrences(system_);
  auto next = recurrences.begin();
  for (std::size_t i = 0; i < system_.equations.size(); ++i) {
    if (next != recurrences.end() && next->equations.front().equation == i) {
      run_steps(*next);
      i += next->equations.size() - 1;
      ++next;
      continue;
    }
    const auto& q = system_.equations[i];
    make_room(q);
    each(q.binders, [&] { assign(q); });
  }
  std::vector<HostTensor> out;
  for (const auto t : system_.outputs) out.push_back(unload(t));
  return out;
}

template <class T>
void Simulator<T>::run_steps(const spec::Recurrence& r) {
  for (const auto& member : r.equations) make_room(system_.equations[member.equation]);
  for (std::int64_t s = 0; s < r.steps; ++s) {
    for (const auto& member : r.equations) {
      const auto& q = system_.equations[member.equation];
      auto others = q.binders;
      variables_[index(others[member.binder].variable)] = r.backwards ? r.steps - 1 - s : s;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(member.binder));
      each(others, [&] { assign(q); });
    }
  }
}

template <class T>
void Simulator<T>::make_room(const spec::Equation& q) {
  values_[index(q.target)].resize(static_cast<std::size_t>(system_[q.target].dims.count()));
  integers_[index(q.target)].resize(values_[index(q.target)].size());
}

template <class T>
void Simulator<T>::assign(const spec::Equation& q) {
  std::vector<std::int64_t> place;
  for (const auto& p : q.place) place.push_back(integer(p));
  const std::size_t at = offset(q.target, place);
  const DType stored = system_[q.target].dtype;
  T& value = values_[index(q.target)][at];
  if (spec::is_half(stored)) {
    value = static_cast<T>(spec::half_value(spec::nearest_half(static_cast<double>(real(q.value)), stored), stored));
  } else if (stored == DType::f32) {
    value = static_cast<T>(static_cast<float>(real(q.value)));
  } else if (kind_of(stored) == Kind::real) {
    value = real(q.value);
  } else {
    integers_[index(q.target)][at] = kind_of(stored) == Kind::boolean ? boolean(q.value) : integer(q.value);
  }
}

template <class T>
void Simulator<T>::load(spec::TensorId t, const HostTensor& h) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(h.dims.count()); ++i) {
    if (kind_of(h.dtype) == Kind::real) values_[index(t)].push_back(static_cast<T>(reference::bounds::real_element(h, i)));
    else integers_[index(t)].push_back(reference::bounds::integer_element(h, i));
  }
}

template <class T>
HostTensor Simulator<T>::unload(spec::TensorId t) const {
  const auto& info = system_[t];
  const auto& real = values_[index(t)];
  const auto& integers = integers_[index(t)];
  HostTensor h(info.dtype, info.dims);
  for (std::size_t i = 0; i < static_cast<std::size_t>(info.dims.count()); ++i) {
    if (spec::is_half(info.dtype)) h.view<std::uint16_t>()[i] = spec::nearest_half(static_cast<double>(real[i]), info.dtype);
    else if (info.dtype == DType::f32) h.view<float>()[i] = static_cast<float>(real[i]);
    else if (info.dtype == DType::f64) h.view<double>()[i] = static_cast<double>(real[i]);
    else if (info.dtype == DType::i64) h.view<std::int64_t>()[i] = integers[i];
    else if (info.dtype == DType::i32) h.view<std::int32_t>()[i] = static_cast<std::int32_t>(integers[i]);
    else h.view<std::uint8_t>()[i] = static_cast<std::uint8_t>(integers[i]);
  }
  return h;
}

template <class T>
std::size_t Simulator<T>::offset(spec::TensorId t, const std::vector<std::int64_t>& place) const {
  const Dims& dims = system_[t].dims;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < dims.rank; ++i) at = at * dims[i] + place[i];
  return static_cast<std::size_t>(at);
}

template <class T>
std::size_t Simulator<T>::place_of(const Expr& read) {
  std::vector<std::int64_t> place;
  for (const auto& a : read->args) place.push_back(integer(a));
  return offset(read->tensor, place);
}

template <class T>
bool Simulator<T>::computes_anew(const Expr& e) {
  if (recomputable_.empty() || e.form() != spec::Form::read || recomputable_[index(e->tensor)] < 0) return false;
  return always_anew_ || random_() % 2 == 0;
}

template class Simulator<float>;
template class Simulator<double>;

}  // namespace etalon::bounds_test
