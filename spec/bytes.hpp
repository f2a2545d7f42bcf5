/// \file
/// Memory of tensors in bytes.
#pragma once

#include <boost/align/aligned_allocator.hpp>
#include <cstddef>
#include <vector>

namespace etalon {

/// Bytes that begin a cache line: no vector of elements lies across two.
using Bytes = std::vector<std::byte, boost::alignment::aligned_allocator<std::byte, 64>>;

}  // namespace etalon
