/// \file
/// A conforming evaluator that takes every freedom the model and the contract grant: any tree for a sum, or any of those
/// declared, FMA or not, any association of products, functions anywhere within their ulps, higher precision inside,
/// elements computed anew where they are read. It shares no code with the bounds but the normal form of a system's locals.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "spec/contract/contract.hpp"
#include "spec/host_tensor.hpp"
#include "spec/system/recurrence.hpp"
#include "spec/system/system.hpp"
#include "tests/simulator/choices.hpp"
#include "tests/simulator/rounding.hpp"
#include "tests/simulator/trees.hpp"

namespace etalon::bounds_test {

/// Whether elements that are computed from single elements are read as they were stored, or may be computed anew by
/// each reader: such results are those of another schema of the equations (`with_recomputed_elements`).
enum class Elements : std::uint8_t { stored, anew };

/// One run of a system in T (float or double).
template <class T>
class Simulator {
 public:
  Simulator(const spec::System& system, std::span<const HostTensor> inputs, const spec::Contract& contract, unsigned seed,
            Elements elements = Elements::stored)
      : Simulator(system, inputs, contract, Choices(seed), elements) {}
  Simulator(const spec::System& system, std::span<const HostTensor> inputs, const spec::Contract& contract, Choices choices,
            Elements elements = Elements::stored);
  // Its parts refer to its choices.
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  /// The system's outputs; once.
  [[nodiscard]] std::vector<HostTensor> run();

 private:
  using Expr = spec::Expr;

  void load(spec::TensorId t, const HostTensor& h);
  [[nodiscard]] HostTensor unload(spec::TensorId t) const;
  void make_room(const spec::Equation& q);
  void assign(const spec::Equation& q);
  void run_steps(const spec::Recurrence& r);
  template <class Body>
  void each(const std::vector<spec::Binder>& binders, const Body& body, std::size_t first = 0);
  [[nodiscard]] std::size_t offset(spec::TensorId t, const std::vector<std::int64_t>& place) const;
  [[nodiscard]] std::size_t place_of(const Expr& read);

  [[nodiscard]] std::int64_t integer(const Expr& e);
  [[nodiscard]] std::int64_t integer_primitive(const Expr& e);
  [[nodiscard]] std::int64_t reduced(const Expr& e);
  [[nodiscard]] std::int64_t position(const Expr& e);
  [[nodiscard]] bool boolean(const Expr& e);
  [[nodiscard]] bool quantified(const Expr& e);
  [[nodiscard]] bool compare(const Expr& e);

  [[nodiscard]] T real(const Expr& e);
  [[nodiscard]] T primitive(const Expr& e);
  [[nodiscard]] double held(const Expr& e);
  [[nodiscard]] T extremum(const Expr& e);
  [[nodiscard]] bool computes_anew(const Expr& e);
  /// Calls `body` with what the read element is computed from, in the scope of its equation.
  template <class Body>
  auto anew(const Expr& read, const Body& body);

  /// A factor of a product.
  struct Factor {
    T value = 0;
    bool divides = false;
  };
  [[nodiscard]] T product(const Expr& e);
  void factors(const Expr& e, bool divides, std::vector<Factor>& into);

  /// The terms of a sum, how many there might be, and which declaration of trees they fall under.
  struct Gathered {
    std::vector<Term<T>> terms;
    std::int64_t places = 0;
    bool plain = false;
    bool products = false;
    bool scattered = false;  ///< data choose which terms there are
  };
  /// What was met above a term.
  struct Way {
    bool inside = false;  ///< a sum
    bool negative = false;
    bool contracted = false;
  };
  [[nodiscard]] T sum(const Expr& e);
  [[nodiscard]] bool is_on_its_own(const Expr& sum);
  void gather(const Expr& e, Way way, Gathered& into);
  void add_term(const Expr& e, Way way, Gathered& into);
  [[nodiscard]] std::optional<std::int64_t> height(const Gathered& g) const;

  static std::size_t index(std::int32_t id) { return static_cast<std::size_t>(id); }

  Choices random_;
  spec::System system_;
  const spec::Contract contract_;
  std::vector<int> recomputable_;  ///< per tensor, as `recomputable` says
  std::vector<std::vector<T>> values_;
  std::vector<std::vector<std::int64_t>> integers_;  ///< of integer and boolean tensors
  std::vector<std::int64_t> variables_;
  std::map<const spec::Node*, bool> on_their_own_;  ///< of the sums inside sums that were met
  Rounding<T> rounding_;
  Trees<T> trees_;
  bool fuse_ = false;
  bool always_anew_ = false;
};

template <class T>
template <class Body>
void Simulator<T>::each(const std::vector<spec::Binder>& binders, const Body& body, std::size_t first) {
  if (first == binders.size()) return body();
  for (std::int64_t v = 0; v < binders[first].extent; ++v) {
    variables_[index(binders[first].variable)] = v;
    each(binders, body, first + 1);
  }
}

template <class T>
template <class Body>
auto Simulator<T>::anew(const Expr& read, const Body& body) {
  const spec::Equation& q = system_.equations[static_cast<std::size_t>(recomputable_[index(read->tensor)])];
  std::vector<std::int64_t> place, outside;
  for (const Expr& i : read->args) place.push_back(integer(i));
  for (std::size_t i = 0; i < place.size(); ++i) {
    outside.push_back(std::exchange(variables_[index(q.binders[i].variable)], place[i]));
  }
  const auto restore = [&] {
    for (std::size_t i = 0; i < place.size(); ++i) variables_[index(q.binders[i].variable)] = outside[i];
  };
  if constexpr (std::is_void_v<decltype(body(q.value))>) {
    body(q.value);
    restore();
  } else {
    const auto value = body(q.value);
    restore();
    return value;
  }
}

}  // namespace etalon::bounds_test
