#include "training/shadow/computation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "spec/program/number_text.hpp"

namespace etalon::training {
namespace {

std::string element_text(const HostTensor& tensor, std::size_t at) {
  const auto size = static_cast<std::ptrdiff_t>(size_of(tensor.dtype));
  const auto begin = tensor.bytes.begin() + static_cast<std::ptrdiff_t>(at) * size;
  HostTensor one(tensor.dtype, {});
  std::copy(begin, begin + size, one.bytes.begin());
  return spec::elements_text(one);
}

std::string place_of(const HostTensor& tensor, std::size_t at) {
  if (tensor.dims.rank == 0) return "";
  std::vector<std::int64_t> indices(tensor.dims.rank);
  auto rest = static_cast<std::int64_t>(at);
  for (std::size_t axis = tensor.dims.rank; axis-- > 0; rest /= tensor.dims[axis]) indices[axis] = rest % tensor.dims[axis];
  return fmt::format("[{}]", fmt::join(indices, ", "));
}

}  // namespace

std::string first_difference(const Named& a, const Named& b) {
  for (const auto& [name, one] : a) {
    const auto found = b.find(name);
    if (found == b.end()) return name + " is there once only";
    const HostTensor& other = found->second;
    const auto [at, same] = std::mismatch(one.bytes.begin(), one.bytes.end(), other.bytes.begin(), other.bytes.end());
    if (at == one.bytes.end() || same == other.bytes.end()) continue;
    const std::size_t element = static_cast<std::size_t>(at - one.bytes.begin()) / size_of(one.dtype);
    return fmt::format("{}{} is {}, computed again {}", name, place_of(one, element), element_text(one, element),
                       element_text(other, element));
  }
  return "";
}

}  // namespace etalon::training
