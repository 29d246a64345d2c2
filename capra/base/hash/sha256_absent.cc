// What a build without libcrypto has in its place: a cross build, which takes headers alone.
#include "capra/base/hash/sha256.h"
#include "capra/base/result.h"

namespace capra {

struct Sha256::State {};

Sha256::Sha256() {
  throw Error({"hash-not-built",
               "this build cannot compute SHA-256",
               {},
               "use a build for the machine that it was made on"});
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&& other) noexcept = default;
Sha256& Sha256::operator=(Sha256&& other) noexcept = default;
void Sha256::update(const void*, size_t) {}
std::string Sha256::finish() { return {}; }

}  // namespace capra
