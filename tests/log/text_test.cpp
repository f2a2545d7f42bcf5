// What logs say, that they read back, and that no text is taken for a log that is none.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "spec/error.hpp"
#include "tests/log/programs.hpp"
#include "tools/log/diff.hpp"
#include "tools/log/html.hpp"
#include "tools/log/text.hpp"

using namespace etalon;
using namespace etalon::logging;
using namespace etalon::logging::tests;
using Catch::Matchers::Contains;

namespace {

const std::string small =
    "input x : f32[2, 3]\nparameter w : f32[3, 2]\nh = matmul(x, w) section \"net/first\"\na = relu(h) section \"net/first\"\n"
    "p = pad(a) {low = [1, 0], high = [0, 0]} section \"net\"\ns = sum(p)\noutput s\n";

/// Whatever comes of a damaged text: a log, or one line that says what is wrong.
bool is_refused(const std::string& text) {
  try {
    (void)parse_log(text, "damaged.log");
    return false;
  } catch (const SpecViolation& error) {
    const std::string line = error.what();
    CHECK(line.find('\n') == std::string::npos);
    CHECK_THAT(line, Contains("damaged.log"));
    return true;
  }
}

/// Whether every element that opens is closed in order; `count` says how many there are.
bool is_well_formed(const std::string& page, std::size_t& count) {
  std::vector<std::string> open;
  std::size_t at = page.find("<html");
  while (at != std::string::npos) {
    const std::size_t end = page.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = page.substr(at + 1, end - at - 1);
    if (tag.empty() || tag.find('<') != std::string::npos) return false;
    if (tag.front() == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(tag.substr(0, tag.find(' ')));
      ++count;
    }
    at = page.find('<', end);
  }
  return open.empty();
}

}  // namespace

TEST_CASE("a log reads back bit for bit", "[log]") {
  for (const Log& log : {on_cpu(small), on_reference(long_program(30)), on_cpu(long_program(30), {"v3", "loss"})}) {
    const std::string text = to_text(log);
    const Log again = parse_log(text, "again.log");
    CHECK(to_text(again) == text);
    CHECK(again.values == log.values);
    CHECK(again.inputs == log.inputs);
    CHECK(again.contract == log.contract);
    CHECK(again.meaning.program == log.meaning.program);
  }
}

TEST_CASE("numbers that are none and their payloads read back", "[log]") {
  Log log = on_reference("input x : f32[5]\ny = neg(x)\noutput y\n");
  auto y = held(log, "y").view<float>();
  y[0] = std::numeric_limits<float>::quiet_NaN();
  y[1] = -std::numeric_limits<float>::infinity();
  y[2] = -0.0F;
  y[3] = std::numeric_limits<float>::denorm_min();
  const std::uint32_t payload = 0x7fc00123;
  std::memcpy(&y[4], &payload, sizeof payload);
  CHECK(parse_log(to_text(log), "a.log").values == log.values);
}

TEST_CASE("a line says indices, operands by name and the result; sections nest", "[log]") {
  Log log = on_reference(small);
  log.inputs[0] = HostTensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  log.inputs[1] = HostTensor::of<float>({3, 2}, {0.5F, 0, 0, -1, 1, 1});
  held(log, "h") = HostTensor::of<float>({2, 2}, {3.5F, 1, 8, 1});
  held(log, "a") = HostTensor::of<float>({2, 2}, {3.5F, 1, 8, 1});
  held(log, "p") = HostTensor::of<float>({3, 2}, {0, 0, 3.5F, 1, 8, 1});
  const std::string text = to_text(log);
  CHECK_THAT(text, Contains("section \"net\"\n  section \"first\"\n    step 1: h = matmul(x, w) @ \"long.txt\":3\n"));
  CHECK_THAT(text, Contains("\n    step 2: a = relu(h) @ \"long.txt\":4\n"));
  CHECK_THAT(text, Contains("\n  step 3: p = pad(a) {"));
  CHECK_THAT(text, Contains("\nstep 4: s = sum(p) @"));
  CHECK_THAT(text, Contains("h[0, 0] = 3.5 | sum((x[0, 0] = 1.0) * (w[0, 0] = 0.5), (x[0, 1] = 2.0) * (w[1, 0] = 0.0), (x[0, 2] = 3.0) * (w[2, 0] = 1.0))\n"));
  CHECK_THAT(text, Contains("      h : f32[2, 2] = [3.5, 1.0, 8.0, 1.0]\n"));
  // Where a choice hangs on indices alone the line shows what was chosen.
  CHECK_THAT(text, Contains("p[0, 0] = 0.0 | 0"));
  CHECK_THAT(text, Contains("p[1, 0] = 3.5 | (a[0, 0] = 3.5)\n"));
}

TEST_CASE("what is left out is said, and no number is", "[log]") {
  Log log = on_reference("input x : f32[9]\ny = neg(x)\nt = outer(x, x)\ns = sum(t)\noutput s, y\n");
  log.elements = 2;
  const std::string text = to_text(log);
  CHECK_THAT(text, Contains("… 7 more\n"));
  CHECK_THAT(text, Contains("… of 81)\n"));
  CHECK(parse_log(text, "a.log").values == log.values);
  log.elements = 0;
  CHECK(to_text(log).find(" | (") == std::string::npos);
  CHECK(parse_log(to_text(log), "a.log").values == log.values);
}

