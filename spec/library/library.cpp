#include "spec/library/library.hpp"

#include <algorithm>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/error.hpp"
#include "spec/library/standard.hpp"
#include "spec/nearest.hpp"
#include "spec/notation/parse.hpp"
#include "spec/notation/resolve.hpp"
#include "spec/notation/split.hpp"
#include "spec/sha256.hpp"

namespace etalon::spec {

namespace {

[[nodiscard]] bool before(const Definition* d, std::string_view name) { return d->name < name; }

[[nodiscard]] const Definition* find_in(std::span<const Definition* const> sorted, std::string_view name) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), name, before);
  return at != sorted.end() && (*at)->name == name ? *at : nullptr;
}

void add_with_callees(const Definition& d, std::set<const Definition*>& to) {
  if (!to.insert(&d).second) return;
  for (std::size_t i = 0; i < d.callee_count; ++i) add_with_callees(*d.callees[i], to);
}

/// The members of its family, or itself.
[[nodiscard]] std::vector<std::string_view> names_in(const Definition& d) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < d.family_count; ++i) names.push_back(d.at(d.family[i].name));
  if (names.empty()) names.push_back(d.name);
  return names;
}

}  // namespace

/// What is added is kept by pointers, so that definitions never move.
struct Library::Contents {
  struct Added {
    std::string name;
    std::shared_ptr<const OwnedDefinition> text;  ///< shared by the members of a family
    std::shared_ptr<const Definition> definition;
    std::shared_ptr<const std::string> file;
  };
  std::vector<Added> added;
  std::vector<std::string> names;            ///< of what is added
  std::vector<const Definition*> all;        ///< sorted by name
  mutable std::once_flag hashed;
  mutable std::string hash;

  explicit Contents(std::vector<const Definition*> definitions) : all(std::move(definitions)) {}
  Contents(const Contents& other) : added(other.added), names(other.names), all(other.all) {}

  [[nodiscard]] const Definition* find(std::string_view name) const {
    return find_in(all, name);
  }

  void add(const std::shared_ptr<const OwnedDefinition>& text, const std::shared_ptr<const std::string>& from) {
    const std::string& file = *from;
    const Definition& d = text->definition;
    const Diagnosis wrong = d.ok() ? undefined_name(d) : d.diagnosis;
    if (!wrong.ok()) throw located(*text, wrong, file);
    for (const std::string_view name : names_in(d)) {
      if (const std::string_view why = taken(name); !why.empty())
        throw located(*text, diagnose(name, ": ", why).at(d.text, place_of(d, name)), file);
      auto member = std::make_shared<Definition>(d.family_count > 0 ? member_of(d, name) : d);
      notation::link_calls(*member, [this](std::string_view callee) { return find(callee); });
      member->file = file;
      member->first_line = text->line;
      if (!member->ok()) throw located(*text, member->diagnosis, file);
      all.insert(std::lower_bound(all.begin(), all.end(), name, before), member.get());
      names.emplace_back(name);
      added.push_back({std::string(name), text, std::move(member), from});
    }
  }

 private:
  [[nodiscard]] static std::size_t place_of(const Definition& d, std::string_view name) {
    return static_cast<std::size_t>(name.data() - d.text.data());
  }

  [[nodiscard]] std::string_view taken(std::string_view name) const {
    if (find(name) != nullptr) return "there is an operation of this name already";
    if (name == "vjp" || name == "jvp") return "programs use this name for derivatives";
    return {};
  }
};

std::span<const Definition* const> Library::definitions() const {
  return contents_ ? std::span<const Definition* const>(contents_->all) : standard::definitions();
}

const Definition* Library::find(std::string_view name) const { return contents_ ? contents_->find(name) : standard::find(name); }

const Definition& Library::named(std::string_view name) const {
  if (const Definition* d = find(name)) return *d;
  std::vector<std::string> names;
  for (const Definition* d : definitions()) names.emplace_back(d->name);
  throw SpecViolation(unknown_name("operation", name, names));
}

Library Library::with(std::string_view text, std::string_view file) const {
  const auto known = standard::definitions();
  auto more = contents_ ? std::make_shared<Contents>(*contents_) : std::make_shared<Contents>(std::vector(known.begin(), known.end()));
  const auto from = std::make_shared<const std::string>(file);
  for (const auto& definition : split_definitions(text)) more->add(definition, from);
  return Library(std::move(more));
}

const std::vector<std::string>& Library::added() const {
  static const std::vector<std::string> none;
  return contents_ ? contents_->names : none;
}

std::vector<std::string> Library::texts_for(std::string_view name) const {
  if (!contents_) return {};
  std::set<const Definition*> needed;
  if (const Definition* d = find(name)) add_with_callees(*d, needed);
  std::vector<std::string> texts;
  for (const auto& added : contents_->added) {
    const bool again = std::find(texts.begin(), texts.end(), added.text->text) != texts.end();
    if (needed.contains(added.definition.get()) && !again) texts.push_back(added.text->text);
  }
  return texts;
}

const std::string& Library::hash() const {
  if (!contents_) return standard::hash();
  const Contents& c = *contents_;
  std::call_once(c.hashed, [&] {
    Sha256 hash;
    for (const Definition* d : c.all) hash.add(d->name, d->text);
    c.hash = hash.hexadecimal();
  });
  return c.hash;
}

std::span<const Definition* const> library() { return Library().definitions(); }

const Definition* find_definition(std::string_view name) { return Library().find(name); }

const Definition& definition_named(std::string_view name) { return Library().named(name); }

}  // namespace etalon::spec
