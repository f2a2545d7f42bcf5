/// \file
/// The steps of a kernel as C, which is also CUDA C++: loops in order, reductions in the blocks of their
/// trees, which have one chain here. It knows neither functions nor launches.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiled/emit/text/scalars.hpp"
#include "compiled/ir/blocks.hpp"
#include "compiled/ir/nest.hpp"

namespace etalon::compiled::source {

/// Writes the steps of one kernel as one thread does them. Loops in lanes, tiles and squares are for others and have no text here.
class Steps {
 public:
  /// \param index the type that loops count in
  Steps(Scalars& scalars, const spec::System& system, Text& text, std::string_view index = "int64_t") : scalars_(scalars), system_(system), text_(&text), index_(index) {}
  virtual ~Steps() = default;
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  void all(const std::vector<loops::Step>& steps);
  /// Declares the memory that the kernel has of its own.
  /// \param scratch points to what the thread that runs it is given; empty where all of it is the function's
  void own(const loops::Nest& nest, const std::string& scratch = {});

 protected:
  /// What a reduction carries from one term to the next.
  struct Partial {
    std::string value;     ///< the result's identifier
    std::string best;      ///< of a position: the extremum found
    std::string found;     ///< whether there was a term; empty where nobody asks
    std::string sums;      ///< of a sum in blocks: where sums wait
    std::string blocks;    ///< and how many blocks there were
    loops::Type type = loops::Type::f32;
  };

  /// Which turns of a loop are taken: first, first + step, ….
  struct Walk {
    std::string first = "0";
    std::int64_t step = 1;
    bool unroll = false;  ///< several turns have their reads under way at a time
  };
  /// \throws InternalError for a loop in lanes: there is one thread
  [[nodiscard]] virtual Walk walk_of(const loops::Loop& loop) const;
  /// The blocks of a loop's turns that are taken, as numbers of its first turn and of that after the last.
  [[nodiscard]] virtual std::pair<std::string, std::string> stretch_of(const loops::Reduce& r) const;

  virtual void step(const loops::Loop& loop, const loops::Step& s);
  virtual void step(const loops::Reduce& r, const loops::Step& s);
  virtual void step(const loops::Store& store, const loops::Step& s);
  virtual void step(const loops::Contract& c, const loops::Step& s);
  virtual void step(const loops::Define& d, const loops::Step& s);
  void step(const loops::Transpose& t, const loops::Step& s);

  void open(const loops::Loop& loop);
  Partial declare(const loops::Reduce& r);
  void declare_terms(const loops::Reduce& r, Partial& p, const std::string& name);
  void add_up(const loops::Reduce& r, const loops::Step& s, Partial& partial);
  [[nodiscard]] static bool has_terms_flag(const loops::Reduce& r);
  void otherwise(const loops::Reduce& r, const Partial& partial);
  void open_blocks(const loops::Reduce& r, Partial& p);
  void inside(const loops::Reduce& r, std::size_t level, const loops::Step& s, const Partial& partial);
  void in_blocks(const loops::Reduce& r, const loops::Step& s, const Partial& partial);
  void accumulate(const loops::Reduce& r, const Partial& partial);
  void accumulate_position(const loops::Reduce& r, const Partial& partial, const std::string& value);
  [[nodiscard]] std::string joined(spec::Reduction reduction, loops::Type type, const std::string& a, const std::string& b);

  Scalars& scalars_;
  const spec::System& system_;
  Text* text_;
  std::string index_;
};

}  // namespace etalon::compiled::source
