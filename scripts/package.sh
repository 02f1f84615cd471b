#!/usr/bin/env bash
# Builds the wheel and the source archive into out/dist, installs each into a fresh environment outside of the tree, and runs the
# command there: --version, doctor, and where there is a device the demo. Usage: scripts/package.sh MATURIN [--wheel-only]
set -euo pipefail
unset PYTHONPATH
cd "$(dirname "${BASH_SOURCE[0]}")/.."
maturin=$(realpath "$1")
python=$(dirname "$maturin")/python
dist=$PWD/out/dist
rm -rf "$dist"

"$maturin" build --quiet --release --out "$dist" ${RGRAPH_PROFILE:+--profile "$RGRAPH_PROFILE"}
"$maturin" sdist --out "$dist" >/dev/null 2>&1
wheel=$(ls "$dist"/*.whl) archive=$(ls "$dist"/*.tar.gz)
"$python" tests/package_contents.py "$wheel" "$archive"

elsewhere=$(mktemp -d)
trap 'rm -rf "$elsewhere"' EXIT

# install NAME ARCHIVE: into an environment of its own, without anything but what the package asks for.
install() {
    "$python" -m venv "$elsewhere/$1"
    "$elsewhere/$1/bin/python" -m pip install --quiet --disable-pip-version-check "$2"
}

# try NAME: what a newcomer types.
try() {
    cd "$elsewhere"
    local bin=$elsewhere/$1/bin status=0
    "$bin/rgraph" --version
    "$bin/python" -c 'import rgraph, sys; sys.exit(not rgraph.__file__.startswith(sys.prefix))'
    "$bin/rgraph" doctor || status=$?
    if [ "$status" -eq 3 ]; then
        echo "$1: no device here, so the demo is not run"
        return
    fi
    "$bin/rgraph" demo --size 320x180 --frames 2 -o "$1.png"
    [ "$(head -c 4 "$1.png" | tail -c 3)" = PNG ]
}

install wheel "$wheel"
(try wheel)
if [ "${2:-}" != --wheel-only ]; then
    # Compiles it anew, in a target folder of its own or in that of the tree.
    CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target} install source "$archive"
    (try source)
fi
ls -l "$dist"
