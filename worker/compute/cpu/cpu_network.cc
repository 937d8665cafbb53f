#include "worker/compute/cpu/cpu_network.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "worker/compute/cpu/aligned_buffer.h"
#include "worker/compute/cpu/batch_graph.h"
#include "worker/compute/cpu/dnnl_runtime.h"
#include "worker/compute/cpu/loops.h"
#include "worker/compute/cpu/loss.h"

namespace tributary {
namespace {

// A job's slots have two sizes and its last batch two more; evaluation has one and a remainder. The
// graph that was used longest ago makes room for another.
constexpr size_t kMaxGraphs = 8;

// Far above any real batch; no size in bytes overflows.
constexpr int64_t kMaxBatch = int64_t{1} << 20;

// Evaluation runs over pieces of a batch: the activations of one piece stay in the cache.
constexpr int64_t kEvaluationPiece = 64;

absl::Status CheckSize(absl::string_view what, int64_t found, int64_t expected) {
  if (found == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, ": found ", found, " elements, expected ", expected));
}

class CpuNetwork final : public Network {
 public:
  CpuNetwork(const ModelPlan& plan, int64_t max_batch) : plan_(plan), max_batch_(max_batch) {}

  absl::Status Initialize() {
    ASSIGN_OR_RETURN(parameters_, AlignedBuffer::Create(plan_.layout.elements()));
    if (max_batch_ < 1) return absl::OkStatus();
    // Whatever oneDNN has against the model comes out here, and not in the first step.
    return Graph(max_batch_, true).status();
  }

  absl::Status SetParameters(absl::Span<const float> parameters) override {
    RETURN_IF_ERROR(
        CheckSize("parameters", static_cast<int64_t>(parameters.size()), plan_.layout.elements()));
    std::copy(parameters.begin(), parameters.end(), parameters_.data());
    ++version_;
    return absl::OkStatus();
  }

