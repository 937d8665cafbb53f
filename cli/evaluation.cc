#include "cli/evaluation.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "worker/compute/cpu/cpu_network.h"
#include "worker/data/batch_source.h"

namespace tributary {
namespace {

std::string ShapeText(const std::vector<int64_t>& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ","), "]");
}

absl::Status Mismatch(const std::string& file, const std::string& array,
                      const absl::AlphaNum& found, const absl::AlphaNum& allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": ", array, ": found ", found, ", allowed ", allowed));
}

absl::Status CheckNoOther(const LoadedSafetensors& model, const Layout& layout,
                          const std::string& name) {
  for (const auto& [array_name, array] : model.arrays) {
    const bool is_known = std::any_of(
        layout.tensors().begin(), layout.tensors().end(),
        [&key = array_name](const ParameterTensor& tensor) { return tensor.name == key; });
    if (!is_known) {
      return Mismatch(name, array_name, absl::StrCat("an array of shape ", ShapeText(array.shape)),
                      "the job's parameters alone");
    }
  }
  return absl::OkStatus();
}

// The images of a test set, shared out in units among threads.
class Evaluation {
 public:
  Evaluation(const Job& job, absl::Span<const float> parameters, const LabelledImages& images,
             std::vector<float>* logits)
      : job_(job),
        parameters_(parameters),
        images_(images),
        logits_(logits),
        units_((images.samples() + job.evaluation.batch - 1) / job.evaluation.batch),
        results_(static_cast<size_t>(units_)) {
    if (logits_ != nullptr) {
      logits_->resize(static_cast<size_t>(images.samples() * job.model.classes));
    }
  }

  int64_t units() const { return units_; }

  // Takes units until there are none; one call per thread.
  absl::Status Work() {
    ASSIGN_OR_RETURN(
        const std::unique_ptr<Network> network,
        CreateCpuNetwork(job_.model, std::min(job_.evaluation.batch, images_.samples())));
    RETURN_IF_ERROR(network->SetParameters(parameters_));
    for (int64_t unit = next_.fetch_add(1); unit < units_; unit = next_.fetch_add(1)) {
      RETURN_IF_ERROR(EvaluateUnit(unit, *network));
    }
    return absl::OkStatus();
  }

  BatchStatistics Sum() const {
    BatchStatistics sum;
    for (const BatchStatistics& unit : results_) sum += unit;
    return sum;
  }

 private:
  absl::Status EvaluateUnit(int64_t unit, Network& network) {
    const int64_t begin = unit * job_.evaluation.batch;
    const int64_t end = std::min(begin + job_.evaluation.batch, images_.samples());
    const EvaluationBatch batch = MakeEvaluationBatch(images_, job_.data, {begin, end});
    RETURN_IF_ERROR(
        network.Evaluate({batch.images, batch.labels}, results_[static_cast<size_t>(unit)]));
    if (logits_ == nullptr) return absl::OkStatus();
    const int64_t classes = job_.model.classes;
    return network.ComputeLogits(
        batch.images, end - begin,
        absl::MakeSpan(*logits_).subspan(static_cast<size_t>(begin * classes),
                                         static_cast<size_t>((end - begin) * classes)));
  }

  const Job& job_;
  const absl::Span<const float> parameters_;
  const LabelledImages& images_;
  std::vector<float>* const logits_;
  const int64_t units_;
  std::vector<BatchStatistics> results_;
  std::atomic<int64_t> next_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<float>> FlattenModel(const LoadedSafetensors& model,
                                                const Layout& layout, const std::string& name) {
  std::vector<float> flat(static_cast<size_t>(layout.elements()));
  for (const ParameterTensor& tensor : layout.tensors()) {
    const std::string expected = absl::StrCat("shape ", ShapeText(tensor.shape));
    const auto array = model.arrays.find(tensor.name);
    if (array == model.arrays.end()) {
      return Mismatch(name, tensor.name, "no such array", expected);
    }
    if (array->second.shape != tensor.shape) {
      return Mismatch(name, tensor.name, absl::StrCat("shape ", ShapeText(array->second.shape)),
                      expected);
    }
    std::copy(array->second.values.begin(), array->second.values.end(),
              flat.begin() + tensor.offset);
  }
  RETURN_IF_ERROR(CheckNoOther(model, layout, name));
  return flat;
}

absl::StatusOr<BatchStatistics> EvaluateModel(const Job& job, absl::Span<const float> parameters,
                                              const LabelledImages& images, int threads,
                                              std::vector<float>* logits) {
  Evaluation evaluation(job, parameters, images, logits);
  const int64_t useful_threads = std::min<int64_t>(threads, evaluation.units());
  std::vector<absl::Status> statuses(static_cast<size_t>(useful_threads));
  std::vector<std::thread> workers;
  workers.reserve(statuses.size());
  for (absl::Status& status : statuses) {
    workers.emplace_back([&evaluation, &status] { status = evaluation.Work(); });
  }
  for (std::thread& worker : workers) worker.join();
  for (const absl::Status& status : statuses) RETURN_IF_ERROR(status);
  return evaluation.Sum();
}

}  // namespace tributary
