// Every clause of docs/notation.md has a test that starts with its identifier, and definitions print as JSON.
#include <catch2/catch.hpp>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "spec/library/library.hpp"
#include "spec/notation/json.hpp"

using namespace etalon::spec;

namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The identifiers that stand as `- **T4 ` or `TEST_CASE("T4 `.
std::set<std::string> identifiers(const std::string& text, const std::string& mark) {
  std::set<std::string> found;
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    const std::size_t begin = at + mark.size();
    const std::string id = text.substr(begin, text.find(' ', begin) - begin);
    if (id.size() >= 2 && id.size() <= 3 && id.find_first_not_of("0123456789", 1) == std::string::npos) found.insert(id);
  }
  return found;
}

}  // namespace

TEST_CASE("every clause of the notation has a test of its name", "[notation]") {
  const std::string root = ETALON_SOURCE_DIR;
  const std::set<std::string> stated = identifiers(read_file(root + "/docs/notation.md"), "- **");
  std::set<std::string> tested;
  for (const char* file : {"grammar", "typing", "elaboration", "meaning"}) {
    tested.merge(identifiers(read_file(root + "/tests/spec/notation_" + file + ".cpp"), "TEST_CASE(\""));
  }
  CHECK(stated.size() >= 48);
  CHECK(stated == tested);
}

TEST_CASE("definitions print as JSON", "[notation][json]") {
  for (const Definition* d : library()) {
    const auto j = nlohmann::json::parse(to_json(*d));
    CHECK(j["name"] == d->name);
    CHECK(j["clauses"].size() == d->clause_count);
  }
  const auto loss = nlohmann::json::parse(to_json(definition_named("cross_entropy")));
  CHECK(loss["operands"][1]["kind"] == "int");
  CHECK(loss["operands"][2]["optional"] == true);
  CHECK(loss["operands"][0]["axes"] == nlohmann::json{"...", "c @ axis"});
  CHECK(loss["attributes"][3]["choices"] == nlohmann::json{"mean", "sum", "none"});
  CHECK(loss["attributes"][3]["default"] == "mean");
  CHECK(loss["clauses"][0]["id"] == "cross_entropy/C1");
  CHECK(loss["clauses"][0]["form"] == "requires");
  CHECK(loss["clauses"][2]["local"] == true);
  const auto nll = nlohmann::json::parse(to_json(definition_named("nll")));
  CHECK(nll["clauses"].back()["local"] == false);
  CHECK(nll["clauses"].back()["text"] == "y when reduction == mean = (sum[...] each[...]) / sum[...] a[...]");
  const auto conv = nlohmann::json::parse(to_json(definition_named("conv2d")));
  CHECK(conv["family"]["rank"] == 2);
  CHECK(conv["operands"][0]["axes"] == nlohmann::json{"b", "c", "..s"});
  const auto concat = nlohmann::json::parse(to_json(definition_named("concat")));
  CHECK(concat["operands"][0]["axes"] == nlohmann::json{"..rest", "n# @ axis"});
  CHECK(concat["operands"][0]["pack"] == true);
}
