#include "training/data/examples.hpp"

#include <zlib.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/sha256.hpp"
#include "training/files/csv.hpp"
#include "training/files/idx.hpp"
#include "training/files/mapped_file.hpp"
#include "training/files/npy.hpp"
#include "training/files/npz.hpp"
#include "training/files/safetensors.hpp"

using namespace etalon;
using namespace etalon::training;

namespace {

namespace fs = std::filesystem;
using Fields = std::vector<std::string>;

template <class Read>
std::string message_of(const Read& read) {
  try {
    read();
  } catch (const IoError& error) {
    return error.what();
  } catch (const SpecViolation& error) {
    return std::string("choice: ") + error.what();
  }
  return "read";
}

std::string csv_message(const std::string& text, const DataChoice& choice) {
  return message_of([&] { (void)csv_examples(text, "my.csv", choice); });
}

DataChoice answering(const std::string& target) {
  DataChoice choice;
  choice.target = target;
  return choice;
}

std::vector<Fields> records_of(const std::string& text, char separator = ',') {
  CsvReader reader(text, separator, "my.csv");
  std::vector<Fields> all;
  for (Fields fields; reader.next(fields);) all.push_back(fields);
  return all;
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string idx_of(int type, const std::vector<int>& extents, const std::vector<int>& elements) {
  std::string file{'\0', '\0', static_cast<char>(type), static_cast<char>(extents.size())};
  for (const int extent : extents) {
    for (int shift = 24; shift >= 0; shift -= 8) file += static_cast<char>(extent >> shift & 255);
  }
  for (const int element : elements) file += static_cast<char>(element);
  return file;
}

/// A folder that goes in the end.
struct Folder {
  fs::path path = fs::temp_directory_path() / "etalon-examples-test";
  Folder() {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  [[nodiscard]] fs::path with(const std::string& name, const std::string& bytes) const {
    write_file(path / name, bytes);
    return path / name;
  }
};

}  // namespace

TEST_CASE("records of csv are those of RFC 4180", "[examples]") {
  CHECK(records_of("a,b\r\n\"x,\"\"y\"\"\",\"two\nlines\"\n\n c , \n") ==
        std::vector<Fields>{{"a", "b"}, {"x,\"y\"", "two\nlines"}, {"c", ""}});
  CHECK(records_of("\xEF\xBB\xBFp;q\n1;2", ';') == std::vector<Fields>{{"p", "q"}, {"1", "2"}});
  CHECK(records_of("a,b,\r") == std::vector<Fields>{{"a", "b", ""}});
  CHECK(records_of("a\r") == std::vector<Fields>{{"a"}});
  CHECK(records_of("\n\r\n").empty());
  CsvReader reader("a\n\n\"b\nc\"\nd\n", ',', "my.csv");
  std::vector<std::string> places;
  for (Fields fields; reader.next(fields);) places.push_back(reader.place());
  CHECK(places == std::vector<std::string>{"my.csv:1", "my.csv:3", "my.csv:5"});
  CHECK(message_of([] { (void)records_of("a\nb,\"c\n"); }) == "my.csv:2: a quote that does not end");
  CHECK(message_of([] { (void)records_of("\"a\"b\n"); }) ==
        "my.csv:1: 'b' behind the quote of column 1, expected the separator or the line's end");
}

TEST_CASE("columns of csv become features and classes by name", "[examples]") {
  const Examples read =
      csv_examples("id,wide,kind,high\n7,1.5,red,2\n8,-1e1,blue,3\n9,0,red,4\n", "my.csv", {"", "kind", "", {"id"}, "", true, false, 0, 8});
  CHECK(read.columns == Fields{"wide", "high"});
  CHECK(read.classes == Fields{"blue", "red"});
  CHECK(read.data.features == 2);
  CHECK(read.data.classes == 2);
  CHECK(read.data.inputs == std::vector<float>{1.5F, 2, -10, 3, 0, 4});
  CHECK(read.data.labels == std::vector<std::int64_t>{1, 0, 1});
  // Numbers are in the order of numbers, however they are written.
  const Examples numbered = csv_examples("x,y\n1,10\n2,9.0\n3,9\n4,-1\n", "my.csv", answering("y"));
  CHECK(numbered.classes == Fields{"-1", "9", "10"});
  CHECK(numbered.data.labels == std::vector<std::int64_t>{2, 1, 1, 0});
  DataChoice choice = answering("2");
  choice.header = false;
  choice.regression = true;
  const Examples numbers = csv_examples("1,2.5\n3,-4\n", "my.csv", choice);
  CHECK(numbers.classes.empty());
  CHECK(numbers.data.inputs == std::vector<float>{1, 3});
  CHECK(numbers.data.numbers == std::vector<float>{2.5F, -4});
  CHECK(numbers.columns == Fields{"1"});
}

TEST_CASE("what is wrong in csv is said with line and column when it is read", "[examples][sound]") {
  const DataChoice y = answering("y");
  const std::string good = "x,y\n1,a\n2,b\n";
  CHECK(csv_message(good, y) == "read");
  int refused = 0;
  for (const char* found : {"nan", "inf", "-inf", "", "1e39", "0x1", "1,5e", "two", "+1", "1 2"}) {
    const std::string field = std::string(found).find(',') == std::string::npos ? found : "\"" + std::string(found) + "\"";
    CHECK(csv_message(good + field + ",a\n", y) ==
          "my.csv:4: column 1, 'x', is '" + std::string(found) + "', expected a finite number; --ignore leaves a column out");
    ++refused;
  }
  CHECK(refused == 10);
  CHECK(csv_message(good + "3\n", y) == "my.csv:4: 1 columns, expected 2");
  CHECK(csv_message(good + "3,a,4\n", y) == "my.csv:4: 3 columns, expected 2");
  CHECK(csv_message(good + "3,\n", y) == "my.csv:4: column 2, 'y', is '', expected a class");
  CHECK(csv_message(good + "3,2.5\n", y) == "my.csv:4: column 2, 'y', is '2.5', expected a class; --regression learns numbers");
  CHECK(csv_message(good + "3,nan\n", y) == "my.csv:4: column 2, 'y', is 'nan', expected a class; --regression learns numbers");
  CHECK(csv_message("x,y\n1,a\n2,a\n", y) == "my.csv: 1 classes, expected at least 2; --regression learns numbers");
  CHECK(csv_message("", y) == "my.csv: the file is empty, expected rows of columns");
  CHECK(csv_message("x,y\n", y) == "my.csv: no rows behind the names of the columns");
  CHECK(csv_message("y\na\nb\n", y) == "my.csv: no column but the target is left, expected at least one");
  CHECK(csv_message("x,y,x\n", y) == "my.csv:1: two columns are named 'x'");
  CHECK(csv_message("1,2\n", y) == "my.csv:1: numbers only, expected the names of columns; --no-header calls them 1, 2, …");
  CHECK(csv_message(good, answering("z")) == "choice: my.csv: unknown column 'z'; did you mean 'x'?");
  CHECK(csv_message(good, answering("")) == "choice: my.csv: --target names the column that is to be answered, expected one of 'x', 'y'");
  DataChoice ten = y;
  ten.classes = 10;
  for (const char* found : {"10", "-1", "3.5", "a", "nan", "1e300"}) {
    CHECK(csv_message("x,y\n1,9\n2," + std::string(found) + "\n", ten) ==
          "my.csv:3: column 2, 'y', is '" + std::string(found) + "', expected a whole number from 0 to 9");
  }
  CHECK(csv_examples("x,y\n1,9\n", "my.csv", ten).classes.size() == 10);
  DataChoice number = y;
  number.regression = true;
  CHECK(csv_message("x,y\n1,a\n", number) == "my.csv:2: column 2, 'y', is 'a', expected a finite number");
  DataChoice wide = y;
  wide.separator = ";;";
  CHECK(csv_message(good, wide) == "choice: --separator is ';;', expected one byte such as ;");
}

TEST_CASE("a number too small for f32 is what it rounds to, one too large is refused", "[examples][sound]") {
  DataChoice number = answering("y");
  number.regression = true;
  const Examples read = csv_examples("x,y\n1e-50,1e-400\n-1e-50,-1e-400\n1.5e-50,2e-45\n7e-46,3.4028235e38\n0.0e999,1\n", "my.csv", number);
  CHECK(read.data.inputs == std::vector<float>{0, 0, 0, 0, 0});
  CHECK(std::signbit(read.data.inputs[1]));
  CHECK(read.data.numbers == std::vector<float>{0, 0, 0x1p-149F, std::numeric_limits<float>::max(), 1});
  // Halfway between 0 and the least number, and a word beyond it that as a double is halfway.
  const Examples ties = csv_examples(
      "x,y\n7.00649232162408535461864791644958065640130970938257885878534141944895541342930300743319094181060791015625e-46,0\n"
      "7.006492321624085354618647916449580656401309709382578858785341419448955413429303007433190941810607910156251e-46,0\n",
      "my.csv", number);
  CHECK(ties.data.inputs == std::vector<float>{0, 0x1p-149F});
  for (const char* found : {"1e39", "-1e39", "1e400", "-1e400", "3.4028236e38", "1e99999999999999999999", "1e-50x", "+1e-50"}) {
    const std::string word = found;
    CHECK(csv_message("x,y\n" + word + ",1\n", number) ==
          "my.csv:2: column 1, 'x', is '" + word + "', expected a finite number; --ignore leaves a column out");
    CHECK(csv_message("x,y\n1," + word + "\n", number) == "my.csv:2: column 2, 'y', is '" + word + "', expected a finite number");
  }
  // The same of a file of doubles.
  const HostTensor doubles = HostTensor::of<double>({2, 1}, {1e-50, -1e-300});
  CHECK(tensor_examples(doubles, doubles, "x.npz", number).data.numbers == std::vector<float>{0, 0});
  // None is a class: neither is whole.
  for (const char* found : {"1e-50", "1e-400", "1e400"}) {
    CHECK(csv_message("x,y\n1," + std::string(found) + "\n", answering("y")) ==
          "my.csv:2: column 2, 'y', is '" + std::string(found) + "', expected a class; --regression learns numbers");
  }
}

TEST_CASE("idx arrays are read by type, the highest byte first", "[examples][sound]") {
  const HostTensor bytes = read_idx(bytes_of(idx_of(8, {2, 2}, {0, 1, 128, 255})), "a.idx");
  CHECK(bytes.dims == Dims{2, 2});
  CHECK(std::ranges::equal(bytes.view<std::int32_t>(), std::vector{0, 1, 128, 255}));
  CHECK(read_idx(bytes_of(idx_of(9, {1}, {255})), "a").view<std::int32_t>()[0] == -1);
  CHECK(read_idx(bytes_of(idx_of(11, {1}, {255, 254})), "a").view<std::int32_t>()[0] == -2);
  CHECK(read_idx(bytes_of(idx_of(12, {1}, {128, 0, 0, 0})), "a").view<std::int32_t>()[0] == std::numeric_limits<std::int32_t>::min());
  CHECK(read_idx(bytes_of(idx_of(13, {1}, {63, 192, 0, 0})), "a").view<float>()[0] == 1.5F);
  CHECK(read_idx(bytes_of(idx_of(14, {1}, {192, 4, 0, 0, 0, 0, 0, 0})), "a").view<double>()[0] == -2.5);
  const auto refusal = [](const std::string& file) { return message_of([&] { (void)read_idx(bytes_of(file), "a.idx"); }); };
  CHECK(refusal("") == "a.idx: no idx array, which begins with two zero bytes");
  CHECK(refusal("PK\3\4") == "a.idx: no idx array, which begins with two zero bytes");
  CHECK(refusal(idx_of(10, {1}, {1})) == "a.idx: elements of the type 0x0a, expected 0x08, 0x09 or 0x0b to 0x0e");
  CHECK(refusal(idx_of(8, {1, 1, 1, 1, 1, 1, 1, 1, 1}, {1})).starts_with("a.idx: 9 axes, expected at most "));
  CHECK(refusal(idx_of(8, {2}, {}).substr(0, 6)) == "a.idx: 6 bytes, expected 8 of extents first");
  CHECK(refusal(idx_of(8, {3}, {1, 2})) == "a.idx: 2 bytes of elements, expected 1 for each of i32[3]");
  CHECK(refusal(idx_of(13, {1}, {1, 2, 3, 4, 5})) == "a.idx: 5 bytes of elements, expected 4 for each of f32[1]");
  CHECK(refusal(idx_of(14, {-1, -1, -1, -1}, {})).starts_with("a.idx: 0 bytes of elements, expected 8 for each of "));
}

TEST_CASE("tensors become rows, and what is wrong is said with row and element", "[examples][sound]") {
  const HostTensor inputs = HostTensor::of<double>({2, 2, 1}, {1, 2, 3, 4}), labels = HostTensor::of<std::int64_t>({2, 1}, {5, 3});
  const Examples read = tensor_examples(inputs, labels, "x.npz", {});
  CHECK(read.data.features == 2);
  CHECK(read.data.inputs == std::vector<float>{1, 2, 3, 4});
  CHECK(read.data.labels == std::vector<std::int64_t>{1, 0});
  CHECK(read.classes == Fields{"3", "5"});
  CHECK(read.one_unit);
  const auto refusal = [&](const HostTensor& x, const HostTensor& y, const DataChoice& choice = {}) {
    return message_of([&] { (void)tensor_examples(x, y, "x.npz", choice); });
  };
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(), 1e39}) {
    const HostTensor with = HostTensor::of<double>({2, 2}, {1, 2, 3, bad});
    CHECK(refusal(with, labels).starts_with("x.npz: row 1, element 1 is "));
  }
  DataChoice five;
  five.classes = 5;
  CHECK(refusal(inputs, labels, five) == "x.npz: row 0 has the target 5, expected a whole number from 0 to 4");
  CHECK(refusal(inputs, HostTensor::of<float>({2}, {1, std::nanf("")})) ==
        "x.npz: row 1 has the target nan, expected a class; --regression learns numbers");
  CHECK(refusal(inputs, HostTensor::of<float>({3}, {1, 2, 3})) == "x.npz: targets are f32[3], expected one for each of 2 rows");
  CHECK(refusal(HostTensor::of<float>({}, {1}), labels) == "x.npz: inputs are f32[], expected rows on the first axis");
}

