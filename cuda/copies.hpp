/// \file
/// Asynchronous copies to memory that a block's threads share, in CUDA C++: a thread asks for some, closes a group of those that it has
/// asked for, and waits later until all groups are done but the last ones. Only then it sees them, and others see them behind a barrier.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace etalon::cuda {

/// A statement that asks for one.
/// \param bytes 4, 8 or 16
/// \param to and \param from pointers at multiples of so many bytes
/// \param asked a condition; empty: it holds. Where it does not, nothing is read and zeros are put there
[[nodiscard]] std::string copying(std::int64_t bytes, const std::string& to, const std::string& from, const std::string& asked);

/// Those that the thread has asked for since it last said so are a group, perhaps an empty one.
[[nodiscard]] std::string closing_copies();

/// Waits for all groups of the thread but the last ones.
[[nodiscard]] std::string waiting_for_copies(std::int64_t but);

/// The definitions of the functions that such statements of a text call, in inline PTX; a host that emulates threads has them already.
[[nodiscard]] std::string copy_definitions(std::string_view text);

}  // namespace etalon::cuda
