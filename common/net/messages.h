// The wire's messages and the plain values that the rooms use.
#ifndef TRIBUTARY_COMMON_NET_MESSAGES_H_
#define TRIBUTARY_COMMON_NET_MESSAGES_H_

#include "absl/status/statusor.h"
#include "common/base/types.h"
#include "common/codec/wire_type.h"
#include "common/training/work.h"
#include "tributary/v1/training.pb.h"

namespace tributary {

v1::Work ToProto(const Work& work);
v1::Work::Compute ToProto(const ComputeOrder& order);
v1::DataSummary ToProto(const DataSummary& data);
v1::EvaluationResult ToProto(const EvaluationResult& result);
v1::SlotStatistics ToProto(const BatchStatistics& statistics);
v1::SlotRange ToProto(SlotRange range);
v1::ElementRange ToProto(ElementRange range);
v1::TransferSpec::Type ToProto(WireType type);

// INVALID_ARGUMENT with the field for a number out of its type's range, an empty or inverted range,
// an order without a kind.
absl::StatusOr<Work> FromProto(const v1::Work& work);
absl::StatusOr<ComputeOrder> FromProto(const v1::Work::Compute& order);
absl::StatusOr<DataSummary> FromProto(const v1::DataSummary& data);
absl::StatusOr<EvaluationResult> FromProto(const v1::EvaluationResult& result);
absl::StatusOr<BatchStatistics> FromProto(const v1::SlotStatistics& statistics);
absl::StatusOr<SlotRange> FromProto(const v1::SlotRange& range);
absl::StatusOr<ElementRange> FromProto(const v1::ElementRange& range);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_NET_MESSAGES_H_
