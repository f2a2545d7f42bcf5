/// \file
/// Passes over a planned system on given inputs: every element's value with its box and its place on the tape, and what
/// becomes of those that hang on decisions when these are forced. It works by form and knows no operation by name.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "reference/bounds/arguments.hpp"
#include "reference/bounds/arithmetic.hpp"
#include "reference/bounds/boxes.hpp"
#include "reference/bounds/decisions.hpp"
#include "reference/bounds/groupings.hpp"
#include "reference/bounds/pieces.hpp"
#include "reference/bounds/plan.hpp"
#include "reference/interruptible.hpp"
#include "spec/host_tensor.hpp"

namespace etalon::reference::bounds {

template <class R>
struct Elements {
  const HostTensor* input = nullptr;
  const Envelope* within = nullptr;        ///< of an input that is known within bounds
  std::vector<Value<R>> reals;
  std::vector<std::int64_t> integers;      ///< of integer and boolean tensors
  std::vector<DecisionSet> decisions;      ///< empty while no element hangs on one
};

template <class R>
class Evaluator {
 public:
  Evaluator(const spec::System& system, const Plan& plan, std::span<const HostTensor> inputs,
            const spec::Contract& contract, Decisions& decisions, DecisionSets& sets,
            std::span<const Envelope* const> within = {});

  /// From now on inputs with bounds are boxes that they lie in, the same number wherever it is read, and what open decisions
  /// may lead to is joined element by element.
  void over_boxes(Narrowing narrowing);

  /// Evaluates every element and decides as the reference does.
  void run();
  /// After run(): evaluates the elements that hang on decisions once more, some of these forced. What they had on the
  /// tape is taken back.
  void run_again(const Forced& forced);
  [[nodiscard]] const Elements<R>& elements(spec::TensorId t) const { return elements_[static_cast<std::size_t>(t)]; }
  [[nodiscard]] Value<R> real_at(spec::TensorId t, std::size_t element);
  /// Over boxes: the least and the greatest of a value, by all that narrows it.
  [[nodiscard]] Interval narrow(const Value<R>& v);
  [[nodiscard]] Tape& tape() { return arithmetic_.tape(); }
  [[nodiscard]] std::size_t steps() const { return steps_; }

 private:
  void run_all();
  void run(const spec::Recurrence& r);
  void run(const std::vector<spec::Binder>& binders, const PlannedEquation& q);
  void store(const PlannedEquation& q);
  template <class Body>
  void loop(std::span<const spec::Binder> binders, const Body& body);
  [[nodiscard]] std::int64_t affine(std::int32_t id) const;
  [[nodiscard]] std::int64_t offset_of(const Operation& o);
  [[nodiscard]] std::size_t read_at(const Operation& o);

  [[nodiscard]] Value<R> stored_real(OperationId id, DType dtype);
  [[nodiscard]] std::int64_t integer(OperationId id);
  [[nodiscard]] std::int64_t integer_primitive(const Operation& o, OperationId id);
  [[nodiscard]] std::int64_t whole_part(const Operation& o, OperationId id);
  [[nodiscard]] std::int64_t integer_reduction(const Operation& o, OperationId id);
  [[nodiscard]] std::int64_t position_of_extremum(const Operation& o, OperationId id);
  [[nodiscard]] std::optional<std::int64_t> position_among_integers(const Operation& o);
  [[nodiscard]] std::optional<std::int64_t> position_among_reals(const Operation& o, OperationId id);
  template <class Member>
  [[nodiscard]] auto members(const Operation& o, const Member& member);
  [[nodiscard]] bool boolean(OperationId id);
  [[nodiscard]] bool boolean_primitive(const Operation& o, OperationId id);
  [[nodiscard]] bool compare_reals(const Operation& o, OperationId id);
  [[nodiscard]] bool test(const Operation& o, OperationId id);

