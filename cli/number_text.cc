#include "cli/number_text.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tributary {

std::string GroupDigits(int64_t number) {
  const std::string digits = absl::StrCat(number);
  const size_t first = number < 0 ? 1 : 0;
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > first && (digits.size() - i) % 3 == 0) text.push_back(',');
    text.push_back(digits[i]);
  }
  return text;
}

std::string Counted(int64_t number, absl::string_view one) {
  return absl::StrCat(GroupDigits(number), " ", one, number == 1 ? "" : "s");
}

std::string FormatDuration(double seconds) {
  constexpr double kYear = 366 * 86400.0;
  if (!(seconds >= 0 && seconds < kYear)) return "-:--";
  const int64_t whole = std::llround(seconds);
  const int64_t minutes = whole / 60;
  if (minutes < 60) return absl::StrFormat("%d:%02d", minutes, whole % 60);
  return absl::StrFormat("%d:%02d:%02d", minutes / 60, minutes % 60, whole % 60);
}

}  // namespace tributary
