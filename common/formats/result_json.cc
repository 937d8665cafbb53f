#include "common/formats/result_json.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

absl::Status ReadInteger(const Json& json, const char* key, int64_t& value) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_integer()) {
    return absl::InvalidArgumentError(absl::StrCat(key, ": a whole number is missing"));
  }
  value = found->get<int64_t>();
  return absl::OkStatus();
}

absl::Status ReadNumber(const Json& json, const char* key, double& value) {
  const auto found = json.find(key);
  if (found == json.end() || !(found->is_number() || found->is_null())) {
    return absl::InvalidArgumentError(absl::StrCat(key, ": a number is missing"));
  }
  value = found->is_null() ? std::numeric_limits<double>::quiet_NaN() : found->get<double>();
  return absl::OkStatus();
}

}  // namespace

std::string FormatResultJson(const RunResult& result) {
  const Json json = {{"test_accuracy", result.test_accuracy()},
                     {"test_count", result.test_count},
                     {"test_correct", result.test_correct},
                     {"test_loss", result.test_loss},
                     {"steps", result.steps},
                     {"images", result.images},
                     {"seconds", result.seconds},
                     {"images_per_second", result.images_per_second()}};
  return json.dump(2) + "\n";
}

absl::StatusOr<RunResult> ParseResultJson(const std::string& text) {
  const Json json = Json::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return absl::InvalidArgumentError("no JSON object");
  RunResult result;
  RETURN_IF_ERROR(ReadInteger(json, "test_count", result.test_count));
  RETURN_IF_ERROR(ReadInteger(json, "test_correct", result.test_correct));
  RETURN_IF_ERROR(ReadNumber(json, "test_loss", result.test_loss));
  RETURN_IF_ERROR(ReadInteger(json, "steps", result.steps));
  RETURN_IF_ERROR(ReadInteger(json, "images", result.images));
  RETURN_IF_ERROR(ReadNumber(json, "seconds", result.seconds));
  return result;
}

}  // namespace tributary
