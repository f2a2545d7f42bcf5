#include "conformance/conform.hpp"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <sstream>
#include <utility>

#include "conformance/case.hpp"
#include "conformance/case_file.hpp"
#include "conformance/values.hpp"
#include "reference/backend.hpp"
#include "spec/library/library.hpp"
#include "tests/conformance/backends.hpp"

using namespace etalon;
using conformance::ConformOptions;
using nlohmann::json;

namespace {

std::string scratch(const std::string& name) {
  return (std::filesystem::temp_directory_path() / ("etalon_conform_" + std::to_string(::getpid()) + "_" + name))
      .string();
}

struct Report {
  int code = -1;
  std::string console;
  std::vector<json> lines;
  std::string bytes;
};

Report report_of(ConformOptions options, spec::Backend& backend) {
  options.backend_name = "test";
  options.json_path = scratch("report.jsonl");
  std::ostringstream console;
  Report report;
  report.code = run_conform(options, backend, console);
  report.console = console.str();
  std::ifstream in(*options.json_path);
  for (std::string line; std::getline(in, line);) {
    report.lines.push_back(json::parse(line));
    json without = report.lines.back();
    without.erase("seconds");
    report.bytes += without.dump() + "\n";
  }
  std::filesystem::remove(*options.json_path);
  return report;
}

std::vector<json> failing(const Report& report) {
  std::vector<json> lines;
  for (const json& line : report.lines) {
    if (line["kind"] == "result" && line["verdict"] == "fail") lines.push_back(line);
  }
  return lines;
}

ConformOptions some(std::vector<std::string> operations) {
  ConformOptions options;
  options.operations = std::move(operations);
  options.shrink_attempts = 120;
  return options;
}

}  // namespace

TEST_CASE("the reference conforms", "[conform]") {
  const auto backend = reference::make_reference_backend();
  const Report report = report_of(some({"add", "exp", "softmax", "max"}), *backend);
  INFO(report.console);
  CHECK(report.code == 0);
  REQUIRE(report.lines.size() > 100);
  CHECK(report.lines.front()["kind"] == "header");
  const json& summary = report.lines.back();
  CHECK(summary["kind"] == "summary");
  CHECK(summary["fail"] == 0);
  CHECK(summary["comparisons"].get<std::size_t>() > 10000);
}

TEST_CASE("the same seed gives the same bytes for any number of threads", "[conform]") {
  const auto backend = reference::make_reference_backend();
  ConformOptions options = some({"relu", "matmul"});
  options.jobs = 1;
  const Report one = report_of(options, *backend);
  options.jobs = 3;
  const Report three = report_of(options, *backend);
  REQUIRE(one.lines.size() > 50);
  CHECK(one.bytes == three.bytes);
  options.seed = 2;
  CHECK(report_of(options, *backend).bytes != one.bytes);
}

namespace {

std::string written(const spec::Request& request) {
  std::string all = spec::to_text(request.program) + std::string(name_of(request.mode));
  for (const HostTensor& t : request.inputs) all.append(reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size());
  return all;
}

/// Wants to know of requests; does not offer every third program.
class Foreseeing final : public spec::Backend {
 public:
  Foreseeing(spec::Backend& inner, std::size_t foresight) : inner_(inner), foresight_(foresight) {}
  [[nodiscard]] spec::Description describe() const override { return inner_.describe(); }
  [[nodiscard]] std::size_t foresight() const override { return foresight_; }
  void expect(std::span<const spec::Request> requests) override {
    for (const spec::Request& r : requests) expected.insert(written(r));
  }
  [[nodiscard]] spec::Answer run(const spec::Request& request) override {
    ++asked;
    came_unexpected += expected.contains(written(request)) ? 0 : 1;
    if (!request.inputs.empty() && request.inputs[0].dims.count() % 3 == 0) return spec::Refusal{spec::Refusal::Kind::unsupported, "three", "size"};
    return inner_.run(request);
  }

  std::set<std::string> expected;
  std::size_t asked = 0, came_unexpected = 0;

 private:
  spec::Backend& inner_;
  std::size_t foresight_;
};

}  // namespace

