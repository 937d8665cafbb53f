#include "common/codec/wire_type.h"

namespace tributary {

absl::string_view WireTypeName(WireType type) {
  switch (type) {
    case WireType::kFp32:
      return "fp32";
    case WireType::kBf16:
      return "bf16";
    case WireType::kFp16:
      return "fp16";
    case WireType::kInt8:
      return "int8";
    case WireType::kTopK:
      return "topk";
  }
  return "";
}

int64_t EncodedBytes(WireType type, int64_t elements) {
  switch (type) {
    case WireType::kFp32:
      return 4 * elements;
    case WireType::kBf16:
    case WireType::kFp16:
      return 2 * elements;
    case WireType::kInt8:
      return elements + 4 * ((elements + kInt8Block - 1) / kInt8Block);
    case WireType::kTopK:
      break;  // not dense
  }
  return 0;
}

}  // namespace tributary
