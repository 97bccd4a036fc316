#!/usr/bin/env bash
# Runs the program in examples/ as its first lines say: on a checkpoint and two photographs, and on
# a file that is not there.
#
#   example_test.sh EXAMPLE VIVACE PHOTOGRAPHS
set -euo pipefail
example=$1 vivace=$2 photographs=$3
if [[ ! -e $photographs/china.jpg ]]; then
  echo "skipped: no photographs at $photographs (tools/fetch_media fetches them)"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$vivace" init --preset ijepa-vits16 --seed 0 --out "$work/model" --quiet

"$example" "$work/model" "$photographs/china.jpg" "$photographs/flower.jpg" | tee "$work/out"
grep -q 'china.jpg: 196 tokens of width 384, pooled' "$work/out"
grep -q 'flower.jpg: 196 tokens of width 384, pooled' "$work/out"
for stage in read decode preprocess context_encode postprocess; do
  [[ $(grep -c "^  $stage " "$work/out") == 2 ]]
done

status=0
"$example" "$work/model" absent.jpg 2>"$work/err" || status=$?
[[ $status == 66 ]]
grep -q 'absent.jpg' "$work/err"
