#include "common/net/messages.h"

#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"

namespace tributary {
namespace {

absl::StatusOr<int64_t> Checked(absl::string_view field, uint64_t found, uint64_t most) {
  if (found <= most) return static_cast<int64_t>(found);
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": found ", found, ", allowed 0 to ", most));
}

constexpr uint64_t kMostInt64 = std::numeric_limits<int64_t>::max();
constexpr uint64_t kMostInt32 = std::numeric_limits<int32_t>::max();

}  // namespace

v1::SlotRange ToProto(SlotRange range) {
  v1::SlotRange proto;
  proto.set_begin(static_cast<uint32_t>(range.begin));
  proto.set_end(static_cast<uint32_t>(range.end));
  return proto;
}

v1::ElementRange ToProto(ElementRange range) {
  v1::ElementRange proto;
  proto.set_begin(static_cast<uint64_t>(range.begin));
  proto.set_end(static_cast<uint64_t>(range.end));
  return proto;
}

v1::TransferSpec::Type ToProto(WireType type) {
  switch (type) {
    case WireType::kFp32:
      break;
    case WireType::kBf16:
      return v1::TransferSpec::BF16;
    case WireType::kFp16:
      return v1::TransferSpec::FP16;
    case WireType::kInt8:
      return v1::TransferSpec::INT8;
    case WireType::kTopK:
      return v1::TransferSpec::TOP_K;
  }
  return v1::TransferSpec::FP32;
}

v1::Work::Compute ToProto(const ComputeOrder& order) {
  v1::Work::Compute proto;
  proto.set_step(static_cast<uint64_t>(order.step));
  for (const SlotRange& slots : order.slots) *proto.add_slots() = ToProto(slots);
  return proto;
}

v1::Work ToProto(const Work& work) {
  v1::Work proto;
  if (const auto* wait = std::get_if<WaitOrder>(&work)) {
    proto.mutable_wait()->set_reason(wait->reason);
  } else if (const auto* compute = std::get_if<ComputeOrder>(&work)) {
    *proto.mutable_compute() = ToProto(*compute);
  } else if (const auto* evaluate = std::get_if<EvaluateOrder>(&work)) {
    proto.mutable_evaluate()->set_version(static_cast<uint64_t>(evaluate->version));
    for (const int32_t unit : evaluate->units) {
      proto.mutable_evaluate()->add_unit(static_cast<uint32_t>(unit));
    }
  } else {
    proto.mutable_finished()->set_version(
        static_cast<uint64_t>(std::get<FinishedOrder>(work).version));
  }
  return proto;
}

v1::DataSummary ToProto(const DataSummary& data) {
  v1::DataSummary proto;
  proto.set_train_samples(static_cast<uint64_t>(data.train_samples));
  proto.set_test_samples(static_cast<uint64_t>(data.test_samples));
  proto.set_fingerprint(data.fingerprint);
  return proto;
}

v1::EvaluationResult ToProto(const EvaluationResult& result) {
  v1::EvaluationResult proto;
  proto.set_version(static_cast<uint64_t>(result.version));
  proto.set_unit(static_cast<uint32_t>(result.unit));
  proto.set_count(static_cast<uint64_t>(result.statistics.samples));
  proto.set_correct(static_cast<uint64_t>(result.statistics.correct));
  proto.set_loss_sum(result.statistics.loss_sum);
  return proto;
}

v1::SlotStatistics ToProto(const BatchStatistics& statistics) {
  v1::SlotStatistics proto;
  proto.set_samples(static_cast<uint64_t>(statistics.samples));
  proto.set_loss_sum(statistics.loss_sum);
  proto.set_correct(static_cast<uint64_t>(statistics.correct));
  proto.set_not_finite(statistics.not_finite);
  return proto;
}

