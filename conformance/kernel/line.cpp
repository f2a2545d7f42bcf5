#include "conformance/kernel/line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <span>

#include "conformance/case.hpp"
#include "spec/error.hpp"
#include "spec/markup.hpp"
#include "spec/sha256.hpp"

namespace etalon::conformance {
namespace {

using spec::Refusal;

class Words {
 public:
  template <class T>
  void add(const T& word) {
    fmt::format_to(std::back_inserter(text_), " {}", word);
  }
  template <class T>
  void add_all(std::span<const T> words) {
    for (const T& word : words) add(word);
  }
  /// Reals as `%a` writes them, so that they are read back exactly.
  void add_real(double real) { fmt::format_to(std::back_inserter(text_), " {:a}", real); }
  void add_bytes(std::span<const std::byte> bytes) { text_ += bytes.empty() ? " -" : " " + hexadecimal(bytes); }
  [[nodiscard]] std::string taken() { return std::move(text_); }

 private:
  std::string text_;
};

void add_operand(Words& words, const etalon_tensor& operand, const HostTensor& dense, const std::optional<spec::Placement>& place) {
  words.add(operand.dtype);
  words.add(operand.rank);
  const auto rank = static_cast<std::size_t>(operand.rank);
  words.add_all(std::span(operand.shape, rank));
  words.add_all(std::span(operand.strides, rank));
  const bool placed = place && !dense.bytes.empty();
  const Bytes buffer = placed ? spec::buffer_of(dense, *place).bytes : dense.bytes;
  words.add(placed ? static_cast<std::size_t>(place->offset) * size_of(dense.dtype) : 0);
  words.add(buffer.size());
  words.add_bytes(std::as_bytes(std::span(buffer.data(), buffer.size())));
}

void add_result(Words& words, const spec::ValueType& type) {
  words.add(std::find(plugin_dtypes.begin(), plugin_dtypes.end(), type.dtype) - plugin_dtypes.begin());
  words.add(type.dims.rank);
  for (const std::int64_t extent : type.dims) words.add(extent);
  words.add(static_cast<std::size_t>(type.dims.count()) * size_of(type.dtype));
}

void add_attribute(Words& words, const etalon_attribute& a) {
  words.add(a.name);
  words.add(a.kind);
  const auto count = static_cast<std::size_t>(a.count);
  switch (a.kind) {
    case ETALON_INTEGER:
    case ETALON_BOOLEAN:
      return words.add(a.integer);
    case ETALON_REAL:
      return words.add_real(a.real);
    case ETALON_SYMBOL:
      return words.add(a.symbol);
    case ETALON_INTEGERS:
      words.add(count);
      return words.add_all(std::span(a.integers, count));
    case ETALON_REALS:
      words.add(count);
      for (const double real : std::span(a.reals, count)) words.add_real(real);
      return;
    default:
      throw Unsupported("attribute: values of the program are not offered to kernels");
  }
}

/// Of the operands as they are declared: -1 for a single one, the number of members for a pack.
void add_declared(Words& words, const Case& c) {
  const spec::Definition& definition = definition_of(c);
  words.add(definition.operand_count);
  std::size_t pack = 0;
  for (std::size_t i = 0; i < definition.operand_count; ++i) {
    if (!definition.operands[i].pack) words.add(-1);
    // A pack whose length nobody says is the only one.
    else
      words.add(pack < c.call.packs.size() ? c.call.packs[pack] : c.operands.size() - (definition.operand_count - 1U));
    pack += definition.operands[i].pack ? 1 : 0;
  }
}

/// Words of a line, one after the other.
class Reader {
 public:
  explicit Reader(std::string_view line) : rest_(line) {}
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] std::string_view word() {
    const std::size_t end = rest_.find(' ');
    const std::string_view found = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    if (found.empty()) throw SpecViolation("expected a word, found none");
    return found;
  }
  [[nodiscard]] std::int64_t integer(std::int64_t most) {
    const std::string_view text = word();
    std::int64_t value = -1;
    const auto [stop, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (wrong != std::errc() || stop != text.data() + text.size() || value < 0 || value > most)
      throw SpecViolation(fmt::format("expected a number from 0 to {}, found '{:.40}'", most, text));
    return value;
  }

 private:
  std::string_view rest_;
};

[[nodiscard]] std::byte byte_of(std::string_view digits) {
  unsigned value = 0;
  const auto [stop, wrong] = std::from_chars(digits.data(), digits.data() + 2, value, 16);
  if (wrong != std::errc() || stop != digits.data() + 2) throw SpecViolation("expected hexadecimal digits");
  return static_cast<std::byte>(value);
}

[[nodiscard]] HostTensor result_in(Reader& reader) {
  constexpr std::int64_t most_elements = std::int64_t{1} << 32U;
  const DType dtype = plugin_dtypes.at(static_cast<std::size_t>(reader.integer(plugin_dtypes.size() - 1)));
  const auto rank = static_cast<std::size_t>(reader.integer(Dims::max_rank));
  Dims dims;
  std::int64_t elements = 1;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    dims.push_back(reader.integer(most_elements));
    if (dims[axis] > 0 && elements > most_elements / dims[axis]) throw SpecViolation("a result is too large");
    elements *= dims[axis];
  }
  std::string_view digits = reader.word();
  if (digits == "-") digits = {};
  if (digits.size() != 2 * static_cast<std::size_t>(elements) * size_of(dtype))
    throw SpecViolation(fmt::format("a result has {} elements, and {} bytes", elements, digits.size() / 2));
  HostTensor result(dtype, dims);
  for (std::size_t i = 0; i < result.bytes.size(); ++i) result.bytes[i] = static_cast<Bytes::value_type>(byte_of(digits.substr(2 * i, 2)));
  return result;
}

[[nodiscard]] std::string rest_of(std::string_view line, std::string_view word) {
  constexpr std::size_t most = 500;
  return well_formed(line.substr(std::min(word.size(), line.size()), most));
}

}  // namespace