TEST_CASE("a backend is told of what it is asked next, and asked the same as without", "[conform]") {
  const auto inner = reference::make_reference_backend();
  ConformOptions options = some({"relu", "matmul", "sgd"});
  options.dtypes = {DType::f32};
  options.jobs = 1;
  Foreseeing blind(*inner, 0);
  const Report expected = report_of(options, blind);
  REQUIRE(expected.lines.size() > 50);
  CHECK(blind.expected.empty());
  for (const std::size_t foresight : {1U, 7U, 1000U}) {
    INFO(foresight);
    Foreseeing backend(*inner, foresight);
    CHECK(report_of(options, backend).bytes == expected.bytes);
    CHECK(backend.asked == blind.asked);
    // What follows from an answer, and what is drawn in place of what was refused, is known to nobody before.
    if (foresight >= 7) CHECK(backend.came_unexpected < backend.asked / 2);
    CHECK(!backend.expected.empty());
  }
}

TEST_CASE("records are sorted by id and a subset asks the same cases", "[conform]") {
  const auto backend = reference::make_reference_backend();
  const Report both = report_of(some({"relu", "neg"}), *backend);
  const Report alone = report_of(some({"neg"}), *backend);
  std::vector<std::string> ids;
  std::set<std::string> of_neg;
  for (const json& line : both.lines) {
    if (line["kind"] != "result") continue;
    ids.push_back(line["id"]);
    if (line["operation"] == "neg") of_neg.insert(line.dump());
  }
  CHECK(std::is_sorted(ids.begin(), ids.end()));
  std::size_t compared = 0;
  for (const json& line : alone.lines) {
    if (line["kind"] != "result") continue;
    ++compared;
    CHECK(of_neg.contains(line.dump()));
  }
  CHECK(compared > 20);
  CHECK(compared == of_neg.size());
}

