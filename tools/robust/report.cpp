// What was certified, for people and for scripts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/robust/certify.hpp"

namespace etalon::robust {
namespace {

using Json = nlohmann::ordered_json;

std::size_t place(const Question& question, std::size_t radius, std::size_t method) { return radius * question.methods.size() + method; }

std::size_t certified_at(const std::vector<Certified>& rows, std::size_t at) {
  return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [&](const Certified& r) { return r.margins[at] > 0; }));
}

std::size_t right_of(const std::vector<Certified>& rows) {
  return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [](const Certified& r) { return r.is_right(); }));
}

double share(std::size_t part, std::size_t whole) { return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole); }

std::string rows_as_text(const std::vector<Certified>& rows, const Question& question) {
  std::string text;
  for (const Certified& r : rows) {
    text += fmt::format("row {:4}  label {:2}  answer {:2}", r.row, r.label, r.answer);
    for (std::size_t e = 0; e < question.radii.size(); ++e) {
      for (std::size_t m = 0; m < question.methods.size(); ++m) {
        const double margin = r.margins[place(question, e, m)];
        text += fmt::format("  {} {} {:.4g}{}", question.methods[m].name, question.radii[e].text, margin, margin > 0 ? "" : " (not)");
      }
    }
    text += '\n';
  }
  return text;
}

}  // namespace

std::string to_text(const std::vector<Certified>& rows, const Classifier& model, const Question& question, const spec::Contract& contract,
                    bool each) {
  std::string text = each ? rows_as_text(rows, question) + '\n' : "";
  const std::size_t right = right_of(rows);
  text += fmt::format("{}\n{} {}, {} right ({:.2f} %)\n", model.name, rows.size(), model.rows_are, right, 100 * share(right, rows.size()));
  text += fmt::format("certified: right for all inputs within epsilon of the row, in every conforming evaluation (contract {})\n\n",
                      contract.name);
  text += fmt::format("{:>10}", "epsilon");
  for (const Method& m : question.methods) text += fmt::format("{:>18}", m.name);
  text += '\n';
  for (std::size_t e = 0; e < question.radii.size(); ++e) {
    text += fmt::format("{:>10}", question.radii[e].text);
    for (std::size_t m = 0; m < question.methods.size(); ++m) {
      const std::size_t count = certified_at(rows, place(question, e, m));
      text += fmt::format("{:>9}{:>7.2f} %", count, 100 * share(count, rows.size()));
    }
    text += '\n';
  }
  return text;
}

std::string to_json(const std::vector<Certified>& rows, const Classifier& model, const Question& question, const spec::Contract& contract) {
  Json json{{"model", model.name}, {"contract", Json::parse(spec::to_json(contract))}, {"rows", rows.size()}, {"right", right_of(rows)}};
  if (question.least) json["least"] = *question.least;
  if (question.most) json["most"] = *question.most;
  Json shares = Json::array();
  for (std::size_t e = 0; e < question.radii.size(); ++e) {
    for (std::size_t m = 0; m < question.methods.size(); ++m) {
      const std::size_t count = certified_at(rows, place(question, e, m));
      shares.push_back({{"epsilon", question.radii[e].value}, {"method", question.methods[m].name}, {"certified", count}});
    }
  }
  json["shares"] = std::move(shares);
  Json each = Json::array();
  for (const Certified& r : rows) {
    Json margins = Json::array();
    // Where nothing is known there is no number.
    for (const double margin : r.margins) margins.push_back(std::isfinite(margin) ? Json(margin) : Json(nullptr));
    each.push_back({{"row", r.row}, {"label", r.label}, {"answer", r.answer}, {"margins", std::move(margins)}});
  }
  json["each"] = std::move(each);
  return json.dump(2);
}

}  // namespace etalon::robust
