// FNV-1a, 64 bit (http://www.isthe.com/chongo/tech/comp/fnv/): tells two layouts, plans or data
// sets apart by accident, not against an attacker.
#ifndef TRIBUTARY_COMMON_BASE_FINGERPRINT_H_
#define TRIBUTARY_COMMON_BASE_FINGERPRINT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tributary {

class Fingerprint {
 public:
  Fingerprint& Add(std::string_view bytes) {
    for (const char byte : bytes) {
      hash_ = (hash_ ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
    }
    return *this;
  }
  // Eight bytes, least significant first.
  Fingerprint& Add(uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) {
      hash_ = (hash_ ^ (number >> shift & 0xff)) * 0x100000001b3;
    }
    return *this;
  }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_BASE_FINGERPRINT_H_
