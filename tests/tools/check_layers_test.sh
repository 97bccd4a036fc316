#!/usr/bin/env bash
# The layer check must fail on every kind of violation, with the place and what is allowed: each is
# planted in a small tree of its own. A check that never fails would pass on the real tree too.
set -euo pipefail
check="$1/tools/check_layers"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# fresh_tree: a tree that keeps the layers.
fresh_tree() {
  rm -rf "$work/tree"
  mkdir -p "$work/tree/include/vivace"
  local folder
  for folder in core platform record stats result media kernels ops model pipeline system load \
    report api cli; do
    mkdir -p "$work/tree/src/$folder"
    printf '#include "core/base.h"\n' >"$work/tree/src/$folder/$folder.h"
    printf '#include "%s/%s.h"\n\n#include <vector>\n' "$folder" "$folder" \
      >"$work/tree/src/$folder/$folder.cc"
  done
  printf '#include "vivace/result.h"\n' >"$work/tree/src/core/base.h"
  printf '#include <tl/expected.hpp>\n#include <string>\n' >"$work/tree/include/vivace/result.h"
  printf '#include "system/system.h"\n' >"$work/tree/src/load/loop.cc"
  printf '#include "model/model.h"\n#include <nlohmann/json.hpp>\n' >"$work/tree/src/cli/main.cc"
}

# plant PATH LINE: adds a line to a file of the tree.
plant() {
  mkdir -p "$(dirname "$work/tree/$1")"
  printf '%s\n' "$2" >>"$work/tree/$1"
}

# expect_failure TITLE TEXT...: the check must fail and its output must hold every text.
expect_failure() {
  local title=$1 output status=0 text
  shift
  output=$("$check" "$work/tree" 2>&1) || status=$?
  if ((status != 1)); then
    printf 'FAIL %s: expected exit 1, got %d\n%s\n' "$title" "$status" "$output"
    failures=$((failures + 1))
  fi
  for text in "$@"; do
    if [[ $output != *"$text"* ]]; then
      printf 'FAIL %s: expected "%s" in\n%s\n' "$title" "$text" "$output"
      failures=$((failures + 1))
    fi
  done
  fresh_tree
}

fresh_tree
if ! "$check" "$work/tree"; then
  printf 'FAIL the clean tree was rejected\n'
  failures=$((failures + 1))
fi

plant src/model/model.cc '#include "kernels/kernels.h"'
expect_failure "model on kernels" 'src/model/model.cc:4: model includes "kernels/kernels.h"' \
  'allowed: model vivace core platform record ops'

plant src/load/loop.cc '#include "model/model.h"'
expect_failure "load on model" 'src/load/loop.cc:2: load includes "model/model.h"'

plant src/system/endpoint.h '#include <string>'
plant src/load/loop.cc '#include "system/endpoint.h"'
expect_failure "load on more than system's interface" 'load includes "system/endpoint.h"' \
  'system/system.h'

plant src/stats/stats.cc '#include "platform/platform.h"'
expect_failure "stats on platform" 'stats includes "platform/platform.h"' \
  'allowed: stats vivace core)'

plant src/kernels/kernels.h '#include "record/record.h"'
expect_failure "kernels on record" 'kernels includes "record/record.h"'

plant src/core/core.h '  #  include <platform/platform.h>'
expect_failure "upwards, with odd spacing and angle brackets" 'core includes "platform/platform.h"'

plant include/vivace/result.h '#include <fmt/format.h>'
expect_failure "public header on fmt" 'include/vivace/result.h:3: a public header includes'

plant include/vivace/result.h '#include "core/base.h"'
expect_failure "public header on src" 'a public header includes "core/base.h"'

plant src/odd/odd.h '#include <string>'
expect_failure "unknown folder" 'src/odd/odd.h:1: in an unknown folder src/odd'

plant src/model/model.cc '#include "model.h"'
expect_failure "include without its folder" '"model.h" names no folder'

plant src/model/model.cc '#include "../ops/ops.h"'
expect_failure "relative include" 'relative include "../ops/ops.h"'

plant src/result/document.h '#include <nlohmann/json_fwd.hpp>'
expect_failure "heavy header in a header" 'src/result/document.h:1: a header includes <nlohmann/'

plant src/result/result.cc '#include <nlohmann/json.hpp>'
plant src/report/report.cc '#include <nlohmann/json.hpp>'
expect_failure "heavy header in a third file" 'third .cc file'

plant src/media/a.h '#include "media/b.h"'
plant src/media/b.h '#include "media/a.h"'
expect_failure "cycle" 'include cycle:' 'src/media/a.h src/media/b.h src/media/a.h'

plant examples/embed.cc '#include "pipeline/pipeline.h"'
expect_failure "example on an inner folder" 'an example includes "pipeline/pipeline.h"'

if ((failures > 0)); then
  printf '%d failure(s)\n' "$failures"
  exit 1
fi
printf 'every planted violation was found\n'
