#include "server/coordinator/job_status.h"

#include <algorithm>

namespace tributary {
namespace {

double MeanLoss(const BatchStatistics& statistics) {
  return statistics.samples > 0 ? statistics.loss_sum / static_cast<double>(statistics.samples) : 0;
}

}  // namespace

v1::Phase ToProto(Phase phase) {
  switch (phase) {
    case Phase::kWaiting:
      return v1::PHASE_WAITING;
    case Phase::kTraining:
      return v1::PHASE_TRAINING;
    case Phase::kEvaluating:
      return v1::PHASE_EVALUATING;
    case Phase::kFinished:
      return v1::PHASE_FINISHED;
    case Phase::kClosed:
      return v1::PHASE_CLOSED;
    case Phase::kFailed:
      return v1::PHASE_FAILED;
  }
  return v1::PHASE_UNSPECIFIED;
}

v1::JobStatus MakeJobStatus(const Coordinator& coordinator, const Job& job, ShardId shards) {
  v1::JobStatus status;
  status.set_name(job.name);
  status.set_phase(ToProto(coordinator.phase()));
  status.set_message(coordinator.phase() == Phase::kFailed ? coordinator.failure()
                                                           : coordinator.WaitingFor());
  status.set_step(static_cast<uint64_t>(coordinator.version()));
  status.set_epochs(static_cast<uint32_t>(job.training.epochs));
  if (coordinator.plan().has_value()) {
    const BatchPlan& plan = *coordinator.plan();
    status.set_total_steps(static_cast<uint64_t>(plan.total_steps()));
    status.set_steps_per_epoch(static_cast<uint64_t>(plan.steps_per_epoch()));
    const Step next = std::min<Step>(coordinator.version(), plan.total_steps() - 1);
    status.set_epoch(static_cast<uint32_t>(plan.EpochOf(next)));
  }
  const ProgressMeter& progress = coordinator.progress();
  status.set_loss(progress.loss());
  status.set_accuracy(progress.accuracy());
  status.set_images_per_second(progress.images_per_second());
  status.set_seconds(progress.seconds());
  status.set_images(static_cast<uint64_t>(progress.images()));
  status.set_skipped_steps(static_cast<uint64_t>(progress.skipped_steps()));
  if (!coordinator.evaluations().empty()) {
    const EvaluationSummary& newest = coordinator.evaluations().back();
    status.set_test_version(static_cast<uint64_t>(newest.version));
    status.set_test_count(static_cast<uint64_t>(newest.statistics.samples));
    status.set_test_correct(static_cast<uint64_t>(newest.statistics.correct));
    status.set_test_loss(MeanLoss(newest.statistics));
  }
  status.set_workers(static_cast<uint32_t>(coordinator.workers()));
  status.set_shards(static_cast<uint32_t>(shards));
  return status;
}

RunResult MakeRunResult(const Coordinator& coordinator) {
  const BatchStatistics& test = coordinator.evaluations().back().statistics;
  return {.test_count = test.samples,
          .test_correct = test.correct,
          .test_loss = MeanLoss(test),
          .steps = coordinator.version(),
          .images = coordinator.progress().images(),
          .seconds = coordinator.progress().seconds()};
}

}  // namespace tributary
