#include "worker/compute/cpu/batch_graph.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "worker/compute/cpu/loops.h"
#include "worker/compute/cpu/operations.h"

namespace tributary {

// Walks the layers, gives each its arrays and makes its operation.
class BatchGraph::Builder {
 public:
  explicit Builder(BatchGraph& graph)
      : graph_(graph), plan_(graph.plan_), context_(graph.context_) {}

  absl::Status Build() {
    RETURN_IF_ERROR(MakeGradientBuffers());
    ASSIGN_OR_RETURN(graph_.images_, NewArray(plan_.model.input));
    value_ = graph_.images_;
    const auto layers = static_cast<int64_t>(plan_.layers.size()) - 1;  // the last is the loss
    const int64_t first_trained = FirstTrainedLayer();
    for (int64_t i = 0; i < layers;) {
      if (i == first_trained) graph_.first_trained_ = graph_.operations_.size();
      const bool needs_input_gradient = i > first_trained;
      if (const int64_t joined = JoinedWithMaxPool(i); joined > 0) {
        RETURN_IF_ERROR(AddConvMaxPool(i, joined, needs_input_gradient));
        i += joined;
      } else {
        RETURN_IF_ERROR(AddLayer(i, needs_input_gradient));
        ++i;
      }
    }
    if (first_trained >= layers) graph_.first_trained_ = graph_.operations_.size();
    graph_.logits_ = value_;
    graph_.logits_gradient_ = gradient_;
    return absl::OkStatus();
  }

 private:
  int64_t FirstTrainedLayer() const {
    const auto found = std::find_if(plan_.layers.begin(), plan_.layers.end(),
                                    [](const LayerPlan& layer) { return layer.weight >= 0; });
    return found - plan_.layers.begin();
  }

  absl::StatusOr<float*> NewArray(const Shape& shape) {
    ASSIGN_OR_RETURN(AlignedBuffer buffer,
                     AlignedBuffer::Create(context_.batch * shape.elements()));
    graph_.buffers_.push_back(std::move(buffer));
    return graph_.buffers_.back().data();
  }

  // Backpropagation needs the gradients of two neighbouring arrays at a time.
  absl::Status MakeGradientBuffers() {
    if (!context_.training) return absl::OkStatus();
    Shape largest = plan_.model.input;
    for (const LayerPlan& layer : plan_.layers) {
      if (layer.output.elements() > largest.elements()) largest = layer.output;
    }
    ASSIGN_OR_RETURN(gradient_, NewArray(largest));
    ASSIGN_OR_RETURN(other_gradient_, NewArray(largest));
    return absl::OkStatus();
  }

  template <typename Kind>
  const Kind* As(int64_t index) const {
    return std::get_if<Kind>(&plan_.model.layers[index].kind);
  }
  bool IsRelu(int64_t index) const {
    const auto* activation = As<ActivationLayer>(index);
    return activation != nullptr && activation->kind == ActivationLayer::Kind::kRelu;
  }

  // How many layers from `index` on are one ConvMaxPool: convolution, relu, pooling; or
  // convolution, pooling, relu; or without relu. 0: none. The last layer is none of these, so
  // looking ahead stays inside.
  int64_t JoinedWithMaxPool(int64_t index) const {
    const auto* conv = As<Conv2dLayer>(index);
    if (conv == nullptr) return 0;
    const bool relu_first = IsRelu(index + 1);
    const int64_t pool_index = index + 1 + (relu_first ? 1 : 0);
    const auto* pool = As<Pool2dLayer>(pool_index);
    if (pool == nullptr || !CanJoinConvMaxPool(*conv, plan_.layers[index], *pool)) {
      return 0;
    }
    return pool_index - index + (!relu_first && IsRelu(pool_index + 1) ? 2 : 1);
  }

  absl::Status AddConvMaxPool(int64_t index, int64_t joined, bool needs_input_gradient) {
    const bool relu_first = IsRelu(index + 1);
    const int64_t pool_index = index + 1 + (relu_first ? 1 : 0);
    const LayerPlan& pool_plan = plan_.layers[pool_index];
    ASSIGN_OR_RETURN(float* const output, NewArray(pool_plan.output));
    const Edges edges = NextEdges(output, false, needs_input_gradient);
    const ConvMaxPoolLayers layers{.conv = *As<Conv2dLayer>(index),
                                   .conv_plan = plan_.layers[index],
                                   .pool = *As<Pool2dLayer>(pool_index),
                                   .pool_plan = pool_plan,
                                   .relu = joined == 3};
    return AddOperation(index, edges, joined == 3,
                        [&] { return MakeConvMaxPool(context_, layers, edges); });
  }

  // The arrays around the next operation.
  Edges NextEdges(float* output, bool elementwise, bool needs_input_gradient) {
    Edges edges{.input = value_, .output = output};
    if (!context_.training) return edges;
    // Read backwards: this layer's output gradient is what the next one writes.
    edges.input_gradient = needs_input_gradient ? gradient_ : nullptr;
    if (!elementwise) std::swap(gradient_, other_gradient_);
    edges.output_gradient = gradient_;
    return edges;
  }

  // `output_is_needed`: by the backward pass of the operation that `make` makes.
  template <typename Make>
  absl::Status AddOperation(int64_t index, const Edges& edges, bool output_is_needed,
                            const Make& make) {
    absl::Status status;
    try {
      OperationOr operation = make();
      status = operation.status();
      if (status.ok()) graph_.operations_.push_back(*std::move(operation));
    } catch (const dnnl::error& error) {
      status = FromDnnl(error.status, error.message);
    } catch (const std::bad_alloc&) {
      status = absl::ResourceExhaustedError(
          absl::StrCat("no memory for a batch of ", context_.batch, " images"));
    }
    value_ = edges.output;
    value_is_needed_ = output_is_needed;
    return status.ok() ? status : AtLayer(index, status);
  }

