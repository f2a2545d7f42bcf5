/// \file
/// The program that a trace has written so far, and the names and types of its values. It knows no operation.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/library/library.hpp"
#include "spec/program/program.hpp"
#include "spec/program/trace.hpp"
#include "spec/value_type.hpp"

namespace etalon::spec {

/// The program so far: its values in the order of their ids, with names and types.
class TraceState {
 public:
  explicit TraceState(DType real) : real_(real) {}

  [[nodiscard]] const std::string& name(std::size_t id) const { return names_.at(id); }
  [[nodiscard]] const ValueType& type(std::size_t id) const { return types_.at(names_.at(id)); }
  [[nodiscard]] DType real() const { return real_; }
  [[nodiscard]] const Library& library() const { return library_; }

  /// Makes the operation of that name, and what it needs, the program's own. \throws SpecViolation where the program has
  /// another operation of the same name.
  void define(const Library& with, std::string_view name);
  [[nodiscard]] Program& program() { return program_; }
  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] const std::map<std::string, ValueType>& types() const { return types_; }
  [[nodiscard]] Source source(SourceLine line) const { return {line.file, line.line, section_}; }
  /// Steps carry this label, inside the section that there is. \returns the label until now.
  [[nodiscard]] std::string enter_section(std::string label) {
    return std::exchange(section_, section_.empty() ? std::move(label) : section_ + "/" + label);
  }
  void leave_section(std::string before) { section_ = std::move(before); }

  [[nodiscard]] std::size_t add_value(const std::string& name, const ValueType& type);
  [[nodiscard]] std::size_t add_buffer(Buffer buffer);
  [[nodiscard]] std::size_t add_input(Input input);

  /// Takes in what the program with one more call tells of its open extents.
  void settle(const Call* next);

  /// The constant scalar of that value, made at its first use.
  [[nodiscard]] std::size_t constant(HostTensor value, SourceLine line);

  /// The first of `stem1`, `stem2`, … that is free.
  [[nodiscard]] std::string numbered(const std::string& stem);

  [[nodiscard]] std::string free_name(const std::string& wanted) const;

  void rename(std::size_t id, const std::string& name);

  /// Writes the wish down, once.
  void ask(std::size_t id, Asked asked, SourceLine line);
  /// Renames the value, to the first of `name`, `name.2`, … that is free, and asks to capture it.
  /// \throws SpecViolation for an input and for what is no name.
  void capture(std::size_t id, const std::string& name, SourceLine line);

 private:
  void check_name(const std::string& name) const;

  DType real_;
  Program program_;
  Library library_;  ///< with the program's own definitions
  std::vector<std::string> names_;
  std::vector<std::size_t> since_;  ///< per value, the number of steps when it was added: earlier ones do not name it
  std::map<std::string, ValueType> types_;
  std::map<std::string, int> counters_;
  std::map<std::string, std::size_t> constants_;  ///< values by element type and bytes
  std::set<std::string> anonymous_;
  bool has_open_extents_ = false;
  std::string section_;
};

}  // namespace etalon::spec
