/// \file
/// How the list of stages sees who makes machine code, whatever makes it.
#pragma once

#include <string>
#include <vector>

#include <boost/core/noncopyable.hpp>

#include "compiled/emit/debug_files.hpp"
#include "compiled/ir/nest.hpp"
#include "spec/system/system.hpp"

namespace etalon::compiled {

/// What is wanted of machine code besides that it runs.
struct Wanted {
  bool text = false;      ///< the intermediate code with names for readers, of code that is cached too
  bool assembly = false;
  DebugFiles debug{};     ///< where it is on, code carries the lines of its loops, which are written there, and the debugger gdb is told of it;
                          ///< function number i is `kernel_i`. Its numbers are the same
};

/// Machine code of one program, step by step, each called once and in this order.
class CodeGenerator : boost::noncopyable {
 public:
  virtual ~CodeGenerator() = default;

  virtual void emit(const spec::System& system, const std::vector<loops::Nest>& nests) = 0;
  virtual void merge() = 0;
  virtual void look_up() = 0;
  virtual void simplify() = 0;
  virtual void generate() = 0;
  virtual void link() = 0;

  /// Checks the intermediate code, until it is generated from. \throws InternalError
  virtual void verify() const = 0;
  /// The intermediate code, until it is generated from.
  [[nodiscard]] virtual std::string text() const = 0;
  /// What was generated, where assembly was asked for.
  [[nodiscard]] virtual std::string assembly() const = 0;
};

}  // namespace etalon::compiled
