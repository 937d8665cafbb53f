#!/bin/bash
# Installs what is missing, builds everything and runs the tests.
#
#   ./test.sh          what every change must pass; some minutes
#   ./test.sh --full   also: format and lint, the long suites, the same tests under the address,
#                      undefined-behaviour and thread sanitizers, the fuzzers
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

full=no
if [[ ${1-} == --full ]]; then
  full=yes
elif [[ $# -gt 0 ]]; then
  echo "usage: ./test.sh [--full]; found: $*" >&2
  exit 2
fi

section() { printf '\n== %s\n' "$*"; }

# run_tests PRESET [CTEST OPTION...]
run_tests() {
  local preset=$1
  shift
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j2 "$@"
}

check_format() {
  find common server worker cli tests \( -name '*.h' -o -name '*.cc' \) -print0 |
    xargs -0 clang-format --dry-run --Werror
}

# The programs' own sources; a few minutes for each core.
check_lint() {
  find common server worker cli -name '*.cc' -print0 |
    xargs -0 -P "$(nproc)" -n 1 clang-tidy -p build/release --quiet 2>&1 |
    sed '/ warnings\{0,1\} generated\.$/d'
}

section "Packages"
lists=(scripts/packages.txt scripts/packages_test.txt)
if [[ $full == yes ]]; then lists+=(scripts/packages_test_full.txt); fi
scripts/install_packages.sh "${lists[@]}"

section "Build"
scripts/build.sh release

section "Tests"
run_tests release --label-exclude '^long$'
if [[ $full == no ]]; then exit 0; fi

section "Format"
check_format
section "Lint"
check_lint
section "Long tests"
run_tests release --label-regex '^long$'

section "Tests under the address and undefined-behaviour sanitizers"
scripts/build.sh asan
ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1 \
  UBSAN_OPTIONS=print_stacktrace=1 \
  run_tests asan --label-exclude '^long$'

# Debian's gRPC is built without the sanitizer: what it hands from thread to thread looks like a race.
section "Tests without gRPC under the thread sanitizer"
scripts/build.sh tsan tests_without_grpc
TSAN_OPTIONS=halt_on_error=1 run_tests tsan --label-exclude '^(long|grpc)$'

section "Fuzzers"
scripts/build.sh fuzz fuzzers
run_tests fuzz --label-regex '^fuzz$'
