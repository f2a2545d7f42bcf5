// Runs every reader on the regressions of tests/fuzz/corpus, on its seeds, and for some seconds on texts near them.
// What takes more than five seconds of the processor, crashes or breaks a promise ends the process, its text in a file named on stderr.
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "tests/fuzz/mutation.hpp"
#include "tests/fuzz/target.hpp"

// ASan's own limits; other builds have none here.
extern "C" const char* __asan_default_options();
const char* __asan_default_options() { return "hard_rss_limit_mb=1024:max_allocation_size_mb=512"; }

namespace {

namespace fs = std::filesystem;
using etalon::fuzz::Target;
using Clock = std::chrono::steady_clock;

constexpr unsigned seconds_per_text = 5;         ///< of the processor
constexpr unsigned most_seconds_per_text = 120;  ///< of the clock: others may have the processor, but what sleeps hangs

struct Options {
  double seconds = 0;   ///< per target
  std::size_t texts = 0;  ///< near the seeds per target, in place of seconds; 0: as many as those give
  std::uint64_t seed = 1;
  std::string only;
  std::string write;  ///< a folder to which the seeds and the dictionary are written instead
};

/// The text at hand, for the handler of signals.
std::string_view at_hand;

/// The file for the text at hand, one per reader: several may run in this folder at a time.
std::string failure_path;

extern "C" void save_and_end(int number) {
  if (FILE* file = std::fopen(failure_path.c_str(), "wb")) {
    (void)std::fwrite(at_hand.data(), 1, at_hand.size(), file);
    (void)std::fclose(file);
  }
  for (const std::string_view words : {std::string_view("fuzz: the text is in the file "), std::string_view(failure_path), std::string_view("\n")})
    (void)!write(2, words.data(), words.size());
  std::signal(number, SIG_DFL);
  (void)std::raise(number);
}

void limit_time(unsigned processor, unsigned clock) {
  const itimerval timer{.it_interval = {}, .it_value = {.tv_sec = processor, .tv_usec = 0}};
  (void)setitimer(ITIMER_PROF, &timer, nullptr);
  (void)alarm(clock);
}

void run_in_time(const Target& target, std::string_view text) {
  at_hand = text;
  limit_time(seconds_per_text, most_seconds_per_text);
  etalon::fuzz::run(target, text);
  limit_time(0, 0);
}

std::string content_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<std::string> regressions(const Target& target) {
  std::vector<std::string> texts;
  const fs::path folder = fs::path(ETALON_SOURCE_DIR "/tests/fuzz/corpus") / target.name;
  if (!fs::exists(folder)) return texts;
  for (const auto& entry : fs::directory_iterator(folder)) texts.push_back(content_of(entry.path()));
  std::sort(texts.begin(), texts.end());
  return texts;
}

void replay(const Target& target, const Options& options) {
  failure_path = "fuzz-failure-" + std::string(target.name);
  std::vector<std::string> texts = regressions(target);
  const std::size_t known = texts.size();
  for (std::string& seed : target.seeds()) texts.push_back(std::move(seed));
  for (const std::string& text : texts) run_in_time(target, text);
  std::size_t near = 0;
  etalon::fuzz::Mutation mutation(texts, etalon::fuzz::words(), options.seed);
  const auto end = Clock::now() + std::chrono::duration<double>(options.seconds);
  for (; options.texts > 0 ? near < options.texts : Clock::now() < end; ++near) run_in_time(target, mutation.next());
  std::cout << target.name << ": " << known << " regressions, " << texts.size() - known << " seeds, " << near << " texts near them\n";
}

void write_seeds(const Target& target, const fs::path& folder) {
  fs::create_directories(folder / target.name);
  std::size_t number = 0;
  for (const auto& texts : {regressions(target), target.seeds()}) {
    for (const std::string& text : texts) std::ofstream(folder / target.name / std::to_string(number++), std::ios::binary) << text;
  }
}

void write_dictionary(const fs::path& file) {
  std::ofstream out(file);
  for (const std::string& word : etalon::fuzz::words()) {
    out << '"';
    for (const char c : word) {
      if (c == '"' || c == '\\') out << '\\' << c;
      else if (c == '\n') out << "\\x0a";
      else out << c;
    }
    out << "\"\n";
  }
}

Options options_of(int count, char** words) {
  Options options;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view name = words[i];
    if (name == "--seconds") options.seconds = std::atof(words[i + 1]);
    else if (name == "--texts") options.texts = std::strtoull(words[i + 1], nullptr, 10);
    else if (name == "--seed") options.seed = std::strtoull(words[i + 1], nullptr, 10);
    else if (name == "--only") options.only = words[i + 1];
    else if (name == "--write-seeds") options.write = words[i + 1];
  }
  return options;
}

}  // namespace

int main(int count, char** words) {
  const Options options = options_of(count, words);
  for (const int signal : {SIGALRM, SIGPROF, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, save_and_end);
  bool any = false;
  for (const Target& target : etalon::fuzz::targets()) {
    if (!options.only.empty() && options.only != target.name) continue;
    any = true;
    if (options.write.empty()) replay(target, options);
    else write_seeds(target, options.write);
  }
  if (!options.write.empty()) write_dictionary(fs::path(options.write) / "words.dict");
  if (!any) std::cerr << "fuzz: no target " << options.only << '\n';
  return any ? 0 : 2;
}
