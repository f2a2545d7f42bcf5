#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/error.hpp"
#include "tools/command/command.hpp"
#include "tools/command/here.hpp"

#ifdef ETALON_HAS_COMPILED
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "spec/file.hpp"
#include "spec/quoted.hpp"
#include "spec/sha256.hpp"
#include "tools/assurance/explained.hpp"
#include "training/certificate/audit.hpp"
#include "training/certificate/envelope.hpp"
#endif

namespace etalon::command {
namespace {

constexpr const char* certify_examples = R"(
The certificate is an in-toto Statement in a DSSE envelope, signed by Ed25519. It names the model's files by SHA-256 and
commits to every interval of the journal. Who has the folder can audit it.

Examples
  openssl genpkey -algorithm ed25519 -out key.pem && openssl pkey -in key.pem -pubout -out key.pub
  etalon certify r --key key.pem -o certificate.json)";

constexpr const char* verify_examples = R"(
Offline: the signature is checked before anything else is read. A file that is given must be one of the certificate's.

Examples
  etalon verify certificate.json --key key.pub
  etalon verify certificate.json --key key.pub --file model.safetensors --run r
Exit status: 0 it holds, 1 it does not, 2 usage or set-up error.)";

constexpr const char* audit_examples = R"(
Intervals drawn by a nonce are computed again, each from the nearest checkpoint before it, and have to come to the digests
that were certified. The nonce has to be the auditor's own and new, which it is unless it is given. With --explained nothing is
computed again: what another system wrote down of each step has to lie within the bounds of the equations, and to end in the
states that were certified.

Examples
  etalon audit certificate.json --key key.pub --run r --intervals 5
  etalon audit certificate.json --key key.pub --run r --all --backend cuda-emulated
  etalon audit certificate.json --key key.pub --run r --explained trace --contract pytorch.json
Exit status: 0 all are as certified, 1 one is not, 2 usage or set-up error.)";

}  // namespace

#ifdef ETALON_HAS_COMPILED

