# Shell helpers for the scripts beside this file: one line per step with its seconds, full output
# in build/logs. Sourced, never run.

repo="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
logs="$repo/build/logs"
mkdir -p "$logs"

say() { printf '%s\n' "$*"; }

fail() {
  printf 'vivace: %s\n' "$*" >&2
  exit 1
}

# Fractional seconds without a subprocess, so that timing a step costs nothing.
_seconds_since() {
  local now=${EPOCHREALTIME/[.,]/} start=${1/[.,]/}
  local tenths=$(((now - start) / 100000))
  printf '%d.%d' $((tenths / 10)) $((tenths % 10))
}

# step TITLE LOG COMMAND...: runs the command with its output in build/logs/LOG.log, prints one
# line, and on failure shows the end of the log and exits.
step() {
  local title=$1 log="$logs/$2.log" start=$EPOCHREALTIME status=0
  shift 2
  printf '  %-58s ' "$title"
  "$@" >"$log" 2>&1 </dev/null || status=$?
  if ((status != 0)); then
    printf 'FAILED after %s s (exit %d)\n' "$(_seconds_since "$start")" "$status"
    tail -n 60 "$log" >&2
    fail "$title failed; the whole output is in ${log#"$repo"/}"
  fi
  printf '%8s s\n' "$(_seconds_since "$start")"
}

# configure PRESET [CACHE-ARGUMENT...]: nothing is printed about a tree that is already configured
# beyond its line; CMake itself sees what changed.
configure() {
  local preset=$1
  shift
  step "configure $preset" "configure-$preset" cmake -S "$repo" --preset "$preset" "$@"
}

# build_preset PRESET [TARGET...]: builds with one job per core.
build_preset() {
  local preset=$1
  shift
  local targets=()
  if (($# > 0)); then
    targets=(--target "$@")
  fi
  step "build $preset" "build-$preset" \
    cmake --build "$repo/build/$preset" -j "$(nproc)" "${targets[@]}"
}

# What runs ctest; the thread sanitizer needs a wrapper around it.
ctest_command=(ctest)

# run_ctest PRESET CTEST-ARGUMENT...: shows every test on a terminal, and ctest's closing lines
# elsewhere. A run that executes no test is a failure.
run_ctest() {
  local preset=$1 log="$logs/ctest-$1.log" start=$EPOCHREALTIME status=0
  shift
  local arguments=(--test-dir "$repo/build/$preset" --output-on-failure --no-tests=error
    -j "${VIVACE_TEST_JOBS:-$(nproc)}" "$@")
  say "  ctest $preset $*"
  if [[ -t 1 ]]; then
    "${ctest_command[@]}" "${arguments[@]}" --output-log "$log" --progress || status=$?
  else
    "${ctest_command[@]}" "${arguments[@]}" >"$log" 2>&1 </dev/null || status=$?
    if ((status != 0)); then
      grep -v -E '^ *([0-9]+/[0-9]+ Test|Start) .*(Passed|[0-9]+: )' "$log" | tail -n 300 || true
    else
      sed -n '/tests passed/,$p' "$log" | sed '/^Label Time/,/^$/d' | sed '/^$/d'
    fi
  fi
  printf '  %-58s %8s s\n' "ctest $preset" "$(_seconds_since "$start")"
  if ((status != 0)); then
    fail "tests failed (preset $preset); the whole output is in ${log#"$repo"/}"
  fi
}

# Warnings are errors in CI on Debian 12, whose compilers the code is kept clean for; a newer
# compiler's new warning must not stop a user.
werror() {
  local version=""
  version=$(. /etc/os-release && printf '%s' "${ID:-}${VERSION_ID:-}")
  if [[ -n ${CI:-} && $version == debian12 ]]; then
    printf 'ON'
  else
    printf 'OFF'
  fi
}

# The release tree serves the user, the tests and the install. Tests are left out only where
# GoogleTest is missing, so that the demo installs no more than it needs.
configure_release() {
  local tests=ON
  if [[ $(dpkg-query -W -f='${db:Status-Status}' libgmock-dev 2>/dev/null || true) != installed ]]; then
    tests=OFF
  fi
  configure release -DVIVACE_TESTS=$tests -DVIVACE_WERROR="$(werror)"
}
