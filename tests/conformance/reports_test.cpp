#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "conformance/number_text.hpp"
#include "conformance/reports/console.hpp"
#include "conformance/reports/diff.hpp"
#include "conformance/reports/formats.hpp"
#include "conformance/reports/json_lines.hpp"
#include "conformance/reports/matrix.hpp"
#include "conformance/reports/plot.hpp"
#include "conformance/values.hpp"
#include "spec/markup.hpp"
#include "tests/conformance/reports.hpp"

using namespace etalon;
using namespace etalon::conformance;

namespace {

std::string text_of(void (*write)(std::ostream&, const Report&), const Report& report) {
  std::ostringstream out;
  write(out, report);
  return out.str();
}

Report read(const std::string& text) {
  std::istringstream in(text);
  return read_json_lines(in, "run.jsonl");
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++n;
  return n;
}

Report with(std::vector<Record> records) {
  Report report = tests::sample_report();
  report.records = std::move(records);
  report.waivers.clear();
  return report;
}

}  // namespace

TEST_CASE("numbers have the fewest digits of their type that read back", "[reports]") {
  CHECK(shortest(0.1f, DType::f32) == "0.1");
  CHECK(shortest(0.1f, DType::f64) == "0.10000000149011612");
  CHECK(shortest(0.0999755859375, DType::f16) == "0.1");
  CHECK(shortest(65504, DType::f16) == "6.55e+04");
  CHECK(shortest(0.10009765625, DType::bf16) == "0.1");
  CHECK(shortest(-0.0, DType::f32) == "-0");
  CHECK(shortest(std::copysign(std::nan(""), -1.0), DType::f64) == "nan");
  CHECK(shortest(std::copysign(std::nan(""), -1.0), DType::f16) == "nan");
  CHECK(shortest(-std::numeric_limits<double>::infinity(), DType::bf16) == "-inf");
  std::size_t checked = 0;
  for (double v = 1e-7; v < 6e4; v *= 1.37) {
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
      HostTensor t(dtype, {}), back(dtype, {});
      set_element(t, 0, v);
      set_element(back, 0, std::stod(shortest(element(t, 0), dtype)));
      CHECK(element(back, 0) == element(t, 0));
      ++checked;
    }
  }
  CHECK(checked > 300);
}

TEST_CASE("an interval never looks as if it held what it does not", "[reports]") {
  const auto side = [](double a, double b) { return a < b ? -1 : (a > b ? 1 : 0); };
  std::size_t checked = 0;
  const auto hold = [&](double lower, double upper, double got, DType dtype) {
    const Compared shown = told_apart(lower, upper, got, dtype);
    INFO(shown.lower << " " << shown.upper << " " << shown.got);
    const double low = std::stod(shown.lower), high = std::stod(shown.upper), mine = std::stod(shown.got);
    CHECK(side(low, mine) == side(lower, got));
    CHECK(side(high, mine) == side(upper, got));
    if (lower < upper) CHECK(low < high);
    // As near as it is: seven digits of an end that differs in the fifteenth say nothing.
    if (lower != got) CHECK(std::abs(low - lower) <= std::abs(lower - got) / 4 + 1e-16 * std::abs(got));
    ++checked;
  };
  const double x = 11.0 / 18;  // 0.6111…
  hold(std::nextafter(x, 1), std::nextafter(std::nextafter(x, 1), 1), x, DType::f64);
  hold(std::nextafter(x, 1), std::nextafter(x, 1), x, DType::f64);
  hold(x, x, std::nextafter(x, 0), DType::f64);
  for (float v = 1e-3f; v < 1e3f; v *= 1.171f) {
    const double got = v;
    for (const double off : {1e-16, 1e-12, 3e-8, 1e-7, 1e-3}) {
      hold(got * (1 + off), got * (1 + 2 * off), got, DType::f32);
      hold(got * (1 - 2 * off), got * (1 - off), got, DType::f32);
      hold(got, got * (1 + off), got, DType::f32);
    }
  }
  CHECK(checked > 1000);
  CHECK(told_apart(1, 2, std::nan(""), DType::f32).got == "nan");
  const auto [a, b] = told_apart(1.0, std::nextafter(1.0, 2));
  CHECK(a != b);
}

