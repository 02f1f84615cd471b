#!/usr/bin/env bash
# Builds the wheel that is published, with profile `wheel`, into out/wheels, and sees that it runs on old systems: zig
# compiles and links Rust and C++ for glibc 2.17, objdump lists the versions of symbols that the module asks for, and a
# fresh environment imports it and bakes. Needs: pip install maturin[zig] zopflipy. Usage: scripts/wheels.sh [TARGET]
set -euo pipefail
unset PYTHONPATH
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=${1:-$(rustc -vV | sed -n 's/^host: //p')}
out=$PWD/out/wheels
most=$((7 * 1000 * 1000)) # bytes
oldest=2.17               # glibc

command -v maturin >/dev/null || { echo "wheels: pip install 'maturin[zig]' zopflipy" >&2; exit 1; }
rm -rf "$out"
maturin build --profile wheel --zig --compatibility manylinux2014 --target "$target" --out "$out"
wheel=$(ls "$out"/*.whl)

# The same files, packed by zopfli: a twentieth smaller, for whoever unpacks it the same format.
python3 - "$wheel" <<'PY'
import os
import sys
import zipfile

import zopfli

wheel = sys.argv[1]
with zipfile.ZipFile(wheel) as read, zopfli.ZipFile(f"{wheel}.small", "w", iterations=5) as written:
    for entry in read.infolist():
        written.writestr(entry, read.read(entry))
os.replace(f"{wheel}.small", wheel)
PY

size=$(stat -c %s "$wheel")
[ "$size" -le "$most" ] || { echo "wheels: $wheel has $size bytes, more than $most" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m zipfile -e "$wheel" "$work/unpacked"
module=$(ls "$work"/unpacked/rgraph/_core*.so)
newest=$(objdump -T "$module" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)
last=$(printf '%s\nGLIBC_%s\n' "$newest" "$oldest" | sort -V | tail -1)
[ "$last" = "GLIBC_$oldest" ] || { echo "wheels: $module asks for $newest, after glibc $oldest" >&2; exit 1; }
if objdump -p "$module" | grep -E 'NEEDED +(libstdc\+\+|libc\+\+|libgcc_s)' >&2; then
    echo "wheels: $module needs a C++ library of its system" >&2
    exit 1
fi

# The wheel of another architecture is not run here.
if [ "$target" = "$(rustc -vV | sed -n 's/^host: //p')" ]; then
    python3 -m venv "$work/venv"
    "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel"
    cd "$work"
    venv/bin/rgraph --version
    venv/bin/python - <<'PY'
import rgraph

g = rgraph.Graph("wheel")
out = g.image("out", format="rgba8unorm")
g.raster("draw", "#version 450\nlayout(location = 0) out vec4 c; void main() { c = vec4(1); }", color=out)
g.root(out)
assert g.bake().check() == []
PY
fi
echo "$wheel: $size bytes, $newest"
