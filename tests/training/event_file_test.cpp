#include "training/files/event_file.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "spec/error.hpp"
#include "spec/file.hpp"

using namespace etalon;
using namespace etalon::training;

TEST_CASE("records have TensorFlow's checksums", "[events]") {
  // The check value of CRC-32C in Koopman's and Ross Williams' catalogues, masked as TensorFlow documents it.
  constexpr std::uint32_t check = 0xE3069283U;
  CHECK(masked_crc32c("123456789") == ((check >> 15U | check << 17U) + 0xA282EAD8U));
  // Every file of TensorBoard's own begins with a record of 24 bytes.
  const std::string record = record_of(std::string(24, 'x'));
  CHECK(record.substr(0, 12) == std::string("\x18\0\0\0\0\0\0\0\xA3\x7F\x4B\x22", 12));
  CHECK(record.size() == 12 + 24 + 4);
}

TEST_CASE("an event is the message of its fields", "[events]") {
  // By hand: field 1 of 8 bytes, field 2 the varint 300, field 5 the summary, in it one value with tag and number.
  const std::string value("\x0A\x04loss\x15\0\0\xC0\x3F", 11);  // 1.5
  const std::string expected = std::string("\x09\0\0\0\0\0\0\xF0\x3F\x10\xAC\x02\x2A\x0D\x0A\x0B", 16) + value;
  CHECK(event_of(1, 300, {{"loss", 1.5}}) == expected);
}

TEST_CASE("a folder of events that cannot be is refused", "[events][sound]") {
  CHECK_NOTHROW(EventFile("", 0).add(1, {{"loss", 1}}));
  CHECK_THROWS_AS(EventFile("/dev/null/events", 0), IoError);
}
