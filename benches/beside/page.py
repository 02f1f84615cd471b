"""Tables and charts of the comparison with other libraries."""

import json
import math
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

DOCS = Path(__file__).parents[2] / "docs"
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"


class Row(NamedTuple):
    """A figure of a table: its key, what it says, its goal."""

    key: str
    says: str
    goal: str = ""


class Table(NamedTuple):
    """A table, and whether less is better."""

    title: str
    unit: str
    less: bool
    rows: tuple[Row, ...]


def _bytes(way: str, says: str) -> tuple[Row, ...]:
    return tuple(Row(f"{way}_{mib}", f"{says}, {mib} MiB") for mib in (1, 16, 64, 256))


TABLES = (
    Table(
        "A chain of small dispatches: time of the interpreter's thread",
        "µs per dispatch",
        True,
        (
            Row("cpu_anew_100", "100, declared or recorded anew", "less than wgpu-py"),
            Row("cpu_anew_1024", "1,024, declared or recorded anew", "less than wgpu-py"),
            Row("cpu_again_100", "100, run again", "0.03"),
            Row("cpu_again_1024", "1,024, run again", "0.03"),
        ),
    ),
    Table(
        "A chain of small dispatches: time until the device is done, several chains under way",
        "µs per dispatch",
        True,
        (
            Row("wall_anew_100", "100, declared or recorded anew"),
            Row("wall_anew_1024", "1,024, declared or recorded anew"),
            Row("wall_again_100", "100, run again"),
            Row("wall_again_1024", "1,024, run again"),
        ),
    ),
    Table(
        "One dispatch, from its declaration until it is done",
        "µs",
        True,
        (Row("one", "declared or recorded, run, waited for", "76"),),
    ),
    Table(
        "The first frame of a process",
        "ms",
        True,
        (
            Row("import", "import", "5"),
            Row("first_run", "100 dispatches on a new device, rgraph's from source, waited for", "30 with a GPU"),
            Row("first_chain", "import, device and these dispatches"),
            Row("help", "`rgraph --help`", "60"),
        ),
    ),
    Table(
        "Bytes between the interpreter's arrays and the device",
        "MiB/s",
        False,
        (
            *_bytes("up", "up"),
            *_bytes("down", "down"),
            *_bytes("pinned_up", "up, page-locked"),
            *_bytes("pinned_down", "down, page-locked"),
        ),
    ),
)


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    places = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 0.01 else 3
    return f"{value:,.{places}f}"


def _lines(table: Table, machine: dict[str, Any]) -> list[str]:
    libraries, before = machine["libraries"], machine.get("before")
    rows = [row for row in table.rows if any(row.key in one["figures"] for one in libraries.values())]
    if not rows:
        return []
    goals = any(row.goal for row in rows)
    earlier = [f"rgraph, {before['date']}"] if before else []
    head = [f"{table.title} ({table.unit})", *libraries, *earlier, *(["goal"] if goals else [])]
    columns = len(libraries) + len(earlier)
    out = ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * columns + (" --- |" if goals else "")]
    for row in rows:
        values = {name: one["figures"].get(row.key) for name, one in libraries.items()}
        known = [value for value in values.values() if value is not None]
        best = min(known) if table.less else max(known)
        shown = [f"**{_number(value)}**" if value == best else _number(value) for value in values.values()]
        if before:
            shown.append(_number(before["figures"].get(row.key)))
        out.append("| " + " | ".join([row.says, *shown, *([row.goal] if goals else [])]) + " |")
    return [*out, ""]


def tables(machines: dict[str, Any]) -> str:
    """Tables of several machines, in Markdown; the best of each row is bold."""
    out = []
    for where, machine in machines.items():
        libraries = machine["libraries"]
        versions = ", ".join(f"{name} {one['version']}" for name, one in libraries.items())
        out += [f"## {where}", "", f"{machine['date']}, {machine['cpu']}, Python {machine['python']}: {versions}.", ""]
        for table in TABLES:
            out += _lines(table, machine)
        out += ["What each does in that time:", ""]
        out += [f"- {name} {one['says']}." for name, one in libraries.items()]
        out += [f"- {name} was left out: {why.rstrip('.!')}." for name, why in machine.get("left_out", {}).items()]
        out.append("")
    return "\n".join(out).strip() + "\n"


