#include "training/ranks/orders.hpp"

#include <fmt/format.h>

#include <cstring>

#include "spec/error.hpp"

namespace etalon::training {

void give(Ranks& ranks, const RankOrder& order) {
  Bytes bytes(sizeof order);
  std::memcpy(bytes.data(), &order, sizeof order);
  (void)ranks.spread(bytes);
}

RankOrder next_order(Ranks& ranks) {
  const Bytes bytes = ranks.spread({});
  RankOrder order;
  if (bytes.size() != sizeof order) throw DeviceError(fmt::format("rank {}: an order of {} bytes, expected {}", ranks.rank(), bytes.size(), sizeof order));
  std::memcpy(&order, bytes.data(), sizeof order);
  return order;
}

}  // namespace etalon::training
