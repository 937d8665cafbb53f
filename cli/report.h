// What a command says about how it went: errors in one place and one form, results on standard
// output.
#ifndef TRIBUTARY_CLI_REPORT_H_
#define TRIBUTARY_CLI_REPORT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tributary {

// "tributary: MESSAGE" on standard error; returns kExitBadInput. One line, whatever the message.
int BadInput(const absl::Status& status);

// The same with kExitFailed; `message` may have several lines.
int Failed(absl::string_view message);

// Writes to standard output and returns kExitDone, or kExitFailed where that cannot be written.
int PrintResult(const std::string& text);

// The folder of the running program, where its companions lie.
std::string ProgramFolder();

}  // namespace tributary

#endif  // TRIBUTARY_CLI_REPORT_H_
