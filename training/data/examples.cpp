#include "training/data/examples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "spec/quoted.hpp"
#include "spec/value_type.hpp"
#include "training/data/random_streams.hpp"
#include "training/data/targets.hpp"
#include "training/files/gzip.hpp"
#include "training/files/idx.hpp"
#include "training/files/mapped_file.hpp"
#include "training/files/npy.hpp"
#include "training/files/npz.hpp"
#include "training/files/safetensors.hpp"

namespace etalon::training {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_unpacked = std::size_t{1} << 32U;

struct Ending {
  std::string_view ending, format;
};
constexpr std::array<Ending, 9> endings{{{".csv", "csv"},
                                         {".tsv", "csv"},
                                         {".npy", "npy"},
                                         {".npz", "npz"},
                                         {".safetensors", "safetensors"},
                                         {".idx", "idx"},
                                         {"-ubyte", "idx"},
                                         {".txt", "text"},
                                         {".text", "text"}}};

[[nodiscard]] std::string name_without_gz(const fs::path& file) {
  std::string name = file.filename().string();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return name;
}

[[nodiscard]] std::string format_of(const fs::path& file, const DataChoice& choice) {
  const std::vector<std::string> formats{"csv", "npy", "npz", "safetensors", "idx", "text"};
  if (!choice.format.empty()) {
    const bool known = std::find(formats.begin(), formats.end(), choice.format) != formats.end();
    if (!known) throw SpecViolation("--format: " + unknown_name("format", as_quoted(choice.format), formats));
    return choice.format;
  }
  const std::string name = name_without_gz(file);
  const auto at = std::find_if(endings.begin(), endings.end(), [&](const Ending& e) { return name.ends_with(e.ending); });
  if (at != endings.end()) return std::string(at->format);
  throw SpecViolation(fmt::format("{}: the name's ending says no format, expected --format {}", file.string(), fmt::join(formats, ", ")));
}

/// A file's bytes and where they came from.
class Source {
 public:
  explicit Source(const fs::path& path) : file_(path), identity_(data_file_of(path.string(), file_.bytes())) {
    packed_ = path.extension() == ".gz";
    if (packed_) unpacked_ = read_gzip(path, most_unpacked);
  }
  [[nodiscard]] std::string_view text() const { return packed_ ? std::string_view(unpacked_) : file_.text(); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(std::span(text())); }
  [[nodiscard]] const DataFile& identity() const { return identity_; }

 private:
  MappedFile file_;
  DataFile identity_;
  bool packed_ = false;
  std::string unpacked_;
};

template <class Take>
void for_each_element(const HostTensor& tensor, const std::string& where, const Take& take) {
  const auto all = [&](auto view) { std::for_each(view.begin(), view.end(), take); };
  switch (tensor.dtype) {
    case DType::f32:
      return all(tensor.view<float>());
    case DType::f64:
      return all(tensor.view<double>());
    case DType::i32:
      return all(tensor.view<std::int32_t>());
    case DType::i64:
      return all(tensor.view<std::int64_t>());
    case DType::boolean:
      return all(tensor.view<std::uint8_t>());
    default:
      throw Unsupported(fmt::format("{}: elements are {}, expected f32, f64, i32, i64 or bool", where, name_of(tensor.dtype)));
  }
}

void require_rows(const HostTensor& inputs, const HostTensor& targets, const std::string& where) {
  const auto text = [](const HostTensor& t) { return to_string(spec::ValueType{t.dtype, t.dims}); };
  if (inputs.dims.rank < 1 || inputs.dims.count() == 0)
    throw IoError(fmt::format("{}: inputs are {}, expected rows on the first axis", where, text(inputs)));
  const std::int64_t rows = inputs.dims[0];
  if (targets.dims.rank >= 1 && targets.dims[0] == rows && targets.dims.count() == rows) return;
  throw IoError(fmt::format("{}: targets are {}, expected one for each of {} rows", where, text(targets), rows));
}

/// Of a matrix: the column, counted from 1, as targets, and the others.
[[nodiscard]] Examples matrix_examples(const HostTensor& matrix, const std::string& where, const DataChoice& choice) {
  if (matrix.dims.rank != 2) {
    throw SpecViolation(
        fmt::format("{}: {}, expected a matrix whose column --target is answered, or the targets in a file of their own, --labels", where,
                    to_string(spec::ValueType{matrix.dtype, matrix.dims})));
  }
  std::vector<std::string> names;
  for (std::int64_t i = 1; i <= matrix.dims[1]; ++i) names.push_back(fmt::format("{}", i));
  const auto at = std::find(names.begin(), names.end(), choice.target);
  if (at == names.end())
    throw SpecViolation(fmt::format("{}: --target is '{}', expected a column from 1 to {}", where, as_quoted(choice.target), names.size()));
  const auto target = static_cast<std::size_t>(at - names.begin()), columns = names.size();
  HostTensor inputs(DType::f64, {matrix.dims[0], matrix.dims[1] - 1}), targets(DType::f64, {matrix.dims[0]});
  std::size_t n = 0, in = 0;
  for_each_element(matrix, where, [&](auto element) {
    (n % columns == target ? targets.view<double>()[n / columns] : inputs.view<double>()[in++]) = static_cast<double>(element);
    ++n;
  });
  Examples examples = tensor_examples(inputs, targets, where, choice);
  examples.one_unit = false;
  return examples;
}

[[nodiscard]] const HostTensor& tensor_in(const Named& tensors, const std::string& name, const std::string& where,
                                          std::string_view option) {
  if (const auto at = tensors.find(name); at != tensors.end()) return at->second;
  std::vector<std::string> names;
  for (const auto& entry : tensors) names.push_back(as_quoted(entry.first));
  if (name.empty())
    throw SpecViolation(
        fmt::format("{}: {} names a tensor, expected one of '{}'", where, option, as_quoted(fmt::format("{}", fmt::join(names, "', '")))));
  throw SpecViolation(where + ": " + unknown_name("tensor", as_quoted(name), names));
}

[[nodiscard]] Examples named_examples(const Named& tensors, const std::string& where, const DataChoice& choice) {
  const HostTensor& targets = tensor_in(tensors, choice.target, where, "--target");
  std::string inputs = choice.inputs;
  if (inputs.empty() && tensors.size() == 2)
    inputs = tensors.begin()->first == choice.target ? tensors.rbegin()->first : tensors.begin()->first;
  return tensor_examples(tensor_in(tensors, inputs, where, "--inputs"), targets, where, choice);
}

[[nodiscard]] HostTensor array_in(const Source& source, const std::string& format) {
  return format == "npy" ? read_npy(source.bytes(), source.identity().name) : read_idx(source.bytes(), source.identity().name);
}

[[nodiscard]] Examples examples_in(const std::vector<fs::path>& files, const Source& source, const Source* labels,
                                   const DataChoice& choice) {
  const std::string format = format_of(files.front(), choice), where = source.identity().name;
  const bool is_array = format == "npy" || format == "idx";
  if (labels != nullptr && !is_array)
    throw SpecViolation(fmt::format("{}: --labels is of npy and idx; in {} --target names what is answered", where, format));
  if (format != "csv" && (!choice.ignored.empty() || !choice.separator.empty() || !choice.header)) {
    throw SpecViolation(where + ": --ignore, --separator and --no-header are of csv");
  }
  if (format == "csv") {
    DataChoice with = choice;
    if (with.separator.empty() && name_without_gz(files.front()).ends_with(".tsv")) with.separator = "\t";
    return csv_examples(source.text(), where, with);
  }
  if (format == "text") return text_examples(source.text(), where, choice);
  if (format == "npz") return named_examples(read_npz(source.bytes(), where), where, choice);
  if (format == "safetensors") return named_examples(read_safetensors(source.bytes(), where), where, choice);
  if (labels == nullptr) return matrix_examples(array_in(source, format), where, choice);
  if (!choice.target.empty()) throw SpecViolation(where + ": --target and --labels both say what is answered, expected one of them");
  const HostTensor targets = array_in(*labels, format_of(files.back(), choice));
  return tensor_examples(array_in(source, format), targets, where, choice);
}

}  // namespace

