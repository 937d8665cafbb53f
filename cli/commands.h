// The commands of `tributary`, each in a file of its own. A command declares its options; when the
// command line names it, parsing sets `action` to what is to be done, and main does it.
#ifndef TRIBUTARY_CLI_COMMANDS_H_
#define TRIBUTARY_CLI_COMMANDS_H_

#include <CLI/CLI.hpp>
#include <functional>

namespace tributary {

// Returns the exit code (common/base/exit_codes.h), after it has said what went wrong.
using Action = std::function<int()>;

void AddRunCommand(CLI::App& app, Action& action);
void AddValidateCommand(CLI::App& app, Action& action);
void AddEvalCommand(CLI::App& app, Action& action);
void AddExportCommand(CLI::App& app, Action& action);
void AddBenchCommand(CLI::App& app, Action& action);

}  // namespace tributary

#endif  // TRIBUTARY_CLI_COMMANDS_H_
