// How near an optimizer's update comes to the memory's speed: bytes per second for 25 million
// elements, and `of_triad`, its ratio to a plain triad (STREAM's a = b + s * c) over arrays of that
// size, taken just before on the same core.
#include <chrono>
#include <cstdint>
#include <vector>

#include "benchmark/benchmark.h"
#include "server/shard/optimizer.h"

namespace tributary {
namespace {

constexpr int64_t kElements = 25'000'000;

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double TriadBytesPerSecond() {
  constexpr int kPasses = 20;
  std::vector<float> a(kElements);
  const std::vector<float> b(kElements, 1.0f);
  const std::vector<float> c(kElements, 2.0f);
  float* __restrict out = a.data();
  const auto start = std::chrono::steady_clock::now();
  for (int pass = 0; pass < kPasses; ++pass) {
    for (int64_t i = 0; i < kElements; ++i) out[i] = b[i] + 3.0f * c[i];
    benchmark::ClobberMemory();
  }
  return kPasses * 3.0 * kElements * sizeof(float) / SecondsSince(start);
}

void Update(benchmark::State& state, const OptimizerConfig& config) {
  const double triad = TriadBytesPerSecond();
  const Layout layout = *Layout::Create({{.name = "weight", .shape = {kElements}}});
  const ElementRange all{0, layout.elements()};
  const auto optimizer = CreateOptimizer(config, layout, all);
  const std::vector<float> gradient(layout.elements(), 0.5f);
  std::vector<float> before(layout.elements(), 1.0f);
  std::vector<float> after(layout.elements(), 1.0f);
  int64_t update = 0;
  const auto start = std::chrono::steady_clock::now();
  for (auto _ : state) {
    optimizer->Apply(all, gradient, 64, 0.01, update++, before, absl::MakeSpan(after));
    before.swap(after);
  }
  // Gradient, parameter and state read, parameter and state written.
  const int64_t arrays = 3 + 2 * static_cast<int64_t>(optimizer->state().size());
  const int64_t bytes =
      state.iterations() * arrays * kElements * static_cast<int64_t>(sizeof(float));
  state.SetBytesProcessed(bytes);
  state.counters["of_triad"] = static_cast<double>(bytes) / SecondsSince(start) / triad;
}

BENCHMARK_CAPTURE(Update, Sgd, {.kind = SgdConfig{}})->UseRealTime();
BENCHMARK_CAPTURE(Update, SgdMomentum, {.kind = SgdConfig{.momentum = 0.9}})->UseRealTime();
BENCHMARK_CAPTURE(Update, Adam, {.kind = AdamConfig{}})->UseRealTime();
BENCHMARK_CAPTURE(Update, AdaGrad, {.kind = AdaGradConfig{}})->UseRealTime();

}  // namespace
}  // namespace tributary
