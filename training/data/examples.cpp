#include "training/data/examples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "spec/quoted.hpp"
#include "training/data/random_streams.hpp"
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
  throw SpecViolation(fmt::format("{}: the name's ending says no format, expected --format {}", on_one_line(file.string()),
                                  fmt::join(formats, ", ")));
}

/// A file's bytes and where they came from.
class Source {
 public:
  explicit Source(const fs::path& path) : file_(path), identity_(data_file_of(path.string(), file_.bytes())) {
    packed_ = path.extension() == ".gz";
    if (packed_) unpacked_ = unpacked(file_.bytes(), most_unpacked, where());
  }
  [[nodiscard]] std::string_view text() const { return packed_ ? std::string_view(unpacked_) : file_.text(); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(std::span(text())); }
  [[nodiscard]] const DataFile& identity() const { return identity_; }
  /// Its name in messages.
  [[nodiscard]] std::string where() const { return on_one_line(identity_.name); }

 private:
  MappedFile file_;
  DataFile identity_;
  bool packed_ = false;
  std::string unpacked_;
};

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
  return format == "npy" ? read_npy(source.bytes(), source.where()) : read_idx(source.bytes(), source.where());
}

[[nodiscard]] Examples examples_in(const std::vector<fs::path>& files, const Source& source, const Source* labels,
                                   const DataChoice& choice) {
  const std::string format = format_of(files.front(), choice), where = source.where();
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

Examples read_examples(const std::vector<fs::path>& files, const DataChoice& choice) {
  if (files.empty() || files.size() > 2)
    throw SpecViolation(fmt::format("data: {} files, expected one, or one and that of its targets", files.size()));
  const Source source(files.front());
  std::optional<Source> labels;
  if (files.size() == 2) labels.emplace(files.back());
  Examples examples = examples_in(files, source, labels ? &*labels : nullptr, choice);
  examples.files.push_back(source.identity());
  if (labels) examples.files.push_back(labels->identity());
  require_sound(examples.data, source.where());
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
