#include "common/job/model_check.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/status_macros.h"
#include "common/job/field_text.h"

namespace tributary {
namespace {

using Numbers = google::protobuf::RepeatedField<uint32_t>;

// Padded inputs stay below 2^21 on a side, so that the elements of an output fit into 63 bits.
constexpr int64_t kMaxPadding = kMaxDimension / 2;
// The operations of a whole model, so that their sum over the layers and three times that, for
// training, fit into 63 bits.
constexpr int64_t kMaxModelFlops = int64_t{1} << 61;

// Turns the layers of a spec into those of a Model, one after the other.
class LayerReader {
 public:
  // `path` is the layer's: "model.layer[3]".
  LayerReader(std::string path, const Checks& checks) : path_(std::move(path)), checks_(checks) {}

  absl::StatusOr<Layer> Read(const v1::LayerSpec& spec) const {
    Layer layer;
    layer.name = spec.name();
    RETURN_IF_ERROR(checks_.Require(layer.name.empty() || IsPlainName(layer.name),
                                    absl::StrCat(path_, ".name"), Quoted(layer.name),
                                    kPlainNameCharacters));
    ASSIGN_OR_RETURN(layer.kind, ReadKind(spec));
    return layer;
  }

 private:
  absl::StatusOr<decltype(Layer::kind)> ReadKind(const v1::LayerSpec& spec) const {
    using Kind = v1::LayerSpec;
    switch (spec.kind_case()) {
      case Kind::kConv2D:
        return ReadConv2d(spec.conv2d(), path_ + ".conv2d");
      case Kind::kMaxPool2D:
        return ReadPool2d(spec.max_pool2d(), Pool2dLayer::Kind::kMax, path_ + ".max_pool2d");
      case Kind::kAvgPool2D:
        return ReadPool2d(spec.avg_pool2d(), Pool2dLayer::Kind::kAverage, path_ + ".avg_pool2d");
      case Kind::kDense:
        return ReadDense(spec.dense(), path_ + ".dense");
      case Kind::kRelu:
        return ActivationLayer{ActivationLayer::Kind::kRelu};
      case Kind::kTanh:
        return ActivationLayer{ActivationLayer::Kind::kTanh};
      case Kind::kSigmoid:
        return ActivationLayer{ActivationLayer::Kind::kSigmoid};
      case Kind::kGelu:
        return ActivationLayer{ActivationLayer::Kind::kGelu};
      case Kind::kFlatten:
        return FlattenLayer{};
      case Kind::kDropout:
        return DropoutLayer{spec.dropout().probability()};
      case Kind::kSoftmaxCrossEntropy:
        return SoftmaxCrossEntropyLayer{};
      case Kind::KIND_NOT_SET:
        break;
    }
    return checks_.Refuse(
        path_, "no kind of layer",
        absl::StrCat("one of ", FieldNames(*spec.GetDescriptor()->FindOneofByName("kind"))));
  }

  absl::StatusOr<decltype(Layer::kind)> ReadConv2d(const v1::Conv2d& spec,
                                                   const std::string& path) const {
    Conv2dLayer conv;
    ASSIGN_OR_RETURN(conv.out_channels, checks_.Between(path + ".out_channels", spec.out_channels(),
                                                        1, kMaxDimension));
    ASSIGN_OR_RETURN(conv.kernel, ReadKernel(path, spec.kernel()));
    ASSIGN_OR_RETURN(conv.stride,
                     ReadSize(path + ".stride", spec.stride(), conv.stride, 1, kMaxDimension));
    ASSIGN_OR_RETURN(conv.padding,
                     ReadSize(path + ".padding", spec.padding(), conv.padding, 0, kMaxPadding));
    ASSIGN_OR_RETURN(conv.dilation, ReadSize(path + ".dilation", spec.dilation(), conv.dilation, 1,
                                             kMaxDimension));
    ASSIGN_OR_RETURN(conv.groups, checks_.BetweenOrDefault(path + ".groups", spec.groups(), 1, 1,
                                                           kMaxDimension));
    conv.bias = !spec.has_bias() || spec.bias();
    ASSIGN_OR_RETURN(conv.initializer, ReadInitializer(path, spec.initializer()));
    return conv;
  }

