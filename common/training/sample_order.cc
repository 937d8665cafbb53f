#include "common/training/sample_order.h"

#include <bit>

#include "common/base/philox.h"

namespace tributary {
namespace {

// The finaliser of MurmurHash3 (Appleby, public domain): every input bit changes every output bit
// with probability one half.
uint32_t Mix(uint32_t h) {
  h ^= h >> 16;
  h *= 0x85ebca6b;
  h ^= h >> 13;
  h *= 0xc2b2ae35;
  return h ^ h >> 16;
}

}  // namespace

SampleOrder::SampleOrder(uint64_t seed, int64_t epoch, int64_t samples)
    : samples_(static_cast<uint64_t>(samples)),
      half_bits_((static_cast<int>(std::bit_width(samples_ - 1)) + 1) / 2),
      half_mask_((uint64_t{1} << half_bits_) - 1),
      round_keys_() {
  const RandomStream stream(seed, RandomUse::kSampleOrder, static_cast<uint64_t>(epoch));
  for (int round = 0; round < kRounds; ++round) {
    round_keys_[round] = stream.At(static_cast<uint64_t>(round))[0];
  }
}

uint64_t SampleOrder::Permute(uint64_t value) const {
  uint64_t left = value >> half_bits_;
  uint64_t right = value & half_mask_;
  for (const uint32_t key : round_keys_) {
    const uint64_t next = left ^ (Mix(static_cast<uint32_t>(right) ^ key) & half_mask_);
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

int64_t SampleOrder::At(int64_t position) const {
  // The domain is less than four times `samples`, and a permutation's cycle comes back into
  // [0, samples) because it started there.
  uint64_t value = static_cast<uint64_t>(position);
  do {
    value = Permute(value);
  } while (value >= samples_);
  return static_cast<int64_t>(value);
}

}  // namespace tributary
