/// \file
/// A program bound to a target and a store, and the ways to run it: once, or over the ranges of its indices. Routines
/// over one store share its entries without copies.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "training/outcome.hpp"
#include "training/target.hpp"

namespace etalon::training {

/// The order in which an index runs through its range.
struct Order {
  enum class Kind : std::uint8_t {
    ascending,
    shuffled,          ///< one order for all passes
    shuffled_per_pass  ///< another order each time that an index around it moves on
  };
  Kind kind = Kind::ascending;
  std::uint64_t seed = 0;  ///< of Philox
};

class Routine {
 public:
  /// Compiles, and declares in the store what the program reads from it. The store outlives the routine.
  /// \throws SpecViolation when an entry of the store has another type; otherwise as Prepared.
  Routine(const spec::Program& program, const Target& target, compiled::Store& store)
      : Routine(Prepared(program, target), store) {}
  /// The same of a program made ready: routines of its copies share compiled code, and may run at the same time where none
  /// of them updates the store and each has run on it before.
  Routine(Prepared prepared, compiled::Store& store);

  /// An output or captured value of which `run` says so where it is not finite. \throws SpecViolation for another name.
  Routine& watch(const std::string& value);
  /// From now on a run after which one of these is not finite leaves the store as it was; it keeps a copy of what updates
  /// write. The guard takes the place of the one before. \throws SpecViolation for a name that is neither output nor captured.
  Routine& guard(const Guard& guard);

  /// Binds an integer input for the runs that follow. \throws SpecViolation: no such index, or a value out of its range.
  void bind(const std::string& index, std::int64_t value);
  /// The value that an index is bound to. \throws SpecViolation when there is none.
  [[nodiscard]] std::int64_t bound(const std::string& index) const;

  /// One run. Inputs that are not given, and are no bound index, are read from the store. What the caller gave wrongly
  /// is thrown as a SpecViolation; what goes wrong otherwise is in the outcome.
  [[nodiscard]] Outcome run(const Named& given = {}) const;

  /// Runs for every value of every index that has a range, nested in the order of their declaration, the first one
  /// outermost; `after` is called with the values after each run and says whether to go on. A run that does not complete
  /// ends the iteration, and so does `after` saying no: that is the outcome `aborted`. What the indices were bound to before, they are bound to afterwards, also after an exception.
  /// \param orders per index; ascending where none is given
  /// \returns the outcome of the last run.
  /// \throws SpecViolation: no index has a range, or an order for what is none.
  Outcome iterate(const std::function<bool(const std::map<std::string, std::int64_t>&, const Outcome&)>& after,
                  const std::map<std::string, Order>& orders = {}, const Named& given = {});

  [[nodiscard]] RoutineReport report() const { return prepared_.report(); }
  [[nodiscard]] const spec::Program& program() const { return prepared_.program(); }

 private:
  /// A binding of the program to the store and to indices, for runs that are given nothing else.
  struct Binding {
    Named indices;
    compiled::Bound bound;
  };

  [[nodiscard]] const spec::Input& index_named(const std::string& name) const;
  [[nodiscard]] Values values_of(const Named& given) const;
  [[nodiscard]] Binding* binding() const;

  Prepared prepared_;
  compiled::Store* store_;
  std::vector<std::string> watched_;
  mutable Guarding guarding_;  ///< with what it remembers of the store
  std::map<std::string, std::int64_t> indices_;
  mutable std::unique_ptr<Binding> binding_;  ///< made at the first run that can use it
};

/// Binds, runs once, and forgets the routine.
[[nodiscard]] Outcome run_once(const spec::Program& program, const Target& target, compiled::Store& store, const Named& given = {});

}  // namespace etalon::training
