#include "conformance/kernel/program.hpp"

#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "conformance/kernel/texts.hpp"
#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/markup.hpp"

namespace etalon::conformance {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view search_path = "/usr/local/bin:/usr/bin:/bin";

[[nodiscard]] std::string temporary_folder() {
  const char* given = std::getenv("TMPDIR");
  std::string name = (fs::path(given != nullptr && *given != '\0' ? given : "/tmp") / "etalon-kernel-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw file_error(name, "the folder cannot be made", errno);
  return fs::canonical(name).string();
}

/// The program of that name or path; empty where there is none.
[[nodiscard]] std::string found(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? fs::absolute(name).string() : "";
  const char* given = std::getenv("PATH");
  std::istringstream folders(given != nullptr ? given : std::string(search_path));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string path = (fs::path(folder) / name).string();
    if (!folder.empty() && access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

/// Those that were asked for, or that are looked for, and are there. \throws Unsupported where none is
[[nodiscard]] std::vector<std::string> tools(const std::string& asked, std::vector<std::string> usual, KernelLanguage language) {
  if (!asked.empty()) usual = {asked};
  std::vector<std::string> paths;
  for (const std::string& name : usual) {
    if (std::string path = found(name); !path.empty()) paths.push_back(std::move(path));
  }
  if (paths.empty())
    throw Unsupported(fmt::format("kernel: {} is not there, to make {} run; --compiler names another", usual[0], name_of(language)));
  return paths;
}

/// The libraries that every program in C and C++ may need, where this one found them.
[[nodiscard]] std::vector<Reach> system_libraries() {
  std::vector<Reach> all{{"/etc/ld.so.cache"}};
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* to) {
        const fs::path path = library->dlpi_name;
        const std::string name = path.filename().string();
        auto& list = *static_cast<std::vector<Reach>*>(to);
        if (name.starts_with("ld-linux") || name.starts_with("ld-")) list.push_back({path.string(), Reach::For::running});
        for (const char* known : {"libc.so", "libm.so", "libstdc++.so", "libgcc_s.so"}) {
          if (name.starts_with(known)) list.push_back({path.string()});
        }
        if (!name.starts_with("libc.so")) return 0;
        // Parts of the C library that are empty today, and OpenMP.
        for (const char* beside :
             {"libpthread.so.0", "libdl.so.2", "librt.so.1", "libm.so.6", "libmvec.so.1", "libgomp.so.1", "libgcc_s.so.1"})
          list.push_back({(path.parent_path() / beside).string()});
        return 0;
      },
      &all);
  return all;
}

void add_readable(std::vector<Reach>& all, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (!fs::exists(path)) throw IoError(path + ": --may-read: there is no such file");
    all.push_back({path});
  }
}

/// Whether compilers are installed below: their own libraries lie there.
[[nodiscard]] bool holds_a_toolchain(const fs::path& prefix) {
  for (const char* own : {"lib/gcc", "lib/clang", "libexec/gcc"}) {
    if (fs::is_directory(prefix / own)) return true;
  }
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(prefix / "lib", none)) {
    if (entry.path().filename().string().starts_with("llvm")) return true;
  }
  return false;
}

/// The compiler, and what was installed with it; a program in somebody's folder opens no more than itself.
[[nodiscard]] Reach reach_of_compiler(const std::string& compiler) {
  const fs::path file = fs::canonical(compiler), folder = file.parent_path(), prefix = folder.parent_path();
  const bool installed = folder.filename() == "bin" && prefix != prefix.root_path() && holds_a_toolchain(prefix);
  return {(installed ? prefix : file).string(), Reach::For::running};
}

/// What the compiler wrote, of much the beginning and the end.
[[nodiscard]] std::string log_of(const std::string& path) {
  constexpr std::streamoff half = 32768;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : 0;
  std::string text(static_cast<std::size_t>(std::min(size, 2 * half)), ' ');
  file.seekg(0);
  file.read(text.data(), std::min(size, half));
  file.seekg(std::max(half, size - half));
  if (size > half) file.read(text.data() + half, static_cast<std::streamoff>(text.size()) - half);
  return text;
}

/// The line in which a compiler says what is wrong.
[[nodiscard]] std::string complaint_in(const std::string& log) {
  std::istringstream lines(log);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error") != std::string::npos || line.find("undefined") != std::string::npos) return well_formed(line);
    if (!line.empty()) last = line;
  }
  return well_formed(last);
}

}  // namespace

KernelLanguage language_of(const std::string& file) {
  const std::string end = fs::path(file).extension().string();
  if (end == ".c") return KernelLanguage::c;
  if (end == ".cc" || end == ".cpp" || end == ".cxx") return KernelLanguage::cpp;
  if (end == ".py") return KernelLanguage::python;
  throw SpecViolation(fmt::format("{}: expected a kernel in a file .c, .cc, .cpp, .cxx or .py, found '{}'{}", file, end,
                                  end == ".cu" ? "; in Python etalon.assert_conforms(…, device=\"cuda\") holds kernels of CUDA" : ""));
}