TEST_CASE("a report is written, read and written again as the same bytes", "[reports]") {
  const std::string once = text_of(write_json_lines, tests::sample_report());
  const Report back = read(once);
  CHECK(text_of(write_json_lines, back) == once);
  REQUIRE(back.records.size() == 8);
  CHECK(back.whole);
  CHECK(back.records[4].outcome.offender->dtype == DType::f32);
  CHECK(back.records[4].outcome.offender->got == 0.3);
  CHECK(std::isinf(back.records[4].outcome.worst_ratio));
  CHECK(back.records[5].waived->verdict == Verdict::crashed);
  for (const auto write : {write_html, write_junit, write_markdown, write_badge}) {
    CHECK(text_of(write, back) == text_of(write, read(once)));
  }
}

TEST_CASE("what is no report of this schema is refused in one line", "[reports]") {
  const std::string good = text_of(write_json_lines, tests::sample_report());
  const auto refused = [](const std::string& text, const std::string& words) {
    try {
      (void)read(text);
      FAIL("read: " + text.substr(0, 60));
    } catch (const std::exception& error) {
      const std::string line = error.what();
      CHECK(line.find("run.jsonl:") == 0);
      CHECK(line.find(words) != std::string::npos);
      CHECK(line.find('\n') == std::string::npos);
    }
  };
  std::string newer = good;
  newer.replace(newer.find("\"schema\":1"), 10, "\"schema\":2");
  refused(newer, "expected a report of schema 1, found 2");
  refused("", "found nothing");
  refused("{}\n", "header");
  refused("[1]\n", "header");
  refused("{\"kind\":\"header\"}\n", "schema");
  refused(good.substr(0, good.find('\n') + 1) + "{\"kind\":\"result\"}\n", "id");
  refused(good.substr(0, good.find('\n') + 1) + "{nonsense\n" + good, ":2:");
  std::string odd = good;
  odd.replace(odd.find("\"verdict\":\"pass\""), 16, "\"verdict\":\"best\"");
  refused(odd, "unknown verdict 'best'");
}

TEST_CASE("the file of an interrupted run is read up to its last whole line", "[reports]") {
  const std::string good = text_of(write_json_lines, tests::sample_report());
  const std::size_t third = good.find("exp.value.f32.0002");
  const Report cut = read(good.substr(0, third));
  CHECK(cut.records.size() == 2);
  CHECK_FALSE(cut.whole);
  CHECK_FALSE(conclusion(cut).conforms);
  CHECK(conclusion(cut).text.find("interrupted") != std::string::npos);
}

