// Counter-based random numbers: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3" (SC 2011), the generator of Random123, cuRAND and JAX's relatives.
//
// A number is a pure function of (seed, what it is for, stream, index): nothing is stored, any
// thread may ask, and every machine gets the same bits.
//
//   const RandomStream stream(seed, RandomUse::kInitialization, tensor_index);
//   float u = UnitFloat(stream.At(i)[0]);
#ifndef TRIBUTARY_COMMON_BASE_PHILOX_H_
#define TRIBUTARY_COMMON_BASE_PHILOX_H_

#include <array>
#include <cstdint>

namespace tributary {

// Ten rounds over a 128-bit counter with a 64-bit key.
std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// What a random number is for. The values are part of the determinism contract: never renumber.
enum class RandomUse : uint16_t {
  kInitialization = 1,
  kSampleOrder = 2,
  kDropout = 3,
  kSyntheticData = 4,
};

// Independent streams of random blocks for one seed and use.
class RandomStream {
 public:
  // `stream` has 48 significant bits (a tensor, an epoch, a step and layer ...).
  RandomStream(uint64_t seed, RandomUse use, uint64_t stream)
      : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
        high_{static_cast<uint32_t>(stream),
              static_cast<uint32_t>(stream >> 32 & 0xffff) | static_cast<uint32_t>(use) << 16} {}

  // Block `index`: four independent 32-bit numbers.
  std::array<uint32_t, 4> At(uint64_t index) const {
    return Philox4x32(
        {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), high_[0], high_[1]},
        key_);
  }

 private:
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 2> high_;
};

// Uniform in [0, 1) with 24 bits: exact in fp32, so the same on every machine.
inline float UnitFloat(uint32_t bits) {
  return static_cast<float>(bits >> 8) * 0x1.0p-24f;
}

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_BASE_PHILOX_H_
