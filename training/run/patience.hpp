/// \file
/// When to end early: a rule over the validation losses of the epochs so far, and nothing else. It knows no run.
#pragma once

#include <cstdint>
#include <span>

namespace etalon::training {

/// The epoch, from 1, with the least loss, the first of equals; 0 where there is none.
[[nodiscard]] std::int64_t best_epoch(std::span<const double> losses);

/// Whether so many epochs since the best one have not been better. \param patience 0: never
[[nodiscard]] bool is_out_of_patience(std::span<const double> losses, std::int64_t patience);

}  // namespace etalon::training
