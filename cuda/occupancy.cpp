#include "cuda/occupancy.hpp"

#include <algorithm>

namespace etalon::cuda {

namespace {

constexpr std::size_t in_units(std::size_t count, std::size_t unit) { return (count + unit - 1) / unit * unit; }

std::size_t warps_of(const LaunchNeeds& needs) { return (std::max<std::size_t>(needs.threads, 1) + warp_threads - 1) / warp_threads; }

/// Warps that registers suffice for, which each part of a multiprocessor has its own of.
std::size_t warps_by_registers(const LaunchNeeds& needs, const Gpu& gpu) {
  const std::size_t of_a_warp = in_units(std::max<std::size_t>(needs.registers, 1) * warp_threads, register_unit);
  return gpu.registers / multiprocessor_parts / of_a_warp * multiprocessor_parts;
}

}  // namespace

std::size_t resident_blocks(const LaunchNeeds& needs, const Gpu& gpu) {
  const std::size_t shared = in_units(needs.shared_bytes + gpu.kept_shared_bytes, shared_unit);
  if (needs.threads > gpu.block_threads || needs.registers > thread_registers || shared > in_units(gpu.block_shared_bytes + gpu.kept_shared_bytes, shared_unit))
    return 0;
  const std::size_t warps = warps_of(needs);
  // A block is refused where its warps, spread over all parts, would not fit at once.
  if (in_units(warps, multiprocessor_parts) > warps_by_registers(needs, gpu)) return 0;
  return std::min({gpu.threads / warp_threads / warps, gpu.blocks, warps_by_registers(needs, gpu) / warps, gpu.shared_bytes / shared});
}

double occupancy(const LaunchNeeds& needs, const Gpu& gpu) {
  return static_cast<double>(resident_blocks(needs, gpu) * warps_of(needs) * warp_threads) / static_cast<double>(gpu.threads);
}

double threads_launched(const LaunchNeeds& needs, const Gpu& gpu) {
  return static_cast<double>(needs.blocks) * static_cast<double>(needs.threads) / static_cast<double>(gpu.all_threads());
}

}  // namespace etalon::cuda