absl::StatusOr<SlotRange> FromProto(const v1::SlotRange& proto) {
  ASSIGN_OR_RETURN(const int64_t end, Checked("slots.end", proto.end(), kMostInt32));
  if (proto.begin() >= proto.end()) {
    return absl::InvalidArgumentError(absl::StrCat("slots: found [", proto.begin(), ", ",
                                                   proto.end(), "), expected begin < end"));
  }
  return SlotRange{static_cast<int32_t>(proto.begin()), static_cast<int32_t>(end)};
}

absl::StatusOr<ElementRange> FromProto(const v1::ElementRange& proto) {
  ASSIGN_OR_RETURN(const int64_t end, Checked("range.end", proto.end(), kMostInt64));
  if (proto.begin() > proto.end()) {
    return absl::InvalidArgumentError(absl::StrCat("range: found [", proto.begin(), ", ",
                                                   proto.end(), "), expected begin <= end"));
  }
  return ElementRange{static_cast<int64_t>(proto.begin()), end};
}

absl::StatusOr<ComputeOrder> FromProto(const v1::Work::Compute& proto) {
  ComputeOrder order;
  ASSIGN_OR_RETURN(order.step, Checked("compute.step", proto.step(), kMostInt64));
  for (const v1::SlotRange& slots : proto.slots()) {
    ASSIGN_OR_RETURN(const SlotRange range, FromProto(slots));
    order.slots.push_back(range);
  }
  return order;
}

absl::StatusOr<Work> FromProto(const v1::Work& proto) {
  switch (proto.kind_case()) {
    case v1::Work::kWait:
      return WaitOrder{proto.wait().reason()};
    case v1::Work::kCompute:
      return FromProto(proto.compute());
    case v1::Work::kEvaluate: {
      EvaluateOrder order;
      ASSIGN_OR_RETURN(order.version,
                       Checked("evaluate.version", proto.evaluate().version(), kMostInt64));
      for (const uint32_t unit : proto.evaluate().unit()) {
        ASSIGN_OR_RETURN(const int64_t checked, Checked("evaluate.unit", unit, kMostInt32));
        order.units.push_back(static_cast<int32_t>(checked));
      }
      return order;
    }
    case v1::Work::kFinished: {
      ASSIGN_OR_RETURN(const Version version,
                       Checked("finished.version", proto.finished().version(), kMostInt64));
      return FinishedOrder{version};
    }
    case v1::Work::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("work: found no kind of work order that this version knows");
}

absl::StatusOr<DataSummary> FromProto(const v1::DataSummary& proto) {
  DataSummary data;
  ASSIGN_OR_RETURN(data.train_samples,
                   Checked("data.train_samples", proto.train_samples(), uint64_t{1} << 48));
  ASSIGN_OR_RETURN(data.test_samples,
                   Checked("data.test_samples", proto.test_samples(), uint64_t{1} << 48));
  data.fingerprint = proto.fingerprint();
  return data;
}

absl::StatusOr<EvaluationResult> FromProto(const v1::EvaluationResult& proto) {
  EvaluationResult result;
  ASSIGN_OR_RETURN(result.version, Checked("result.version", proto.version(), kMostInt64));
  ASSIGN_OR_RETURN(const int64_t unit, Checked("result.unit", proto.unit(), kMostInt32));
  result.unit = static_cast<int32_t>(unit);
  ASSIGN_OR_RETURN(result.statistics.samples, Checked("result.count", proto.count(), kMostInt64));
  ASSIGN_OR_RETURN(result.statistics.correct,
                   Checked("result.correct", proto.correct(), kMostInt64));
  result.statistics.loss_sum = proto.loss_sum();
  return result;
}

absl::StatusOr<BatchStatistics> FromProto(const v1::SlotStatistics& proto) {
  BatchStatistics statistics;
  ASSIGN_OR_RETURN(statistics.samples, Checked("statistics.samples", proto.samples(), kMostInt64));
  ASSIGN_OR_RETURN(statistics.correct,
                   Checked("statistics.correct", proto.correct(), proto.samples()));
  statistics.loss_sum = proto.loss_sum();
  statistics.not_finite = proto.not_finite();
  return statistics;
}

}  // namespace tributary
