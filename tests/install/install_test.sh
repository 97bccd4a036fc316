#!/usr/bin/env bash
# Installs a build into a folder of its own, moves it (a package must not depend on where it was
# installed first), then configures, builds and runs a small project against it.
#
#   install_test.sh BUILD-FOLDER CONSUMER-SOURCE CXX CMAKE
set -euo pipefail
build=$1 consumer=$2 compiler=$3 cmake=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/prefix"

for file in bin/vivace include/vivace/result.h share/doc/vivace/LICENSE; do
  if [[ ! -s $work/prefix/$file ]]; then
    echo "not installed: $file" >&2
    cat "$work/install.log" >&2
    exit 1
  fi
done
# The public headers are all that is promised; nothing of src/ may come along.
if find "$work/prefix/include" -mindepth 1 -maxdepth 1 ! -name vivace | grep .; then
  echo "more than include/vivace was installed" >&2
  exit 1
fi

"$work/prefix/bin/vivace" --version
"$cmake" -S "$consumer" -B "$work/consumer" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$work/prefix"
"$cmake" --build "$work/consumer"
"$work/prefix/bin/vivace" init --preset ijepa-vits16 --seed 0 --out "$work/model"
"$work/consumer/consumer" "$work/model"
