/// \file
/// What a training run has between steps: the values of parameters and optimizer state in a store that executables and
/// sessions bind. It runs nothing but initialisers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiled/runtime/store.hpp"
#include "training/model/parameters.hpp"
#include "training/optimizer.hpp"

namespace etalon::training {

/// Parts of the state.
enum class Part : std::uint8_t { parameters, optimizer, all };

/// How an upload treats names that are left out; unknown names and other types are errors either way.
enum class Upload : std::uint8_t { strict, partial };

/// Copies share the store.
class State {
 public:
  /// Declares everything in a store of its own and gives it its first value; a parameter without initialiser has none
  /// until it is uploaded.
  State(Parameters parameters, Optimization optimization, std::uint64_t seed);

  [[nodiscard]] const Parameters& parameters() const { return parameters_; }
  [[nodiscard]] const Optimization& optimization() const { return optimization_; }
  [[nodiscard]] compiled::Store& store() const { return *store_; }

  /// First values again, drawn from `seed` where one is given. \throws SpecViolation naming a parameter without one.
  void reset(Part part = Part::all);
  void reset(Part part, std::uint64_t seed);
  /// Copies values in. Nothing is written unless all of them can be.
  /// \throws SpecViolation: a name that is none of the part's, a value of another type, or (strict) one that is missing.
  void upload(const Named& values, Upload mode = Upload::strict, Part part = Part::parameters);
  /// Copies of the values by name, step count and seed with the optimizer's. `upload(download(part), Upload::strict, part)`
  /// changes nothing. \throws SpecViolation naming a parameter that has no value yet.
  [[nodiscard]] Named download(Part part = Part::all) const;
  /// Another value for one parameter. \throws SpecViolation for a name that is no parameter, or a value of another type.
  void replace(const std::string& parameter, const HostTensor& value);
  /// The value of one parameter, by any of its names.
  [[nodiscard]] HostTensor value(const std::string& parameter) const;

 private:
  [[nodiscard]] std::vector<std::string> names_of(Part part) const;
  void write_first(Part part, bool missing_is_error);

  Parameters parameters_;
  Optimization optimization_;
  std::uint64_t seed_ = 0;
  std::shared_ptr<compiled::Store> store_;
};

}  // namespace etalon::training
