/// \file
/// The state of one elaboration: the tensors and indices in sight, and how each form becomes an expression. Internal to
/// elaborate.cpp and its companions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spec/notation/elaborate.hpp"
#include "spec/notation/fold.hpp"
#include "spec/notation/typing.hpp"
#include "spec/system/verify.hpp"

namespace etalon::spec::notation {

/// One index item of a tensor as it was declared.
struct AxisGroup {
  bool row = false;
  std::vector<std::size_t> axes;
  std::set<std::string> rows;  ///< names of the rows it ranges over; several where rows were joined
};

/// A tensor that equations may read or write.
struct Storage {
  TensorId id = -1;
  bool present = true;
  Dims dims;
  std::vector<AxisGroup> groups;
};

/// An index or index row in sight.
struct Index {
  bool row = false;
  std::vector<Binder> binders;
  std::set<std::string> rows;
};

/// A row of expressions, or one that stands for every axis.
struct RowValue {
  bool row = false;
  std::vector<Expr> items;
};

/// Extents found for an index from where it is read.
struct Found {
  Dims dims;
  std::set<std::string> rows;
  std::string tensor;
};

/// What a call hands on: the types that the callee sees, and the tensors of those that are there.
struct Passed {
  std::vector<std::optional<ValueType>> types;
  std::vector<std::size_t> packs;
  std::vector<TensorId> tensors;
};

/// Who proves what came of an elaboration.
enum class Proof : std::uint8_t { here, elsewhere };

class Elaborator {
 public:
  Elaborator(const Definition& d, std::span<const std::optional<ValueType>> operands,
             std::span<const std::size_t> packs, const Attributes& attributes, std::size_t part);
  [[nodiscard]] Instance run(Proof proof);

 private:
  // elaborate.cpp: tensors, and the whole
  void declare_operands();
  void declare_run_time_attributes();
  void declare_results();
  void declare_derivative();
  void declare_marked(const std::pair<std::string, int>& of, char mark, std::vector<TensorId>& to);
  bool applies(const ClauseText& clause) const;
  std::vector<AxisGroup> groups_of(const Layout& l) const;
  std::set<std::string> rows_in(NodeId n) const;
  DType local_type(Kind kind) const;
  void check_defined() const;
  bool drop_dead();

  // prove.cpp: every read in range, every element given once
  void prove() const;
  void refute(const Broken& broken) const;
  [[noreturn]] void refute_read(const Fault& fault, NodeId read) const;
  [[noreturn]] void refute_write(const Broken& broken) const;
  [[noreturn]] void unsound(Diagnosis diagnosis, std::size_t where) const;
  NodeId source_of(const Expr& e) const;
  std::string axis_of(TensorId tensor, std::size_t axis) const;

  // equations.cpp: equations
  void equation(const ClauseText& clause);
  void equation_of_member(const ClauseText& clause, int member);
  void assign(const ClauseText& clause, Storage& target, const Layout& l, std::int32_t origin);
  void define_local(const ClauseText& clause, const Layout& l, std::int32_t origin);
  Layout target_layout(const ClauseText& clause, const Storage& target) const;
  std::vector<Binder> bind_places(const ClauseText& clause, const Layout& l, const Dims* dims,
                                  const std::vector<AxisGroup>* groups, std::vector<AxisGroup>& made);
  void bind_inner_names(NodeId n, NodeId value, std::vector<Binder>& binders);
  bool reads(NodeId n, std::string_view name) const;
  Expr value_of(const ClauseText& clause, std::optional<DType> dtype);
  [[nodiscard]] bool names_type(const ClauseText& clause) const;
  std::int32_t origin_of(const ClauseText& clause);
  bool members_of_operands(int member) const;
  bool known_as_index(NodeId n) const;

  // calls.cpp: calls of other operations
  void call(const ClauseText& clause);
  std::vector<std::string> targets_of(const ClauseText& clause) const;
  void pass_operand(NodeId n, Passed& passed) const;
  AttributeValue setting(NodeId value, const AttributeText& declared) const;
  Instance called(const ClauseText& clause, const Definition& callee, Passed& passed);
  TensorId result_of_call(const ClauseText& clause, const std::string& target, const ValueType& type);

