/// \file
/// A PJRT plug-in that is loaded into this process: its functions, called with the errors that they return as exceptions, and
/// what they make, destroyed. It knows no program and no tensor.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "conformance/pjrt/c_api.hpp"

namespace etalon::conformance::pjrt {

/// An error that a function of the plug-in returned: `PJRT_Client_Compile: what it said`, on one line.
class PluginError : public std::runtime_error {
 public:
  PluginError(const std::string& what, int code) : std::runtime_error(what), code_(code) {}
  /// Whether the plug-in says that it does not offer what was asked.
  [[nodiscard]] bool is_unimplemented() const { return code_ == static_cast<int>(ErrorCode::unimplemented); }

 private:
  int code_;
};

class Plugin {
 public:
  /// Loads the library, checks its table and initialises it.
  /// \throws IoError when it cannot be loaded, exports no table, or has one of another version, too short or with gaps
  explicit Plugin(const std::string& path);
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  /// Calls the function that takes this struct. \throws PluginError for what it returns
  template <class Args>
  void call(Args& args) const {
    args.head.size = stated_size<Args>();
    using Called = Error* (*)(Args*);
    raise(Args::function, reinterpret_cast<Called>(api_->functions[Args::function.place])(&args));
  }

  /// Calls the function that destroys the thing. It does not throw: destructors call it; what goes wrong is kept.
  template <class Args, class Thing>
  void destroy(Thing* thing) const noexcept {
    try {
      Args args;
      args.thing = thing;
      call(args);
    } catch (const std::exception& error) {
      keep(error);
    }
  }

  /// What went wrong in destroying since this was asked last, or nothing.
  [[nodiscard]] std::string taken_complaint() { return std::exchange(complaint_, {}); }

  /// `PJRT 0.114`.
  [[nodiscard]] std::string version() const;

 private:
  void check_table(const std::string& path) const;
  /// \throws PluginError unless the error is none, which is destroyed
  void raise(const Function& function, Error* error) const;
  void keep(const std::exception& error) const noexcept;

  const Api* api_ = nullptr;
  mutable std::string complaint_;
};

/// Something that a plug-in made, destroyed by the function that takes `Args`. The plug-in outlives it.
template <class Thing, class Args>
class Owned {
 public:
  Owned(const Plugin& plugin, Thing* thing) : thing_(thing, Destroyer{&plugin}) {}
  [[nodiscard]] Thing* get() const { return thing_.get(); }

 private:
  struct Destroyer {
    const Plugin* plugin;
    void operator()(Thing* thing) const noexcept { plugin->destroy<Args>(thing); }
  };
  std::unique_ptr<Thing, Destroyer> thing_;
};

using OwnedEvent = Owned<Event, EventDestroy>;
using OwnedClient = Owned<Client, ClientDestroy>;
using OwnedBuffer = Owned<Buffer, BufferDestroy>;
using OwnedExecutable = Owned<Executable, ExecutableDestroy>;
using OwnedLoadedExecutable = Owned<LoadedExecutable, LoadedExecutableDestroy>;

/// Waits until what the event stands for is done, and destroys it; none is done. \throws PluginError for how it ended
void await(const Plugin& plugin, Event* event);

}  // namespace etalon::conformance::pjrt