TEST_CASE("a page is well-formed, opens by section, asks for nothing, and takes no word for markup", "[log]") {
  Log log = on_cpu("input x : f32[2]\nh = tanh(x) @ \"<script>alert(1)</script>.cpp\":3 section \"a & <b>/\\\"c\\\"\"\noutput h\n");
  log.file = "<i>&.txt";
  const std::string page = to_html(log);
  std::size_t elements = 0;
  CHECK(is_well_formed(page, elements));
  CHECK(elements > 20);
  CHECK(page.find("<script") == std::string::npos);
  CHECK(page.find("<i>") == std::string::npos);
  CHECK(page.find("http") == std::string::npos);
  CHECK_THAT(page, Contains("<details open><summary>section &quot;a &amp; &lt;b&gt;&quot;</summary>"));
}

TEST_CASE("a log that is cut or changed is refused in one line", "[log]") {
  const std::string text = to_text(on_cpu(small));
  std::size_t refused = 0;
  for (std::size_t size = 0; size + 1 < text.size(); size += 7) refused += is_refused(text.substr(0, size)) ? 1U : 0U;
  CHECK(refused == (text.size() + 5) / 7);
  // Any one character: most changes contradict other lines; a number that is changed everywhere it stands is another log.
  std::size_t changed = 0;
  std::size_t found = 0;
  for (std::size_t at = 0; at < text.size(); at += 11) {
    for (const char c : {'9', '[', '\n', '\x80'}) {
      if (text[at] == c) continue;
      std::string other = text;
      other[at] = c;
      ++changed;
      found += is_refused(other) ? 1U : 0U;
    }
  }
  CHECK(changed > 100);
  CHECK(found > changed * 9 / 10);
}

TEST_CASE("hostile logs are refused before memory is taken", "[log]") {
  const std::string text = to_text(on_reference(small));
  const auto with = [&](const std::string& that, const std::string& by) {
    std::string other = text;
    const std::size_t at = other.find(that);
    REQUIRE(at != std::string::npos);
    return other.replace(at, that.size(), by);
  };
  CHECK(is_refused(""));
  CHECK(is_refused("\n"));
  CHECK(is_refused("etalon log 1\nend\n"));
  CHECK(is_refused(with("etalon log 1", "etalon log 2")));
  CHECK(is_refused(with("| input x : f32[2, 3]", "| input x : f32[200000000, 300000000, 400000000]")));
  CHECK(is_refused(with("| input x : f32[2, 3]", "| input x : f32[-2, 3]")));
  CHECK(is_refused(with("elements 8", "elements 99999999999999999999999")));
  CHECK(is_refused(with("elements 8", "elements -1")));
  CHECK(is_refused(with("contract {", "contract {\"sums\":[[[[[[[")));
  CHECK(is_refused(with("backend \"", "backend ")));
  CHECK(is_refused(with("  x : f32[2, 3] = [", "  x : f32[2, 3] = [1e999, ")));
  CHECK(is_refused(with("  x : f32[2, 3] = [", "  y : f32[2, 3] = [")));
  CHECK(is_refused(with("  x : f32[2, 3] = [", "  x : f32[2, 3] = ")));
  CHECK(is_refused(with("given\n", "given\n  x : f32[2, 3] = [1, 2, 3, 4, 5, 6]\n")));
  CHECK(is_refused(with("h = matmul(x, w)", "h = matmul(w, w)")));
}

TEST_CASE("a log whose program asks for more than there is room or time for is refused", "[log]") {
  const auto judged = [](const std::string& program, const std::string& name) {
    Log log = on_reference("input x : f32[2]\ny = neg(x)\noutput y\n");
    log.meaning = meaning_of(parsed(program));
    log.values.assign(log.meaning.system.tensors.size(), std::nullopt);
    log.values[static_cast<std::size_t>(log.meaning.system.find(name))] = HostTensor(DType::f32, {});
    return compare(log, log);
  };
  CHECK_THROWS_WITH(judged("input x : f32[2]\ny = full() {shape = [90000000000], value = 1.0}\ns = sum(y)\noutput s\n", "s"),
                    Contains("s takes too long to judge"));
}

TEST_CASE("numbers of any bits are judged, and read back", "[log]") {
  const std::string gathers =
      "input x : f64[3, 2]\nparameter table : f32[4, 2]\nbest = argmax(x) {axes = [1]}\nrows = embedding(table, best)\nsums = cumsum(rows) {axis = 0}\n"
      "high = gt(sums, rows)\ns = sum(sums)\ng = vjp(s; table)\noutput g, high\n";
  std::mt19937 random(7);
  for (const std::string& program : {gathers, long_program(40)}) {
    for (int round = 0; round < 20; ++round) {
      Log log = on_reference(program);
      for (auto& value : log.values) {
        if (!value) continue;
        const unsigned kept = value->dtype == DType::boolean ? 1U : 255U;
        for (std::byte& b : value->bytes) {
          if (random() % 4 == 0) b = static_cast<std::byte>(random() & kept);
        }
      }
      const Log again = parse_log(to_text(log), "any.log");
      CHECK(again.values == log.values);
      const Comparison c = compare(log, again);
      CHECK_FALSE(c.within_bounds());
      CHECK_FALSE(c.difference);
      CHECK_FALSE(to_json(c, {"a", "b"}).empty());
    }
  }
}
