// Code that is kept on disk: read again, never when it is damaged or was made for another machine.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/compiled/build_systems.hpp"

namespace etalon::test {
namespace {

namespace fs = std::filesystem;

/// A folder of this test that goes with it.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("etalon-cache-" + std::to_string(getpid()))) { fs::remove_all(path_); }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] std::vector<fs::path> objects() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(path_)) {
      if (entry.path().filename().string().starts_with("code-")) all.push_back(entry.path());
    }
    return all;
  }

 private:
  fs::path path_;
};

/// y = exp(x)/c + x, whose code calls SLEEF.
System system_with(double c) {
  System s;
  const TensorId x = input(s, "x", DType::f32, {37});
  const TensorId y = output(s, "y", DType::f32, {37});
  const Binder i = s.bind("i", 37);
  const Expr value = s.at(x, {spec::variable(i)});
  s.define(y, {i}, spec::apply(Primitive::exp, {value}) / spec::binary64(c) + value);
  return s;
}

std::vector<HostTensor> numbers() {
  HostTensor x(DType::f32, {37});
  for (std::size_t i = 0; i < 37; ++i) x.view<float>()[i] = static_cast<float>(i) * 0.1F - 1;
  return {x};
}

compiled::Executable made(const fs::path& folder, double c = 3, const compiled::Machine& most = compiled::machines::avx512) {
  compiled::CompileOptions o;
  o.device = std::make_shared<compiled::Processor>(most, folder);
  return compiled::compile_system(system_with(c), o);
}

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const fs::path& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }

}  // namespace

TEST_CASE("code is read again by the next process", "[compiled][cache]") {
  const Folder folder;
  const compiled::Executable first = made(folder.path());
  CHECK_FALSE(first.report().cached);
  REQUIRE(folder.objects().size() == 1);
  CHECK(fs::status(folder.path()).permissions() == fs::perms::owner_all);
  const compiled::Executable second = made(folder.path());
  CHECK(second.report().cached);
  CHECK(folder.objects().size() == 1);
  CHECK(first.run(numbers()) == second.run(numbers()));
  CHECK(first.run(numbers()) == compiled_values(system_with(3), numbers()));
  // Both stand side by side, and each keeps its own code.
  const compiled::Executable other = made(folder.path(), 5);
  CHECK_FALSE(other.report().cached);
  CHECK(other.run(numbers()) != second.run(numbers()));
  CHECK(folder.objects().size() == 2);
}

TEST_CASE("damaged code is generated again", "[compiled][cache]") {
  const Folder folder;
  const std::vector<HostTensor> right = made(folder.path()).run(numbers());
  const fs::path file = folder.objects().front();
  const std::string good = bytes_of(file);
  REQUIRE(good.size() > 200);
  std::vector<std::string> damaged{"", good.substr(0, 10), good.substr(0, good.size() - 1), good + "x"};
  for (const std::size_t place : {std::size_t{0}, std::size_t{20}, good.size() / 2, good.size() - 1}) {
    damaged.push_back(good);
    damaged.back()[place] = static_cast<char>(damaged.back()[place] ^ 1);
  }
  for (const std::string& bytes : damaged) {
    write(file, bytes);
    const compiled::Executable e = made(folder.path());
    CHECK_FALSE(e.report().cached);
    CHECK(e.run(numbers()) == right);
    CHECK(bytes_of(file) == good);
  }
}

TEST_CASE("code for one machine is not that for another", "[compiled][cache]") {
  const Folder folder;
  (void)made(folder.path(), 3, compiled::machines::avx2);
  const compiled::Executable scalar = made(folder.path(), 3, compiled::machines::scalar);
  CHECK_FALSE(scalar.report().cached);
  CHECK(folder.objects().size() == 2);
}

TEST_CASE("a folder that cannot be written keeps nothing and stops nobody", "[compiled][cache]") {
  const Folder folder;
  fs::create_directories(folder.path());
  write(folder.path() / "file", "");
  for (int i = 0; i < 2; ++i) {
    const compiled::Executable e = made(folder.path() / "file" / "below");
    CHECK_FALSE(e.report().cached);
    CHECK(e.run(numbers()) == compiled_values(system_with(3), numbers()));
  }
}

}  // namespace etalon::test