namespace {

struct CertifyWords {
  std::string run, key, output;
  bool explained = false;
  Here here;
};

void certify(const CertifyWords& words) {
  const training::PrivateKey key = training::PrivateKey::read(words.key);
  check_writable(words.output);
  const training::Replay run(words.run, words.here.options());
  const training::Certificate certificate = words.explained ? training::certify_explained(run) : training::certify(words.run, run, words.here.backend);
  const training::Envelope envelope = training::sealed(std::string(training::statement_type), training::to_statement(certificate), key);
  write_file(words.output, training::to_json(envelope) + "\n");
  std::cout << fmt::format("{}: run {}, {} intervals, root {}\n", words.output, certificate.run(), certificate.leaves, certificate.root);
  for (const auto& [name, number] : certificate.metrics) std::cout << fmt::format("  {}: {:.6g}\n", name, number);
}

/// The certificate in a file. \throws SpecViolation where it is not signed by that key, or is of another type
training::Certificate certificate_in(const std::string& file, const training::PublicKey& key) {
  const training::Envelope envelope = training::read_envelope(read_file(file), file);
  if (!training::is_signed_by(envelope, key)) throw SpecViolation(fmt::format("{}: no signature is this key's ({})", file, key.name()));
  if (envelope.type != training::statement_type) {
    throw SpecViolation(fmt::format("{}: the payload is {}, expected {}", file, as_quoted(envelope.type),
                                    training::statement_type));
  }
  return training::read_statement(envelope.payload, file);
}

struct VerifyWords {
  std::string certificate, key, run;
  std::vector<std::string> files;
};

std::string_view name_of(training::Level level) { return level == training::Level::bitwise ? "bitwise" : "explained"; }

std::string text_of(const training::Environment& e) {
  std::string text = fmt::format("from step {} by {}", e.from, e.device);
  if (!e.vectors.empty()) text += " (" + e.vectors + ")";
  if (e.threads > 0) text += fmt::format(", {} threads", e.threads);
  if (e.devices > 0) text += fmt::format(", {} devices for leaves", e.devices);
  if (!e.processor.empty()) text += ", " + e.processor;
  if (!e.host.empty()) text += ", host " + e.host;
  if (!e.executable.empty()) text += ", executable " + e.executable;
  return text + ", build " + e.build + ": the trainer's word";
}

/// Names in a certificate are the signer's, who may be a stranger to this terminal: each stays on its line.
void show(const training::Certificate& c) {
  std::cout << fmt::format("run        {}\nlevel      {}\nintervals  {}, root {}\nstates     {} to\n           {}\n", c.run(),
                           name_of(c.level), c.leaves, c.root, c.start, c.end);
  for (const training::Certificate::Subject& s : c.subjects) std::cout << fmt::format("file       {}  {}\n", s.sha256, on_one_line(s.name));
  for (const training::Environment& e : c.environments) std::cout << "computed   " << on_one_line(text_of(e)) << '\n';
  if (const auto& s = c.checked) {
    std::cout << fmt::format("checked    {}: {} steps replayed, {} judged, {} transient faults\n", on_one_line(s->policy), s->replayed,
                             s->judged, s->transient);
  }
  for (const auto& [name, number] : c.metrics) {
    std::cout << fmt::format("metric     {}: {:.6g}, the trainer's word\n", on_one_line(name), number);
  }
}

/// One line for each thing that is not as certified.
std::vector<std::string> faults_of(const training::Certificate& c, const VerifyWords& words) {
  std::vector<std::string> faults;
  for (const std::string& file : words.files) {
    const std::string digest = sha256_of(read_file(file));
    const bool named = std::any_of(c.subjects.begin(), c.subjects.end(), [&](const auto& s) { return s.sha256 == digest; });
    if (!named) faults.push_back(fmt::format("{}: its SHA-256 {} is no file's of the certificate", file, digest));
  }
  if (words.run.empty()) return faults;
  for (const std::string& line : training::contradictions(c, training::Replay(words.run, {}))) {
    faults.push_back(words.run + ": " + on_one_line(line));
  }
  return faults;
}

int verify(const VerifyWords& words) {
  const training::PublicKey key = training::PublicKey::read(words.key);
  training::Certificate certificate;
  try {
    certificate = certificate_in(words.certificate, key);
  } catch (const SpecViolation& error) {
    std::cout << error.what() << "\ndoes not hold\n";
    return 1;
  }
  show(certificate);
  const std::vector<std::string> faults = faults_of(certificate, words);
  for (const std::string& fault : faults) std::cout << fault << '\n';
  std::cout << (faults.empty() ? "holds\n" : "does not hold\n");
  return faults.empty() ? 0 : 1;
}

struct AuditWords {
  std::string certificate, key, run, nonce, json, trace, from, contract = "cpu";
  std::int64_t intervals = 5;
  bool all = false;
  Here here;
};

/// What intervals are held to instead of being computed again: a trace, by a contract.
struct Explained {
  assurance::Explanation trace;
  spec::Contract contract;
};

nlohmann::ordered_json json_of(const training::Audit& audited, const training::Certificate& c, const training::Nonce& nonce,
                               const std::optional<Explained>& by, const std::string& start) {
  nlohmann::ordered_json json{{"run", c.run()}, {"nonce", nonce.hexadecimal()}, {"of", c.leaves}, {"holds", audited.holds() && start.empty()}};
  if (!start.empty()) json["start"] = start;
  json["level"] = name_of(by ? training::Level::explained : training::Level::bitwise);
  if (by) {
    json["contract"] = nlohmann::ordered_json::parse(spec::to_json(by->contract));
    json["elements"] = by->trace.elements();
    json["undecided"] = by->trace.undecided();
  }
  json["intervals"] = nlohmann::ordered_json::array();
  for (const training::Replayed& r : audited.intervals) {
    json["intervals"].push_back(
        {{"interval", r.line.interval}, {"step", r.line.step}, {"from", r.from}, {"same", r.same}, {"difference", r.difference}});
  }
  return json;
}

void say_power(std::int64_t of, std::int64_t asked) {
  for (const std::int64_t forged : {std::int64_t{1}, of / 10, of / 2}) {
    if (forged < 1) continue;
    std::cout << fmt::format("  of {} forged interval{} one at least is met with probability {:.3g}\n", forged, forged == 1 ? "" : "s",
                             training::chance_of_finding(of, forged, asked));
  }
}

void say_interval(const training::Replayed& r) {
  std::cout << fmt::format("  interval {:>4}, to step {:>6}, from the state after step {:>6}: {}", r.line.interval, r.line.step, r.from,
                           r.same ? "as certified" : r.difference)
            << std::endl;
}

/// How the state before the first step is not what the declaration makes it; nothing where it is, or where nobody has the file.
std::string difference_at_start(const AuditWords& words, const training::Replay& run) {
  const auto& imported = run.declaration().imported;
  if (!imported && !words.from.empty()) throw SpecViolation("audit: --from names a file, the run started from what its seed draws");
  if (imported && words.from.empty()) {
    std::cout << fmt::format("  start: parameters of a file with SHA-256 {}, the trainer's word; --from checks it\n", imported->sha256);
    return "";
  }
  const std::string found = run.start_again(words.from), committed = run.declaration().start;
  std::cout << fmt::format("  start: {}\n", found == committed ? "as certified" : fmt::format("{}, certified is {}", found, committed));
  return found == committed ? "" : fmt::format("the state before the first step is {}, certified is {}", found, committed);
}

int audit(const AuditWords& words) {
  const training::Certificate certificate = certificate_in(words.certificate, training::PublicKey::read(words.key));
  const training::Nonce nonce = words.nonce.empty() ? training::Nonce::fresh() : training::Nonce::of(words.nonce);
  const std::int64_t asked = words.all ? certificate.leaves : words.intervals;
  if (!words.json.empty()) check_writable(words.json);
  std::cout << fmt::format("run {}, {} of {} intervals, nonce {}\n", certificate.run().substr(0, 16), asked, certificate.leaves, nonce.hexadecimal());
  const training::Replay run(words.run, words.here.options());
  std::optional<Explained> by;
  training::IntervalCheck check;
  if (!words.trace.empty()) {
    const spec::Contract contract = contract_of(words.contract);
    by.emplace(Explained{assurance::Explanation(run.declaration(), words.trace, contract, words.here.data), contract});
    check = [&](std::size_t at) { return by->trace.interval(run.lines(), at); };
  } else if (certificate.level == training::Level::explained) {
    throw SpecViolation(words.certificate + ": what it certifies is explained by a trace, which --explained names");
  }
  const std::string start = by ? "" : difference_at_start(words, run);
  const training::Audit audited = training::audit(certificate, run, nonce, asked, say_interval, check);
  const bool holds = audited.holds() && start.empty();
  if (by) std::cout << fmt::format("{} elements held to their bounds, {} undecided\n", by->trace.elements(), by->trace.undecided());
  if (!words.json.empty()) write_file(words.json, json_of(audited, certificate, nonce, by, start).dump(2) + "\n");
  if (!words.all) say_power(certificate.leaves, asked);
  std::cout << (holds ? "holds\n" : "does not hold\n");
  return holds ? 0 : 1;
}

}  // namespace

