/// \file
/// Bytes beside memory that may not be touched: what reads or writes one byte too far ends the process.
#pragma once

#include <cstddef>
#include <vector>

#include "compiled/runtime/unit.hpp"
#include "spec/host_tensor.hpp"

namespace etalon::test {

/// A copy of some bytes between two pages that may not be touched.
class BetweenPages {
 public:
  enum class At { begin, end };

  /// \param at on which side the bytes meet the page; on the other side there is room up to a page
  /// \param around what that room is filled with
  /// \param aligned of what the first byte's address is a multiple, a divisor of a page
  /// \throws IoError where the system gives no memory
  BetweenPages(const Bytes& content, At at, std::byte around, std::size_t aligned = 1);
  ~BetweenPages();
  BetweenPages(const BetweenPages&) = delete;
  BetweenPages& operator=(const BetweenPages&) = delete;
  [[nodiscard]] std::byte* begin() const { return begin_; }
  /// Whether the room beside the bytes is as it was.
  [[nodiscard]] bool nothing_beside() const;

 private:
  std::byte* whole_ = nullptr;
  std::byte* begin_ = nullptr;
  std::size_t size_ = 0;   ///< of the whole
  std::size_t count_ = 0;  ///< of the bytes
  std::byte around_{};
};

/// Runs with every input and every output between such pages.
/// \returns the bytes of the outputs
/// \throws std::logic_error where something was written beside them
[[nodiscard]] std::vector<Bytes> run_between_pages(const compiled::Unit& unit, const std::vector<HostTensor>& inputs, BetweenPages::At at,
                                                   std::byte around);

}  // namespace etalon::test
