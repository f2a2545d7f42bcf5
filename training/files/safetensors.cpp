#include "training/files/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "spec/error.hpp"
#include "spec/quoted.hpp"
#include "training/files/safetensors_header.hpp"

namespace etalon::training {

namespace {

constexpr std::size_t length_bytes = 8;
constexpr std::uint64_t longest_header = 100'000'000;  // the format's own limit

[[nodiscard]] std::string shape_of(const Dims& dims) {
  return "[" + fmt::format("{}", fmt::join(dims.begin(), dims.end(), ",")) + "]";
}

[[nodiscard]] std::vector<Named::const_iterator> in_file_order(const Named& tensors) {
  std::vector<Named::const_iterator> order;
  for (auto at = tensors.begin(); at != tensors.end(); ++at) order.push_back(at);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return size_of(a->second.dtype) > size_of(b->second.dtype); });
  return order;
}

[[nodiscard]] std::uint64_t header_length(std::span<const std::byte> file, std::string_view where) {
  if (file.size() < length_bytes) {
    throw IoError(
        fmt::format("{}: {} bytes, expected at least the {} of the header's length", where, file.size(), length_bytes));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), length_bytes);
  const std::uint64_t most = std::min<std::uint64_t>(longest_header, file.size() - length_bytes);
  if (length > most) throw IoError(fmt::format("{}: a header of {} bytes, expected at most {}", where, length, most));
  return length;
}

/// Every byte after the header belongs to one tensor.
void require_tiling(std::vector<SafetensorsEntry> entries, std::uint64_t size, std::string_view where) {
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::uint64_t at = 0;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.begin != at) {
      throw IoError(fmt::format("{}: `{}` begins at byte {}, expected {}", where, as_quoted(entry.name), entry.begin, at));
    }
    at = entry.end;
  }
  if (at != size) throw IoError(fmt::format("{}: the tensors end at byte {}, the file at {}", where, at, size));
}

[[nodiscard]] HostTensor tensor_in(std::span<const std::byte> bytes, const SafetensorsEntry& entry,
                                   std::string_view where) {
  HostTensor tensor(entry.type.dtype, entry.type.dims);
  std::copy(bytes.begin(), bytes.end(), tensor.bytes.begin());
  const auto is_truth = [](std::byte b) { return b <= std::byte{1}; };
  if (entry.type.dtype == DType::boolean && !std::all_of(bytes.begin(), bytes.end(), is_truth)) {
    throw IoError(fmt::format("{}: `{}` is bool and has a byte that is neither 0 nor 1", where, as_quoted(entry.name)));
  }
  return tensor;
}

}  // namespace

std::string safetensors_of(const Named& tensors) {
  if (tensors.count(std::string(safetensors_metadata)) != 0) {
    throw SpecViolation("safetensors: a tensor is called `__metadata__`, which the format keeps for itself");
  }
  std::string header = "{";
  std::size_t at = 0;
  const auto order = in_file_order(tensors);
  for (const auto& entry : order) {
    const HostTensor& tensor = entry->second;
    const std::size_t end = at + tensor.bytes.size();
    header += fmt::format(R"({}{}:{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})",
                          at == 0 && header.size() == 1 ? "" : ",", nlohmann::json(entry->first).dump(),
                          safetensors_name_of(tensor.dtype), shape_of(tensor.dims), at, end);
    at = end;
  }
  header += '}';
  header.resize((header.size() + length_bytes - 1) / length_bytes * length_bytes, ' ');
  const std::uint64_t length = header.size();
  std::string file(length_bytes, '\0');
  file.reserve(length_bytes + header.size() + at);
  std::memcpy(file.data(), &length, length_bytes);
  file += header;
  for (const auto& entry : order) {
    const Bytes& bytes = entry->second.bytes;
    file.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return file;
}

Named read_safetensors(std::span<const std::byte> file, std::string_view where) {
  const std::uint64_t length = header_length(file, where);
  const auto header = file.subspan(length_bytes, length), elements = file.subspan(length_bytes + length);
  const std::vector<SafetensorsEntry> entries =
      safetensors_entries({reinterpret_cast<const char*>(header.data()), header.size()}, where);
  require_tiling(entries, elements.size(), where);
  Named tensors;
  for (const SafetensorsEntry& entry : entries) {
    tensors.emplace(entry.name, tensor_in(elements.subspan(entry.begin, entry.end - entry.begin), entry, where));
  }
  return tensors;
}

}  // namespace etalon::training
