// Stand-ins for tributary-server and tributary-worker: shell scripts that keep to the same command
// line, so that the launcher is tested without training anything.
#ifndef TRIBUTARY_TESTS_CLI_FAKE_PROGRAMS_H_
#define TRIBUTARY_TESTS_CLI_FAKE_PROGRAMS_H_

#include <sys/stat.h>

#include <string>

#include "tests/support/temp_dir.h"

namespace tributary {

// Scripts that tests are put together of. They run with the options of the program in variables:
// $shard, $shards, $listen, $address_file, $job, $set (the last one), $model_out, $result_json,
// $coordinator, $threads, and $folder, where the scripts lie.
inline constexpr char kListen[] =
    "if [ $shard = 0 ]; then\n"
    "  echo 127.0.0.1:4711 > \"$address_file.part\"; mv \"$address_file.part\" \"$address_file\"\n"
    "fi\n";
// Shard 0 does its part when the file "end" is there; the others end then, too.
inline constexpr char kServeUntilEnd[] =
    "while [ ! -e \"$folder/end\" ]; do sleep 0.01; done\n"
    "[ $shard = 0 ] && echo '{\"test_count\": 10000, \"test_correct\": 9123, \"test_loss\": 0.25,"
    " \"steps\": 938, \"images\": 60000, \"seconds\": 1.5}' > \"$result_json\"\n"
    "exit 0\n";
inline constexpr char kServeForever[] = "while :; do sleep 0.02; done\n";
// Leaves a trace of a clean end.
inline constexpr char kEndWhenAsked[] =
    "trap 'touch \"$folder/$role-$shard-asked\"; exit 0' TERM\n";
inline constexpr char kIgnoreTerm[] = "trap '' TERM\n";

// Writes both programs into `folder`.
inline void WriteFakePrograms(const TempDir& folder, const std::string& server,
                              const std::string& worker) {
  const auto write = [&folder](const std::string& role, const std::string& body) {
    const std::string path = folder.Write("tributary-" + role,
                                          "#!/bin/sh\n"
                                          "folder='" +
                                              folder.path() + "'; role=" + role +
                                              "\n"
                                              "echo \"$@\" >> \"$folder/$role-calls\"\n"
                                              "while [ $# -gt 0 ]; do\n"
                                              "  name=$(echo ${1#--} | tr - _)\n"
                                              "  eval \"$name=\\$2\"; shift 2\n"
                                              "done\n" +
                                              body);
    ::chmod(path.c_str(), 0755);
  };
  write("server", server);
  write("worker", worker);
}

}  // namespace tributary

#endif  // TRIBUTARY_TESTS_CLI_FAKE_PROGRAMS_H_
