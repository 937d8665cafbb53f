#include "cli/validate.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "common/training/batch_plan.h"

namespace tributary {
namespace {

template <class... F>
struct Overload : F... {
  using F::operator()...;
};
template <class... F>
Overload(F...) -> Overload<F...>;

// 21840 to "21,840".
std::string Grouped(int64_t number) {
  const std::string digits = absl::StrCat(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text.push_back(',');
    text.push_back(digits[i]);
  }
  return text;
}

std::string Counted(int64_t number, absl::string_view one) {
  return absl::StrCat(Grouped(number), " ", one, number == 1 ? "" : "s");
}

std::string Every(int64_t epochs) {
  return epochs == 1 ? "every epoch" : absl::StrCat("every ", Grouped(epochs), " epochs");
}

std::string Describe(const Shape& shape) {
  if (shape.height == 1 && shape.width == 1) return absl::StrCat(shape.channels);
  return absl::StrCat(shape.channels, "x", shape.height, "x", shape.width);
}

std::string Describe(const Size2d& size) {
  return absl::StrCat(size.height, "x", size.width);
}

// " stride 2x2", or nothing where the size is the usual one.
std::string Unless(const Size2d& usual, absl::string_view name, const Size2d& size) {
  return size == usual ? "" : absl::StrCat(" ", name, " ", Describe(size));
}

std::string DescribeKind(const Layer& layer) {
  return std::visit(
      Overload{
          [](const Conv2dLayer& conv) {
            return absl::StrCat(
                "conv2d ", Describe(conv.kernel), Unless({1, 1}, "stride", conv.stride),
                Unless({0, 0}, "padding", conv.padding), Unless({1, 1}, "dilation", conv.dilation),
                conv.groups == 1 ? "" : absl::StrCat(" groups ", conv.groups),
                conv.bias ? "" : " no bias");
          },
          [](const Pool2dLayer& pool) {
            return absl::StrCat(
                pool.kind == Pool2dLayer::Kind::kMax ? "max_pool2d " : "avg_pool2d ",
                Describe(pool.kernel), Unless(pool.kernel, "stride", pool.stride),
                Unless({0, 0}, "padding", pool.padding));
          },
          [](const DenseLayer& dense) {
            return std::string(dense.bias ? "dense" : "dense no bias");
          },
          [](const ActivationLayer& activation) {
            constexpr std::array<const char*, 4> kNames = {"relu", "tanh", "sigmoid", "gelu"};
            return std::string(kNames.at(static_cast<size_t>(activation.kind)));
          },
          [](const FlattenLayer&) { return std::string("flatten"); },
          [](const DropoutLayer& dropout) { return absl::StrCat("dropout ", dropout.probability); },
          [](const SoftmaxCrossEntropyLayer&) { return std::string("softmax_cross_entropy"); },
      },
      layer.kind);
}

// Rows of cells in columns; the last `right_columns` are aligned to the right.
class Table {
 public:
  explicit Table(size_t right_columns) : right_columns_(right_columns) {}

  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  std::string Text() const {
    std::vector<size_t> widths;
    for (const auto& row : rows_) {
      widths.resize(std::max(widths.size(), row.size()));
      for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (const auto& row : rows_) {
      std::string line;
      for (size_t i = 0; i < row.size(); ++i) {
        const std::string space(widths[i] - row[i].size(), ' ');
        const bool is_right = i + right_columns_ >= widths.size();
        absl::StrAppend(&line, "  ", is_right ? space : "", row[i], is_right ? "" : space);
      }
      absl::StrAppend(&text, absl::StripTrailingAsciiWhitespace(line), "\n");
    }
    return text;
  }

 private:
  size_t right_columns_;
  std::vector<std::vector<std::string>> rows_;
};

int64_t ParametersOf(const LayerPlan& layer, const Layout& layout) {
  int64_t parameters = 0;
  for (const int tensor : {layer.weight, layer.bias}) {
    if (tensor >= 0) parameters += layout.tensors()[static_cast<size_t>(tensor)].elements;
  }
  return parameters;
}

std::string DescribeLayers(const ModelPlan& plan) {
  Table table(/*right_columns=*/2);
  table.Add({"layer", "name", "kind", "output", "parameters", "FLOPs"});
  for (size_t i = 0; i < plan.layers.size(); ++i) {
    const Layer& layer = plan.model.layers[i];
    table.Add({absl::StrCat(i), layer.name, DescribeKind(layer), Describe(plan.layers[i].output),
               Grouped(ParametersOf(plan.layers[i], plan.layout)),
               Grouped(plan.layers[i].forward_flops)});
  }
  return table.Text();
}

std::string DescribeTotals(const ModelPlan& plan) {
  const int64_t parameters = plan.layout.parameters();
  const int64_t flops = plan.forward_flops();
  Table table(/*right_columns=*/1);
  table.Add({"parameters", Grouped(parameters)});
  table.Add({"bytes (fp32)", Grouped(parameters * static_cast<int64_t>(sizeof(float)))});
  table.Add({"forward FLOPs per image", Grouped(flops)});
  table.Add({"training FLOPs per image (about)", Grouped(3 * flops)});
  return table.Text();
}

// ", weight decay 0.1", or nothing for zero.
std::string UnlessZero(absl::string_view name, double number) {
  return number == 0 ? "" : absl::StrCat(", ", name, " ", number);
}

std::string DescribeOptimizer(const OptimizerConfig& optimizer) {
  const std::string text = std::visit(
      Overload{
          [](const SgdConfig& sgd) {
            return absl::StrCat(
                "SGD, momentum ", sgd.momentum, UnlessZero("dampening", sgd.dampening),
                sgd.nesterov ? ", Nesterov" : "", UnlessZero("weight decay", sgd.weight_decay));
          },
          [](const AdamConfig& adam) {
            return absl::StrCat(adam.decoupled_weight_decay ? "AdamW" : "Adam", ", beta1 ",
                                adam.beta1, ", beta2 ", adam.beta2, ", epsilon ", adam.epsilon,
                                adam.keras_epsilon ? " (Keras)" : "",
                                UnlessZero("weight decay", adam.weight_decay));
          },
          [](const AdaGradConfig& adagrad) {
            return absl::StrCat("AdaGrad, epsilon ", adagrad.epsilon,
                                UnlessZero("initial accumulator", adagrad.initial_accumulator),
                                UnlessZero("weight decay", adagrad.weight_decay),
                                UnlessZero("rate decay", adagrad.learning_rate_decay));
          },
      },
      optimizer.kind);
  return absl::StrCat(text, optimizer.no_decay_on_bias ? ", no decay on biases" : "");
}

std::string DescribeRate(const LearningRateConfig& rate) {
  const std::string schedule =
      std::visit(Overload{
                     [](const LearningRateConfig::Constant&) { return std::string("constant"); },
                     [](const LearningRateConfig::StepDecay& step) {
                       return absl::StrCat("times ", step.factor, " ", Every(step.every_epochs));
                     },
                     [](const LearningRateConfig::Cosine& cosine) {
                       return absl::StrCat("cosine to ", cosine.minimum);
                     },
                 },
                 rate.schedule);
  return absl::StrCat(rate.base, ", ", schedule,
                      rate.warmup_steps == 0
                          ? ""
                          : absl::StrCat(", warm-up over ", Counted(rate.warmup_steps, "step")));
}

std::string DescribeData(const DataConfig& data) {
  switch (data.format) {
    case DataConfig::Format::kAuto:
      return absl::StrCat("IDX or CIFAR-10 in ", data.dir);
    case DataConfig::Format::kIdx:
      return absl::StrCat("IDX in ", data.dir);
    case DataConfig::Format::kCifar10:
      return absl::StrCat("CIFAR-10 in ", data.dir);
    case DataConfig::Format::kSynthetic:
      break;
  }
  return absl::StrCat("synthetic, ", Counted(data.synthetic_train_samples, "image"), " and ",
                      Grouped(data.synthetic_test_samples), " to test");
}

std::string DescribeSlots(const TrainingConfig& training) {
  const int64_t least = training.global_batch / training.slots;
  const int64_t most = (training.global_batch + training.slots - 1) / training.slots;
  return absl::StrCat(Counted(training.slots, "slot"), " of ",
                      least == most ? "" : absl::StrCat(Grouped(least), " or "),
                      Counted(most, "image"));
}

std::string DescribePlan(const Job& job, std::optional<int64_t> train_samples) {
  const TrainingConfig& training = job.training;
  Table table(/*right_columns=*/0);
  table.Add({"data", DescribeData(job.data)});
  table.Add({"pixels", absl::StrCat("mean ", absl::StrJoin(job.data.mean, ", "), "; deviation ",
                                    absl::StrJoin(job.data.stddev, ", "))});
  table.Add({"optimizer", DescribeOptimizer(job.optimizer)});
  table.Add({"learning rate", DescribeRate(job.learning_rate)});
  table.Add({"batch",
             absl::StrCat(Counted(training.global_batch, "image"), ", ", DescribeSlots(training))});
  table.Add({"epochs", Grouped(training.epochs)});
  if (training.max_steps > 0) {
    table.Add({"steps at most", Grouped(training.max_steps)});
  }
  if (train_samples.has_value()) {
    const BatchPlan plan(*train_samples, training.global_batch, training.slots, training.epochs,
                         training.max_steps);
    table.Add({"steps", absl::StrCat(Grouped(plan.steps_per_epoch()), " in an epoch of ",
                                     Counted(*train_samples, "image"), ", ",
                                     Grouped(plan.total_steps()), " in all")});
  }
  table.Add({"workers to start", Grouped(training.min_workers)});
  table.Add({"evaluation",
             absl::StrCat(job.evaluation.every_epochs == 0
                              ? "at the end"
                              : absl::StrCat(Every(job.evaluation.every_epochs), " and at the end"),
                          ", ", Counted(job.evaluation.batch, "image"), " at a time")});
  return table.Text();
}

}  // namespace

std::string DescribeJob(const Job& job, std::optional<int64_t> train_samples) {
  const Model& model = job.model.model;
  return absl::StrCat("job ", job.name, ", seed ", job.seed, "\n\n", "model",
                      model.name.empty() ? "" : " ", model.name, ": images of ",
                      Describe(model.input), ", ", Grouped(job.model.classes), " classes\n",
                      DescribeLayers(job.model), "\n", "in all\n", DescribeTotals(job.model), "\n",
                      "plan\n", DescribePlan(job, train_samples));
}

}  // namespace tributary
