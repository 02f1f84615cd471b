"""What doctor prints: a line for each thing, ✓ good, · of no concern, ✗ broken, with the command that fixes it."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from rgraph.cli._terminal import columns, folded, paint, size

__all__ = ["text"]

_MARKS = {True: ("✓", "green"), None: ("·", "dim"), False: ("✗", "red")}
_VALIDATION = "VK_LAYER_KHRONOS_validation"
# Columns before the text about a device.
_MARGIN = 16


def _marked(good: bool | None, *cells: str) -> str:
    mark, style = _MARKS[good]
    return f"  {paint(mark, style)} " + "  ".join(cells).rstrip()


def _filled(words: str, margin: str) -> list[str]:
    return textwrap.wrap(words, columns(), initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False)


class _Whole(str):
    """A line to type: never broken, so that it can be copied."""


def _fix_line(fix: str) -> str:
    return _Whole(f"      {paint('fix:', 'cyan')} {fix}")


def _fitted(line: str) -> list[str]:
    start = len(line) - len(line.lstrip(" "))
    return [line] if isinstance(line, _Whole) else folded(line, {0: 2, 2: 6}.get(start, start))


def _row(name: str, style: str, words: str) -> list[str]:
    """Something about a device; words that do not fit next to the name of the row begin below it."""
    head = f"       {paint(f'{name:8}', style)}"
    longest = max(map(len, words.split()))
    if longest > columns() - _MARGIN:
        return [head.rstrip(), *_filled(words, " " * max(0, min(_MARGIN, columns() - longest)))]
    first, *more = textwrap.wrap(words, columns() - _MARGIN, break_on_hyphens=False)
    return [f"{head} {first}", *(" " * _MARGIN + line for line in more)]


def _version(numbers: list[int] | None) -> str:
    return ".".join(map(str, numbers)) if numbers else ""


class _Text:
    """Collects lines; puts each finding below the thing that it is about."""

    def __init__(self, report: dict[str, Any]) -> None:
        self.report = report
        self.lines: list[str] = []
        self.left = list(report["findings"])

    def title(self, words: str, more: str = "") -> None:
        self.lines += ["", paint(words, "bold") + (f"  {more}" if more else "")]

    def findings(self, *about: str) -> bool:
        """Add the findings about something; True if there are any."""
        mine = [one for one in self.left if one["about"] in about]
        self.left = [one for one in self.left if one["about"] not in about]
        for one in mine:
            self.lines += [*_filled(one["message"], "      "), _fix_line(one["fix"])]
        return bool(mine)

    def loader(self) -> None:
        loader = self.report["loader"]
        self.title("Loader")
        if loader["found"]:
            place = paint(str(Path(loader["path"]).parent), "dim") if loader["path"] else ""
            self.lines.append(_marked(True, loader["name"], _version(loader["version"]), place))
        else:
            self.lines.append(_marked(False, loader["name"]))
        self.findings("loader")

    def drivers(self) -> None:
        self.title("Drivers")
        drivers = self.report["drivers"]
        if not drivers:
            self.lines.append(_marked(False if not self.report["usable"] else None, "none is installed"))
            self.findings("drivers")
            return
        wide = max(len(Path(driver["manifest"]).name) for driver in drivers)
        asked = self.report["loader"]["found"]
        for driver in drivers:
            name = Path(driver["manifest"]).name
            if driver["error"]:
                self.lines.append(_marked(False, name.ljust(wide), paint(str(Path(driver["manifest"]).parent), "dim")))
                self.findings(name)
            elif driver["devices"] or not asked:
                self.lines.append(_marked(True if asked else None, name.ljust(wide), ", ".join(driver["devices"])))
            else:
                self.lines.append(_marked(None, name.ljust(wide), paint("no device of its kind here", "dim")))
        self.findings("drivers")

    def devices(self) -> None:
        self.title("Devices")
        for device in self.report["devices"]:
            self._device(device)
        for gpu in self.report["hardware"]:
            name = gpu["name"] or f"{gpu['vendor']} {gpu['kind']} {gpu['pci']}"
            if any(one["about"] == name for one in self.left):
                self.lines.append(_marked(False, paint(name, "bold"), f"pci:{gpu['pci']}"))
                self.findings(name)
        if self.lines[-1].endswith(paint("Devices", "bold")):
            self.lines.append(_marked(False, "none"))

    def _device(self, device: dict[str, Any]) -> None:
        ran = device["ran"]
        good = bool(ran and not ran["error"])
        kind = device["kind"] if device["kind"] != "cpu" else "software, on the CPU"
        self.lines.append(_marked(good, f"{device['index']}  {paint(device['name'], 'bold')}", kind))
        rows = [("driver", f"{device['driver']}, Vulkan {_version(device['api'])}"), ("uuid", device["uuid"])]
        if device["pci"]:
            rows.append(("pci", device["pci"]))
        for queue in device["queues"]:
            can = ", ".join(queue["capabilities"])
            rows.append(("queues", f"family {queue['family']}: {queue['count']} × {can}"))
        heaps = [
            f"{size(heap['size'])} {'of its own' if heap['device_local'] else 'of the host'}"
            for heap in device["heaps"]
        ]
        rows.append(("memory", ", ".join(heaps)))
        if good:
            rows.append(("ran", f"a graph, in {ran['run_ms']:.1f} ms; opened in {ran['open_ms']:.0f} ms"))
        for name, words in rows:
            self.lines += _row(name, "dim", words)
        for one in [*device["needs"], *device["offers"]]:
            if not one["has"]:
                style = "dim" if one in device["offers"] else "red"
                self.lines += _row("lacks", style, f"{one['name']}: {one['wanted_by']}")
        self.findings(device["name"])

    def layers(self) -> None:
        self.title("Layers")
        layers = self.report["layers"]
        for layer in layers:
            if layer["error"]:
                self.lines.append(_marked(False, layer["name"]))
                self.findings(layer["name"])
        watching = next((one for one in layers if one["name"] == _VALIDATION and not one["error"]), None)
        if watching:
            self.lines.append(_marked(True, _VALIDATION, watching["version"], paint("rgraph run --validate", "dim")))
        else:
            from rgraph.cli.doctor.system import install

            self.lines += [_marked(None, f"{_VALIDATION} is not installed: only --validate needs it")]
            self.lines.append(_fix_line(install("layer")))
        others = [one["name"].removeprefix("VK_LAYER_") for one in layers if not one["error"] and one is not watching]
        if others:
            self.lines += _filled(f"others: {', '.join(others)}", "    ")

    def rest(self) -> None:
        if self.report["environment"]:
            self.title("Environment")
            for name, value in self.report["environment"].items():
                wrong = any(one["about"] == name for one in self.left)
                self.lines.append(_marked(False if wrong else None, f"{name}={value}"))
                self.findings(name)
        self.title("Optional packages")
        wide = max(len(one["name"]) for one in self.report["extras"])
        for one in self.report["extras"]:
            name, has = one["name"].ljust(wide), one["version"]
            words = f"{has:9} {one['use']}" if has else f"{'missing':9} {one['use']}: {paint(one['fix'], 'cyan')}"
            self.lines.append(_marked(True if has else None, name, words))

    def verdict(self) -> None:
        count = len(self.report["findings"])
        if self.report["usable"]:
            fixable = f"; {count} thing{'s' if count > 1 else ''} above can be fixed" if count else ""
            self.lines += ["", f"{paint('Graphs can run here', 'green')}{fixable}."]
            return
        self.lines += ["", f"{paint('Graphs cannot run here', 'red')}: there is no usable device. Planning works."]
        if self.report["findings"]:
            self.lines.append(_Whole(f"  {self.report['findings'][0]['fix']}"))


def text(report: dict[str, Any]) -> str:
    """A report as people read it.

    Parameters
    ----------
    report
        What was found.
    """
    system = report["system"]
    out = _Text(report)
    where = f" · {system['container']}" if system["container"] else ""
    out.lines += [
        f"{paint('rgraph ' + system['rgraph'], 'bold')} · Python {system['python']}",
        f"{system['system']} · {system['kernel']} · {system['machine']}{where}",
    ]
    out.loader()
    out.drivers()
    out.devices()
    out.layers()
    out.rest()
    out.verdict()
    return "\n".join(part for line in out.lines for part in _fitted(line))
