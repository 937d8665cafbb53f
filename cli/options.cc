#include "cli/options.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace tributary {

CLI::Validator WholeNumber(int64_t least, int64_t most) {
  const std::string allowed = absl::StrCat("a whole number from ", least, " to ", most);
  return CLI::Validator(
      [least, most, allowed](const std::string& text) -> std::string {
        int64_t value = 0;
        if (absl::SimpleAtoi(text, &value) && value >= least && value <= most) return "";
        return absl::StrCat("found ", text, ", allowed ", allowed);
      },
      /*description=*/"");
}

CLI::Option* AddOverrides(CLI::App& command, std::vector<std::string>& overrides) {
  return command
      .add_option("--set", overrides,
                  "Override a field of the job file, as training.epochs=3; any number of times, "
                  "the last one counts")
      ->type_name("FIELD=VALUE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
}

CLI::Option* AddWholeNumber(CLI::App& command, const std::string& name, int& value, int least,
                            int most, const std::string& help) {
  return command.add_option(name, value, help)
      ->type_name("N")
      ->check(WholeNumber(least, most))
      ->capture_default_str();
}

CLI::Option* AddOutputFile(CLI::App& command, const std::string& name, std::string& path,
                           const std::string& help) {
  return command.add_option(name, path, help)
      ->type_name("FILE")
      ->check(CLI::Validator(
          [](const std::string& text) -> std::string {
            return text.empty() ? "found an empty text, allowed a file's name" : "";
          },
          /*description=*/""));
}

}  // namespace tributary
