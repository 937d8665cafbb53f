// The checks that every part of a spec shares, and the one form of their errors:
//
//   PLACE: FIELD: found X, allowed Y
#ifndef TRIBUTARY_COMMON_JOB_CHECKS_H_
#define TRIBUTARY_COMMON_JOB_CHECKS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/job/source_map.h"

namespace tributary {

// One line that ends in "found X, allowed Y"; `place` may be empty.
absl::Status FieldError(absl::string_view place, absl::string_view field,
                        const absl::AlphaNum& found, const absl::AlphaNum& allowed);

class Checks {
 public:
  // `sources` must outlive this.
  explicit Checks(const SourceMap& sources) : sources_(sources) {}

  absl::Status Refuse(absl::string_view field, const absl::AlphaNum& found,
                      const absl::AlphaNum& allowed) const;

  absl::Status Require(bool holds, absl::string_view field, const absl::AlphaNum& found,
                       const absl::AlphaNum& allowed) const {
    return holds ? absl::OkStatus() : Refuse(field, found, allowed);
  }

  // A whole number from `least` to `most`; `reason`, if any, is added in brackets.
  absl::StatusOr<int64_t> Between(absl::string_view field, uint64_t found, int64_t least,
                                  int64_t most, absl::string_view reason = "") const;

  // The same, and `fallback` where the field is not set. A zero that is written down is not taken
  // for an absent field; over the wire the two look the same.
  absl::StatusOr<int64_t> BetweenOrDefault(absl::string_view field, uint64_t found,
                                           int64_t fallback, int64_t least, int64_t most,
                                           absl::string_view reason = "") const;

  const SourceMap& sources() const { return sources_; }

 private:
  const SourceMap& sources_;
};

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_JOB_CHECKS_H_