TEST_CASE("text is contexts of bytes and the byte that comes next", "[examples]") {
  DataChoice choice;
  choice.context = 2;
  const Examples read = text_examples("abca\n", "t.txt", choice);
  CHECK(read.classes == Fields{"\\x0a", "a", "b", "c"});
  CHECK(read.vocabulary == 4);
  CHECK(read.data.inputs == std::vector<float>{1, 2, 2, 3, 3, 1});
  CHECK(read.data.labels == std::vector<std::int64_t>{3, 1, 0});
  const auto refusal = [&](const std::string& text) { return message_of([&] { (void)text_examples(text, "t.txt", choice); }); };
  CHECK(refusal("ab") == "t.txt: 2 bytes, expected more than the context of 2");
  CHECK(refusal("aaaa") == "t.txt: one byte, repeated, expected at least two different ones");
  choice.target = "y";
  CHECK(refusal("abcd").starts_with("choice: t.txt: of text the next byte is answered"));
}

TEST_CASE("one table is the same examples in every format", "[examples]") {
  const Folder folder;
  const std::vector<float> numbers{1, 2.5F, 3, 4, 5, 6};
  const HostTensor x = HostTensor::of({3, 2}, numbers), y = HostTensor::of<std::int64_t>({3}, {2, 0, 1});
  const std::string csv = "a,b,y\n1,2.5,2\n3,4,0\n5,6,1\n";
  gzFile packed = gzopen((folder.path / "t.csv.gz").c_str(), "wb");
  REQUIRE(gzwrite(packed, csv.data(), static_cast<unsigned>(csv.size())) == static_cast<int>(csv.size()));
  gzclose(packed);
  std::vector<Examples> all;
  all.push_back(read_examples({folder.with("t.csv", csv)}, answering("y")));
  all.push_back(read_examples({folder.with("t.tsv", "y\ta\tb\n2\t1\t2.5\n0\t3\t4\n1\t5\t6\n")}, answering("y")));
  all.push_back(read_examples({folder.path / "t.csv.gz"}, answering("y")));
  all.push_back(read_examples({folder.with("x.npy", npy_of(x, "x")), folder.with("y.npy", npy_of(y, "y"))}, {}));
  all.push_back(
      read_examples({folder.with("m.npy", npy_of(HostTensor::of<double>({3, 3}, {1, 2.5, 2, 3, 4, 0, 5, 6, 1}), "m"))}, answering("3")));
  all.push_back(read_examples({folder.with("t.npz", npz_of({{"x", x}, {"y", y}}))}, answering("y")));
  all.push_back(read_examples({folder.with("t.safetensors", safetensors_of({{"x", x}, {"y", y}, {"z", y}}))},
                              {"", "y", "x", {}, "", true, false, 0, 8}));
  REQUIRE(all.size() == 7);
  for (const Examples& read : all) {
    CHECK(read.data.inputs == numbers);
    CHECK(read.data.labels == std::vector<std::int64_t>{2, 0, 1});
    CHECK(read.classes == Fields{"0", "1", "2"});
  }
  const Examples images =
      read_examples({folder.with("i.idx", idx_of(8, {2, 1, 2}, {9, 8, 7, 6})), folder.with("l-ubyte", idx_of(8, {2}, {1, 0}))}, {});
  CHECK(images.data.inputs == std::vector<float>{9, 8, 7, 6});
  CHECK(images.data.labels == std::vector<std::int64_t>{1, 0});
  CHECK(images.files.size() == 2);
}

