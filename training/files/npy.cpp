#include "training/files/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "spec/error.hpp"
#include "spec/quoted.hpp"
#include "spec/value_type.hpp"

namespace etalon::training {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t alignment = 64;
constexpr std::array<std::pair<DType, std::string_view>, 6> types{{{DType::f16, "<f2"},
                                                                   {DType::f32, "<f4"},
                                                                   {DType::f64, "<f8"},
                                                                   {DType::i32, "<i4"},
                                                                   {DType::i64, "<i8"},
                                                                   {DType::boolean, "|b1"}}};

[[nodiscard]] std::string shape_of(const Dims& dims) {
  return fmt::format("({}{})", fmt::join(dims.begin(), dims.end(), ", "), dims.rank == 1 ? "," : "");
}

/// What a header says: a Python dictionary of three keys, in any order.
struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<Dims> shape;
};

/// Reads the dictionary word by word.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, std::string_view where) : rest_(text), where_(where) {}

  [[nodiscard]] Header read() {
    Header header;
    expect('{');
    while (!takes('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !header.descr)
        header.descr = quoted();
      else if (key == "fortran_order" && !header.fortran_order)
        header.fortran_order = truth();
      else if (key == "shape" && !header.shape)
        header.shape = shape();
      else
        refuse("'" + as_quoted(key) + "'");
      if (!takes(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (!rest_.empty()) refuse("more behind the dictionary");
    return header;
  }

 private:
  [[noreturn]] void refuse(const std::string& found) const {
    throw IoError(fmt::format("{}: the header has {}, expected descr, fortran_order and shape", where_, found));
  }

  void skip_spaces() { rest_.remove_prefix(std::min(rest_.size(), rest_.find_first_not_of(" \n"))); }

  [[nodiscard]] bool takes(char wanted) {
    skip_spaces();
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    if (!takes(wanted)) refuse(rest_.empty() ? "an early end" : fmt::format("'{}'", as_quoted(first_character(rest_))));
  }

  [[nodiscard]] std::string quoted() {
    expect('\'');
    const std::size_t end = rest_.find('\'');
    if (end == std::string_view::npos) refuse("an open quote");
    const std::string word(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return word;
  }

  [[nodiscard]] bool truth() {
    skip_spaces();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    refuse("a fortran_order that is neither True nor False");
  }

  [[nodiscard]] Dims shape() {
    Dims dims;
    expect('(');
    while (!takes(')')) {
      if (dims.rank == Dims::max_rank) refuse(fmt::format("more than {} axes", Dims::max_rank));
      dims.push_back(extent());
      if (takes(',')) continue;
      expect(')');
      break;
    }
    return dims;
  }

  [[nodiscard]] std::int64_t extent() {
    skip_spaces();
    std::int64_t value = -1;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{} || value < 0) refuse("an extent that is no whole number of 63 bits");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  std::string_view rest_;
  std::string_view where_;
};

/// Where the header's text begins, and how long it is.
[[nodiscard]] std::pair<std::size_t, std::size_t> place_of_header(std::span<const std::byte> file,
                                                                  std::string_view where) {
  const auto byte = [&](std::size_t at) { return std::to_integer<std::size_t>(file[at]); };
  constexpr std::size_t at = magic.size() + 2;
  const bool known = file.size() > at && std::equal(magic.begin(), magic.end(), file.begin(),
                                                    [](char a, std::byte b) { return std::byte(a) == b; });
  const std::size_t version = known ? byte(magic.size()) : 0, digits = version == 1 ? 2 : 4;
  if (version < 1 || version > 3 || file.size() < at + digits) throw IoError(fmt::format("{}: no npy array", where));
  std::size_t length = 0;
  for (std::size_t i = digits; i-- > 0;) length = 256 * length + byte(at + i);
  if (length > file.size() - at - digits) {
    throw IoError(
        fmt::format("{}: a header of {} bytes, expected at most {}", where, length, file.size() - at - digits));
  }
  return {at + digits, length};
}

[[nodiscard]] spec::ValueType type_of(const Header& header, std::string_view where) {
  if (!header.descr || !header.fortran_order || !header.shape) {
    throw IoError(fmt::format("{}: the header lacks one of descr, fortran_order and shape", where));
  }
  if (*header.fortran_order) throw IoError(fmt::format("{}: an array in Fortran's order, expected C's", where));
  const auto at = std::find_if(types.begin(), types.end(), [&](const auto& t) { return t.second == *header.descr; });
  if (at == types.end()) {
    throw IoError(fmt::format("{}: elements are '{}', expected one of <f2, <f4, <f8, <i4, <i8, |b1", where,
                              as_quoted(*header.descr)));
  }
  return {at->first, *header.shape};
}

}  // namespace

std::string npy_of(const HostTensor& tensor, std::string_view name) {
  const auto at = std::find_if(types.begin(), types.end(), [&](const auto& t) { return t.first == tensor.dtype; });
  if (at == types.end()) {
    throw Unsupported(
        fmt::format("npy: `{}` is {}, which numpy does not have; safetensors does", name, name_of(tensor.dtype)));
  }
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", at->second, shape_of(tensor.dims));
  const std::size_t before = magic.size() + 4;
  const std::size_t length =
      (before + header.size() + alignment) / alignment * alignment - before;  // room for the line's end
  header.resize(length - 1, ' ');
  header += '\n';
  std::string file(magic);
  for (const std::size_t byte : {std::size_t{1}, std::size_t{0}, length % 256, length / 256})
    file += static_cast<char>(byte);
  file += header;
  return file.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
}

HostTensor read_npy(std::span<const std::byte> file, std::string_view where) {
  const auto [begin, length] = place_of_header(file, where);
  const auto header = file.subspan(begin, length), elements = file.subspan(begin + length);
  const spec::ValueType type =
      type_of(HeaderReader({reinterpret_cast<const char*>(header.data()), length}, where).read(), where);
  const bool fits = addressable(type);
  const std::size_t bytes = fits ? static_cast<std::size_t>(type.dims.count()) * size_of(type.dtype) : 0;
  if (!fits || bytes != elements.size()) {
    throw IoError(
        fmt::format("{}: {} bytes of elements, expected those of {}", where, elements.size(), to_string(type)));
  }
  HostTensor tensor(type.dtype, type.dims);
  std::copy(elements.begin(), elements.end(), tensor.bytes.begin());
  const auto is_truth = [](std::byte b) { return b <= std::byte{1}; };
  if (type.dtype == DType::boolean && !std::all_of(elements.begin(), elements.end(), is_truth)) {
    throw IoError(fmt::format("{}: a truth value that is neither 0 nor 1", where));
  }
  return tensor;
}

}  // namespace etalon::training
