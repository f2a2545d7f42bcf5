/// \file
/// The parameters of a model by path name, ties resolved. It knows no values and no optimizer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/host_tensor.hpp"
#include "training/model/parameter.hpp"
#include "training/model/structure.hpp"

namespace etalon::training {

/// Tensors by name.
using Named = std::map<std::string, HostTensor>;

/// Distinct parameters in the order of their declaration.
class Parameters {
 public:
  using Entry = std::pair<std::string, Parameter>;

  Parameters() = default;
  /// Those of a model of declarations. \throws SpecViolation when tied declarations differ in type.
  template <template <template <class> class> class Model>
  explicit Parameters(const Model<Declared>& model) {
    for_each_leaf(model, [&](const std::string& path, const Parameter& parameter) { add(path, parameter); });
  }

  /// \throws SpecViolation when the name is taken, or a tie is to a parameter of another type.
  void add(const std::string& name, const Parameter& parameter);
  /// Another declaration under the same name; its first value is made by that. \throws SpecViolation when there is none
  /// of that name, or the type differs: another type is another model.
  void replace(std::string_view name, const Parameter& parameter);
  /// Marks those whose names match the pattern (`*` stands for any text) as trained or not.
  /// \throws SpecViolation when no name matches.
  void freeze(const std::string& pattern, bool frozen = true);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] std::vector<std::string> names() const;
  /// The name under which the parameter of that name lives: its own, or that of the first it is tied to.
  /// \throws SpecViolation for a name that is no parameter, with the nearest one.
  [[nodiscard]] const std::string& owner(std::string_view name) const;
  [[nodiscard]] const Parameter& at(std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const;
  /// The names that match the pattern. \throws SpecViolation when none does.
  [[nodiscard]] std::vector<std::string> matching(const std::string& pattern) const;

  /// The first values of all of them. What is drawn comes from the words of (seed, position in the model,
  /// Stream::initialise): parameters at different positions never share a draw.
  /// \throws SpecViolation naming a parameter without initialiser.
  [[nodiscard]] Named first_values(std::uint64_t seed) const;

 private:
  [[nodiscard]] Parameter& entry(std::string_view name);

  std::vector<Entry> entries_;
  std::map<std::string, std::string, std::less<>> owners_;  ///< every path, to the name it lives under
};

/// Whether a pattern, in which `*` stands for any text, matches a name.
[[nodiscard]] bool matches(const std::string& pattern, const std::string& name);

}  // namespace etalon::training
