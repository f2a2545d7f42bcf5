/// \file
/// The names that the definition of an `einsum` uses: those of the specification, and others beside them.
#pragma once

#include <cstddef>
#include <string_view>

#include "spec/einsum/plan.hpp"
#include "spec/einsum/text.hpp"
#include "spec/notation/words.hpp"
#include "spec/scalar.hpp"

namespace etalon::spec::einsum_notation {

class Names {
 public:
  constexpr explicit Names(const Plan& plan) : plan_(plan) {
    prefix_.add("n_");
    for (std::size_t i = 0; i < plan.count; ++i) {
      if (!plan.identifiers[i].name.starts_with(prefix_.view())) continue;
      Name longer;
      add_all(longer, "n", prefix_.view());
      prefix_ = longer;
      i = static_cast<std::size_t>(-1);
    }
  }

  /// Of an index, a row of indices, or a factor.
  [[nodiscard]] constexpr Name index(std::string_view id) const {
    Name name;
    name.add(id);
    if (!is_reserved(id)) return name;
    do {
      name.add("_");
    } while (plan_.find(name.view()) >= 0);
    return name;
  }
  /// Of the extent of an index or row: no name of the specification begins like it.
  [[nodiscard]] constexpr Name extent(std::string_view id) const {
    Name name;
    add_all(name, prefix_.view(), id);
    return name;
  }
  /// Another name, made of the parts.
  template <class... Parts>
  [[nodiscard]] constexpr Name fresh(const Parts&... parts) const {
    Name name;
    add_all(name, parts...);
    while (plan_.find(name.view()) >= 0) name.add("_");
    return name;
  }

 private:
  static constexpr bool is_reserved(std::string_view id) {
    return notation::is_keyword(id) || notation::builtin_named(id) || notation::reduction_named(id) ||
           primitive_named(id) || id == "inf";
  }

  const Plan& plan_;
  Name prefix_;
};

}  // namespace etalon::spec::einsum_notation
