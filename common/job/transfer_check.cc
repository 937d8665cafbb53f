#include "common/job/transfer_check.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace tributary {
namespace {

absl::StatusOr<WireType> CheckWireType(const std::string& field, v1::TransferSpec::Type found,
                                       bool may_be_sparse, const Checks& checks) {
  switch (found) {
    case v1::TransferSpec::FP32:
      return WireType::kFp32;
    case v1::TransferSpec::BF16:
      return WireType::kBf16;
    case v1::TransferSpec::FP16:
      return WireType::kFp16;
    case v1::TransferSpec::INT8:
      return WireType::kInt8;
    case v1::TransferSpec::TOP_K:
      if (may_be_sparse) return WireType::kTopK;
      break;
    default:
      break;
  }
  return checks.Refuse(field,
                       v1::TransferSpec::Type_IsValid(found)
                           ? v1::TransferSpec::Type_Name(found)
                           : absl::StrCat(static_cast<int>(found)),
                       may_be_sparse ? "FP32, BF16, FP16, INT8, TOP_K" : "FP32, BF16, FP16, INT8");
}

}  // namespace

absl::StatusOr<TransferConfig> CheckTransfer(const v1::TransferSpec& spec, const Checks& checks) {
  TransferConfig transfer;
  ASSIGN_OR_RETURN(transfer.push, CheckWireType("transfer.push", spec.push(), true, checks));
  ASSIGN_OR_RETURN(transfer.pull, CheckWireType("transfer.pull", spec.pull(), false, checks));
  transfer.error_feedback = spec.error_feedback();
  RETURN_IF_ERROR(checks.Require(!transfer.error_feedback || transfer.push != WireType::kFp32,
                                 "transfer.error_feedback", "true",
                                 "false: nothing is lost (transfer.push is FP32)"));
  if (spec.has_top_k_ratio()) transfer.top_k_ratio = spec.top_k_ratio();
  RETURN_IF_ERROR(checks.Require(transfer.top_k_ratio > 0 && transfer.top_k_ratio <= 1,
                                 "transfer.top_k_ratio", transfer.top_k_ratio,
                                 "above 0, at most 1"));
  return transfer;
}

}  // namespace tributary
