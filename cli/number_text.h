// Numbers as people read them.
#ifndef TRIBUTARY_CLI_NUMBER_TEXT_H_
#define TRIBUTARY_CLI_NUMBER_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace tributary {

// 21840 to "21,840".
std::string GroupDigits(int64_t number);

// "1 server", "2 servers", "41,203 images".
std::string Counted(int64_t number, absl::string_view one);

// Seconds, rounded to whole ones: "0:12", "12:34", "1:02:03". Not a number, negative or beyond a
// year: "-:--".
std::string FormatDuration(double seconds);

}  // namespace tributary

#endif  // TRIBUTARY_CLI_NUMBER_TEXT_H_
