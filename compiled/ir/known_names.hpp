/// \file
/// What names mean in the text of kernels, for whoever prints and for whoever reads it: tensors of the system, and at each place
/// the loops and registers around it.
///
/// A loop is ``k'12`` where it begins, its name and the number of its variable. Where it is read it is `k`, or ``k'12`` where
/// another one of that name is nearer or the notation gives the word a meaning of its own. A register is `r12`. A tensor
/// is called by its name, or `y@7`, with its number, where others of the system have that name or the notation has the word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiled/ir/nest.hpp"
#include "spec/system/exact_text.hpp"
#include "spec/system/system.hpp"

namespace etalon::compiled::loops {

/// ``k'12``
[[nodiscard]] std::string name_of(const Binder& loop);

/// ``k'12`` as k and 12; nothing where there is no such mark, or no number behind it.
[[nodiscard]] std::optional<std::pair<std::string_view, std::int32_t>> numbered(std::string_view name, char mark);

class KnownNames {
 public:
  explicit KnownNames(const spec::System& system);

  // --- the place ---

  void enter(const Binder& loop);
  void define(Register target, Kind kind) { variables_.push_back(value_of(target, kind)); }
  [[nodiscard]] std::size_t size() const { return variables_.size(); }
  /// Forgets the variables that came after there were so many.
  void leave(std::size_t size) { variables_.resize(size); }

  // --- printing ---

  [[nodiscard]] std::string name_of(const spec::Node& variable) const;
  [[nodiscard]] std::string name_of(TensorId tensor) const;
  [[nodiscard]] std::string text(const Expr& e) const;

  // --- reading ---

  /// The innermost variable of that name, with its number or without.
  [[nodiscard]] std::optional<Expr> variable(std::string_view name) const;
  [[nodiscard]] std::optional<TensorId> tensor(std::string_view name) const;
  /// \throws InternalError where they are no indices of that tensor.
  [[nodiscard]] Expr read(TensorId tensor, std::vector<Expr> indices) const { return system_.at(tensor, std::move(indices)); }
  [[nodiscard]] Kind kind(TensorId tensor) const { return kind_of(system_[tensor].dtype); }
  /// What may have been meant by a name that is nowhere, such as ``; did you mean 'y'?``, or nothing.
  [[nodiscard]] std::string suggestion(std::string_view name) const;

 private:
  const spec::System& system_;
  std::unordered_map<std::string, std::vector<TensorId>> tensors_;
  std::vector<Expr> variables_;
};

}  // namespace etalon::compiled::loops