TEST_CASE("files that do not fit the choice are refused by name", "[examples][sound]") {
  const Folder folder;
  const fs::path csv = folder.with("t.csv", "a,y\n1,2\n2,3\n"), other = folder.with("t.dat", "a,y\n1,2\n2,3\n");
  const fs::path npy = folder.with("x.npy", npy_of(HostTensor::of<float>({2}, {1, 2}), "x"));
  const fs::path npz = folder.with("t.npz", npz_of({{"x", HostTensor::of<float>({1}, {1})}}));
  const auto refusal = [](const std::vector<fs::path>& files, const DataChoice& choice) {
    return message_of([&] { (void)read_examples(files, choice); });
  };
  DataChoice as_csv = answering("y");
  as_csv.format = "csv";
  CHECK(refusal({other}, as_csv) == "read");
  CHECK(refusal({other}, answering("y")) ==
        "choice: " + other.string() + ": the name's ending says no format, expected --format csv, npy, npz, safetensors, idx, text");
  as_csv.format = "cvs";
  CHECK(refusal({csv}, as_csv) == "choice: --format: unknown format 'cvs'; did you mean 'csv'?");
  CHECK(refusal({csv, csv}, answering("y")) ==
        "choice: " + csv.string() + ": --labels is of npy and idx; in csv --target names what is answered");
  CHECK(refusal({npz}, answering("w")) == "choice: " + npz.string() + ": unknown tensor 'w'; did you mean 'x'?");
  CHECK(refusal({npy}, answering("1")).starts_with("choice: " + npy.string() + ": f32[2], expected a matrix"));
  CHECK(refusal({folder.path / "gone.csv"}, answering("y")) ==
        (folder.path / "gone.csv").string() + ": the file cannot be read: No such file or directory");
  as_csv.format = "csv";
  CHECK(refusal({folder.path}, as_csv) == folder.path.string() + ": a folder, expected a file");
  CHECK(refusal({folder.with("cut.csv.gz", "\x1f\x8b\x08")}, answering("y")).find("damaged or cut short") != std::string::npos);
  CHECK(refusal({folder.with("plain.csv.gz", "a,y\n1,2\n2,3\n")}, answering("y"))
            .ends_with("/plain.csv.gz: no gzip, which begins with the bytes 1f 8b"));
  CHECK(refusal({folder.path / "two\nlines\x1b.csv"}, answering("y"))
            .ends_with("/two lines .csv: the file cannot be read: No such file or directory"));
}

