// `tributary`: trains on a cluster of this machine, checks job files, evaluates models, measures.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/commands.h"
#include "cli/report.h"
#include "common/log/log.h"
#include "common/net/channel.h"

namespace {

constexpr char kFooter[] = R"(Examples:
  tributary run examples/fashion_mnist_cnn.textproto --servers 2 --workers 2
  tributary run JOB --local --set training.epochs=3 --model-out model.safetensors
  tributary validate JOB --set data.dir=/data/mnist
  tributary eval model.safetensors --json result.json
  tributary bench train --workers 2 --json bench.json

Progress is written to standard error, results to standard output.
Exit codes: 0 done, 1 failed, 2 usage or bad input, 130 after Ctrl-C, 143 after SIGTERM.)";

// The command that the command line names, as far as it does: "bench train" below "tributary".
const CLI::App* NamedCommand(const CLI::App& app) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  return named.empty() ? &app : NamedCommand(*named[0]);
}

std::string FullName(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name()
                           : absl::StrCat(FullName(*parent), " ", command.get_name());
}

// What the parser says, in this program's words where the parser's say too little.
std::string Explain(const CLI::ParseError& error, const CLI::App& app) {
  const CLI::App* command = NamedCommand(app);
  std::vector<std::string> names;
  for (const CLI::App* subcommand : command->get_subcommands(/*filter=*/nullptr)) {
    names.push_back(subcommand->get_name());
  }
  const std::string hint = absl::StrCat(" (see ", FullName(*command), " --help)");
  if (names.empty()) return absl::StrCat(error.what(), hint);
  const std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
  return absl::StrCat("command: found ", unknown.empty() ? "none" : unknown[0], ", allowed ",
                      absl::StrJoin(names, ", "), hint);
}

}  // namespace

int main(int argc, char** argv) {
  tributary::SetUpLog("tributary");
  tributary::QuietGrpc();
  CLI::App app("Trains neural networks through parameter servers.", "tributary");
  app.set_version_flag("--version", "tributary " TRIBUTARY_VERSION, "Print the version and exit");
  app.require_subcommand(1);
  app.footer(kFooter);
  app.get_formatter()->column_width(34);

  tributary::Action action;
  tributary::AddRunCommand(app, action);
  tributary::AddValidateCommand(app, action);
  tributary::AddEvalCommand(app, action);
  tributary::AddExportCommand(app, action);
  tributary::AddBenchCommand(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return tributary::BadInput(absl::InvalidArgumentError(Explain(error, app)));
  }
  return action();
}
