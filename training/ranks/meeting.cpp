#include "training/ranks/meeting.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "spec/error.hpp"
#include "spec/quoted.hpp"
#include "training/ranks/orders.hpp"

namespace etalon::training {

namespace {

constexpr char is_declared = 'd', has_failed = 'f';

Bytes message(char kind, const std::string& text) {
  Bytes bytes{static_cast<std::byte>(kind)};
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

std::string text_in(const Bytes& message) {
  std::string text;
  for (std::size_t i = 1; i < message.size(); ++i) text += static_cast<char>(message[i]);
  return text;
}

std::string shown(const nlohmann::json& object, const nlohmann::json::json_pointer& at) {
  constexpr std::size_t most = 80;
  if (!object.contains(at)) return "missing";
  std::string text = object[at].is_string() ? object[at].get<std::string>() : object[at].dump();
  if (text.size() > most) text = text.substr(0, most) + "...";
  return as_quoted(text);
}

/// The first field that is another one's, as a line.
std::string difference(const std::string& first, const std::string& other) {
  const nlohmann::json a = nlohmann::json::parse(first), b = nlohmann::json::parse(other);
  const nlohmann::json changes = nlohmann::json::diff(a, b);
  if (changes.empty()) return "its run is written otherwise than that of rank 0";
  const std::string path = changes[0]["path"];
  const nlohmann::json::json_pointer at(path);
  return fmt::format("{} is {}, expected {} as of rank 0", path.substr(1), shown(b, at), shown(a, at));
}

}  // namespace

std::string Meeting::text_of_first(const std::function<std::string()>& make) {
  if (is_first()) {
    try {
      std::string text = make();
      (void)ranks_->spread(message(is_declared, text));
      return text;
    } catch (...) {
      stage_ = Stage::ended;
      (void)ranks_->spread(message(has_failed, ""));
      throw;
    }
  }
  const Bytes said = ranks_->spread({});
  if (said.empty() || static_cast<char>(said[0]) != is_declared) {
    stage_ = Stage::ended;
    throw SaidByRankZero("rank 0 cannot train");
  }
  return text_in(said);
}

/// Everybody tells, and knows what the others told.
std::string Meeting::first_trouble(const std::string& kind, const std::string& text) {
  const std::vector<Bytes> all = ranks_->gather(message(kind[0], text));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (static_cast<char>(all[rank].at(0)) == has_failed) return fmt::format("rank {}: {}", rank, text_in(all[rank]));
  }
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] != all[0]) return fmt::format("rank {}: {}", rank, difference(text_in(all[0]), text_in(all[rank])));
  }
  return "";
}

void Meeting::agree(const std::string& declaration) {
  const std::string trouble = first_trouble({is_declared}, declaration);
  stage_ = trouble.empty() ? Stage::agreed : Stage::ended;
  if (trouble.empty()) return;
  if (is_first()) throw SpecViolation(trouble);
  throw SaidByRankZero(trouble);
}

bool Meeting::fail(const std::string& why) {
  if (stage_ == Stage::open) {
    (void)first_trouble({has_failed}, why);
    stage_ = Stage::ended;
    return true;
  }
  if (stage_ == Stage::agreed && is_first()) end();
  return has_ended();
}

void Meeting::end() {
  give(*ranks_, {RankOrder::Kind::end});
  stage_ = Stage::ended;
}

}  // namespace etalon::training