  absl::StatusOr<decltype(Layer::kind)> ReadPool2d(const v1::Pool2d& spec, Pool2dLayer::Kind kind,
                                                   const std::string& path) const {
    Pool2dLayer pool;
    pool.kind = kind;
    ASSIGN_OR_RETURN(pool.kernel, ReadKernel(path, spec.kernel()));
    ASSIGN_OR_RETURN(pool.stride,
                     ReadSize(path + ".stride", spec.stride(), pool.kernel, 1, kMaxDimension));
    ASSIGN_OR_RETURN(pool.padding,
                     ReadSize(path + ".padding", spec.padding(), pool.padding, 0, kMaxPadding));
    if (spec.has_count_include_pad() && kind == Pool2dLayer::Kind::kMax) {
      return checks_.Refuse(path + ".count_include_pad", "it in max_pool2d", "avg_pool2d alone");
    }
    pool.count_include_pad = !spec.has_count_include_pad() || spec.count_include_pad();
    return pool;
  }

  absl::StatusOr<decltype(Layer::kind)> ReadDense(const v1::Dense& spec,
                                                  const std::string& path) const {
    DenseLayer dense;
    ASSIGN_OR_RETURN(
        dense.out_features,
        checks_.Between(path + ".out_features", spec.out_features(), 1, kMaxActivationElements));
    dense.bias = !spec.has_bias() || spec.bias();
    ASSIGN_OR_RETURN(dense.initializer, ReadInitializer(path, spec.initializer()));
    return dense;
  }

  absl::StatusOr<Size2d> ReadKernel(const std::string& path, const Numbers& found) const {
    if (found.empty()) return checks_.Refuse(path + ".kernel", "none", "one number or two");
    return ReadSize(path + ".kernel", found, Size2d{}, 1, kMaxDimension);
  }

  // One number for both axes, or height and width.
  absl::StatusOr<Size2d> ReadSize(const std::string& path, const Numbers& found,
                                  const Size2d& fallback, int64_t least, int64_t most) const {
    if (found.empty()) return fallback;
    RETURN_IF_ERROR(checks_.Require(found.size() <= 2, path, absl::StrCat(found.size(), " numbers"),
                                    "one number (both axes) or two (height, width)"));
    Size2d size;
    ASSIGN_OR_RETURN(size.height, checks_.Between(path, found[0], least, most));
    ASSIGN_OR_RETURN(size.width, checks_.Between(path, found[found.size() - 1], least, most));
    return size;
  }

  absl::StatusOr<Initializer> ReadInitializer(const std::string& path,
                                              v1::Initializer found) const {
    switch (found) {
      case v1::PYTORCH_DEFAULT:
        return Initializer::kPytorchDefault;
      case v1::GLOROT_UNIFORM:
        return Initializer::kGlorotUniform;
      case v1::HE_UNIFORM:
        return Initializer::kHeUniform;
      case v1::ZEROS:
        return Initializer::kZeros;
      default:
        return checks_.Refuse(path + ".initializer", static_cast<int>(found),
                              "PYTORCH_DEFAULT, GLOROT_UNIFORM, HE_UNIFORM, ZEROS");
    }
  }