void add_certify(Command app, Outcome& outcome) {
  Command command = app.command("certify", "Sign what a training run in a folder came to");
  command.footer(certify_examples);
  auto words = std::make_shared<CertifyWords>();
  command.option("run", words->run, "The folder").required();
  command.option("--key", words->key, "An Ed25519 private key in PEM").required();
  command.option("-o,--output", words->output, "The certificate").required();
  command.flag("--explained", words->explained, "Another system computed the run: nothing is computed again, and audits ask for its traces");
  words->here.add_to(command);
  command.callback([words, &outcome] {
    certify(*words);
    outcome.status = 0;
  });
}

void add_verify(Command app, Outcome& outcome) {
  Command command = app.command("verify", "Check a certificate of a training run, its files and its folder");
  command.footer(verify_examples);
  auto words = std::make_shared<VerifyWords>();
  command.option("certificate", words->certificate, "The certificate").required();
  command.option("--key", words->key, "The Ed25519 public key in PEM of who is believed").required();
  command.option("--file", words->files, "A file that must be one of those that it names").one_word();
  command.option("--run", words->run, "The folder whose journal must be the one that was certified");
  command.callback([words, &outcome] { outcome.status = verify(*words); });
}

void add_audit(Command app, Outcome& outcome) {
  Command command = app.command("audit", "Compute intervals of a certified training run again");
  command.footer(audit_examples);
  auto words = std::make_shared<AuditWords>();
  command.option("certificate", words->certificate, "The certificate").required();
  command.option("--key", words->key, "The Ed25519 public key in PEM of who is believed").required();
  command.option("--run", words->run, "The folder of the run").required();
  command.option("--intervals", words->intervals, "How many are computed again").between(1, 1000000000).with_default();
  command.flag("--all", words->all, "All of them");
  command.option("--from", words->from, "The file of parameters that the run started from, where it did");
  command.option("--nonce", words->nonce, "64 hexadecimal digits that the intervals are drawn from, to repeat an audit");
  command.option("--explained", words->trace, "A folder with what another system wrote down of the steps, in place of computing them again");
  command.option("--contract", words->contract, "What that system's arithmetic promises: a name, or a file").with_default();
  command.option("--json", words->json, "Write what was found to this file");
  words->here.add_to(command);
  command.callback([words, &outcome] { outcome.status = audit(*words); });
}

#else

void add_certify(Command app, Outcome&) { add_missing(app, "certify", "Sign what a training run in a folder came to", certify_examples); }
void add_verify(Command app, Outcome&) { add_missing(app, "verify", "Check a certificate of a training run, its files and its folder", verify_examples); }
void add_audit(Command app, Outcome&) { add_missing(app, "audit", "Compute intervals of a certified training run again", audit_examples); }
#endif

}  // namespace etalon::command