  // indices.cpp: ranges of indices
  Index& bind_index(const std::string& name, bool row, const Dims& dims, std::set<std::string> rows, NodeId where);
  void check_hiding(const std::string& name, NodeId where) const;
  std::optional<Found> infer(std::string_view name, bool row, const std::vector<NodeId>& roots);
  void search(NodeId n, std::string_view name, bool row, bool counts, std::optional<Found>& found);
  void search_read(NodeId n, std::string_view name, bool row, std::optional<Found>& found);
  bool binds(NodeId reduce, std::string_view name) const;
  std::set<std::string> tags_in(NodeId n) const;
  Index& bind_binder(NodeId binder, const std::vector<NodeId>& roots);
  NodeId first_item(NodeId read) const;

  // expressions.cpp: right sides
  Expr expression(NodeId n);
  Expr named(NodeId n);
  Expr attribute(int which, NodeId n);
  Expr application(NodeId n);
  Expr combine(NodeId n, Primitive p, std::vector<Expr> args);
  Expr choice(NodeId n);
  Expr otherwise(NodeId n);
  Expr builtin(NodeId n);
  Expr flat(NodeId n);
  std::vector<Expr> unflat(NodeId n);
  Expr row_comparison(NodeId n);
  RowValue row_value(NodeId n);
  std::vector<Expr> row(NodeId n);
  Expr read(NodeId n, NodeId otherwise);
  std::pair<Expr, Expr> access(NodeId n, const Storage& from);
  Layout read_layout(NodeId n, const Storage& from);
  std::vector<Expr> project(NodeId n, const AxisGroup& group, const Storage& from);
  const Storage& storage(NodeId read) const;
  Expr reduction(NodeId n, NodeId otherwise);
  Expr reduce_members(NodeId n, const std::string& tag, Reduction r);
  Expr reduce_bound(NodeId n, Reduction r, const std::vector<Binder>& binders, NodeId otherwise);
  Expr neutral(NodeId n, Reduction r, Kind kind, NodeId otherwise);
  std::pair<Expr, Expr> same_kind(NodeId n, Expr a, Expr b);
  std::pair<Expr, Expr> branches(NodeId n, Expr a, Expr b);

  std::optional<StaticValue> known(NodeId n) const;
  StaticEvaluator evaluator(Diagnosis& diagnosis) const;
  std::int64_t known_integer(NodeId n) const;
  Dims known_row(NodeId n) const;

  template <class... Parts>
  [[noreturn]] void fail(std::size_t where, const Parts&... parts) const;
  [[noreturn]] void raise(const Diagnosis& diagnosis) const;
  template <class... Parts>
  [[noreturn]] void fail_at(NodeId n, const Parts&... parts) const {
    fail(n >= 0 ? d_[n].text.begin : 0, parts...);
  }

  const Definition& d_;
  std::size_t part_;                         ///< 0 for what the definition means
  std::span<const std::optional<ValueType>> operands_;
  Typing typing_;
  System system_;
  std::map<std::pair<std::string, int>, Storage> tensors_;
  std::map<std::string, TensorId> scalars_;  ///< of attributes given at run time
  std::map<std::string, Index> scope_;
  std::map<std::string, int> tags_;
  std::vector<std::pair<Expr, NodeId>> sources_;   ///< where reads and reductions stand in the text
  std::map<std::int32_t, std::size_t> clauses_;    ///< where the equations of an origin stand
  std::set<std::string> dead_;               ///< tensors that no result needs
  Extents extents_;
  bool vacuous_ = false;                     ///< the equation has no elements
};

template <class... Parts>
void Elaborator::fail(std::size_t where, const Parts&... parts) const {
  Diagnosis diagnosis = diagnose(d_.name, ": ", parts...);
  diagnosis.at(d_.text, where);
  raise(diagnosis);
}

}  // namespace etalon::spec::notation
