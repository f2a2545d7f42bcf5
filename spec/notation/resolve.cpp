#include "spec/notation/resolve.hpp"

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "spec/notation/lexer.hpp"

namespace etalon::spec {
namespace {

class Resolver {
 public:
  explicit Resolver(const Definition& d) : d_(d) {
    for (std::size_t i = 0; i < d.operand_count; ++i) known_.insert(d.at(d.operands[i].name));
    for (std::size_t r = 0; r < d.result_count; ++r) known_.insert(d.at(d.results[r].name));
  }

  Diagnosis run() {
    for (std::size_t c = 0; c < d_.clause_count; ++c) {
      const ClauseText& clause = d_.clauses[c];
      if (clause.form == ClauseText::Form::call) call(clause);
      if (clause.form != ClauseText::Form::equation) continue;
      // A recurrence reads what it defines.
      give(d_.at(clause.target), clause.part);
      reads(clause.value);
    }
    for (std::uint8_t p = 1; p <= d_.part_count; ++p) derivative(p);
    for (std::size_t r = 0; r < d_.result_count; ++r) {
      const Slice name = d_.results[r].name;
      if (!given_.contains({d_.at(name), 0})) fail(name.begin, "result ", d_.at(name), " has no equation");
    }
    return diagnosis_;
  }

 private:
  void call(const ClauseText& clause) {
    for (NodeId c = d_[clause.value].first; c >= 0 && d_[c].form != NodeForm::setting; c = d_[c].next) {
      if (d_.at(c) != "_" && !known_.contains(d_.at(c))) fail(d_[c].text.begin, d_.at(c), " is not a tensor that stands before this call");
    }
    give(d_.at(clause.target), clause.part);
    for (NodeId n = clause.places; n >= 0; n = d_[n].next) give(d_.at(n), clause.part);
  }

  void give(std::string_view name, std::uint8_t part) {
    given_.insert({name, part});
    known_.insert(name);
  }

  /// Whether there is a tensor of that name; a tangent or cotangent has the name of an operand or result and a mark.
  [[nodiscard]] bool known(std::string_view name) const {
    if (known_.contains(name)) return true;
    return lexer::is_mark(name.back()) && known_.contains(name.substr(0, name.size() - 1));
  }

  /// A part that states a derivative states all of it.
  void derivative(std::uint8_t part) {
    if (d_.parts[part - 1] == PartForm::also) return;
    const bool reverse = d_.parts[part - 1] == PartForm::vjp;
    const OperandText* first = reverse ? d_.operands : d_.results;
    for (const OperandText* o = first; o != first + (reverse ? d_.operand_count : d_.result_count); ++o) {
      if (o->range == Range::integer || o->range == Range::boolean || o->range == Range::attribute) continue;
      const std::string name = std::string(d_.at(o->name)) + (reverse ? '~' : '\'');
      if (!given_.contains({name, part})) fail(o->name.begin, "the ", reverse ? "vjp" : "jvp", " part gives no ", name);
    }
  }

  void reads(NodeId n) {
    if (n < 0) return;
    if (d_[n].form == NodeForm::read && !known(d_.at(n)))
      fail(d_[n].text.begin, d_.at(n), " is not a tensor that stands before this equation");
    for (NodeId c = d_[n].first; c >= 0; c = d_[c].next) reads(c);
  }

  template <class... Parts>
  void fail(std::size_t where, const Parts&... parts) {
    if (diagnosis_.ok()) diagnosis_ = diagnose(d_.name, ": ", parts...).at(d_.text, where);
  }

  const Definition& d_;
  std::set<std::string_view> known_;
  std::set<std::pair<std::string_view, std::uint8_t>> given_;  ///< with the number of the part
  Diagnosis diagnosis_;
};

}  // namespace

Diagnosis undefined_name(const Definition& definition) { return Resolver(definition).run(); }

}  // namespace etalon::spec
