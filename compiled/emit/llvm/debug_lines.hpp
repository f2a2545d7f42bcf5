/// \file
/// Which line of a listing each instruction is for, in the form that debuggers and profilers read (DWARF). It emits no
/// instruction and changes none.
#pragma once

#include <filesystem>

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "compiled/ir/listing.hpp"

namespace etalon::compiled {

/// A listing and the file that holds its text.
struct Source {
  const loops::Listing& listing;
  std::filesystem::path file;
};

/// The lines of one module's functions, each of which is made of a nest of the listing.
class DebugLines {
 public:
  DebugLines(llvm::Module& module, const Source& source);

  /// From here on parts are those of this function, made of this nest.
  void begin(llvm::Function& function, const loops::Nest& nest);
  /// Instructions that the builder makes from now on are for this part of the nest; a part without a line changes nothing.
  void at(llvm::IRBuilder<>& builder, const void* part) const;
  /// From here on the binder of a loop has this value.
  void is(llvm::IRBuilder<>& builder, const loops::Loop& loop, llvm::Value* value);
  /// After the last function.
  void finish();

 private:
  const Source& source_;
  llvm::DIBuilder debug_;
  llvm::DIFile* file_;
  llvm::DIType* number_;
  llvm::DISubprogram* function_ = nullptr;
};

}  // namespace etalon::compiled
