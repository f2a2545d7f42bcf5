// Machine code names the lines of the loops that it was made of, and is otherwise what it was.
#include <catch2/catch.hpp>

#include <llvm/DebugInfo/DIContext.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "spec/error.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/contraction_build.hpp"

namespace etalon::test {
namespace {

namespace fs = std::filesystem;

/// A folder of this test that goes with it.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("etalon-debug-" + std::to_string(getpid()))) { fs::remove_all(path_); }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Squares that change places, tiles, loops in lanes, reductions; two equal kernels.
System program() {
  return spec::lower(spec::parse_program("input x : f32[40, 30]\ninput w : f32[50, 30]\ninput u : f32[50]\nz = linear(x, w, _)\nh = relu(z)\n"
                                         "s = softmax(h) {axis = 1}\nloss = sum(s)\na = exp(u)\nb = mean(u)\nc = sum(u)\noutput loss, s, a, b, c\n"));
}

std::vector<HostTensor> numbers() {
  return {normal_numbers(DType::f32, {40, 30}, 1), normal_numbers(DType::f32, {50, 30}, 2), normal_numbers(DType::f32, {50}, 3)};
}

compiled::Executable made(const fs::path& cache, const compiled::DebugFiles& debug) {
  compiled::CompileOptions o;
  o.device = std::make_shared<compiled::Processor>(compiled::machines::avx512, cache);
  o.debug = debug;
  return compiled::compile_system(program(), o);
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<fs::path> objects_in(const fs::path& cache) {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(cache)) {
    if (entry.path().filename().string().starts_with("code-")) all.push_back(entry.path());
  }
  return all;
}

/// The object behind the line of its format and its checksum (kept_code.cpp).
std::string object_in(const fs::path& entry) {
  const std::string bytes = text_of(entry);
  const std::size_t begin = bytes.find("\n") + 1 + 64;
  return begin < bytes.size() ? bytes.substr(begin) : "";
}

/// The lines that the object's line table names for each function, and the file that it names.
std::map<std::string, std::set<unsigned>> lines_in(const std::string& object, std::set<std::string>& files) {
  const auto buffer = llvm::MemoryBuffer::getMemBufferCopy(object);
  auto file = llvm::object::ObjectFile::createObjectFile(buffer->getMemBufferRef());
  std::map<std::string, std::set<unsigned>> lines;
  if (!file) {
    llvm::consumeError(file.takeError());
    return lines;
  }
  const auto context = llvm::DWARFContext::create(**file);
  for (const auto& unit : context->compile_units()) {
    const auto* table = context->getLineTableForUnit(unit.get());
    if (table == nullptr) continue;
    for (const auto& row : table->Rows) {
      if (row.EndSequence || row.Line == 0) continue;
      const auto at = context->getLineInfoForAddress(row.Address, {llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath,
                                                                   llvm::DILineInfoSpecifier::FunctionNameKind::ShortName});
      lines[at.FunctionName].insert(row.Line);
      files.insert(at.FileName);
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("the line table names the lines of the dumped loops, each in its own kernel", "[compiled][debug]") {
  const Folder folder;
  const compiled::DebugFiles debug(folder.path() / "debug");
  const compiled::Executable e = made(folder.path() / "cache", debug);
  const fs::path listing = folder.path() / "debug" / "loops.txt";
  REQUIRE(fs::exists(listing));
  const std::vector<std::string> text = lines_of(listing);
  const auto entries = objects_in(folder.path() / "cache");
  REQUIRE(entries.size() == 1);
  std::set<std::string> files;
  const auto lines = lines_in(object_in(entries[0]), files);
  CHECK(files == std::set<std::string>{listing.string()});
  CHECK(lines.size() == e.report().kernels);
  std::size_t kernel = 0;
  std::size_t stores = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!text[i].starts_with("kernel ")) continue;
    const std::size_t end = static_cast<std::size_t>(
        std::find_if(text.begin() + static_cast<std::ptrdiff_t>(i) + 1, text.end(), [](const std::string& t) { return t.starts_with("kernel "); }) -
        text.begin());
    const std::string name = "kernel_" + std::to_string(kernel++);
    INFO(name << ": " << text[i]);
    const auto found = lines.find(name);
    REQUIRE(found != lines.end());
    CHECK(*found->second.begin() >= i + 1);
    CHECK(*found->second.rbegin() <= end);
    // Whatever is stored takes instructions of its own line.
    for (std::size_t l = i + 1; l < end; ++l) {
      if (text[l].find("] = ") == std::string::npos) continue;
      ++stores;
      INFO(text[l]);
      CHECK(found->second.contains(static_cast<unsigned>(l + 1)));
    }
  }
  CHECK(kernel == e.report().kernels);
  CHECK(stores >= 6);
}

TEST_CASE("code with lines computes the same and is kept apart from code without", "[compiled][debug][cache]") {
  const Folder folder;
  const fs::path cache = folder.path() / "cache";
  const compiled::DebugFiles debug(folder.path() / "debug");
  const auto plain = made(cache, {});
  const auto lined = made(cache, debug);
  CHECK_FALSE(lined.report().cached);
  CHECK(objects_in(cache).size() == 2);
  CHECK(made(cache, {}).report().cached);
  CHECK(made(cache, debug).report().cached);
  CHECK(objects_in(cache).size() == 2);
  CHECK(plain.run(numbers()) == lined.run(numbers()));
  std::set<std::string> files;
  std::size_t with_lines = 0;
  for (const fs::path& entry : objects_in(cache)) with_lines += lines_in(object_in(entry), files).empty() ? 0 : 1;
  CHECK(with_lines == 1);
}

TEST_CASE("nothing is written for debuggers unless a folder is named", "[compiled][debug]") {
  const Folder folder;
  unsetenv("ETALON_DEBUG_DIR");
  CHECK_FALSE(compiled::CompileOptions{}.debug.is_on());
  setenv("ETALON_DEBUG_DIR", folder.path().c_str(), 1);
  const compiled::CompileOptions asked;
  unsetenv("ETALON_DEBUG_DIR");
  CHECK(asked.debug.is_on());
  CHECK(asked.debug.folder() == folder.path());
}

TEST_CASE("files of one name keep their text", "[compiled][debug]") {
  const Folder folder;
  const compiled::DebugFiles debug(folder.path());
  CHECK(debug.write("loops", "a\n").filename() == "loops.txt");
  CHECK(debug.write("loops", "b\n").filename() == "loops-2.txt");
  CHECK(debug.write("loops", "a\n").filename() == "loops.txt");
  CHECK(debug.write("loops", "c\n").filename() == "loops-3.txt");
  CHECK(text_of(folder.path() / "loops.txt") == "a\n");
  CHECK(text_of(folder.path() / "loops-2.txt") == "b\n");
  std::ofstream(folder.path() / "file") << "";
  CHECK_THROWS_AS(compiled::DebugFiles(folder.path() / "file" / "below").write("loops", "a"), IoError);
}

}  // namespace etalon::test
