#include "common/model/initialize.h"

#include <algorithm>
#include <cmath>

#include "common/base/philox.h"

namespace tributary {
namespace {

// Half the width of the uniform distribution that a tensor starts from.
float InitialBound(Initializer initializer, bool is_bias, const LayerPlan& layer) {
  const auto fan_in = static_cast<double>(layer.fan_in);
  const auto fan_out = static_cast<double>(layer.fan_out);
  switch (initializer) {
    case Initializer::kPytorchDefault:
      // torch.nn.init.kaiming_uniform_(a=sqrt(5)): sqrt(6 / ((1 + 5) fan_in)); the bias has the
      // same bound.
      return static_cast<float>(1.0 / std::sqrt(fan_in));
    case Initializer::kGlorotUniform:
      // keras.initializers.GlorotUniform.
      return is_bias ? 0.0f : static_cast<float>(std::sqrt(6.0 / (fan_in + fan_out)));
    case Initializer::kHeUniform:
      // keras.initializers.HeUniform.
      return is_bias ? 0.0f : static_cast<float>(std::sqrt(6.0 / fan_in));
    case Initializer::kZeros:
      break;
  }
  return 0.0f;
}

Initializer InitializerOf(const Layer& layer) {
  if (const auto* conv = std::get_if<Conv2dLayer>(&layer.kind)) return conv->initializer;
  if (const auto* dense = std::get_if<DenseLayer>(&layer.kind)) return dense->initializer;
  return Initializer::kZeros;
}

void FillUniform(const RandomStream& stream, float bound, ElementRange elements, float* out) {
  const float width = bound - (-bound);
  for (int64_t i = elements.begin; i < elements.end;) {
    const auto block = stream.At(static_cast<uint64_t>(i / 4));
    const int64_t block_end = std::min(elements.end, (i / 4 + 1) * 4);
    for (; i < block_end; ++i) *out++ = -bound + width * UnitFloat(block[i % 4]);
  }
}

}  // namespace

void InitializeParameters(const ModelPlan& plan, uint64_t seed, ElementRange range,
                          absl::Span<float> out) {
  std::fill(out.begin(), out.end(), 0.0f);
  for (size_t l = 0; l < plan.layers.size(); ++l) {
    const Initializer initializer = InitializerOf(plan.model.layers[l]);
    for (const int index : {plan.layers[l].weight, plan.layers[l].bias}) {
      if (index < 0) continue;
      const ParameterTensor& tensor = plan.layout.tensors()[index];
      const ElementRange common{std::max(range.begin, tensor.range().begin),
                                std::min(range.end, tensor.range().end)};
      const float bound = InitialBound(initializer, tensor.is_bias, plan.layers[l]);
      if (common.empty() || bound == 0.0f) continue;
      FillUniform(RandomStream(seed, RandomUse::kInitialization, static_cast<uint64_t>(index)),
                  bound, {common.begin - tensor.offset, common.end - tensor.offset},
                  out.data() + (common.begin - range.begin));
    }
  }
}

}  // namespace tributary