  std::string path_;
  const Checks& checks_;
};

absl::StatusOr<Model> ReadModel(const v1::ModelSpec& spec, const Checks& checks) {
  Model model;
  model.name = spec.name();
  RETURN_IF_ERROR(checks.Require(model.name.empty() || IsPlainName(model.name), "model.name",
                                 Quoted(model.name), kPlainNameCharacters));
  const v1::ImageShape& input = spec.input();
  ASSIGN_OR_RETURN(model.input.channels,
                   checks.Between("model.input.channels", input.channels(), 1, kMaxDimension));
  ASSIGN_OR_RETURN(model.input.height,
                   checks.Between("model.input.height", input.height(), 1, kMaxDimension));
  ASSIGN_OR_RETURN(model.input.width,
                   checks.Between("model.input.width", input.width(), 1, kMaxDimension));
  RETURN_IF_ERROR(checks.Require(spec.layer_size() >= 1 && spec.layer_size() <= kMaxLayers,
                                 "model.layer", absl::StrCat(spec.layer_size(), " layers"),
                                 absl::StrCat("1 to ", kMaxLayers)));
  absl::flat_hash_map<std::string, int> named;
  for (int i = 0; i < spec.layer_size(); ++i) {
    const std::string path = absl::StrCat("model.layer[", i, "]");
    ASSIGN_OR_RETURN(Layer layer, LayerReader(path, checks).Read(spec.layer(i)));
    if (!layer.name.empty()) {
      const auto [other, is_new] = named.emplace(layer.name, i);
      RETURN_IF_ERROR(checks.Require(
          is_new, path + ".name", Quoted(layer.name),
          absl::StrCat("a name that no other layer has (layer[", other->second, "] has it)")));
    }
    model.layers.push_back(std::move(layer));
  }
  return model;
}

// The path of what PlanModel complains of, from its message: "layer[3] (conv2): kernel: found ..."
// is about model.layer[3].conv2d.kernel.
std::string PathOfPlanError(absl::string_view message, const v1::ModelSpec& spec) {
  const size_t bracket = message.find(']');
  absl::string_view digits = message.substr(0, bracket);
  int index = 0;
  if (bracket == absl::string_view::npos || !absl::ConsumePrefix(&digits, "layer[") ||
      !absl::SimpleAtoi(digits, &index) || index < 0 || index >= spec.layer_size()) {
    return "model";
  }
  const v1::LayerSpec& layer = spec.layer(index);
  const std::string path = absl::StrCat("model.layer[", index, "]");
  const google::protobuf::FieldDescriptor* kind = layer.GetReflection()->GetOneofFieldDescriptor(
      layer, layer.GetDescriptor()->FindOneofByName("kind"));

  const size_t colon = message.find(": ");
  const absl::string_view rest = colon == absl::string_view::npos ? "" : message.substr(colon + 2);
  const std::string field(rest.substr(0, rest.find(':')));
  if (kind != nullptr && kind->message_type()->FindFieldByName(field) != nullptr) {
    return absl::StrCat(path, ".", kind->name(), ".", field);
  }
  return layer.GetDescriptor()->FindFieldByName(field) != nullptr ? absl::StrCat(path, ".", field)
                                                                  : path;
}

}  // namespace

absl::StatusOr<ModelPlan> CheckModel(const v1::ModelSpec& spec, const Checks& checks) {
  ASSIGN_OR_RETURN(const Model model, ReadModel(spec, checks));
  absl::StatusOr<ModelPlan> plan = PlanModel(model);
  if (!plan.ok()) {
    const absl::string_view message = plan.status().message();
    const std::string place = checks.sources().Place(PathOfPlanError(message, spec));
    return absl::InvalidArgumentError(
        OneLine(absl::StrCat(place, place.empty() ? "" : ": ",
                             absl::StartsWith(message, "layer[") ? "model." : "model: ", message)));
  }
  int64_t flops = 0;
  for (const LayerPlan& layer : plan->layers) {
    RETURN_IF_ERROR(checks.Require(layer.forward_flops <= kMaxModelFlops - flops, "model.layer",
                                   "more operations per image than can be counted",
                                   absl::StrCat("at most ", kMaxModelFlops)));
    flops += layer.forward_flops;
  }
  return plan;
}

}  // namespace tributary