  absl::Status ComputeGradient(const Batch& batch, const DropoutKey& key,
                               absl::Span<float> gradient, BatchStatistics& statistics) override {
    const OneThread one_thread;
    statistics = {};
    RETURN_IF_ERROR(CheckBatch(batch));
    RETURN_IF_ERROR(
        CheckSize("gradient", static_cast<int64_t>(gradient.size()), plan_.layout.elements()));
    if (batch.size() == 0) {
      std::fill(gradient.begin(), gradient.end(), 0.0f);
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(BatchGraph* const graph, Graph(batch.size(), true));
    RETURN_IF_ERROR(graph->Forward(batch.images, key));
    SoftmaxCrossEntropy(graph->logits(), batch.labels, plan_.classes, statistics,
                        graph->logits_gradient());
    RETURN_IF_ERROR(graph->Backward(gradient.data()));
    ZeroPadding(gradient);
    statistics.not_finite = HasNonFinite(gradient.data(), static_cast<int64_t>(gradient.size()));
    return absl::OkStatus();
  }

  absl::Status Evaluate(const Batch& batch, BatchStatistics& statistics) override {
    statistics = {};
    RETURN_IF_ERROR(CheckBatch(batch));
    return ForEachPiece(batch.images, batch.size(),
                        [&](const float* logits, int64_t begin, int64_t count) {
                          SoftmaxCrossEntropy(logits, batch.labels.subspan(begin, count),
                                              plan_.classes, statistics, nullptr);
                        });
  }

  absl::Status ComputeLogits(absl::Span<const float> images, int64_t size,
                             absl::Span<float> logits) override {
    RETURN_IF_ERROR(CheckBatchSize(images, size));
    RETURN_IF_ERROR(CheckSize("logits", static_cast<int64_t>(logits.size()), size * plan_.classes));
    return ForEachPiece(images, size, [&](const float* piece, int64_t begin, int64_t count) {
      std::copy_n(piece, count * plan_.classes, logits.data() + begin * plan_.classes);
    });
  }

 private:
  struct SizedGraph {
    int64_t batch = 0;
    bool training = false;
    uint64_t version = 0;    // of the parameters that it was last told of
    uint64_t last_used = 0;  // a count of uses
    std::unique_ptr<BatchGraph> graph;
  };

  absl::Status CheckBatchSize(absl::Span<const float> images, int64_t size) const {
    if (size < 0 || size > max_batch_) {
      return absl::InvalidArgumentError(
          absl::StrCat("batch: found ", size, " images, allowed 0 to ", max_batch_));
    }
    return CheckSize("images", static_cast<int64_t>(images.size()),
                     size * plan_.model.input.elements());
  }
  absl::Status CheckBatch(const Batch& batch) const {
    return CheckBatchSize(batch.images, batch.size());
  }

  // Calls visit(logits, first image, number of images) for the pieces of a batch, in order.
  template <typename Visit>
  absl::Status ForEachPiece(absl::Span<const float> images, int64_t size, const Visit& visit) {
    const OneThread one_thread;
    const int64_t elements = plan_.model.input.elements();
    for (int64_t begin = 0; begin < size; begin += kEvaluationPiece) {
      const int64_t count = std::min(kEvaluationPiece, size - begin);
      ASSIGN_OR_RETURN(BatchGraph* const graph, Graph(count, false));
      RETURN_IF_ERROR(graph->Forward(images.subspan(begin * elements, count * elements), {}));
      visit(graph->logits(), begin, count);
    }
    return absl::OkStatus();
  }

  // The graph for `batch` images, made if need be, with the newest parameters.
  absl::StatusOr<BatchGraph*> Graph(int64_t batch, bool training) {
    auto found = std::find_if(graphs_.begin(), graphs_.end(), [&](const SizedGraph& graph) {
      return graph.batch == batch && graph.training == training;
    });
    if (found == graphs_.end()) {
      if (graphs_.size() == kMaxGraphs) graphs_.erase(LongestUnused());
      ASSIGN_OR_RETURN(std::unique_ptr<BatchGraph> made,
                       BatchGraph::Create(plan_, runtime_, parameters_.data(), batch, training));
      graphs_.push_back({.batch = batch, .training = training, .graph = std::move(made)});
      found = graphs_.end() - 1;
    }
    if (found->version != version_) {
      RETURN_IF_ERROR(found->graph->UseParameters());
      found->version = version_;
    }
    found->last_used = ++uses_;
    return found->graph.get();
  }

  std::vector<SizedGraph>::iterator LongestUnused() {
    return std::min_element(
        graphs_.begin(), graphs_.end(),
        [](const SizedGraph& a, const SizedGraph& b) { return a.last_used < b.last_used; });
  }

  void ZeroPadding(absl::Span<float> gradient) const {
    int64_t end = 0;
    for (const ParameterTensor& tensor : plan_.layout.tensors()) {
      std::fill(gradient.begin() + end, gradient.begin() + tensor.offset, 0.0f);
      end = tensor.range().end;
    }
    std::fill(gradient.begin() + end, gradient.end(), 0.0f);
  }

  const ModelPlan plan_;
  const int64_t max_batch_;
  const DnnlRuntime runtime_;
  AlignedBuffer parameters_;
  uint64_t version_ = 1;  // counts SetParameters
  uint64_t uses_ = 0;
  std::vector<SizedGraph> graphs_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Network>> CreateCpuNetwork(const ModelPlan& plan,
                                                          int64_t max_batch) {
  if (max_batch < 0 || max_batch > kMaxBatch) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_batch: found ", max_batch, ", allowed 0 to ", kMaxBatch));
  }
  const OneThread one_thread;
  try {
    auto network = std::make_unique<CpuNetwork>(plan, max_batch);
    RETURN_IF_ERROR(network->Initialize());
    return network;
  } catch (const dnnl::error& error) {
    return FromDnnl(error.status, error.message);
  }
}

}  // namespace tributary
