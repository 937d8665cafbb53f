// Options that several commands have.
#ifndef TRIBUTARY_CLI_OPTIONS_H_
#define TRIBUTARY_CLI_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace tributary {

// More processes or threads than any one machine runs well.
inline constexpr int kMaxProcesses = 1024;
inline constexpr int kMaxThreads = 1024;

// A whole number from `least` to `most`; the error says what was found and what is allowed.
CLI::Validator WholeNumber(int64_t least, int64_t most);

// --set FIELD=VALUE, any number of times.
CLI::Option* AddOverrides(CLI::App& command, std::vector<std::string>& overrides);

// A whole number with its default in the help text.
CLI::Option* AddWholeNumber(CLI::App& command, const std::string& name, int& value, int least,
                            int most, const std::string& help);

// A path of a file to write.
CLI::Option* AddOutputFile(CLI::App& command, const std::string& name, std::string& path,
                           const std::string& help);

}  // namespace tributary

#endif  // TRIBUTARY_CLI_OPTIONS_H_
