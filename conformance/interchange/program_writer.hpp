/// \file
/// The program that an imported model becomes: values that are known or traced, and calls on them. It knows no operator.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "spec/host_tensor.hpp"
#include "spec/program/trace.hpp"

namespace etalon::conformance::interchange {

/// Why a part of a model is not offered.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// \throws Refused
void refuse(bool condition, const std::string& why);

using Integers = std::vector<std::int64_t>;

/// A value while a model is translated.
struct Item {
  spec::ValueType type;
  std::optional<HostTensor> known;      ///< its numbers, where they are known before the program runs
  bool folds = false;                   ///< and nodes that read no others are computed at once
  std::string name;                     ///< in the model; empty for what rows make
  spec::Role role = spec::Role::input;  ///< of one that is not traced yet
  std::optional<spec::Traced> traced;   ///< in the program, from where a step first reads it
};

/// Nothing stands for an operand that is left out.
using Value = std::shared_ptr<Item>;
using Values = std::vector<Value>;

/// A value of these numbers, which becomes a constant of the program where a step reads it.
[[nodiscard]] Value known_value(HostTensor numbers);

class Writer {
 public:
  explicit Writer(std::string file) : file_(std::move(file)) {}

  /// From here on steps say that they come from this node or line, counted from 1.
  void at_node(std::size_t number, const std::string& name);

  /// Reads the value: it becomes an input, a parameter or a constant of the program unless it is there already.
  [[nodiscard]] spec::Traced traced(const Value& value);

  /// \throws SpecViolation for an ill-typed call
  [[nodiscard]] Values call(std::string_view operation, const Values& operands, const spec::Attributes& attributes,
                            const std::vector<std::size_t>& packs = {});

  /// The results of an operation that this text defines; the program then has the definition. \throws SpecViolation
  [[nodiscard]] Values define(const std::string& definition, const Values& operands);
  /// The product that a specification of `einsum` stands for. \throws SpecViolation
  [[nodiscard]] Value einsum(const std::string& specification, const Values& operands);

  /// Answers the value, under a name near that of the model, which is returned.
  std::string output(const Value& value, const std::string& name);

  [[nodiscard]] spec::Program finish() const { return tracer_.finish(); }

  /// The numbers of the parameters, by their names in the program.
  [[nodiscard]] const std::map<std::string, HostTensor>& parameters() const { return parameters_; }
  /// The model's names of inputs, by their names in the program.
  [[nodiscard]] const std::map<std::string, std::string>& inputs() const { return inputs_; }

 private:
  [[nodiscard]] SourceLine line() const { return {file_.c_str(), node_}; }
  [[nodiscard]] std::string free_name(const std::string& name) const;
  [[nodiscard]] spec::Traced declared(const Item& item);
  [[nodiscard]] std::vector<spec::TracedOperand> operands_of(const Values& values);

  std::string file_;
  spec::Tracer tracer_;
  std::uint32_t node_ = 0;
  std::string label_;
  std::shared_ptr<spec::TraceState> state_;  ///< from the first value on
  std::map<std::string, HostTensor> parameters_;
  std::map<std::string, std::string> inputs_;
};

}  // namespace etalon::conformance::interchange
