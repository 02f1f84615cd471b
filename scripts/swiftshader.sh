#!/usr/bin/env bash
# Brings SwiftShader, the mock driver and a newer validation layer into .vulkan/ (not in git): Debian's chromium-common
# carries them, and they need nothing but libc. The layer's manifest is the distribution's with another library in it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

here=$PWD/.vulkan
layer=/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json
[[ -e $here/ready ]] && exit
[[ -e $layer ]] || scripts/driver.sh

download=$(mktemp -d)
trap 'rm -rf "$download"' EXIT
# Its usual user cannot reach the place.
get=(apt-get download -qq -o APT::Sandbox::User=root chromium-common)
(cd "$download" && { "${get[@]}" || { apt-get update -qq && "${get[@]}"; }; }) >&2

rm -rf "$here"
mkdir -p "$here/layer"
dpkg-deb --fsys-tarfile "$download"/chromium-common_*.deb | tar -x -C "$here" --strip-components=4 \
    ./usr/lib/chromium/libvk_swiftshader.so ./usr/lib/chromium/vk_swiftshader_icd.json \
    ./usr/lib/chromium/libVkICD_mock_icd.so ./usr/lib/chromium/libVkLayer_khronos_validation.so
sed 's|libvk_swiftshader|libVkICD_mock_icd|' "$here/vk_swiftshader_icd.json" >"$here/mock_icd.json"
sed "s|\"library_path\": *\"[^\"]*\"|\"library_path\": \"$here/libVkLayer_khronos_validation.so\"|" "$layer" \
    >"$here/layer/VkLayer_khronos_validation.json"
touch "$here/ready"
