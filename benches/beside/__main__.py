"""rgraph compared with other libraries, in one run on this machine: ``python benches/beside [--where TEXT] [--write]``.

Libraries that are not installed, or find no device, are left out. Each is measured in processes of its own, one after
the other. ``--write`` keeps the figures in docs/performance.json under the name of the machine and writes the tables of
docs/performance.md and its charts; ``--take FILE`` does so with what ``--json`` printed on another machine.
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import page
from libraries import LIBRARIES

HERE = Path(__file__).parent
FRESH = 5
"""Number of fresh processes for figures of a first frame."""
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""Installed packages have their byte code; so has a source tree behind the first process."""


def measured(name: str, what: str) -> dict[str, Any] | str:
    """What a process of its own measured; a text: why the library measures nothing here."""
    done = subprocess.run(
        [sys.executable, HERE / "measure.py", name, what],
        capture_output=True,
        text=True,
        check=False,
        env=ENVIRONMENT,
    )
    if done.returncode:
        why = done.stderr.strip().splitlines()[-1].partition("Error: ")
        print(f"{name} left out: {why[2] or why[0]}", file=sys.stderr)
        return why[2] or why[0]
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def help_ms() -> float:
    """Milliseconds of ``rgraph --help``, the least of some."""

    def once() -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "rgraph", "--help"], capture_output=True, check=True, env=ENVIRONMENT)
        return (time.perf_counter() - start) * 1e3

    return min(once() for _ in range(FRESH))


def cpu() -> str:
    """Name of the processor, and how many of it this process may use."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{count} × {names[0] if names else platform.processor()}"


def run(names: list[str]) -> dict[str, Any]:
    """Measure libraries by name."""
    libraries, left_out = {}, {}
    for name in names:
        result = measured(name, "run")
        if isinstance(result, str):
            left_out[name] = result
            continue
        firsts = [one["figures"] for one in (measured(name, "first") for _ in range(FRESH)) if isinstance(one, dict)]
        for figure in firsts[0] if firsts else ():
            result["figures"][figure] = min(one[figure] for one in firsts)
        libraries[name] = result
        print(f"{name} {result['version']} measured", file=sys.stderr)
    if "rgraph" in libraries:
        libraries["rgraph"]["figures"]["help"] = help_ms()
    date = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    about = {"date": date, "cpu": cpu(), "python": platform.python_version()}
    return {**about, "libraries": libraries, "left_out": left_out}


def main() -> None:
    """Measure, print, and keep what was asked to be kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--libraries", default=",".join(LIBRARIES), help="names, with commas between")
    parser.add_argument("--where", help="name of the machine in the tables; its GPU without")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--take", type=Path, metavar="FILE", help="figures of another machine, as --json printed them")
    parser.add_argument("--write", action="store_true", help="keep the figures in docs/")
    args = parser.parse_args()
    figures = json.loads(args.take.read_text()) if args.take else run(args.libraries.split(","))
    where = args.where or next((one["gpu"] for one in figures["libraries"].values()), "no device")
    print(json.dumps(figures) if args.json else page.tables({where: figures}))
    if args.write:
        page.write(where, figures)


if __name__ == "__main__":
    main()