  absl::Status AddLayer(int64_t index, bool needs_input_gradient) {
    const Layer& layer = plan_.model.layers[index];
    const LayerPlan& layer_plan = plan_.layers[index];
    if (IsNothing(layer, layer_plan)) return absl::OkStatus();
    const bool elementwise = std::holds_alternative<ActivationLayer>(layer.kind) ||
                             std::holds_alternative<DropoutLayer>(layer.kind);
    float* output = value_;
    if (!IsInPlace(layer)) {
      ASSIGN_OR_RETURN(output, NewArray(layer_plan.output));
    }
    const Edges edges = NextEdges(output, elementwise, needs_input_gradient);
    return AddOperation(index, edges, elementwise, [&] {
      return std::visit([&](const auto& kind) { return Make(kind, index, layer_plan, edges); },
                        layer.kind);
    });
  }

  // A flatten that leaves every element where it is.
  static bool IsNothing(const Layer& layer, const LayerPlan& plan) {
    return std::holds_alternative<FlattenLayer>(layer.kind) &&
           (plan.input.channels == 1 || plan.input.height * plan.input.width == 1);
  }

  // Relu and dropout may overwrite their input unless it is the images or the layer that made it
  // looks at it again in its backward pass.
  bool IsInPlace(const Layer& layer) const {
    const auto* activation = std::get_if<ActivationLayer>(&layer.kind);
    const bool may_be = std::holds_alternative<DropoutLayer>(layer.kind) ||
                        (activation != nullptr && activation->kind == ActivationLayer::Kind::kRelu);
    return may_be && !value_is_needed_ && value_ != graph_.images_;
  }

  OperationOr Make(const Conv2dLayer& conv, int64_t, const LayerPlan& layer_plan,
                   const Edges& edges) const {
    return MakeConv(context_, conv, layer_plan, edges);
  }
  OperationOr Make(const Pool2dLayer& pool, int64_t, const LayerPlan& layer_plan,
                   const Edges& edges) const {
    return pool.kind == Pool2dLayer::Kind::kMax
               ? MakeMaxPool(context_, pool, layer_plan, edges)
               : MakeAveragePool(context_, pool, layer_plan, edges);
  }
  OperationOr Make(const DenseLayer& dense, int64_t, const LayerPlan& layer_plan,
                   const Edges& edges) const {
    return MakeDense(context_, dense, layer_plan, edges);
  }
  OperationOr Make(const ActivationLayer& activation, int64_t, const LayerPlan& layer_plan,
                   const Edges& edges) const {
    return MakeActivation(context_, activation, layer_plan, edges);
  }
  OperationOr Make(const FlattenLayer&, int64_t, const LayerPlan& layer_plan,
                   const Edges& edges) const {
    return MakeFlatten(context_, layer_plan, edges);
  }
  OperationOr Make(const DropoutLayer& dropout, int64_t index, const LayerPlan& layer_plan,
                   const Edges& edges) const {
    return MakeDropout(context_, dropout, index, layer_plan, edges);
  }
  OperationOr Make(const SoftmaxCrossEntropyLayer&, int64_t, const LayerPlan&, const Edges&) const {
    return absl::InternalError("softmax_cross_entropy is not the last layer");
  }

  absl::Status AtLayer(int64_t index, const absl::Status& status) const {
    const std::string& name = plan_.model.layers[index].name;
    return {status.code(),
            absl::StrCat("layer[", index, "]", name.empty() ? "" : absl::StrCat(" (", name, ")"),
                         ": ", status.message())};
  }

  BatchGraph& graph_;
  const ModelPlan& plan_;
  const OperationContext& context_;
  float* value_ = nullptr;        // the output of the layer before
  bool value_is_needed_ = false;  // by the backward pass of the layer before
  float* gradient_ = nullptr;     // of value_
  float* other_gradient_ = nullptr;
};

absl::StatusOr<std::unique_ptr<BatchGraph>> BatchGraph::Create(const ModelPlan& plan,
                                                               const DnnlRuntime& runtime,
                                                               const float* parameters,
                                                               int64_t batch, bool training) {
  std::unique_ptr<BatchGraph> graph(new BatchGraph(plan, runtime, parameters, batch, training));
  RETURN_IF_ERROR(Builder(*graph).Build());
  return graph;
}

absl::Status BatchGraph::UseParameters() {
  for (const auto& operation : operations_) RETURN_IF_ERROR(operation->UseParameters());
  return absl::OkStatus();
}

absl::Status BatchGraph::Forward(absl::Span<const float> images, const DropoutKey& key) {
  const Shape& input = plan_.model.input;
  for (int64_t n = 0; n < context_.batch; ++n) {
    const int64_t at = n * input.elements();
    Transpose(images.data() + at, input.channels, input.height * input.width, images_ + at);
  }
  for (const auto& operation : operations_) RETURN_IF_ERROR(operation->Forward(key));
  return absl::OkStatus();
}

absl::Status BatchGraph::Backward(float* gradient) {
  for (size_t i = operations_.size(); i > first_trained_; --i) {
    RETURN_IF_ERROR(operations_[i - 1]->Backward(gradient));
  }
  return absl::OkStatus();
}

}  // namespace tributary
