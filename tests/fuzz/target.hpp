/// \file
/// What is fuzzed: for each kind of text from outside a function that reads it, and the texts from which mutation
/// starts. It knows no engine: libFuzzer and the replay both drive these.
#pragma once

#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/error.hpp"

namespace etalon::fuzz {

/// A reader of text from outside. `run` returns for every text whatever: the text is read or refused with the errors
/// that the reader documents, and what was read says the same once it is written and read again. Anything else ends
/// the process.
struct Target {
  std::string_view name;
  void (*run)(std::string_view text);
  std::vector<std::string> (*seeds)();
};

[[nodiscard]] std::span<const Target> targets();

/// Runs the reader on a text, which is the text at hand meanwhile.
void run(const Target& target, std::string_view text);

/// What libFuzzer's dictionary and the replay's mutation insert: words of the notation, of programs and of JSON.
[[nodiscard]] std::vector<std::string> words();

/// Ends the process: the reader broke this promise.
[[noreturn]] void broken(std::string_view promise, std::string_view found);

/// Ends the process unless the message is one line, and in UTF-8 if the text at hand is.
void check_message(std::string_view message);

/// Whether these bytes are UTF-8.
[[nodiscard]] bool is_utf8(std::string_view bytes);

/// Reads; a SpecViolation, Unsupported or IoError is a refusal, any other exception ends the process.
/// \returns whether it was not refused
template <class Read>
bool accepted(const Read& read) {
  try {
    read();
    return true;
  } catch (const SpecViolation& error) {
    check_message(error.what());
  } catch (const Unsupported& error) {
    check_message(error.what());
  } catch (const IoError& error) {
    check_message(error.what());
  } catch (const std::exception& error) {
    broken("what is wrong with a text is a SpecViolation, Unsupported or IoError", error.what());
  }
  return false;
}

}  // namespace etalon::fuzz
