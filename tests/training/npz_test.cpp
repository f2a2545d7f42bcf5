#include "training/files/npz.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "spec/error.hpp"
#include "training/files/npy.hpp"
#include "training/files/zip.hpp"

using namespace etalon;
using namespace etalon::training;
using namespace std::string_literals;

namespace {

HostTensor array_in(std::string_view file) { return read_npy(std::as_bytes(std::span(file)), "array"); }

/// Nothing where it is refused, in one line that names the file.
std::optional<Named> archive_in(std::string_view file) {
  try {
    return read_npz(std::as_bytes(std::span(file)), "file");
  } catch (const IoError& error) {
    const std::string_view said = error.what();
    CHECK(said.starts_with("file: "));
    CHECK(said.find('\n') == std::string_view::npos);
    return std::nullopt;
  }
}

std::string npy(const std::string& dictionary, const std::string& elements) {
  return "\x93NUMPY\x01"s + '\0' + static_cast<char>(dictionary.size()) + '\0' + dictionary + elements;
}

const Named two{{"a.b", HostTensor::of<float>({2, 1}, {1.5F, -0.0F})}, {"n", HostTensor::of<std::int64_t>({}, {-7})}};

}  // namespace

TEST_CASE("an_npy_file_is_what_its_format_says_byte_by_byte", "[files]") {
  const std::string dictionary =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }" + std::string(60, ' ') + "\n";
  CHECK(npy_of(HostTensor::of<float>({2}, {1.0F, -2.0F}), "x") == npy(dictionary, "\0\0\x80\x3f\0\0\0\xc0"s));
  CHECK(npy_of(HostTensor(DType::f64, {3, 4}), "x").find("'shape': (3, 4), }") != std::string::npos);
  CHECK(npy_of(HostTensor(DType::boolean, {}), "x").find("'|b1', 'fortran_order': False, 'shape': (), }") !=
        std::string::npos);
  CHECK_THROWS_AS(npy_of(HostTensor(DType::bf16, {1}), "x"), Unsupported);
  for (const DType dtype : {DType::f16, DType::f32, DType::f64, DType::i32, DType::i64, DType::boolean}) {
    HostTensor tensor(dtype, {2, 3});
    for (std::size_t i = 0; i < tensor.bytes.size(); ++i)
      tensor.bytes[i] = static_cast<std::byte>(dtype == DType::boolean ? i % 2 : 37 * i + 1);
    CHECK(array_in(npy_of(tensor, "x")) == tensor);
  }
}

TEST_CASE("npy_headers_of_other_writers_are_read_and_hostile_ones_refused", "[files]") {
  const std::string four(4, '\0');
  CHECK(array_in(npy("{'shape':(1,),'descr':'<f4','fortran_order':False}\n", four)) == HostTensor(DType::f32, {1}));
  CHECK(array_in("\x93NUMPY\x02\0\x38\0\0\0{'descr': '<i4', 'fortran_order': False, 'shape': (1,)}\n"s + four) ==
        HostTensor(DType::i32, {1}));
  const std::string files[] = {
      "",
      "\x93NUMPY",
      "\x93NUMPX\x01\0\0\0"s,
      "\x93NUMPY\x04\0\0\0"s,
      "\x93NUMPY\x01\0\xff\xff{"s,
      npy("", ""),
      npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", four),
      npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", four),
      npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", four),
      npy("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", four),
      npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1,)}", four),
      npy("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", four),
      npy("{'descr': '<f4', 'fortran_order': False}", four),
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", four),
      npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", four),
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}x", four),
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", four),
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", four),
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", four),
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}", four),
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0,)}", four),
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", ""),
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", four),
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", four),
      npy("{'descr': '|b1', 'fortran_order': False, 'shape': (1,)}", "\x02"),
  };
  for (const std::string& file : files) {
    CAPTURE(file);
    CHECK_THROWS_AS(array_in(file), IoError);
  }
}

TEST_CASE("npz_archives_come_back_and_are_the_same_bytes_for_the_same_tensors", "[files]") {
  const std::string file = npz_of(two);
  CHECK(archive_in(file) == two);
  CHECK(npz_of(two) == file);
  CHECK(archive_in(npz_of({})) == Named{});
}

TEST_CASE("an_npz_archive_that_is_cut_or_changed_is_refused_or_says_the_same", "[files]") {
  const std::string file = npz_of(two);
  for (std::size_t length = 0; length < file.size(); ++length) {
    CAPTURE(length);
    CHECK_FALSE(archive_in(std::string_view(file).substr(0, length)));
  }
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (const int flip : {1, 0x80, 0xff}) {
      CAPTURE(at, flip);
      std::string changed = file;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      const auto found = archive_in(changed);
      CHECK((!found || *found == two));
    }
  }
}

TEST_CASE("hostile_archives_are_refused", "[files]") {
  CHECK_FALSE(archive_in(zip_of({{"a.txt", "no array"}})));
  CHECK_FALSE(archive_in(zip_of({{"a.npy", "no array"}})));
  // A name that is there twice: two members of equal sizes, renamed.
  std::string twice = zip_of({{"a.npy", npy_of(two.at("n"), "a")}, {"b.npy", npy_of(two.at("n"), "b")}});
  REQUIRE(archive_in(twice));
  for (std::size_t at = twice.find("b.npy"); at != std::string::npos; at = twice.find("b.npy")) twice[at] = 'a';
  CHECK_FALSE(archive_in(twice));
  // More than was announced, and less than could be: 4 GiB out of a few bytes.
  std::string bomb = zip_of({{"a.npy", npy_of(two.at("n"), "a")}});
  const std::size_t directory = bomb.find("PK\x01\x02");
  bomb[directory + 10] = 8;
  for (std::size_t i = 0; i < 4; ++i) bomb[directory + 24 + i] = static_cast<char>(i == 3 ? 0x7f : 0xff);
  CHECK_FALSE(archive_in(bomb));
}
