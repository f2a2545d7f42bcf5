#include <array>
#include <cstdio>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "spec/notation/words.hpp"
#include "spec/protocol/json.hpp"
#include "spec/scalar.hpp"
#include "tests/fuzz/readers.hpp"

namespace etalon::fuzz {
namespace {

constexpr std::array all_targets{Target{"notation", read_notation, notation_seeds},
                                 Target{"definitions", read_definitions, definitions_seeds},
                                 Target{"einsum", read_einsum, einsum_seeds},
                                 Target{"program", read_program, program_seeds},
                                 Target{"program_json", read_program_json, program_json_seeds},
                                 Target{"request", read_request, request_seeds},
                                 Target{"answer", read_answer, answer_seeds},
                                 Target{"contract", read_contract, contract_seeds},
                                 Target{"case", read_case, case_seeds},
                                 Target{"pack", read_pack, pack_seeds},
                                 Target{"onnx", read_onnx, onnx_seeds},
                                 Target{"door", read_door, door_seeds},
                                 Target{"stablehlo", read_stablehlo, stablehlo_seeds},
                                 Target{"waivers", read_waivers, waivers_seeds},
#ifdef ETALON_COMPILED
                                 Target{"loops", read_loops, loops_seeds},
#endif
                                 Target{"report", read_report, report_seeds},
                                 Target{"log", read_log, log_seeds},
                                 Target{"golden", read_golden, golden_seeds},
                                 Target{"data", read_data, data_seeds},
                                 Target{"csv", read_csv, csv_seeds},
                                 Target{"idx", read_idx, idx_seeds},
                                 Target{"npy", read_npy, npy_seeds},
                                 Target{"gzip", read_gzip, gzip_seeds},
                                 Target{"safetensors", read_safetensors, safetensors_seeds},
                                 Target{"npz", read_npz, npz_seeds}};

std::string_view at_hand;

}  // namespace

void run(const Target& target, std::string_view text) {
  at_hand = text;
  target.run(text);
}

bool is_utf8(std::string_view bytes) {
  try {
    (void)spec::Json(std::string(bytes)).dump();
    return true;
  } catch (const spec::Json::type_error&) {
    return false;
  }
}

void check_message(std::string_view message) {
  if (message.find('\n') != std::string_view::npos) broken("a message is one line", message);
  if (!is_utf8(message) && is_utf8(at_hand)) broken("a message about UTF-8 is UTF-8", message);
}

std::span<const Target> targets() { return all_targets; }

std::vector<std::string> words() {
  std::vector<std::string> all{
      "...", "..", "->", "=>", "//", "<=", ">=", "==", "!=", "--", "#", "?", "@", "~", "'", "&", "^", " : ", ":+=", ":max=", "\n  ",
      "{axis = 0}", "[..s, i]", "sum[k] ", "max[k < n where k < 2] ", "9223372036854775807", "-9223372036854775808", "1e308",
      "1e-400", "4294967296", "nan", "inf", "-inf", "null", "true", "false", "[]", "{}", "[[[[[[[[", "{\"a\":", "((((((((",
      "dtype", "shape", "data", "strides", "offset", "inputs", "calls", "operation", "operands", "attributes", "results",
      "outputs", "packs", "role", "range", "value", "wrt", "tangents", "cotangents", "definitions", "derivative", "seeds", "of",
      "buffers", "assign", "places", "accumulation", "updates", "parameter", "constant", "index", "input ", "output ", "update ",
      "buffer ", "end definitions", "section", "\"id\"", "unsupported", "rejected", "error", "describe", "functions", "k0",
      "sums", "lanes", "block", "halves", "f16", "bf16", "f32", "f64", "i32", "i64", "bool", "number", "any", "int", "real",
      "axis", "axes", "all", "reversed", "case ", "rejected ", "absent", "AACAPw==", "min_plus", "log_sum_exp",
      "kernel ", " of 1 operations:", "out ", "inout ", "over ", "term ", "fetches ", "merged ", " in 64 lanes", " in 8 chains", " in blocks of 4 turns of ", " until ",
      ", one by one", ", on cores", ", around the caches", " to be written", " += ", "for tiles of ", "for squares of ", " bytes of the kernel's own", "~nan'", "281474976710656"};
  for (const char* keyword : {"if ", " then ", " else ", " and ", " or ", "not ", " where ", " when ", "let ", "requires ", "detach(",
                              "family ..s: ", "also", "jvp", "vjp"})
    all.emplace_back(keyword);
  for (int b = 0; b <= static_cast<int>(spec::Builtin::completed); ++b)
    all.push_back(std::string(spec::notation::name_of(static_cast<spec::Builtin>(b))) + "(");
  for (int p = 0; p < static_cast<int>(spec::Primitive::count_); ++p) all.emplace_back(info(static_cast<spec::Primitive>(p)).name);
  return all;
}

void broken(std::string_view promise, std::string_view found) {
  std::fprintf(stderr, "broken: %.*s: %.*s\n", static_cast<int>(promise.size()), promise.data(), static_cast<int>(found.size()), found.data());
  std::abort();
}

}  // namespace etalon::fuzz
