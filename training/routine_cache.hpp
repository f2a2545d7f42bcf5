/// \file
/// Routines of one program text at several shapes, made when a shape is first given and kept up to a limit: evaluation
/// at any batch size over the same store.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <utility>

#include "spec/value_type.hpp"
#include "training/routine.hpp"

namespace etalon::training {

class RoutineCache {
 public:
  using Types = std::map<std::string, spec::ValueType>;
  /// \param make the program for inputs of these types
  /// \param limit how many are kept; the one that was not used for longest goes first
  /// \throws SpecViolation for a limit of 0.
  RoutineCache(std::function<spec::Program(const Types&)> make, Target target, compiled::Store& store, std::size_t limit = 8);

  /// Runs the routine for the types of what is given.
  [[nodiscard]] Outcome run(const Named& given) { return at(types_of(given)).run(given); }
  /// The routine for these types; valid until another is made.
  [[nodiscard]] Routine& at(const Types& types);
  [[nodiscard]] std::size_t size() const { return routines_.size(); }
  /// How many were made so far.
  [[nodiscard]] std::size_t made() const { return made_; }

  [[nodiscard]] static Types types_of(const Named& given);

 private:
  std::function<spec::Program(const Types&)> make_;
  Target target_;
  compiled::Store* store_;
  std::size_t limit_;
  std::size_t made_ = 0;
  std::list<std::pair<Types, Routine>> routines_;  ///< the one used last in front
};

}  // namespace etalon::training