COLORS = ("#c2410c", "#1d4ed8", "#0f766e", "#a16207", "#7e22ce")
ROW, BAR, LEFT, WIDE = 16, 12, 330, 330


def chart(table: Table, libraries: dict[str, Any]) -> str:
    """A chart of a table: the logarithm of each figure as a bar, and its ratio to the best of the row."""
    rows = [row for row in table.rows if sum(row.key in one["figures"] for one in libraries.values()) > 1]
    figures = [one["figures"][row.key] for row in rows for one in libraries.values() if row.key in one["figures"]]
    lowest, highest = min(figures) / 2, max(figures)
    marks, y = [], 58
    for row in rows:
        known = {name: one["figures"][row.key] for name, one in libraries.items() if row.key in one["figures"]}
        best = min(known.values()) if table.less else max(known.values())
        middle = y + ROW * len(known) / 2
        marks.append(f'<text x="{LEFT - 10}" y="{middle:.0f}" text-anchor="end">{escape(row.says)}</text>')
        for name, value in known.items():
            times = value / best if table.less else best / value
            color = COLORS[list(libraries).index(name) % len(COLORS)]
            width = math.log(value / lowest) / math.log(highest / lowest) * WIDE
            marks.append(f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR}" fill="{color}"/>')
            text = _number(value) + ("" if times < 1.005 else f" ({_number(times)} ×)")
            marks.append(f'<text x="{LEFT + width + 6:.1f}" y="{y + 10}">{escape(text)}</text>')
            y += ROW
        y += 10
    x, legend = LEFT, []
    for name, color in zip(libraries, COLORS, strict=False):
        legend.append(f'<rect x="{x}" y="34" width="10" height="10" fill="{color}"/>')
        legend.append(f'<text x="{x + 14}" y="43">{escape(name)}</text>')
        x += 34 + 7 * len(name)
    title = f'<text x="12" y="22" font-size="15">{escape(table.title)}</text>'
    title += f'<text x="12" y="44">{escape(table.unit)}, logarithmic</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 {y + 8}" font-family="sans-serif" font-size="12">'
        f'<rect width="860" height="{y + 8}" fill="#fff"/>{title}{"".join(legend)}{"".join(marks)}</svg>\n'
    )


def earlier(kept: dict[str, Any], date: str) -> dict[str, Any] | None:
    """Earlier figures of rgraph for the last column of a table: those of the last other day."""
    if kept["date"] == date:
        before: dict[str, Any] | None = kept.get("before")
        return before
    return {"date": kept["date"], "figures": kept["libraries"]["rgraph"]["figures"]}


def write(where: str, figures: dict[str, Any]) -> None:
    """Keep figures of a machine, and write the page's tables and charts of all machines."""
    kept = DOCS / "performance.json"
    machines = json.loads(kept.read_text()) if kept.exists() else {}
    if where in machines and "rgraph" in machines[where]["libraries"]:
        figures["before"] = earlier(machines[where], figures["date"])
    machines[where] = figures
    # Columns keep the order of the libraries.
    kept.write_text(json.dumps(machines, indent=1) + "\n")
    pages = DOCS / "performance.md"
    text = pages.read_text()
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    pictures = []
    for at, (name, machine) in enumerate(machines.items()):
        for which, table in enumerate(TABLES[:3]):
            file = f"pictures/performance-{at}-{which}.svg"
            (DOCS / file).write_text(chart(table, machine["libraries"]))
            pictures.append(f"![{table.title}, {name}]({file})")
    shown = "\n\n".join(pictures)
    pages.write_text(f"{before}{BEGIN}\n\n{shown}\n\n{tables(machines)}\n{END}{after}")
