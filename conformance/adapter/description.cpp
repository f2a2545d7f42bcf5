#include "conformance/adapter/description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "spec/contract/contract.hpp"
#include "spec/dtype.hpp"
#include "spec/library/library.hpp"
#include "spec/nearest.hpp"
#include "spec/protocol/json.hpp"
#include "spec/protocol/message.hpp"

namespace etalon::conformance {
namespace {

using spec::Json;
using Mark = Remark::Mark;

struct Field {
  const char* name;
  const char* advice;
};

constexpr std::array fields{
    Field{"etalon", "the version of the protocol, the number 1"},
    Field{"name", "a string; reports call the backend by it"},
    Field{"version", "a string: that of the library, not of the adapter"},
    Field{"operations", "\"all\", or a list of names; `etalon spec` lists them"},
    Field{"dtypes", "a list of f16, bf16, f32, f64, i32, i64, bool"},
    Field{"modes", "a list of forward, jvp, vjp, jvp_of_vjp"},
    Field{"contract", "what the arithmetic promises; {} or nothing is careful IEEE arithmetic, docs/contracts.md tells the fields"},
    Field{"fuses", "true or false: intermediates that are shown may differ from those that were consumed"},
    Field{"materialises", "true or false, the opposite of fuses"},
    Field{"rejects", "true or false: whether ill-typed calls are refused"},
    Field{"deterministic", "true or false: the same request gives the same bits"},
    Field{"generator", "\"philox4x32-10\", or nothing"},
    Field{"pipeline", "an integer of at least 1"},
    Field{"layouts", "true or false: operands with strides and offset are taken"},
    Field{"running_attributes", "true or false: attributes that are scalars of the program are taken"},
    Field{"scripts", "true or false: answers `script`"},
    Field{"max_bytes", "an integer of at least 1: the longest request line"}};

[[nodiscard]] Json smallest() { return {{"etalon", 1}, {"name", ""}, {"dtypes", Json::array()}, {"modes", Json::array()}}; }

/// What the decoder says of one field alone.
[[nodiscard]] std::string error_in(const char* name, const Json* value) {
  Json one = smallest();
  one.erase(name);
  if (value != nullptr) one[name] = *value;
  try {
    (void)spec::decode_description(spec::to_line(one));
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

void add_wrong(std::vector<Remark>& remarks, std::string what, std::string advice) {
  remarks.push_back({Mark::wrong, "describe", std::move(what), std::move(advice)});
}

void check_fields(const Json& json, std::vector<Remark>& remarks) {
  for (const Field& field : fields) {
    const auto found = json.find(field.name);
    const Json* value = found == json.end() ? nullptr : &*found;
    if (value != nullptr && std::string_view(field.name) == "contract" && value->is_object()) {
      for (const std::string& error : spec::contract_errors(spec::to_line(*value))) add_wrong(remarks, error, field.advice);
      continue;
    }
    const std::string error = error_in(field.name, value);
    if (!error.empty()) add_wrong(remarks, error, fmt::format("`{}` is {}", field.name, field.advice));
  }
}

void check_unknown_fields(const Json& json, std::vector<Remark>& remarks) {
  std::vector<std::string> known{"protocol"};
  for (const Field& field : fields) known.emplace_back(field.name);
  for (const auto& [name, value] : json.items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string nearest = nearest_name(name, known);
    const bool mistyped = edit_distance(name, nearest) <= 2;
    remarks.push_back({Mark::note, "describe", fmt::format("the field `{}` means nothing and is ignored", name),
                       mistyped ? fmt::format("did you mean `{}`?", nearest) : ""});
  }
}

void check_names(const Json& json, std::vector<Remark>& remarks) {
  const std::vector<std::string> dtypes{"f16", "bf16", "f32", "f64", "i32", "i64", "bool"};
  if (const auto found = json.find("dtypes"); found != json.end() && found->is_array()) {
    for (const Json& dtype : *found) {
      if (dtype.is_string() && !dtype_named(dtype.get<std::string>()))
        remarks.push_back({Mark::note, "describe", unknown_name("element type", dtype.get<std::string>(), dtypes),
                           fmt::format("the protocol's names are {}; others are not asked for", fmt::join(dtypes, ", "))});
    }
  }
  std::vector<std::string> operations;
  for (const spec::Definition* d : spec::library()) operations.emplace_back(d->name);
  const auto found = json.find("operations");
  if (found == json.end() || !found->is_array()) return;
  std::size_t known = 0;
  for (const Json& entry : *found) {
    const Json& name = entry.is_object() && entry.contains("operation") ? entry["operation"] : entry;
    if (!name.is_string()) continue;
    if (spec::find_definition(name.get<std::string>()) != nullptr) ++known;
    else add_wrong(remarks, unknown_name("operation", name.get<std::string>(), operations), "`etalon spec` lists the operations; only those can be asked for");
  }
  if (known == 0) add_wrong(remarks, "operations: none of the list is known, so nothing can be asked", "list what is offered, or say \"all\"");
}

}  // namespace

std::vector<Remark> remarks_on_description(const std::string& line, std::optional<spec::Description>& into) {
  std::vector<Remark> remarks;
  Json json;
  try {
    json = spec::parse_json(line, "description");
  } catch (const std::exception& error) {
    add_wrong(remarks, error.what(), "the first answer is one line with one JSON object; print nothing else on standard output, not even a greeting");
    return remarks;
  }
  if (!json.is_object()) {
    add_wrong(remarks, "description: expected an object, found " + std::string(json.type_name()), "the answer to describe is {\"etalon\":1,\"name\":…}");
    return remarks;
  }
  check_fields(json, remarks);
  check_names(json, remarks);
  check_unknown_fields(json, remarks);
  try {
    into = spec::decode_description(line);
  } catch (const std::exception&) {
    return remarks;  // said above
  }
  if (into->dtypes.empty()) add_wrong(remarks, "dtypes: the list is empty, so nothing can be asked", "list the element types that are offered");
  if (into->modes.empty()) add_wrong(remarks, "modes: the list is empty, so nothing can be asked", "list at least forward");
  if (into->version.empty()) remarks.push_back({Mark::note, "describe", "no version", "say which version of the library answers: findings are about versions"});
  if (!json.contains("contract"))
    remarks.push_back({Mark::note, "describe", "no contract, which promises careful IEEE arithmetic", "`etalon contract infer` measures what is kept; docs/contracts.md"});
  return remarks;
}

}  // namespace etalon::conformance
