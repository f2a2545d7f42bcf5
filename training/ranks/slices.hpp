/// \file
/// Parts of tensors that processes own, and the program of an update that computes one part: where each element follows from
/// elements of its own place and from scalars, whatever the operations are called. It runs and moves nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spec/bytes.hpp"
#include "spec/dims.hpp"
#include "spec/host_tensor.hpp"
#include "spec/program/program.hpp"

namespace etalon::training {

/// Elements first, …, end - 1 of a tensor in row-major order.
struct Slice {
  std::int64_t first = 0;
  std::int64_t end = 0;
  [[nodiscard]] std::int64_t count() const { return end - first; }
  [[nodiscard]] friend bool operator==(const Slice&, const Slice&) = default;
};

/// How the elements of tensors are shared out: groups of tensors of one shape, whose elements of one place stay together.
/// Scalars are in none, and every owner has them.
class Slices {
 public:
  struct Group {
    std::int64_t elements = 0;
    std::vector<std::string> tensors;
  };
  /// \param owners at least 1: each has as many elements as another, or one more, side by side in the order of the groups
  Slices(const std::vector<Group>& groups, int owners);

  /// Of a tensor; nothing where it is a scalar, or of no group.
  [[nodiscard]] std::optional<Slice> part(const std::string& tensor, int owner) const;
  [[nodiscard]] int owners() const { return owners_; }

 private:
  struct Place {
    std::int64_t offset = 0;  ///< of its first element among those of all groups
    std::int64_t elements = 0;
  };
  int owners_;
  std::int64_t elements_ = 0;
  std::map<std::string, Place> places_;
};

/// The inputs of the program that are no scalars, in groups that depend on one another: each element that an equation gives
/// follows from elements of the same place and from scalars, scalars follow from scalars, and all outputs are scalars.
/// Nothing where that is not so: a norm, a sum over an axis, a value that depends on its place.
[[nodiscard]] std::optional<std::vector<Slices::Group>> elementwise_groups(const spec::Program& program);

/// The program of the owner's elements: its inputs have one axis, as long as the part. \param program of those groups
[[nodiscard]] spec::Program sliced(spec::Program program, const Slices& slices, int owner);

/// The elements of a part, with one axis.
[[nodiscard]] HostTensor slice_of(const HostTensor& tensor, Slice part);
/// Appends them.
void append(Bytes& to, const HostTensor& tensor, Slice part);

}  // namespace etalon::training