TEST_CASE("an array without elements is refused whatever its extents, and a column is met by its number", "[examples][sound]") {
  const Folder folder;
  const fs::path npy = folder.with("none.npy", npy_of(HostTensor(DType::f32, {0, std::int64_t{1} << 40U}), "none"));
  const fs::path idx = folder.with("none.idx", idx_of(8, {0, -1}, {}));
  const fs::path thin = folder.with("thin.npy", npy_of(HostTensor(DType::f32, {std::int64_t{1} << 40U, 0}), "thin"));
  const auto refusal = [](const fs::path& file, const std::string& target) {
    return message_of([&] { (void)read_examples({file}, answering(target)); });
  };
  CHECK(refusal(npy, "1") == npy.string() + ": f32[0, 1099511627776], expected rows of columns");
  CHECK(refusal(idx, "1") == idx.string() + ": i32[0, 4294967295], expected rows of columns");
  CHECK(refusal(thin, "1") == thin.string() + ": f32[1099511627776, 0], expected rows of columns");
  const fs::path three = folder.with("three.npy", npy_of(HostTensor::of<float>({2, 3}, {1, 2, 0, 3, 4, 1}), "three"));
  for (const char* word : {"0", "4", "-1", "+1", " 1", "1 ", "1.0", "", "x", "99999999999999999999", "1\x1b[2J"}) {
    std::string quoted = word;
    std::replace(quoted.begin(), quoted.end(), '\x1b', ' ');
    CHECK(refusal(three, word) == "choice: " + three.string() + ": --target is '" + quoted + "', expected a column from 1 to 3");
  }
  const Examples read = read_examples({three}, answering("3"));
  CHECK(read.data.inputs == std::vector<float>{1, 2, 3, 4});
  CHECK(read.data.labels == std::vector<std::int64_t>{0, 1});
  CHECK_FALSE(read.one_unit);
}

