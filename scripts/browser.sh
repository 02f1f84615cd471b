#!/usr/bin/env bash
# Succeeds where tests of the page can run in a browser: Chromium is there, or was installed (Debian and its relatives,
# as root). Otherwise says what to type, and fails; all else works without.
set -euo pipefail

have() { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null

install() {
    local get=(apt-get install -y -qq --no-install-recommends chromium)
    export DEBIAN_FRONTEND=noninteractive
    # The package lists of a fresh image are empty or old.
    "${get[@]}" >/dev/null 2>&1 || { apt-get update -qq && "${get[@]}" >/dev/null; }
}

have && exit
if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
    echo "browser: installing chromium" >&2
    install && have && exit
    echo "browser: chromium could not be installed; tests of the page skip" >&2
else
    echo "browser: tests of the page have none; on Debian and its relatives this brings one:" >&2
    echo "    sudo apt-get install -y --no-install-recommends chromium" >&2
fi
exit 1