KernelCall::KernelCall(const spec::Request& request) {
  const std::optional<Case> c = case_of(request);
  if (!c || request.mode != spec::Mode::forward) throw Unsupported("request: kernels answer the values of one call");
  const PluginRequest asked(request);
  const etalon_call& call = asked.view().calls[0];
  Words before, after;
  before.add("call");
  after.add(call.operand_count);
  for (const std::int32_t operand : std::span(call.operands, static_cast<std::size_t>(call.operand_count))) {
    if (operand < 0) {
      after.add(-1);
      continue;
    }
    const auto input = static_cast<std::size_t>(operand);
    const auto& places = request.placements.inputs;
    add_operand(after, asked.view().inputs[input], request.inputs.at(input), input < places.size() ? places[input] : std::nullopt);
  }
  const std::vector<spec::ValueType> results = result_types(*c);
  after.add(results.size());
  for (const spec::ValueType& type : results) add_result(after, type);
  after.add(call.attribute_count);
  for (const etalon_attribute& a : std::span(call.attributes, static_cast<std::size_t>(call.attribute_count))) add_attribute(after, a);
  add_declared(after, *c);
  before_ = before.taken().substr(1);
  after_ = after.taken();
}

std::string KernelCall::line(unsigned poison) const { return fmt::format("{} {}{}", before_, poison, after_); }

spec::Answer kernel_answer(std::string_view line) {
  constexpr std::string_view done = "done", declined = "declined ", broken = "broken ";
  if (line.starts_with(declined)) return Refusal{Refusal::Kind::unsupported, rest_of(line, declined), "request"};
  if (line.starts_with(broken)) return Refusal{Refusal::Kind::error, rest_of(line, broken)};
  try {
    Reader reader(line);
    if (reader.word() != done) throw SpecViolation("expected 'done'");
    spec::Numbers numbers;
    while (!reader.at_end()) numbers.outputs.push_back(result_in(reader));
    return numbers;
  } catch (const SpecViolation& error) {
    return Refusal{Refusal::Kind::error, fmt::format("its answer is none: {}", well_formed(error.what()))};
  }
}

std::vector<std::pair<std::size_t, std::size_t>> poisoned(const spec::Numbers& numbers, unsigned poison) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t r = 0; r < numbers.outputs.size(); ++r) {
    const HostTensor& result = numbers.outputs[r];
    const std::size_t size = size_of(result.dtype);
    const auto is_poison = [&](auto byte) { return static_cast<unsigned>(byte) == poison; };
    for (std::size_t i = 0; i * size < result.bytes.size(); ++i) {
      const auto first = result.bytes.begin() + static_cast<std::ptrdiff_t>(i * size);
      if (std::all_of(first, first + static_cast<std::ptrdiff_t>(size), is_poison)) found.emplace_back(r, i);
    }
  }
  return found;
}

}  // namespace etalon::conformance