TEST_CASE("an interrupted run asks only what is missing, and reports the same", "[conform]") {
  const auto inner = reference::make_reference_backend();
  int asked = 0;
  // Fails half of the time, so that counterexamples are made small in both runs.
  tests::Spoiled backend(*inner, [&asked](const spec::Request& r, spec::Answer a) {
    ++asked;
    return tests::each_tensor(std::move(a), [&](HostTensor& t) {
      if (!r.inputs.empty() && r.inputs[0].dims.count() > 3 && t.dims.count() > 0) conformance::set_element(t, 0, 7);
    });
  });
  ConformOptions options = some({"neg"});
  options.modes = {spec::Mode::forward};
  options.dtypes = {DType::f32};
  options.backend_name = "test";
  options.jobs = 1;
  options.most_explained = 0;
  const std::string whole = scratch("whole.jsonl"), cut = scratch("cut.jsonl");
  const auto lines_of = [](const std::string& path) {
    std::ifstream in(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  };
  std::ostringstream console;
  options.json_path = whole;
  CHECK(run_conform(options, backend, console) == 1);
  const int all = std::exchange(asked, 0);
  std::vector<std::string> lines = lines_of(whole);
  REQUIRE(lines.size() > 20);
  {
    std::ofstream out(cut);
    for (std::size_t i = 0; i < lines.size() / 2; ++i) out << lines[i] << '\n';
    out << lines[lines.size() / 2].substr(0, 30);
  }
  options.json_path = options.resume = cut;
  CHECK(run_conform(options, backend, console) == 1);
  CHECK(asked > 0);
  CHECK(asked < all * 3 / 4);
  std::vector<std::string> again = lines_of(cut);
  CHECK(std::vector(lines.begin(), lines.end() - 1) == std::vector(again.begin(), again.end() - 1));
  options.seed = 2;
  std::ostringstream told;
  CHECK(run_conform(options, backend, told) == 2);
  CHECK(told.str() == cut + ": is of another run: expected seed 2, found 1\n");
  for (const std::string& path : {whole, cut}) std::filesystem::remove(path);
}

TEST_CASE("nothing compared is a failure", "[conform]") {
  const auto inner = reference::make_reference_backend();
  tests::Spoiled silent(*inner, [](const spec::Request&, const spec::Answer&) -> spec::Answer {
    return spec::Refusal{spec::Refusal::Kind::unsupported, "nothing at all"};
  });
  ConformOptions options = some({"add"});
  options.modes = {spec::Mode::forward};
  const Report report = report_of(options, silent);
  CHECK(report.code == 1);
  CHECK(report.lines.back()["comparisons"] == 0);
  CHECK(report.lines.back()["unsupported"].get<int>() > 0);
}

TEST_CASE("refusing what is ill-typed does not make up for answering nothing", "[conform]") {
  const auto inner = reference::make_reference_backend();
  tests::Spoiled strict(*inner, [](const spec::Request&, const spec::Answer& answer) -> spec::Answer {
    if (std::holds_alternative<spec::Refusal>(answer)) return answer;
    return spec::Refusal{spec::Refusal::Kind::unsupported, "no numbers", "dtype"};
  });
  ConformOptions options = some({"add"});
  options.dtypes = {DType::f16};
  const Report report = report_of(options, strict);
  CHECK(report.code == 1);
  CHECK(report.lines.back()["comparisons"].get<int>() > 0);
  CHECK(report.lines.back()["fail"] == 0);
}

TEST_CASE("an unknown operation is refused with exit 2", "[conform]") {
  const auto backend = reference::make_reference_backend();
  std::ostringstream console;
  CHECK(run_conform(some({"softmaxx"}), *backend, console) == 2);
  CHECK(console.str().find("softmax") != std::string::npos);
}

TEST_CASE("wrong backends are convicted by the check that is there for them", "[conform]") {
  const auto inner = reference::make_reference_backend();
  struct Wrong {
    std::string name, check;
    tests::Spoiled::Spoil spoil;
  };
  std::map<std::string, spec::Answer> seen;
  int calls = 0;
  const std::vector<Wrong> wrong{
      {"flushes subnormal results", "value",
       [](const spec::Request&, spec::Answer a) {
         return tests::each_tensor(std::move(a), [](HostTensor& t) {
           if (t.dtype != DType::f32) return;
           for (float& v : t.view<float>()) v = std::fpclassify(v) == FP_SUBNORMAL ? 0.0f : v;
         });
       }},
      {"answers everything with nan", "value",
       [](const spec::Request&, spec::Answer a) {
         return tests::each_tensor(std::move(a), [](HostTensor& t) {
           for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i)
             conformance::set_element(t, i, std::nan(""));
         });
       }},
      {"is one unit off in the last element", "value",
       [](const spec::Request&, spec::Answer a) {
         return tests::each_tensor(std::move(a), [](HostTensor& t) {
           if (t.dims.count() > 0 && t.dtype == DType::f32)
             t.view<float>().back() = std::nextafter(t.view<float>().back(), 1e30f);
         });
       }},
      {"repeats its answer of the previous request of a shape", "value",
       [&seen](const spec::Request& r, spec::Answer a) -> spec::Answer {
         const std::string key = spec::to_text(r.program) + std::to_string(static_cast<int>(r.mode));
         const auto found = seen.find(key);
         if (found == seen.end()) {
           seen.emplace(key, a);
           return a;
         }
         return std::exchange(found->second, a);
       }},
      {"is not deterministic", "determinism",
       [&calls](const spec::Request&, spec::Answer a) {
         if (++calls % 4 < 2) return a;  // two calls apart: never both
         return tests::each_tensor(std::move(a), [](HostTensor& t) {
           if (t.dims.count() > 0 && t.dtype == DType::f32)
             t.view<float>()[0] = std::nextafter(t.view<float>()[0], 1e30f);
         });
       }},
      {"answers ill-typed calls", "rejection",
       [](const spec::Request& r, spec::Answer a) -> spec::Answer {
         if (!std::holds_alternative<spec::Refusal>(a)) return a;
         return spec::Numbers{{r.inputs.at(0)}, {}, {}};
       }},
      {"has no tangents", "jvp",
       [](const spec::Request&, spec::Answer a) {
         if (auto* n = std::get_if<spec::Numbers>(&a)) n->tangents.clear();
         return a;
       }},
      {"gives cotangents twice as large", "vjp",
       [](const spec::Request&, spec::Answer a) {
         if (auto* n = std::get_if<spec::Numbers>(&a)) {
           for (auto& t : n->cotangents) {
             for (std::size_t i = 0; t && i < static_cast<std::size_t>(t->dims.count()); ++i) {
               conformance::set_element(*t, i, 2 * conformance::element(*t, i));
             }
           }
         }
         return a;
       }},
  };
  for (const Wrong& w : wrong) {
    DYNAMIC_SECTION(w.name) {
      tests::Spoiled backend(*inner, w.spoil);
      const Report report = report_of(some({"mul", "square", "scale"}), backend);
      CHECK(report.code == 1);
      std::size_t convicted = 0;
      for (const json& line : failing(report)) convicted += line["check"] == w.check ? 1 : 0;
      INFO(report.console);
      CHECK(convicted > 0);
    }
  }
}