KernelProgram::KernelProgram(const KernelSource& source, const std::string& text, const Limits& limits) : limits_(limits) {
  const KernelLanguage language = language_of(source.file);
  folder_ = temporary_folder();
  try {
    make_folder(folder_ + "/spec");
    write_file(folder_ + "/etalon_kernel.h", kernel_header());
    write_file(folder_ + "/spec/backend.h", backend_header());
    write_file(folder_ + (language == KernelLanguage::python ? "/kernel.py"
                          : language == KernelLanguage::c    ? "/kernel.c"
                                                             : "/kernel.cpp"),
               text);
    environment_ = {fmt::format("PATH={}", search_path), "LC_ALL=C.UTF-8", "HOME=" + folder_, "TMPDIR=" + folder_, "LOGNAME=kernel"};
    language == KernelLanguage::python ? interpret(source) : compile(source, language);
  } catch (...) {
    fs::remove_all(folder_);
    throw;
  }
}

KernelProgram::~KernelProgram() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

bool KernelProgram::compiled(const KernelSource& source, const std::string& compiler, std::vector<std::string> words) {
  words.insert(words.begin(), {"sh", "-c", "exec \"$0\" \"$@\" 2>log", compiler});
  std::vector<Reach> files{{"/etc/alternatives"}, {"/etc/ld.so.cache"}, {folder_, Reach::For::writing}, {"/dev/null", Reach::For::writing}};
  for (const char* folder : {"/usr", "/bin", "/lib", "/lib64"}) files.push_back({folder, Reach::For::running});
  files.push_back(reach_of_compiler(compiler));
  add_readable(files, source.may_read);
  const std::unique_ptr<Confinement> room = source.confined ? std::make_unique<Confinement>(files, true) : nullptr;
  ChildProcess process(Start{"/bin/sh", std::move(words), folder_, environment_, room.get()}, limits_.memory);
  const std::string fate = process.fate_without_input(limits_.start);
  if (fate == "exit status 0") return true;
  const std::string said = complaint_in(log_of(folder_ + "/log"));
  complaint_ = said.empty() ? compiler + ": " + fate : said;
  return false;
}

void KernelProgram::compile(const KernelSource& source, KernelLanguage language) {
  const bool plain = language == KernelLanguage::c;
  made_by_ = tools(source.compiler,
                   plain ? std::vector<std::string>{"cc", "gcc", "clang"} : std::vector<std::string>{"c++", "g++", "clang++"}, language)[0];
  write_file(folder_ + "/host.c", host_in_c());
  std::vector<std::string> words{"-O2", "-fPIC", "-shared", "-I.", "-o", "kernel.so", plain ? "kernel.c" : "kernel.cpp"};
  words.insert(words.end(), source.flags.begin(), source.flags.end());
  words.push_back("-lm");
  if (!compiled(source, made_by_, std::move(words))) return;
  if (!compiled(source, made_by_, {"-O1", "-std=gnu99", "-I.", "-o", "host", "-x", "c", "host.c", "-x", "none", "-ldl"}))
    throw Unsupported(fmt::format("kernel: {} cannot compile the program that runs kernels: {}", made_by_, *complaint_));
  std::vector<Reach> files = system_libraries();
  files.push_back({folder_ + "/kernel.so"});
  files.push_back({folder_ + "/host", Reach::For::running});
  add_readable(files, source.may_read);
  if (source.confined) confinement_ = std::make_unique<Confinement>(files, false);
  start_ = {folder_ + "/host", {"host", "./kernel.so", source.function}, folder_, environment_, confinement_.get()};
}

void KernelProgram::interpret(const KernelSource& source) {
  const std::string like = source.torch ? "torch" : "numpy";
  std::vector<std::string> reach;
  for (const std::string& candidate : tools(source.compiler, {"python3", "/usr/bin/python3"}, KernelLanguage::python)) {
    ChildProcess asked(Start{candidate, {candidate, "-I", "-c", std::string(reach_in_python()), "numpy", like}}, 0);
    const Exchange answer = asked.ask("", limits_.start, limits_.line);
    if (answer.end != Exchange::End::answered) continue;
    std::istringstream paths(answer.line);
    for (std::string path; std::getline(paths, path, '\t');) reach.push_back(path);
    break;
  }
  if (reach.empty()) throw Unsupported(fmt::format("kernel: no Python with {}; --compiler names an interpreter that has it", like));
  made_by_ = reach[0];
  write_file(folder_ + "/host.py", host_in_python());
  std::vector<Reach> files{
      {folder_ + "/host.py"}, {folder_ + "/kernel.py"}, {"/dev/urandom"}, {fs::canonical(made_by_).string(), Reach::For::running}};
  for (std::size_t i = 1; i < reach.size(); ++i)
    files.push_back({reach[i].substr(1), reach[i][0] == 'n' ? Reach::For::names : Reach::For::reading});
  for (Reach& library : system_libraries()) files.push_back(std::move(library));
  add_readable(files, source.may_read);
  if (source.confined) confinement_ = std::make_unique<Confinement>(files, false);
  start_ = {made_by_, {made_by_, "-I", "-B", "host.py", "kernel.py", source.function, like}, folder_, environment_, confinement_.get()};
}

std::unique_ptr<ChildProcess> KernelProgram::process() const { return std::make_unique<ChildProcess>(start_, limits_.memory); }

}  // namespace etalon::conformance
