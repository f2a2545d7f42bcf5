#include "conformance/interchange/onnx/external_data.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "conformance/interchange/onnx/wire.hpp"
#include "spec/error.hpp"
#include "spec/quoted.hpp"

namespace etalon::conformance::onnx {
namespace {

namespace fs = std::filesystem;

[[nodiscard]] std::uint64_t number_in(const std::string& text, std::string_view key, std::string_view where) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    throw IoError(fmt::format("{}: external data: expected a number of bytes as {}, found \"{}\"", where, key, as_quoted(text)));
  return number;
}

/// The file as the system names it, without links. \throws IoError
[[nodiscard]] fs::path file_in(const fs::path& folder, const std::string& location, std::string_view where) {
  const auto fail = [&](std::string_view why) {
    throw IoError(fmt::format("{}: external data \"{}\": {}", where, as_quoted(location), why));
  };
  const fs::path relative(location);
  if (location.find('\0') != std::string::npos) fail("it is no path");
  if (relative.is_absolute()) fail("an absolute path; expected one from the model's folder");
  if (std::find(relative.begin(), relative.end(), "..") != relative.end()) fail("\"..\" leads out of the model's folder");
  std::error_code error;
  const fs::path base = fs::canonical(folder.empty() ? "." : folder, error);
  const fs::path file = error ? fs::path() : fs::canonical(base / relative, error);
  if (error) fail(error.message());
  if (std::mismatch(base.begin(), base.end(), file.begin(), file.end()).first != base.end()) fail("a link leads out of the model's folder");
  if (!fs::is_regular_file(file, error)) fail("it is no file");
  return file;
}

}  // namespace

Elsewhere elsewhere_of(const std::vector<std::span<const std::byte>>& entries, std::string_view where) {
  Elsewhere place;
  bool has_location = false;
  for (const auto& entry : entries) {
    std::string key, value;
    WireReader reader(entry, where);
    for (Field field; reader.next(field);) {
      if (field.number == 1) key = text_of(field, where);
      if (field.number == 2) value = text_of(field, where);
    }
    if (key == "location") {
      place.location = value;
      has_location = !value.empty();
    }
    if (key == "offset") place.offset = number_in(value, key, where);
    if (key == "length") place.length = number_in(value, key, where);
  }
  if (!has_location) throw IoError(fmt::format("{}: external data: expected a location, found none", where));
  return place;
}

std::string bytes_elsewhere(const fs::path& folder, const Elsewhere& place, std::string_view where) {
  const fs::path file = file_in(folder, place.location, where);
  const auto fail = [&](const std::string& why) {
    throw IoError(fmt::format("{}: external data \"{}\": {}", where, as_quoted(place.location), why));
  };
  std::error_code error;
  const std::uint64_t size = fs::file_size(file, error);
  if (error) fail(error.message());
  if (place.offset > size || place.length.value_or(0) > size - place.offset)
    fail(fmt::format("expected {} bytes from {} on, found a file of {} bytes", place.length.value_or(0), place.offset, size));
  std::string bytes(place.length.value_or(size - place.offset), '\0');
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(place.offset));
  if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) fail("it cannot be read");
  return bytes;
}

}  // namespace etalon::conformance::onnx