TEST_CASE("a counterexample is small, and its id and its file reproduce it", "[conform]") {
  const auto inner = reference::make_reference_backend();
  // Wrong for negative numbers only.
  tests::Spoiled backend(*inner, [](const spec::Request& r, spec::Answer a) {
    if (r.mode != spec::Mode::forward || r.inputs.empty()) return a;
    return tests::each_tensor(std::move(a), [&](HostTensor& t) {
      const HostTensor& x = r.inputs[0];
      for (std::size_t i = 0; i < static_cast<std::size_t>(std::min(t.dims.count(), x.dims.count())); ++i) {
        if (conformance::element(x, i) < 0) conformance::set_element(t, i, 7);
      }
    });
  });
  ConformOptions options = some({"exp"});
  options.modes = {spec::Mode::forward};
  const Report report = report_of(options, backend);
  REQUIRE(report.code == 1);
  const auto lines = failing(report);
  INFO(report.console);
  // Of each check one failure is made small and explained; special values may not shrink to a number.
  const auto explained = std::find_if(lines.begin(), lines.end(), [&](const json& line) {
    return line["check"] == "value" &&
           report.console.find("replay: etalon conform --backend test --replay " + line["id"].get<std::string>()) !=
           std::string::npos;
  });
  REQUIRE(explained != lines.end());
  const json smallest = (*explained)["case"];
  const json& values = smallest["operands"][0]["values"];
  REQUIRE(values.size() == 1);
  CHECK(std::abs(values[0].get<double>()) <= 1);
  CHECK(report.console.find("y[") != std::string::npos);

  const std::string file = scratch("case.json");
  std::ofstream(file) << smallest.dump();
  for (const std::string& what : {(*explained)["id"].get<std::string>(), file}) {
    ConformOptions again = options;
    again.replay = what;
    std::ostringstream wrong, right;
    CHECK(run_conform(again, backend, wrong) == 1);
    CHECK(run_conform(again, *inner, right) == 0);
  }
  std::filesystem::remove(file);
}

TEST_CASE("every operation gets cases for every check that applies to it", "[conform]") {
  std::size_t operations = 0;
  for (const spec::Definition* d : spec::library()) {
    ++operations;
    INFO(std::string(d->name));
    std::size_t values = 0;
    for (std::uint64_t i = 0; i < 24; i += 4) {
      const auto c = conformance::make_case({std::string(d->name), conformance::Check::value, DType::f32, i, 1});
      values += c ? 1 : 0;
    }
    CHECK(values >= 5);
  }
  CHECK(operations >= 40);
}

TEST_CASE("a case is written and read back exactly", "[conform]") {
  std::size_t compared = 0;
  for (const char* name : {"softmax", "matmul", "concat", "gather"}) {
    for (std::uint64_t i = 0; i < 8; ++i) {
      const auto c = conformance::make_case({name, conformance::Check::vjp, DType::f32, i, 1});
      if (!c) continue;
      const auto back = conformance::case_from_json(conformance::to_json(*c));
      CHECK(back.operands == c->operands);
      CHECK(back.cotangents == c->cotangents);
      CHECK(back.wrt == c->wrt);
      CHECK(back.call.attributes == c->call.attributes);
      ++compared;
    }
  }
  CHECK(compared >= 16);
}
