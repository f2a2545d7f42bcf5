/// \file
/// The right side of one assignment as text: its operands by name, with their indices and the numbers that were held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spec/host_tensor.hpp"
#include "spec/system/system.hpp"

namespace etalon::logging {

/// Values of index variables.
using Indices = std::map<spec::VariableId, std::int64_t>;

/// Shows what an equation computes an element from. Numbers are looked up, never computed; a value that is not known is
/// shown by its name alone. Any numbers will do: an index outside its tensor is said to be.
class Operands {
 public:
  /// \param values per tensor of the system, or null. Both are kept by reference.
  Operands(const spec::System& system, const std::vector<const HostTensor*>& values) : system_(system), values_(values) {}

  /// `max((a[0, 3] = 1.25), 0)`, of a reduction its first terms and how many there are.
  [[nodiscard]] std::string text(const spec::Expr& value, const Indices& indices);
  /// The row-major position that a place names, where its indices are known and in range.
  [[nodiscard]] std::optional<std::size_t> position(spec::TensorId tensor, const std::vector<spec::Expr>& place, const Indices& indices) const;

 private:
  [[nodiscard]] std::optional<std::int64_t> integer(const spec::Expr& e, const Indices& indices) const;
  [[nodiscard]] std::optional<std::int64_t> primitive(const spec::Expr& e, const Indices& indices) const;
  [[nodiscard]] spec::Expr shown(const spec::Expr& e, const Indices& indices);
  [[nodiscard]] spec::Expr shown_read(const spec::Expr& e, const Indices& indices);
  [[nodiscard]] spec::Expr shown_reduction(const spec::Expr& e, const Indices& indices);
  [[nodiscard]] spec::Expr word(std::string text, Kind kind);

  const spec::System& system_;
  const std::vector<const HostTensor*>& values_;
  spec::System words_;     ///< its tensors are named by what is to be printed for a read
  std::size_t room_ = 0;   ///< operands that may still be shown
};

}  // namespace etalon::logging
