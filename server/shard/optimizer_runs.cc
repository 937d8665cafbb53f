#include "server/shard/optimizer_runs.h"

namespace tributary {

DecayRuns::DecayRuns(const Layout& layout, ElementRange range, bool spare_biases) {
  bool decays = true;
  if (spare_biases) {
    for (const ParameterTensor& tensor : layout.tensors()) {
      if (tensor.offset >= range.end) break;
      if (tensor.is_bias != decays) continue;
      // The tensor starts a run of the other kind.
      if (tensor.offset > range.begin) runs_.push_back({tensor.offset - range.begin, decays});
      decays = !decays;
    }
  }
  runs_.push_back({range.size(), decays});
}

}  // namespace tributary
