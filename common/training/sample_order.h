// The order of the samples in an epoch: a permutation of [0, samples) that is a function of (seed,
// epoch) and is computed one position at a time. Nothing is stored, so a worker that is given any
// slot of any step knows its samples at once, and a data set of any size costs no memory.
//
// A balanced Feistel network over the smallest even number of bits that holds `samples`, with cycle
// walking for the values beyond (Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA
// 2002). The round keys come from Philox.
#ifndef TRIBUTARY_COMMON_TRAINING_SAMPLE_ORDER_H_
#define TRIBUTARY_COMMON_TRAINING_SAMPLE_ORDER_H_

#include <array>
#include <cstdint>

namespace tributary {

class SampleOrder {
 public:
  // `samples` positive, below 2^48.
  SampleOrder(uint64_t seed, int64_t epoch, int64_t samples);

  // The sample at `position`, both in [0, samples).
  int64_t At(int64_t position) const;

 private:
  static constexpr int kRounds = 6;

  uint64_t Permute(uint64_t value) const;

  uint64_t samples_;
  int half_bits_;
  uint64_t half_mask_;
  std::array<uint32_t, kRounds> round_keys_;
};

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_TRAINING_SAMPLE_ORDER_H_