TEST_CASE("text of others stays text", "[reports]") {
  CHECK(markup("<a href='x'>&\"") == "&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
  CHECK(markup("\x1B") == "\xE2\x90\x9B");
  CHECK(markup("\xFF") == "\xEF\xBF\xBD");
  CHECK(markup(std::string_view("\0", 1)) == "\xE2\x90\x80");
  CHECK(markup("\xEF\xBF\xBF") == "\xEF\xBF\xBD");
  CHECK(code_span("a|b`c\nd") == "`a\xE2\x94\x82" "b'c d`");
  for (const auto write : {write_html, write_junit, write_markdown, write_badge}) {
    const std::string text = text_of(write, tests::sample_report());
    CHECK(text.find("<script>alert") == (write == write_markdown ? text.find("`<script>alert") + 1 : std::string::npos));
    CHECK(text.find('\x1B') == std::string::npos);
    CHECK(text.find('\xFF') == std::string::npos);
  }
}

TEST_CASE("every format shows the failure, the waiver and the conclusion", "[reports]") {
  const Report report = tests::sample_report();
  const std::string html = text_of(write_html, report);
  for (const std::string part : {"does not conform", "y[...] = exp(x[...])", "x = f32[2] {0.5, nan}", "axis = -1", "cotangent 0",
                                 "expected in [0.1, 0.2] or nan, got 0.3", "--replay exp.vjp.f32.0000@1-12345678", "import torch",
                                 "waived until 2031-01-01", "id=\"search\"", "<svg", "Content-Security-Policy"}) {
    INFO(part);
    CHECK(html.find(part) != std::string::npos);
  }
  CHECK(count(html, "<tr data-find>") == 2);
  CHECK(count(html, "http://") + count(html, "https://") == 0);
  const std::string markdown = text_of(write_markdown, report);
  CHECK(markdown.find("| `exp.vjp.f32.0000@1-12345678` | fail |") != std::string::npos);
  CHECK(markdown.find("| `exp vjp` | 1 | 2031-01-01 |") != std::string::npos);
  CHECK(text_of(write_badge, report).find("1 failed") != std::string::npos);
  CHECK(text_of([](std::ostream& out, const Report& r) { write_table(out, r); }, report).find("waived: exp vjp: 1 failures, until 2031-01-01") != std::string::npos);
  std::ostringstream board;
  write_scoreboard(board, {report, report});
  CHECK(count(board.str(), "| elementwise, one operand | 2 of 2 | 5 | 1 | 1 | 1 | 0 | 0.75 | `exp` |") == 2);
  CHECK(class_of("softmax") == "normalisation, probability");
  CHECK(class_of("my_own") == "others");
}

TEST_CASE("errors over bounds fall into equal steps, none and beyond apart", "[reports]") {
  Distribution d;
  for (const double ratio : {0.0, 1e-9, 0.05, 0.0500001, 1.0, 1.0000001, std::numeric_limits<double>::infinity()}) d.add(ratio);
  CHECK(d.counts[0] == 1);
  CHECK(d.counts[1] == 2);
  CHECK(d.counts[2] == 1);
  CHECK(d.counts[20] == 1);
  CHECK(d.counts[21] == 2);
  CHECK(d.cases == 7);
}

TEST_CASE("a difference names what got worse, better, is new and is gone", "[reports]") {
  using tests::record;
  const auto V = [](Verdict v, int i) { return record("exp", "value", i, v); };
  const Report before = with({V(Verdict::pass, 0), V(Verdict::fail, 1), V(Verdict::pass, 2), V(Verdict::pass, 3), V(Verdict::waived, 4)});
  const Report after = with({V(Verdict::fail, 0), V(Verdict::pass, 1), V(Verdict::unsupported, 2), V(Verdict::timeout, 4), V(Verdict::pass, 5), V(Verdict::fail, 6)});
  const Difference d = difference(before, after);
  const auto named = [](const std::vector<Change>& all) {
    std::string text;
    for (const Change& c : all) text += c.what.substr(c.what.find(".000") + 4, 1) + c.before + ">" + c.after + " ";
    return text;
  };
  CHECK(d.same_cases);
  CHECK(named(d.worse) == "0pass>fail 2pass>unsupported 4waived>timeout 6>fail ");
  CHECK(named(d.better) == "1fail>pass ");
  CHECK(named(d.fresh) == "5>pass ");
  CHECK(named(d.gone) == "3pass> ");
  CHECK(difference(before, before).worse.empty());
  CHECK(difference(before, before).unchanged == 5);

  Report other = after;
  other.header.seed = 2;
  const Difference kinds = difference(with({V(Verdict::pass, 0)}), other);
  CHECK_FALSE(kinds.same_cases);
  REQUIRE(kinds.worse.size() == 1);
  CHECK(kinds.worse[0].what == "exp.value.forward.f32");
  CHECK(difference(other, with({V(Verdict::fail, 0)})).worse.empty());
}

TEST_CASE("shares become one report, and only shares of one run", "[reports]") {
  using tests::record;
  Report a = with({record("exp", "value", 0, Verdict::pass)}), b = with({record("relu", "value", 0, Verdict::pass)});
  a.header.selection.shard = "1/2";
  b.header.selection.shard = "2/2";
  const Report both = merged({b, a});
  CHECK(both.records.size() == 2);
  CHECK(both.records[0].operation == "exp");
  CHECK(conclusion(both).conforms);
  CHECK_THROWS_WITH(merged({a, a}), Catch::Contains("stands in two reports"));
  b.header.seed = 7;
  CHECK_THROWS_WITH(merged({a, b}), Catch::Contains("not of one run"));
}

TEST_CASE("a share in which nothing was compared concludes nothing; a run fails", "[reports]") {
  Report none = with({tests::record("exp", "value", 0, Verdict::unsupported)});
  none.records[0].outcome.comparisons = 0;
  CHECK_FALSE(conclusion(none).conforms);
  none.header.selection.shard = "1/2";
  CHECK(conclusion(none).conforms);
}
