/// \file
/// Keeps the workers of a pool off the processor of their caller, and off each other's. It knows nothing of work. Where
/// the system is not Linux, or does not let threads be placed, it does nothing.
#pragma once

#include <memory>
#include <span>
#include <thread>

#include <boost/core/noncopyable.hpp>

namespace etalon::compiled {

/// Schedulers like to wake a thread where the one that wakes it runs, and may leave both there for longer than the work
/// takes: two threads then take as long as one. Which processors a worker may use says otherwise. Numbers do not
/// change.
///
/// The processors that are shared out are those that the thread which makes this may use. Nothing is done where these
/// are fewer than the threads, nor any more once somebody else has said where a worker may run.
class Placement : boost::noncopyable {
 public:
  /// \param workers outlive this
  explicit Placement(std::span<std::thread> workers);
  ~Placement();

  /// Before work is handed out, by the thread that hands it out and has its own part in it. Costs nothing to speak of
  /// while that thread stays on its processor.
  void make_way();

 private:
  struct State;
  std::unique_ptr<State> state_;  ///< none when nothing is to be done
};

}  // namespace etalon::compiled
