#!/usr/bin/env bash
# Commands in the documents are run as they stand there: every block that opens with ```sh run, in
# a folder that holds what a reader would have: photo.jpg, photos/, a checkpoint. The table of flags
# in docs/cli.md must have exactly the flags that --help has.
#
#   docs_test.sh REPOSITORY VIVACE
set -euo pipefail
repo=$1
vivace=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  printf 'FAIL %s\n' "$*"
  failures=$((failures + 1))
}

# A reader's folder: the program on the path and where a build puts it, pictures, a model.
mkdir -p "$work/bin" "$work/build/release" "$work/photos" "$work/home/models"
ln -s "$vivace" "$work/bin/vivace"
ln -s "$vivace" "$work/build/release/vivace"
samples="$repo/build/media-samples/usr/lib/python3/dist-packages/sklearn/datasets/images"
if [[ -e $samples/china.jpg && -e $samples/flower.jpg ]]; then
  cp "$samples/china.jpg" "$samples/flower.jpg" "$work/photos"
else
  # Without tools/fetch_media a small picture does: a PNG, which its name does not change.
  base64 -d >"$work/photos/china.jpg" <<'END'
iVBORw0KGgoAAAANSUhEUgAAABAAAAAMBAMAAACZySCyAAAAGFBMVEWe3IAw24DSk4BckoClSICxGIA6ToA2FYA5711UAAAATElE
QVR42jXMywmAMBQF0fMkuBVbsAVryd4mxDatQNJBbMDPIno3AwNzY9OWKndBOhrFpIIYURHIEJluQBpx7cTsOf8f6lfpF7GWZl7A
BxF+ZnMV1gAAAABJRU5ErkJggg==
END
  cp "$work/photos/china.jpg" "$work/photos/flower.jpg"
fi
cp "$work/photos/china.jpg" "$work/photo.jpg"
export PATH="$work/bin:$PATH" HOME="$work/home"

# run_blocks DOCUMENT: each marked block, as one script that stops at the first failure.
run_blocks() {
  local document=$1 block="" inside=0 line
  while IFS= read -r line; do
    if [[ $line == '```sh run' ]]; then
      inside=1 block=""
    elif [[ $line == '```' && $inside == 1 ]]; then
      inside=0
      blocks=$((blocks + 1))
      (cd "$work" && bash -euxo pipefail -c "$block" >"$work/log" 2>&1 </dev/null) ||
        fail "$document: $(cat "$work/log")"
    elif ((inside)); then
      block+=$line$'\n'
    fi
  done <"$document"
  if ((inside)); then fail "$document: a block is not closed"; fi
}

blocks=0
run_blocks "$repo/docs/cli.md"
# The other documents speak of the reader's own checkpoint.
ln -s "$work/ijepa-vits16" "$work/home/models/ijepa_vith14_1k"
for document in "$repo"/README.md "$repo"/docs/*.md; do
  if [[ $document != */docs/cli.md && -e $document ]]; then run_blocks "$document"; fi
done
if ((blocks == 0)); then fail "no block is marked to be run"; fi
for made in result.json pooled.npy tokens.safetensors vivace.1; do
  [[ -s $work/$made ]] || fail "docs/cli.md made no $made"
done

verbs=$("$vivace" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
in_help=$(for verb in $verbs; do "$vivace" "$verb" --help; done |
  sed -n 's/^  \(-., \)\{0,1\}\(--[a-z-]*\).*/\2/p' | grep -vx -e --help | sort -u)
in_table=$(sed -n '/^## Flags/,/^## Inputs/s/^| \(`--[^|]*\)|.*/\1/p' "$repo/docs/cli.md" |
  grep -o -e '--[a-z-]*' | sort -u)
if [[ $in_help != "$in_table" ]]; then
  fail "docs/cli.md: flags differ: $(diff <(printf '%s' "$in_help") <(printf '%s' "$in_table"))"
fi
for verb in $verbs; do
  grep -q "^| \`$verb\` |" "$repo/docs/cli.md" || fail "docs/cli.md: no verb $verb"
done

if ((failures > 0)); then exit 1; fi
printf '%d blocks ran\n' "$blocks"
