#include "spec/library/standard.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "spec/library/operations.hpp"
#include "spec/notation/lexer.hpp"
#include "spec/notation/parse.hpp"
#include "spec/notation/resolve.hpp"
#include "spec/sha256.hpp"

namespace etalon::spec::standard {

namespace {

template <class... Ops>
void append(std::vector<std::string_view>& texts, OperationList<Ops...>) {
  (texts.push_back(Ops::text), ...);
}

/// What every header registers. A table of texts: the parser stands in this unit once, not once for each operation.
std::vector<std::string_view> all_texts() {
  std::vector<std::string_view> texts;
  append(texts, ops::ActivationsOperations{});
  append(texts, ops::AttentionOperations{});
  append(texts, ops::ComparisonsOperations{});
  append(texts, ops::ConvolutionOperations{});
  append(texts, ops::ElementwiseFunctionsOperations{});
  append(texts, ops::ElementwiseOperations{});
  append(texts, ops::IndexingOperations{});
  append(texts, ops::InitialisersOperations{});
  append(texts, ops::LinearOperations{});
  append(texts, ops::LossesOperations{});
  append(texts, ops::NormalisationOperations{});
  append(texts, ops::OptimizersOperations{});
  append(texts, ops::PoolingOperations{});
  append(texts, ops::RandomOperations{});
  append(texts, ops::RecurrentOperations{});
  append(texts, ops::ReductionsOperations{});
  append(texts, ops::SchedulesOperations{});
  append(texts, ops::ShapeOperations{});
  return texts;
}

/// A name, where its text stands, and its definition once that was asked for.
struct Entry {
  std::string_view name;
  std::string_view text;
  bool in_family = false;
  std::atomic<const Definition*> definition = nullptr;
};

class Standard {
 public:
  Standard() {
    for (const std::string_view text : all_texts()) enter(text);
    for (Entry& e : entries_) sorted_.push_back(&e);
    std::sort(sorted_.begin(), sorted_.end(), [](const Entry* a, const Entry* b) { return a->name < b->name; });
  }

  const Definition* find(std::string_view name) {
    const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), name,
                                     [](const Entry* e, std::string_view wanted) { return e->name < wanted; });
    return at != sorted_.end() && (*at)->name == name ? &parsed(**at) : nullptr;
  }

  std::span<const Definition* const> definitions() {
    std::call_once(complete_, [&] {
      for (Entry* e : sorted_) all_.push_back(&parsed(*e));
    });
    return all_;
  }

  const std::string& hash() {
    std::call_once(hashed_, [&] {
      Sha256 hash;
      for (const Entry* e : sorted_) hash.add(e->name, e->text);
      hash_ = hash.hexadecimal();
    });
    return hash_;
  }

 private:
  /// A text starts with its name; only a family has to be read for those of its members.
  void enter(std::string_view text) {
    entries_.emplace_back();
    entries_.back().name = lexer::next(text, 0).text;
    entries_.back().text = text;
    if (text.find("family") == std::string_view::npos) return;
    const Definition d = parse(text);
    for (std::size_t i = 0; i < d.family_count; ++i) {
      entries_.emplace_back();
      // Views of the text, which stays.
      entries_.back().name = d.at(d.family[i].name);
      entries_.back().text = text;
      entries_.back().in_family = true;
    }
  }

  const Definition& parsed(Entry& e) {
    if (const Definition* known = e.definition.load(std::memory_order_acquire)) return *known;
    const std::lock_guard lock(parsing_);
    if (const Definition* known = e.definition.load(std::memory_order_relaxed)) return *known;
    Definition& d = parsed_.emplace_back(parse(e.text));
    if (e.in_family) d = member_of(d, e.name);
    notation::link_calls(d, [&](std::string_view name) { return find(name); });
    e.definition.store(&d, std::memory_order_release);
    return d;
  }

  std::deque<Entry> entries_;
  std::vector<Entry*> sorted_;
  std::deque<Definition> parsed_;  ///< at places that stay
  std::recursive_mutex parsing_;   ///< what a definition calls is parsed with it
  std::once_flag complete_;
  std::once_flag hashed_;
  std::vector<const Definition*> all_;
  std::string hash_;
};

Standard& instance() {
  static Standard all;
  return all;
}

}  // namespace

const Definition* find(std::string_view name) { return instance().find(name); }

std::span<const Definition* const> definitions() { return instance().definitions(); }

const std::string& hash() { return instance().hash(); }

}  // namespace etalon::spec::standard
