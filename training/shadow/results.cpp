#include "training/shadow/results.hpp"

#include <nlohmann/json.hpp>

#include "training/files/strict_json.hpp"

namespace etalon::training {

ShadowResults& ShadowResults::operator+=(const ShadowResults& more) {
  replayed += more.replayed;
  compared += more.compared;
  judged += more.judged;
  elements += more.elements;
  undecided += more.undecided;
  transient.insert(transient.end(), more.transient.begin(), more.transient.end());
  return *this;
}

nlohmann::ordered_json to_json(const ShadowResults& r) {
  return {{"replayed", r.replayed}, {"compared", r.compared},   {"judged", r.judged},
          {"elements", r.elements}, {"undecided", r.undecided}, {"transient", r.transient}};
}

ShadowResults shadow_results_of(const StrictJson& json) {
  json.allow({"replayed", "compared", "judged", "elements", "undecided", "transient"});
  ShadowResults r{json.at("replayed").count(), json.at("compared").count(), json.at("judged").count(), json.at("elements").count(),
                  json.at("undecided").count()};
  for (const StrictJson& line : json.at("transient").items()) r.transient.push_back(line.text());
  return r;
}

}  // namespace etalon::training
