/// \file
/// A request of Protocol 1 as the structs of spec/backend.h. It calls no plug-in.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spec/backend.h"
#include "spec/backend.hpp"

namespace etalon::conformance {

/// The element types by their numbers in spec/backend.h.
inline constexpr std::array plugin_dtypes{DType::f16, DType::bf16, DType::f32, DType::f64, DType::i32, DType::i64, DType::boolean};

/// The structs and what they point to; as long as this and the request live.
class PluginRequest {
 public:
  /// \throws Unsupported for a program with steps that are no calls, SpecViolation for an unknown name.
  explicit PluginRequest(const spec::Request& request);
  PluginRequest(const PluginRequest&) = delete;
  PluginRequest& operator=(const PluginRequest&) = delete;

  [[nodiscard]] const etalon_request& view() const { return view_; }

 private:
  using Places = std::vector<std::optional<spec::Placement>>;

  [[nodiscard]] etalon_tensor tensor(const HostTensor* from, const Places& places, std::size_t i);
  [[nodiscard]] const etalon_tensor* tensors(const std::vector<std::optional<HostTensor>>& from, const Places& places, std::size_t count);
  [[nodiscard]] etalon_attribute attribute(const std::string& name, const spec::AttributeValue& value);
  [[nodiscard]] etalon_call call(const spec::Call& from);
  [[nodiscard]] std::int32_t value(const std::string& name) const;

  std::map<std::string, std::int32_t, std::less<>> values_;
  // Deques, because what stands in them must not move.
  std::deque<std::vector<std::int64_t>> integers_;
  std::deque<std::vector<double>> reals_;
  std::deque<HostTensor> buffers_;  ///< of tensors that are not dense
  std::deque<std::vector<std::int32_t>> numbers_;
  std::deque<std::vector<etalon_tensor>> tensors_;
  std::deque<std::vector<etalon_attribute>> attributes_;
  std::vector<etalon_call> calls_;
  std::vector<std::uint8_t> wrt_;
  etalon_request view_{};
};

}  // namespace etalon::conformance
