/// \file
/// Keys, folders and a certificate for tests.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "spec/file.hpp"
#include "spec/protocol/base64.hpp"
#include "spec/sha256.hpp"
#include "training/certificate/certificate.hpp"
#include "training/certificate/signing.hpp"

namespace etalon::training {

/// Gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "etalon-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// A pair of keys, the same for the same name.
class Keys {
 public:
  explicit Keys(const TemporaryFolder& folder, const std::string& name = "key")
      : secret_([&] {
          // The seed of a key of PKCS #8 is what comes last.
          static constexpr unsigned char head[] = {0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20};
          Bytes der;
          for (const unsigned char byte : head) der.push_back(static_cast<std::byte>(byte));
          const Sha256::Digest seed = Sha256().add(name).digest();
          der.insert(der.end(), seed.begin(), seed.end());
          write_file(folder / (name + ".pem"), "-----BEGIN PRIVATE KEY-----\n" + spec::to_base64(der) + "\n-----END PRIVATE KEY-----\n");
          return PrivateKey::read(folder / (name + ".pem"));
        }()) {}
  [[nodiscard]] const PrivateKey& secret() const { return secret_; }
  [[nodiscard]] PublicKey open() const { return secret_.public_key(); }

 private:
  PrivateKey secret_;
};

inline Certificate some_certificate() {
  Certificate c;
  c.subjects = {{"model.safetensors", sha256_of("model")}};
  c.declaration = "{\"seed\": 1}\n";
  c.start = sha256_of("start");
  c.end = sha256_of("end");
  c.leaves = 7;
  c.root = sha256_of("root");
  c.environments = {{0, "x86-64 AVX2", "1.0"}, {400, "emulated GPU", "1.0"}};
  c.metrics = {{"accuracy", 0.75}, {"loss", -0x1.921fb54442d18p+1}, {"nothing", 0}};
  return c;
}

}  // namespace etalon::training
