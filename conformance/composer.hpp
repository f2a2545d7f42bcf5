/// \file
/// Composes a random program call by call: what is there, what may be read, which definitions can read it. It knows roles
/// (random_program.hpp) and no operation by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/fitting.hpp"
#include "conformance/random_program.hpp"

namespace etalon::conformance {

class Composer {
 public:
  Composer(std::span<const spec::Definition* const> definitions, const ProgramWish& wish, Draw& draw, const Admission& admits);

  /// The program that is wished for, or nothing. To be called once.
  [[nodiscard]] std::optional<RandomProgram> run();

 private:
  /// What an operand of a call is to be so that it can read a result.
  struct Reading {
    Fit fit;
    DType dtype;
  };

  void add_call(Role role);
  [[nodiscard]] std::span<const std::pair<std::string, spec::ValueType>> readable() const;
  /// What such a call may be missing without harm.
  static bool is_optional(Role role);
  const spec::Definition* chosen(Role role);
  void add_call(const spec::Definition& definition, Role role);
  /// To another element type first, and then to the program's.
  void convert(const spec::Definition& d, Role role, Assignment& assignment);
  /// Whether an operand may hold numbers of this element type, in a case of another.
  static bool may_hold(spec::Range range, DType dtype, DType of_case);
  /// One for a result that may be read, or with the extents wished for.
  std::optional<Reading> some_read(const spec::Definition& d);
  /// Per operand a value that a call of the program's definition read or gave: all alike, or different ones.
  std::vector<std::optional<std::string>> around_the_first(const CallTypes& call);
  void add(const CallTypes& types, std::vector<std::optional<std::string>> taken, const Assignment& assignment);
  /// Whether two operands beside each other, of several, have one type.
  static bool has_twins(const CallTypes& types);
  void keep(const spec::Instance& instance, const std::vector<std::optional<std::string>>& taken, const Assignment& assignment);
  /// Per operand an earlier result of its type, or nothing; a result may serve twice.
  std::vector<std::optional<std::string>> results_for(const CallTypes& call, double taking);
  /// Some operands that no result serves read an input that another call reads.
  void share_inputs(const CallTypes& call, std::vector<std::optional<std::string>>& taken);
  std::string add_input(const spec::ValueType& type);

  /// The next that can read what is there.
  void add_consumer(Role role);
  /// A call of this definition that reads what is there, where one can.
  void join(const spec::Definition& d, Role role);
  /// One call of the program's definition, on inputs of its own; what it gives is for the reader.
  void add_anew();
  /// The next of those whose results are rewritten with who reads them, on inputs of its own.
  void add_feeder();
  /// The extents of an operand that the program's definition reads first.
  std::optional<Fit> what_is_read();
  /// One call of the program's definition that reads the first input.
  void add_sharing();
  /// \param first the extents of the first operand, where it can have them and the program wishes for no others
  void add_alone(const spec::Definition& d, bool at_levels, std::optional<Fit> first = {});
  /// Rows of the extents of the first, or of those given.
  static void make_equal(const spec::Definition& d, Assignment& a, std::optional<std::vector<std::int64_t>> extents = {});
  /// An elementwise function of what the last call gave: of the ways to read that, and what that read, one which gives back
  /// something simpler among ordinary numbers, where there is one.
  void add_rewritten(const spec::Definition& d);
  /// Elementwise functions of what is elementwise; after moves moves again, and what reads one operand or two; after
  /// others what moves or changes each element; after reductions also these of one operand.
  static bool is_consumer(const spec::Definition& d, const spec::Definition& after);
  /// What gives operands that are rewritten with who reads them.
  static bool is_feeder(const spec::Definition& d, const spec::Definition& before);

  void repeat_call();
  void add_nearly();
  /// A call under another attribute, reading the same: whether its results have the same types, and whether a list holds other numbers.
  struct Alike {
    Assignment assignment;
    bool alike, tells;
  };
  std::optional<Alike> with_another_attribute(const spec::Definition& d, const Assignment& assignment, const CallTypes& before);
  /// Nothing where no attribute is a real number but 0.
  [[nodiscard]] std::optional<Assignment> with_other_digits(Assignment assignment, const spec::Attributes& complete) const;
  void add_other_view();
  /// A view of this type of what the call views, or that itself; nothing where neither can be.
  std::optional<std::string> another_view(const spec::Call& viewing, const spec::ValueType type);
  void exchange_operands();
  void add_once_more();

