#include "cli/report.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/base/exit_codes.h"

namespace tributary {

int BadInput(const absl::Status& status) {
  std::string line(status.message());
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::fprintf(stderr, "tributary: %s\n", line.c_str());
  return kExitBadInput;
}

int Failed(absl::string_view message) {
  std::fprintf(stderr, "tributary: %s\n", std::string(message).c_str());
  return kExitFailed;
}

int PrintResult(const std::string& text) {
  const bool is_written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (is_written) return kExitDone;
  return Failed(absl::StrCat("standard output: cannot be written: ", std::strerror(errno)));
}

std::string ProgramFolder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

}  // namespace tributary
