#include "conformance/pjrt/plugin.hpp"

#include <fmt/format.h>

#include <string_view>

#include "conformance/isolation/library.hpp"
#include "spec/error.hpp"
#include "spec/quoted.hpp"

namespace etalon::conformance::pjrt {
namespace {

constexpr std::size_t longest_message = 600;

/// Text of a plug-in, which may be none, on one line.
[[nodiscard]] std::string message_of(const char* text, std::size_t size) {
  if (text == nullptr || size == 0) return "no message";
  return on_one_line(std::string_view(text, size < longest_message ? size : longest_message));
}

}  // namespace

Plugin::Plugin(const std::string& path) {
  using Entry = const Api* (*)();
  api_ = reinterpret_cast<Entry>(symbol_of_library(path, entry_point, "pjrt"))();
  check_table(path);
  PluginInitialize initialize;
  call(initialize);
}

void Plugin::check_table(const std::string& path) const {
  const std::string where = fmt::format("pjrt: {}", path);
  if (api_ == nullptr) throw IoError(fmt::format("{}: {} gives no table", where, entry_point));
  // The version stands in what every table has; the rest of it only where the size says so.
  if (api_->head.size < Api::without_functions)
    throw IoError(fmt::format("{}: expected a table of at least {} bytes, found {}", where, sizeof(Api), api_->head.size));
  if (api_->version.major != major_version || api_->version.minor < oldest_minor_version)
    throw IoError(fmt::format("{}: expected version {}.{} of the interface or a newer one of {}, found {}.{}", where, major_version,
                              oldest_minor_version, major_version, api_->version.major, api_->version.minor));
  if (api_->head.size < sizeof(Api))
    throw IoError(fmt::format("{}: expected a table of at least {} bytes, found {}", where, sizeof(Api), api_->head.size));
  for (const Function& function : needed_functions) {
    if (api_->functions[function.place] == nullptr) throw IoError(fmt::format("{}: its table has no {}", where, function.name));
  }
}

void Plugin::raise(const Function& function, Error* error) const {
  if (error == nullptr) return;
  // These two return nothing, and the third only an error of its own, which says less.
  ErrorMessage message;
  message.head.size = stated_size<ErrorMessage>();
  message.error = error;
  reinterpret_cast<void (*)(ErrorMessage*)>(api_->functions[ErrorMessage::function.place])(&message);
  const std::string said = message_of(message.message, message.message_size);
  ErrorGetCode code;
  code.head.size = stated_size<ErrorGetCode>();
  code.error = error;
  Error* of_code = reinterpret_cast<Error* (*)(ErrorGetCode*)>(api_->functions[ErrorGetCode::function.place])(&code);
  for (Error* one : {of_code, error}) {
    ErrorDestroy destroyed;
    destroyed.head.size = stated_size<ErrorDestroy>();
    destroyed.thing = one;
    if (one != nullptr) reinterpret_cast<void (*)(ErrorDestroy*)>(api_->functions[ErrorDestroy::function.place])(&destroyed);
  }
  throw PluginError(fmt::format("{}: {}", function.name, said), of_code == nullptr ? code.code : 0);
}

void Plugin::keep(const std::exception& error) const noexcept {
  try {
    if (complaint_.empty()) complaint_ = error.what();
  } catch (const std::exception&) {  // no memory for a message
  }
}

std::string Plugin::version() const { return fmt::format("PJRT {}.{}", api_->version.major, api_->version.minor); }

void await(const Plugin& plugin, Event* event) {
  if (event == nullptr) return;
  const OwnedEvent owned(plugin, event);
  EventAwait args;
  args.thing = event;
  plugin.call(args);
}

}  // namespace etalon::conformance::pjrt