  /// A call that is drawn and not added yet.
  struct Drawn {
    const spec::Definition* definition = nullptr;
    Assignment assignment;
    CallTypes types;
    spec::ValueType result;  ///< the first
  };
  /// With its types; nothing where the call has none.
  [[nodiscard]] std::optional<Drawn> typed(const spec::Definition& d, Assignment assignment) const;
  /// A call whose first operand has this type. \param equal all rows have its extents
  std::optional<Drawn> drawn_on(const spec::Definition& d, const spec::ValueType& type, bool equal = false);
  /// A move whose result has the type of what it reads, and in which no axis of `apart` moves, where that is given.
  std::optional<Drawn> move_that_keeps(const spec::ValueType& type, const std::vector<std::size_t>* apart = nullptr);
  /// An elementwise call that gives this type, reading at least so many operands of it.
  std::optional<Drawn> elementwise_of(const spec::ValueType& type, std::size_t alike);
  /// \returns the name of its first result, which is hidden unless nobody reads it; nothing where it may not be added
  std::optional<std::string> add_hidden(const Drawn& call, std::vector<std::optional<std::string>> taken);
  void add_between_moves();
  void add_over_itself();
  void add_read_twice();
  void add_epilogue();
  /// A call of the program's definition, about so large. \param square all extents that have names are equal
  std::optional<Drawn> drawn_alone(std::int64_t elements, bool square);
  /// An elementwise call of two operands that gives this type, one of which has one element along an axis.
  std::optional<Drawn> broadcast_over(const spec::ValueType& type);
  void add_rejoined();
  void add_surrounded();
  /// Numbers around a tensor of these extents, on its last axes alone.
  std::optional<Drawn> around(const Fit& read, std::size_t windows);
  void add_there_and_back();
  /// A call of this definition that reads values of just these types, in any order.
  std::optional<Drawn> joining(const spec::Definition& d, const std::vector<spec::ValueType>& pieces);
  /// Adds a call on inputs of its own. \returns what it gives, of this type
  std::optional<std::string> value_of_its_size(const Drawn& call, const spec::ValueType& type);
  /// What is neither elementwise nor a move gives it: compilers compute it before who reads it.
  std::optional<std::string> value_kept(const spec::ValueType& type);

  /// One call of the program's definition, with a constant of the program as an operand.
  void add_with_constant();
  /// The definition that makes the number, others in other turns; nothing where the library has none.
  [[nodiscard]] const spec::Definition* maker_of(double number, std::uint64_t turn) const;

  const ProgramWish& wish_;
  Draw& draw_;
  const Admission& admits_;
  std::vector<const spec::Definition*> all_;
  std::vector<const spec::Definition*> elementwise_;
  std::vector<const spec::Definition*> moves_;
  std::vector<const spec::Definition*> consumers_;
  std::vector<const spec::Definition*> feeders_;
  std::vector<const spec::Definition*> constants_;  ///< make tensors of one number
  std::vector<const spec::Definition*> surrounding_;  ///< moves that put a number where they read nothing
  std::uint64_t turn_;
  std::deque<const spec::Definition*> passed_;  ///< readers whose turn was lost
  std::uint64_t rejoined_ = 0;  ///< how often pieces were joined again, or should have been
  std::set<std::string> of_first_;  ///< what calls of the program's definition gave
  std::vector<Assignment> assignments_;
  spec::Program program_;
  std::vector<std::pair<std::string, spec::ValueType>> results_;
  std::set<std::string> read_;
  std::set<std::string> hidden_;  ///< no outputs where a call reads them
  std::size_t first_readable_ = 0;  ///< of the results
  std::size_t behind_readable_ = std::string::npos;
  std::optional<std::size_t> view_;  ///< the result of the first move
  std::size_t viewing_ = 0;          ///< the step that made it
  bool doubles_ = false;
  bool twins_ = false;
  bool alike_ = false;
};

}  // namespace etalon::conformance