  [[nodiscard]] Value<R> real(OperationId id);
  [[nodiscard]] Value<R> real_of(const Operation& o, OperationId id);
  bool picks_between_zeros(const Operation& o);
  Value<R> selected(const Operation& o);
  [[nodiscard]] Value<R> constant(const Operation& o);
  [[nodiscard]] std::optional<Value<R>> held_constant(const spec::Expr& e);
  [[nodiscard]] Value<R> real_primitive(const Operation& o, OperationId id);
  [[nodiscard]] Value<R> unresolved();
  [[nodiscard]] Value<R> sum_of(OperationId id);
  [[nodiscard]] Value<R> product_of(OperationId id, bool contracted);
  [[nodiscard]] Value<R> extremum_of(const Operation& o);
  [[nodiscard]] Value<R> step_function(const Operation& o, OperationId id);
  /// What was done to the terms of a sum above the place where they are met.
  struct Way {
    bool negative = false;
    int exponent = 0;
    bool contracted = false;
  };
  /// How high the trees may be in which a sum is added. Zeros count among their terms, and what guards leave out.
  struct Grown {
    Groupings groupings;
    std::int64_t height = 0;
    bool plain = false;     ///< some term is not a product
    bool products = false;  ///< some term is
    bool scaled = false;    ///< some term is something times a power of two
    bool free = false;      ///< no tree is promised, as where data choose which terms there are
    void note(const Grown& other);
  };
  Grown collect_terms(OperationId id, Way way, Sum<R>& sum);
  Grown collect_term(OperationId id, Way way, Sum<R>& sum);
  Grown collect_reduction(const Operation& o, Way way, Sum<R>& sum);
  void close(Grown& all) const;
  [[nodiscard]] bool hangs_on_data(OperationId id) const;
  [[nodiscard]] std::optional<std::int64_t> tree_height(std::int64_t terms, bool plain, bool products) const;
  [[nodiscard]] bool collect_factors(OperationId id, int below, std::vector<Factor<R>>& factors, double& roundings);
  [[nodiscard]] bool is_sum(const Operation& o) const;
  [[nodiscard]] bool is_product(const Operation& o) const;

  /// Over boxes: what the operation answers along each branch of open decisions; nothing where there are too many.
  template <class Evaluate>
  [[nodiscard]] auto along_branches(const Evaluate& evaluate) -> std::vector<decltype(evaluate())>;
  [[nodiscard]] Value<R> real_over_boxes(OperationId id);
  [[nodiscard]] std::int64_t integer_over_boxes(const std::function<std::int64_t()>& evaluate);
  void store_over_boxes(const PlannedEquation& q, Value<R>& v);
  /// Whether a sum or a product takes the operand as one number, as a function of one argument.
  [[nodiscard]] bool stands_whole(OperationId id, bool as_product) const;
  [[nodiscard]] Value<R> with_argument(OperationId id, const Value<R>& argument);
  [[nodiscard]] Value<R> through_pieces(OperationId id, const Value<R>& argument);
  [[nodiscard]] Piece piece_of(OperationId id, const Value<R>& argument, const Interval& domain, R origin);
  [[nodiscard]] std::vector<Branch> branches_of(OperationId id, const Value<R>& given, NodeId argument, R origin);
  [[nodiscard]] Value<R> joined_branches(const std::function<Value<R>()>& evaluate);
  [[nodiscard]] Value<R> fresh(Value<R> v);
  [[nodiscard]] std::int64_t branch(std::int64_t natural, const std::vector<std::int64_t>& answers);

  /// The answer taken at this operation for the current variables: forced, or `natural` and from now on open.
  [[nodiscard]] std::int64_t decide(OperationId id, std::int64_t natural, std::vector<std::int64_t> answers);

  const spec::System& system_;
  const Plan& plan_;
  Arithmetic<R> arithmetic_;
  Decisions& decisions_;
  DecisionSets& sets_;
  Forced forced_;
  std::vector<Elements<R>> elements_;
  std::vector<std::int64_t> variables_;
  std::vector<std::vector<std::int64_t>> strides_;
  std::vector<std::optional<Value<R>>> constants_;
  std::deque<Sum<R>> sums_;  ///< one per depth of nesting, reused
  std::size_t depth_ = 0;
  std::deque<std::vector<Factor<R>>> factors_;
  std::size_t factor_depth_ = 0;
  DecisionSet current_ = 0;
  std::optional<std::size_t> settled_;  ///< nodes of the first pass, once it is done
  std::size_t steps_ = 0;
  Interruptible* interruptible_ = Interruptible::innermost();

  // Over boxes.
  struct Choice {
    std::size_t taken = 0;
    std::size_t of = 1;
  };
  struct Path {
    std::vector<Choice> choices;
    std::size_t met = 0;
  };
  struct Given {
    OperationId argument;
    Value<R> value;
  };
  std::optional<Narrowing> narrowing_;
  Arguments arguments_;
  Path* path_ = nullptr;        ///< of open decisions, the one that is followed
  const Given* given_ = nullptr; ///< the argument of what is evaluated on a piece
};

}  // namespace etalon::reference::bounds
