#!/usr/bin/env bash
# Succeeds where tests can run on a Vulkan device: Mesa's lavapipe and the Khronos validation layer are there, or were
# installed (Debian and its relatives, as root), and Xvfb with them, for windows. Otherwise says what to type, and fails;
# all else works without.
set -euo pipefail

packages=(mesa-vulkan-drivers vulkan-validationlayers)
window_packages=(xvfb libx11-6 libxcb1 libdbus-1-3 libegl1 libfontconfig1 libgl1 libglib2.0-0 libxkbcommon0)

# find_json NAME…: a manifest of one of these names in the loader's usual directories.
find_json() {
    local directory
    for directory in /etc/vulkan /usr/share/vulkan /usr/local/share/vulkan "${XDG_DATA_HOME:-${HOME:-/root}/.local/share}/vulkan"; do
        [[ -d $directory ]] || continue
        find -L "$directory" -name "$1" -print -quit
    done | grep -q .
}

have_all() {
    find_json 'lvp_icd*.json' && find_json 'VkLayer_khronos_validation.json' \
        && { PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null | grep 'libvulkan\.so\.1' >/dev/null; }
}

install() {
    local get=(apt-get install -y -qq --no-install-recommends "${packages[@]}")
    export DEBIAN_FRONTEND=noninteractive
    # The package lists of a fresh image are empty or old.
    "${get[@]}" >/dev/null 2>&1 || { apt-get update -qq && "${get[@]}" >/dev/null; }
}

# An X server without a screen, and libraries that Qt loads, for the tests of windows.
bring_windows() {
    command -v Xvfb >/dev/null && PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null | grep 'libEGL\.so\.1' >/dev/null \
        && return
    [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null || return 0
    echo "Vulkan: installing ${window_packages[*]}" >&2
    packages=("${window_packages[@]}")
    install || echo "Vulkan: ${window_packages[*]} could not be installed; tests of windows skip" >&2
}

have_all && { bring_windows; exit 0; }
if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
    echo "Vulkan: installing ${packages[*]}" >&2
    install && have_all && { bring_windows; exit 0; }
    echo "Vulkan: ${packages[*]} could not be installed; tests that need a device have none" >&2
else
    echo "Vulkan: tests that need a device have none; on Debian and its relatives this brings one:" >&2
    echo "    sudo apt-get install -y --no-install-recommends ${packages[*]}" >&2
fi
exit 1
