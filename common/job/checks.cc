#include "common/job/checks.h"

#include "common/job/field_text.h"

namespace tributary {

absl::Status FieldError(absl::string_view place, absl::string_view field,
                        const absl::AlphaNum& found, const absl::AlphaNum& allowed) {
  return absl::InvalidArgumentError(OneLine(absl::StrCat(
      place, place.empty() ? "" : ": ", field, ": found ", found, ", allowed ", allowed)));
}

absl::Status Checks::Refuse(absl::string_view field, const absl::AlphaNum& found,
                            const absl::AlphaNum& allowed) const {
  return FieldError(sources_.Place(field), field, found, allowed);
}

absl::StatusOr<int64_t> Checks::Between(absl::string_view field, uint64_t found, int64_t least,
                                        int64_t most, absl::string_view reason) const {
  if (found < static_cast<uint64_t>(least) || found > static_cast<uint64_t>(most)) {
    return Refuse(
        field, found,
        absl::StrCat(least, " to ", most, reason.empty() ? "" : absl::StrCat(" (", reason, ")")));
  }
  return static_cast<int64_t>(found);
}

absl::StatusOr<int64_t> Checks::BetweenOrDefault(absl::string_view field, uint64_t found,
                                                 int64_t fallback, int64_t least, int64_t most,
                                                 absl::string_view reason) const {
  if (found == 0 && !sources_.IsWritten(field)) return fallback;
  return Between(field, found, least, most, reason);
}

}  // namespace tributary
