/// \file
/// Etalon's compiled backends as competitors, and a copy of the same bytes as the limit of what memory allows.
#pragma once

#include <memory>
#include <string>

#include "compiled/runtime/device.hpp"
#include "tools/bench/competitor.hpp"

namespace etalon::bench {

/// \param without a decision of the compiler that is left out (variants.hpp); empty for none
/// \param device that runs it; null: the processor. What a device computed stays there between runs; wide jobs are the processor's.
[[nodiscard]] std::unique_ptr<Competitor> make_etalon_competitor(const std::string& without = {}, std::shared_ptr<compiled::Device> device = nullptr);
[[nodiscard]] std::unique_ptr<Competitor> make_copy_competitor();

}  // namespace etalon::bench
