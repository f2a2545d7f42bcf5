/// \file
/// Operations that a user defines at run time, as callable objects like those of the library.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "spec/attribute.hpp"
#include "spec/library/library.hpp"
#include "spec/library/operation.hpp"

namespace etalon::spec {

/// Stands for the number of results where it is not known at compile time; calls then give a vector.
inline constexpr std::size_t any_number = 0;

/// The callable object of an operation that has `count` results and was defined at run time. A world defines
/// `auto apply_defined(const DefinedOperation<count>& operation, SourceLine where, const Args&... args)` for its own
/// argument types; it is found by argument-dependent lookup.
template <std::size_t count = 1>
class DefinedOperation : public CallAtLine<DefinedOperation<count>> {
 public:
  DefinedOperation(Library library, std::string name) : library_(std::move(library)), name_(std::move(name)) {}

  [[nodiscard]] const Library& library() const { return library_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const Attributes& attributes() const { return attributes_; }
  [[nodiscard]] const Definition& definition() const { return library_.named(name_); }

  [[nodiscard]] DefinedOperation set(std::string_view attribute, AttributeValue value) const {
    DefinedOperation copy = *this;
    copy.attributes_.insert_or_assign(std::string(attribute), std::move(value));
    return copy;
  }

  template <class... Args>
  auto call(SourceLine where, const Args&... args) const {
    return apply_defined(*this, where, args...);
  }

 private:
  Library library_;
  std::string name_;
  Attributes attributes_;
};

namespace detail {
/// The library with the definitions of the text, and the name of the last one, which has `count` results.
[[nodiscard]] std::pair<Library, std::string> defined(std::string_view text, std::size_t count, const Library& library,
                                                      SourceLine where);
}  // namespace detail

/// The operation that the text defines (its last one, where it defines several), beside those of `library`.
/// \throws SpecViolation naming rule, place in the text and source line.
template <std::size_t count = 1>
[[nodiscard]] DefinedOperation<count> define(std::string_view text, const Library& library = {},
                                             SourceLine where = SourceLine::current()) {
  auto [more, name] = detail::defined(text, count, library, where);
  return DefinedOperation<count>(std::move(more), std::move(name));
}

}  // namespace etalon::spec

namespace etalon {
using spec::define;
}  // namespace etalon