Examples tensor_examples(const HostTensor& inputs, const HostTensor& targets, const std::string& where, const DataChoice& choice) {
  require_rows(inputs, targets, where);
  Examples examples;
  Dataset& data = examples.data;
  examples.one_unit = true;
  data.features = inputs.dims.count() / inputs.dims[0];
  data.inputs.reserve(static_cast<std::size_t>(inputs.dims.count()));
  for_each_element(inputs, where, [&](auto element) {
    const auto number = static_cast<double>(element);
    if (!(std::abs(number) <= static_cast<double>(std::numeric_limits<float>::max()))) {
      const auto at = static_cast<std::int64_t>(data.inputs.size());
      throw IoError(fmt::format("{}: row {}, element {} is {}, expected a finite number of f32", where, at / data.features,
                                at % data.features, number));
    }
    data.inputs.push_back(static_cast<float>(number));
  });
  Targets words(choice.regression, choice.classes);
  for_each_element(targets, where, [&](auto element) {
    const std::string word = fmt::format("{}", element);
    if (const std::string expected = words.take(word); !expected.empty()) {
      throw IoError(fmt::format("{}: row {} has the target {}, expected {}", where, words.rows(), word, expected));
    }
  });
  examples.classes = words.finish(data, where);
  return examples;
}

Examples read_examples(const std::vector<fs::path>& files, const DataChoice& choice) {
  if (files.empty() || files.size() > 2)
    throw SpecViolation(fmt::format("data: {} files, expected one, or one and that of its targets", files.size()));
  const Source source(files.front());
  std::optional<Source> labels;
  if (files.size() == 2) labels.emplace(files.back());
  Examples examples = examples_in(files, source, labels ? &*labels : nullptr, choice);
  examples.files.push_back(source.identity());
  if (labels) examples.files.push_back(labels->identity());
  require_sound(examples.data, files.front().string());
  return examples;
}

Split split_of(const Examples& examples, double validation, std::uint64_t seed) {
  if (!(validation >= 0 && validation < 1))
    throw SpecViolation(fmt::format("validation: a share of {}, expected one from 0 to below 1", validation));
  const std::int64_t rows = examples.data.rows(), held = static_cast<std::int64_t>(std::floor(validation * static_cast<double>(rows)));
  std::vector<std::int64_t> order = permutation(rows, seed, 0, Stream::split);
  if (examples.vocabulary > 0) std::sort(order.begin(), order.end());
  const auto middle = order.end() - held;
  return {{order.begin(), middle}, {middle, order.end()}, {}};
}

}  // namespace etalon::training
