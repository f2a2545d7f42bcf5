#include "training/tasks/shipped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/sha256.hpp"
#include "training/data/sequences.hpp"
#include "training/tasks/sequences.hpp"
#include "training/tasks/tasks.hpp"

namespace etalon::training {

namespace {

using Path = std::filesystem::path;

/// It stands beside the program, where that was built or into whatever prefix it was installed, else where programs of others find it.
Path shipped_file(const char* name) {
  std::error_code ignored;
  const Path bin = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const Path beside = bin.parent_path() / "share/etalon" / name;
  return std::filesystem::exists(beside, ignored) ? beside : Path(ETALON_INSTALLED_DATA) / name;
}

/// A text that every Debian system has.
constexpr const char* licence = "/usr/share/common-licenses/GPL-3";

std::string digest_of(const Dataset& data) {
  return Sha256().add(std::as_bytes(std::span(data.inputs))).add(std::as_bytes(std::span(data.labels))).hexadecimal();
}

void take_digits(Shipped& made, const std::string& model, const Path& data) {
  const Path file = data.empty() ? shipped_file("digits.csv.gz") : data;
  const std::string bytes = read_file(file);
  const Dataset rows = digits_in(bytes, file.string());
  const Split split = split_of_digits();
  made.train = select_rows(rows, split.train);
  made.validation = select_rows(rows, split.validation);
  made.test = select_rows(rows, split.test);
  made.digest = sha256_of(bytes);
  made.epochs = model == "mlp" ? 500 : 100;
}

/// The rows from one to before another.
Dataset rows_between(const Dataset& rows, std::int64_t from, std::int64_t to) {
  std::vector<std::int64_t> positions;
  for (std::int64_t row = from; row < to; ++row) positions.push_back(row);
  return select_rows(rows, positions);
}

/// Of ten windows one tests and one validates.
void take_text(Shipped& made, const std::string& model, const Path& data) {
  const Path file = data.empty() ? Path(licence) : data;
  const std::string text = read_file(file);
  const Dataset rows = windows_of(text, window_length, file.string());
  if (rows.rows() < 10) {
    throw SpecViolation(fmt::format("{}: {} characters, expected at least {}", file.string(), text.size(), 10 * window_length + 1));
  }
  std::array<std::vector<std::int64_t>, 10> parts;
  for (std::int64_t row = 0; row < rows.rows(); ++row) parts[row % 10 < 8 ? 0 : static_cast<std::size_t>(row % 10)].push_back(row);
  made.train = select_rows(rows, parts[0]);
  made.validation = select_rows(rows, parts[8]);
  made.test = select_rows(rows, parts[9]);
  made.digest = sha256_of(text);
  made.epochs = model == "gpt" ? 25 : 20;
  made.batch = 16;
  made.predicts = true;
}

/// Of ten names one tests and one validates.
void take_names(Shipped& made, const Path& data) {
  const Path file = data.empty() ? shipped_file("places.txt") : data;
  const std::string text = read_file(file);
  std::array<std::string, 10> parts;
  std::size_t line = 0;
  for (std::size_t from = 0; from < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    parts[line % 10 < 8 ? 0 : line % 10].append(text, from, end - from).push_back('\n');
    from = end + 1;
  }
  const std::string where = file.string();
  made.train = letters_of(parts[0], names_context, where);
  made.validation = letters_of(parts[8], names_context, where + ", the ninth of ten names");
  made.test = letters_of(parts[9], names_context, where + ", the tenth of ten names");
  made.digest = sha256_of(text);
  made.epochs = 20;
  made.predicts = true;
}

void take_registers(Shipped& made, const std::string& model, const Path& data) {
  if (!data.empty()) throw SpecViolation("training: the strings of the register are made; --data belongs to other tasks");
  const Dataset rows = register_strings(5000, register_length, register_values, 1);
  made.train = rows_between(rows, 0, 4000);
  made.validation = rows_between(rows, 4000, 4500);
  made.test = rows_between(rows, 4500, 5000);
  made.digest = digest_of(rows);
  made.epochs = model == "transformer" ? 20 : 8;
}

/// 1 for points of the upper moon and -1 for those of the lower one.
void take_moons(Shipped& made, const Path& data, std::uint64_t seed) {
  if (!data.empty()) throw SpecViolation("training: moons makes its own data; --data belongs to other tasks");
  const Dataset points = half_moons(400, 0.1, seed);
  made.train = {points.features, 0, points.inputs};
  for (const std::int64_t label : points.labels) made.train.numbers.push_back(label == 0 ? 1.0F : -1.0F);
  made.digest =
      Sha256().add(std::as_bytes(std::span(made.train.inputs))).add(std::as_bytes(std::span(made.train.numbers))).hexadecimal();
  made.epochs = 80;
  made.batch = 10;
  made.shuffles = false;
}

}  // namespace

bool is_shipped(const std::string& task) {
  const std::vector<std::string> names = task_names();
  return std::find(names.begin(), names.end(), task) != names.end();
}

Shipped shipped(const std::string& task, const std::string& model, const Path& data, std::uint64_t seed) {
  Shipped made;
  made.task = task_named(task, model);
  if (task == "digits") take_digits(made, model, data);
  else if (task == "text") take_text(made, model, data);
  else if (task == "names") take_names(made, data);
  else if (task == "register") take_registers(made, model, data);
  else if (task == "moons") take_moons(made, data, seed);
  else throw SpecViolation("the task " + task + " has no rows that ship");
  return made;
}

}  // namespace etalon::training
