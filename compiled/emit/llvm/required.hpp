/// \file
/// What LLVM could not do, as an error of ours.
#pragma once

#include <string>
#include <utility>

#include <llvm/Support/Error.h>

#include "spec/error.hpp"

namespace etalon::compiled {

/// \throws InternalError with LLVM's words, where it is an error
inline void required(llvm::Error error) {
  if (error) throw InternalError("codegen: " + llvm::toString(std::move(error)));
}

/// The value. \throws InternalError with LLVM's words, where there is none
template <class T>
[[nodiscard]] T required(llvm::Expected<T> value) {
  if (!value) throw InternalError("codegen: " + llvm::toString(value.takeError()));
  return std::forward<T>(*value);
}

}  // namespace etalon::compiled