TEST_CASE("a file is known by its SHA-256 and the Merkle root of its chunks", "[examples]") {
  const std::string text = std::string(1U << 20U, 'a') + "b";
  const DataFile file = data_file_of("f", bytes_of(text));
  CHECK(file.bytes == text.size());
  CHECK(file.sha256 == sha256_of(text));
  const auto leaf = [](const std::string& chunk) { return Sha256().add(std::string_view("\0", 1)).add(chunk).digest(); };
  const auto left = leaf(text.substr(0, 1U << 20U)), right = leaf("b");
  CHECK(file.root == Sha256().add(std::string_view("\1", 1)).add(std::span(left)).add(std::span(right)).hexadecimal());
  CHECK_THROWS_AS(require_same(file, data_file_of("f", bytes_of(text + "c")), "run.json"), SpecViolation);
  CHECK_NOTHROW(require_same(file, data_file_of("another name", bytes_of(text)), "run.json"));
  const Folder folder;
  const MappedFile mapped(folder.with("m", text)), empty(folder.with("e", ""));
  CHECK(mapped.text() == text);
  CHECK(empty.bytes().empty());
}

TEST_CASE("rows to validate with are drawn by the seed, those of text are the last", "[examples]") {
  Examples examples;
  examples.data = {1, 2, std::vector<float>(50), std::vector<std::int64_t>(50)};
  const Split split = split_of(examples, 0.25, 3);
  CHECK(split.train.size() == 38);
  CHECK(split.validation.size() == 12);
  std::set<std::int64_t> all(split.train.begin(), split.train.end());
  all.insert(split.validation.begin(), split.validation.end());
  CHECK(all.size() == 50);
  CHECK(split_of(examples, 0.25, 3).validation == split.validation);
  CHECK(split_of(examples, 0.25, 4).validation != split.validation);
  CHECK(split_of(examples, 0, 3).validation.empty());
  for (const double bad : {-0.1, 1.0, std::nan("")}) CHECK_THROWS_AS(split_of(examples, bad, 3), SpecViolation);
  examples.vocabulary = 2;
  CHECK(split_of(examples, 0.1, 3).validation == std::vector<std::int64_t>{45, 46, 47, 48, 49});
}
