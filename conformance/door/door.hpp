/// \file
/// One function, JSON in, JSON out, for whoever shows what texts mean: a page, a notebook, an editor. It holds no meaning
/// of its own and needs no compiler.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace etalon::conformance {

/// Answers one request, `{"kind": …}`, with one line of JSON; docs/door.schema.json has both.
/// - `check`: `definitions`, `program` or both; `{"ok": true}` with the names and types that are there.
/// - `derive`: an `operation`, perhaps of `definitions`; its equations at a sample call and their derivatives.
/// - `explain`: the same with an example in numbers; what `etalon explain` prints is a view of it.
/// Total: whatever is wrong with the request or its texts is `{"ok": false, "error": {"message", …}}`, with `text`, `line`,
/// `column` and `excerpt` where the place is known. What computes for longer than `longest` is refused.
[[nodiscard]] std::string door(std::string_view request, std::chrono::milliseconds longest = std::chrono::seconds(10));

}  // namespace etalon::conformance
