// The hash of OpenSSL's libcrypto, which uses the processor's instructions for it.
#include "capra/base/hash/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <new>

#include "capra/base/result.h"

namespace capra {

struct Sha256::State {
  EVP_MD_CTX* context;
};

Sha256::Sha256() : state_(new State{EVP_MD_CTX_new()}) {
  if (state_->context == nullptr) throw std::bad_alloc();
  CAPRA_CHECK(EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1);
}

Sha256::~Sha256() {
  if (state_ != nullptr) EVP_MD_CTX_free(state_->context);
}

Sha256::Sha256(Sha256&& other) noexcept = default;

Sha256& Sha256::operator=(Sha256&& other) noexcept {
  state_.swap(other.state_);
  return *this;
}

void Sha256::update(const void* bytes, size_t size) {
  CAPRA_CHECK(EVP_DigestUpdate(state_->context, bytes, size) == 1);
}

std::string Sha256::finish() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<unsigned char, 32> digest;
  CAPRA_CHECK(EVP_DigestFinal_ex(state_->context, digest.data(), nullptr) == 1);
  std::string text;
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace capra
