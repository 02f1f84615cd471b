#!/usr/bin/env python3
"""Campaigns: run checks that are too long for tests, and record the results with their goals in docs/reliability.md.

``scripts/proof.py`` runs the long form of every campaign (hours), ``--short`` the short form (minutes), ``--only NAME``
one of them, ``--list`` names them, ``--write`` keeps what was reached in ``docs/reliability.json`` and writes the page
of it. ``--render`` only writes the page. ``--take NAME FILE`` records the output of a command that ran elsewhere.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

ROOT = Path(__file__).resolve().parent.parent
RECORDS = ROOT / "docs" / "reliability.json"
PAGE = ROOT / "docs" / "reliability.md"
#: Kinds of barriers and their like that frames of hashes exercised, as they print them.
KIND = re.compile(r"^ {2,}(\d+) (\w+: .+)$", re.M)


class Record(TypedDict):
    """What a run of a campaign reached."""

    reached: str
    units: int
    findings: int
    command: str
    where: str
    #: How often each kind of barrier and its like occurred in a plan that ran.
    kinds: dict[str, int]


@dataclass(frozen=True)
class Campaign:
    """A command, how much of it is enough, and how its output is read."""

    name: str
    what: str
    goal: str
    #: ``{n}`` is the amount.
    command: str
    #: Amounts of the short form (0: not part of it) and of the long one.
    short: int
    long: int
    #: Finds the units that were reached, in the output; without it the amount counts if the command succeeds.
    units: str = ""
    #: The unit's name.
    unit: str = ""
    #: Finds failures, in the output.
    failures: str = ""
    #: Further figures to be kept: patterns with one group, joined.
    figures: tuple[str, ...] = field(default=())
    #: Further numbers to be added up: patterns with one group, and what they count.
    sums: tuple[tuple[str, str], ...] = field(default=())
    #: What a page says of a campaign that was never run.
    missing: str = "not run"
    #: True if success means that nothing was found; else its figures are compared with the goal.
    finds: bool = True


def hash_frames(entry: str) -> str:
    """Frames of hashes under an entry of ``scripts/with-layers``."""
    prefix = f"scripts/with-layers {entry} " if entry else ""
    test = "cargo test --package rgraph-vk --locked --test all hash_frames:: -- --nocapture"
    return f"env RGRAPH_HASH_GRAPHS={{n}} {prefix}{test}"


HASH = {
    "units": r"(\d+) graphs, \d+ runs, \d+ words compared",
    "unit": "graphs",
    "failures": r"^(\d+) failures",
}


def hashes(
    name: str, what: str, command: str, short: int, long: int, goal: str = "20,000 graphs, none wrong"
) -> Campaign:
    """A campaign of frames of hashes."""
    return Campaign(
        name,
        what,
        goal,
        command,
        short,
        long,
        str(HASH["units"]),
        str(HASH["unit"]),
        str(HASH["failures"]),
        (r"^  (\S.*frames in flight)$",),
        (
            (r"graphs, (\d+) runs", "runs"),
            (r"runs, (\d+) words compared", "words compared"),
            (r"^  (\d+) messages of", "messages"),
        ),
    )


TEST = r"test result: \w+\. (\d+) passed"
FAILED = r"test result: \w+\. \d+ passed; (\d+) failed"
SANITIZED = "cargo +nightly test --target x86_64-unknown-linux-gnu -Zbuild-std"
#: Findings of the tools themselves, whatever the tests say.
MIRI = r"(?:Undefined Behavior|memory leaked)"

CAMPAIGNS = (
    Campaign(
        "graphs",
        "Generated graphs: baked, checked, and played by the interpreter, whose result is compared with what they "
        "declare",
        "1,000,000 graphs, no finding",
        "env RGRAPH_GRAPHS={n} cargo test --package rgraph-check --locked --test all planner::",
        2000,
        833_400,
        unit="graphs under the default options (two fifths as many more under every policy and without stages)",
        failures=r"^(\d+) plans are wrong",
    ),
    hashes(
        "hash-a",
        "Frames of hashes on lavapipe under layer 1.3.239",
        hash_frames("A"),
        200,
        20_000,
    ),
    hashes(
        "hash-b",
        "Frames of hashes on lavapipe under layer 1.4.364 with synchronization validation",
        hash_frames("B"),
        0,
        3000,
        "3,000 graphs, no message that is not explained",
    ),
    hashes(
        "hash-c",
        "Frames of hashes on SwiftShader under layer 1.4.364",
        hash_frames("C"),
        0,
        20_000,
    ),
    hashes(
        "hash-gpu",
        "Frames of hashes on a real GPU with three queues",
        hash_frames(""),
        0,
        20_000,
    ),
    Campaign(
        "plan-mutants",
        "Mutants of plan files: refused in words, or right",
        "100,000 mutants, no crash, no panic",
        "env RGRAPH_PLAN_MUTANTS={n} scripts/with-layers A "
        "cargo test --package rgraph-vk --locked --test all plan_mutants::",
        500,
        100_000,
        unit="mutants",
    ),
    Campaign(
        "spirv-mutants",
        "Mutants of SPIR-V modules: none that the Khronos validator refuses reaches a driver",
        "12,000 mutants, none reaches a driver, no crash",
        "env RGRAPH_SPIRV_MUTANTS={n} scripts/with-layers A "
        "cargo test --package rgraph-vk --locked --test all validate:: -- --nocapture",
        1000,
        12_000,
        unit="mutants",
    ),
    Campaign(
        "certificates",
        "Certificates: every generated plan has one, and none that the checker refuses without one barrier or wait",
        "20,000 plans, each with a certificate; none without a part that it needs",
        "env RGRAPH_CERTIFICATES={n} cargo test --package rgraph-check --locked --test all -- "
        "certificate::every_generated certificate::a_plan --nocapture",
        1000,
        20_000,
        unit="plans",
        figures=(r"^(\d+ pairs), ", r"^(\d+ plans refused), "),
    ),
    Campaign(
        "redundant",
        "Barriers, waits, stages and accesses of generated plans without which the checker finds them as right",
        "1,000 plans, at most 2 % redundant",
        "env RGRAPH_MINIMAL={n} cargo test --package rgraph-check --locked --test all minimal::little -- --nocapture",
        0,
        1000,
        unit="plans",
        figures=(r"^(entries: \d+ of \d+; stages and accesses: \d+ of \d+)",),
        finds=False,
    ),
    Campaign(
        "faults",
        "Every fallible Vulkan call of an example frame fails once: out of memory (host, device), device lost",
        "every call, every way, nothing left alive",
        "cargo test --package rgraph-vk --locked --test all faults:: -- --skip devices_faults --nocapture",
        1,
        1,
        TEST,
        "tests",
        FAILED,
        (r"^(ERROR_\w+: \d+ calls)",),
    ),
    Campaign(
        "soak",
        "Four threads of one device: sizes change, flags flip, graphs are baked anew; no memory grows",
        "100,000 frames",
        "env RGRAPH_SOAK_FRAMES={n} cargo test --package rgraph-vk --locked --test soak -- --nocapture",
        1600,
        100_000,
        r"(\d+) frames, \d+ bakes",
        "frames",
        FAILED,
        (r"frames, (\d+ bakes)",),
    ),
    Campaign(
        "calls",
        "Calls of the Python interface in any order (devices, declarations, plans, runs, views, threads): bytes as a "
        "model in numpy has them, or an error in words",
        "100,000 calls, no crash, no hang, no other bytes",
        "env RGRAPH_CALLS={n} scripts/with-layers A .venv/bin/python -m pytest -s tests/gpu/test_calls.py",
        30,
        3000,
        r"examples, (\d+) calls",
        "calls",
        r"(\d+) failed",
        (r"calls, (\d+ frames compared)",),
    ),
    Campaign(
        "resizes",
        "Sizes of a real X window under the validation layer, each with a swapchain and a frame; screenshots compared",
        "1,000 sizes",
        "env RGRAPH_RESIZES={n} scripts/with-layers A "
        "cargo test --package rgraph-vk --locked --test all window:: -- --nocapture",
        100,
        1000,
        r"(\d+) sizes of a window",
        "sizes",
        FAILED,
    ),
    Campaign(
        "fuzz",
        "Coverage-guided fuzzing of six targets with AddressSanitizer: graph files, plan files, shaders, the heap, "
        "lists of calls, and graphs that are declared, baked, checked and interpreted",
        "600 s each, no crash",
        "make fuzz-targets SECONDS_OF_FUZZ={n}",
        0,
        600,
        r"stat::number_of_executed_units: (\d+)",
        "inputs",
        r"^(?:SUMMARY: |==\d+==ERROR)",
    ),
    Campaign(
        "coverage",
        "Lines of the planner that its tests, the generated graphs and the kept inputs of the fuzz targets reach",
        "at least 92 %",
        "env RGRAPH_GRAPHS={n} make fuzz-coverage",
        0,
        2000,
        TEST,
        "tests",
        FAILED,
        (r"^TOTAL(?: +\d+ +\d+ +[\d.]+%){2} +\d+ +\d+ +([\d.]+%)",),
        finds=False,
    ),
    Campaign(
        "mutation",
        "Mutants of the planner's stages that a test of planner or checker kills",
        "at least 95 % killed, survivors listed",
        "cargo run --release --locked --manifest-path fuzz/mutants/Cargo.toml -- all --one-in {n}",
        0,
        1,
        r"(\d+) mutants tested",
        "mutants",
        r"(\d+) missed",
        (r"(\d+ missed)", r"(\d+ unreached)", r"(\d+ caught)", r"(\d+ timeouts)", r"(\d+ unviable)"),
    ),
    Campaign(
        "address",
        "AddressSanitizer and LeakSanitizer over the tests of planner and checker",
        "no report",
        "env RUSTFLAGS=-Zsanitizer=address RGRAPH_GRAPHS={n} "
        f"{SANITIZED} --target-dir target/address --package rgraph-plan --package rgraph-check --tests",
        0,
        1000,
        TEST,
        "tests",
        FAILED,
    ),
    Campaign(
        "address-frames",
        "AddressSanitizer over frames of hashes on lavapipe",
        "no report",
        "env RUSTFLAGS=-Zsanitizer=address ASAN_OPTIONS=detect_leaks=0 RGRAPH_HASH_GRAPHS={n} scripts/with-layers A "
        f"{SANITIZED} --target-dir target/address --package rgraph-vk --test all hash_frames:: -- --nocapture",
        0,
        500,
        str(HASH["units"]),
        "graphs",
        str(HASH["failures"]),
    ),
    Campaign(
        "thread",
        "ThreadSanitizer over four threads of one device",
        "no report",
        "env RUSTFLAGS=-Zsanitizer=thread RGRAPH_SOAK_FRAMES={n} scripts/with-layers A "
        f"{SANITIZED} --target-dir target/thread --package rgraph-vk --test soak -- --nocapture",
        0,
        2000,
        r"(\d+) frames, \d+ bakes",
        "frames",
        r"(?s)(?:WARNING: ThreadSanitizer.*)",
    ),
    Campaign(
        "miri-ir",
        "Miri over the tests of the nouns",
        "no report",
        "env MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test --package rgraph-ir",
        0,
        1,
        TEST,
        "tests",
        MIRI,
    ),
    Campaign(
        "miri-heap",
        "Miri over the heap's tests",
        "no report",
        "env MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test --package rgraph-plan --test all heap::",
        0,
        1,
        TEST,
        "tests",
        MIRI,
    ),
    Campaign(
        "miri-check",
        "Miri over the checker and the interpreter on small graphs",
        "no report",
        "env RGRAPH_GRAPHS={n} MIRIFLAGS=-Zmiri-disable-isolation "
        "cargo +nightly miri test --package rgraph-check --lib --test all -- tests:: planner::",
        0,
        5,
        TEST,
        "tests",
        MIRI,
    ),
)


def numbers(pattern: str, text: str) -> list[int]:
    """All numbers that a pattern finds."""
    return [int(found) for found in re.findall(pattern, text, re.M)]


def read(campaign: Campaign, amount: int, output: str, status: int, where: str) -> Record:
    """What a run's output says."""
    units = sum(numbers(campaign.units, output)) if campaign.units else (amount if status == 0 else 0)
    found = re.findall(campaign.failures, output, re.M) if campaign.failures else []
    findings = sum(int(one) if one.isdigit() else 1 for one in found)
    if status != 0 and findings == 0:
        findings = 1
    figures = list(dict.fromkeys(one for pattern in campaign.figures for one in re.findall(pattern, output, re.M)))
    added = [f"{total:,} {of}" for pattern, of in campaign.sums if (total := sum(numbers(pattern, output)))]
    reached = [f"{units:,} {campaign.unit}", *added, *figures]
    if findings or campaign.finds:
        reached.append(f"{findings:,} findings" if findings else "no finding")
    kinds: Counter[str] = Counter()
    for count, kind in KIND.findall(output):
        kinds[kind] += int(count)
    return {
        "reached": ", ".join(reached),
        "units": units,
        "findings": findings,
        "command": campaign.command.format(n=amount),
        "where": where,
        "kinds": dict(sorted(kinds.items())),
    }


def run(campaign: Campaign, amount: int, seconds: float) -> Record:
    """Runs a campaign; its output goes to ``out/proof/NAME.log``."""
    command = campaign.command.format(n=amount)
    log = ROOT / "out" / "proof" / f"{campaign.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    print(f"{campaign.name}: {command}", flush=True)
    begin = time.monotonic()
    with log.open("w", encoding="utf-8") as file:
        try:
            # The command is one of this file's own.
            status = subprocess.run(
                command, shell=True, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT, timeout=seconds, check=False
            ).returncode
        except subprocess.TimeoutExpired:
            status = 124
    record = read(campaign, amount, log.read_text(encoding="utf-8", errors="replace"), status, "")
    print(
        f"  {record['reached']} ({time.monotonic() - begin:.0f} s, status {status}; {log.relative_to(ROOT)})",
        flush=True,
    )
    return record


def kept() -> dict[str, Record]:
    """What earlier runs reached."""
    if not RECORDS.exists():
        return {}
    records: dict[str, Record] = json.loads(RECORDS.read_text(encoding="utf-8"))
    return records


def better(new: Record, old: Record | None) -> bool:
    """Findings always count; else more does."""
    return old is None or new["findings"] > 0 or old["findings"] > 0 or new["units"] >= old["units"]


def table(records: dict[str, Record]) -> str:
    """The campaigns as a table of Markdown."""
    lines = ["| what | goal | reached | command |", "| --- | --- | --- | --- |"]
    for campaign in CAMPAIGNS:
        record = records.get(campaign.name)
        reached = record["reached"] if record else campaign.missing
        if record and record["where"]:
            reached = f"{record['where']}: {reached}"
        command = record["command"] if record else campaign.command.format(n=campaign.long)
        lines.append(f"| {campaign.what} | {campaign.goal} | {reached} | `{command}` |")
    return "\n".join(lines) + "\n"


def coverage(records: dict[str, Record]) -> str:
    """What the plans that ran had in them, as a table of Markdown."""
    ran = {name: one for name, one in records.items() if one.get("kinds")}
    kinds = sorted({kind for one in ran.values() for kind in one["kinds"]})
    lines = ["| kind | " + " | ".join(f"`{name}`" for name in ran) + " |", "| --- |" + " ---: |" * len(ran)]
    lines += [
        f"| {kind} | " + " | ".join(f"{one['kinds'].get(kind, 0):,}" for one in ran.values()) + " |" for kind in kinds
    ]
    return "\n".join(lines) + "\n"


def render(records: dict[str, Record]) -> None:
    """Writes the tables into the page, between their marks."""
    text = PAGE.read_text(encoding="utf-8")
    for name, made in (("campaigns", table(records)), ("coverage", coverage(records))):
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, _, rest = text.partition(begin)
        text = before + begin + "\n" + made + "\n" + end + rest.partition(end)[2]
    PAGE.write_text(text, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="the short form, minutes")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", choices=[one.name for one in CAMPAIGNS])
    parser.add_argument("--amount", type=int, help="another amount than the campaign's own")
    parser.add_argument("--seconds", type=float, default=4 * 3600.0, help="a campaign's longest time")
    parser.add_argument("--where", default="", help="the driver or machine, for the page")
    parser.add_argument("--take", nargs=2, metavar=("NAME", "FILE"), help="the output of a run elsewhere")
    parser.add_argument("--write", action="store_true", help="keep what was reached, and write the page")
    parser.add_argument("--render", action="store_true", help="only write the page")
    parser.add_argument("--list", action="store_true", help="name the campaigns")
    asked = parser.parse_args(arguments)
    records = kept()
    if asked.list:
        print("\n".join(f"{one.name:14} {one.goal:50} {one.what}" for one in CAMPAIGNS))
        return 0
    if asked.render:
        render(records)
        return 0
    reached: dict[str, Record] = {}
    if asked.take:
        campaign = next(one for one in CAMPAIGNS if one.name == asked.take[0])
        output = Path(asked.take[1]).read_text(encoding="utf-8", errors="replace")
        # The status of the run is not in its output. A test that failed is, and so is the end of one that was cut off.
        tests = bool(re.search(r"\bcargo .*\btest\b", campaign.command))
        passed = "test result: ok" in output or not tests
        status = 0 if passed and "test result: FAILED" not in output else 1
        reached[campaign.name] = read(campaign, asked.amount or campaign.long, output, status, asked.where)
    else:
        for campaign in CAMPAIGNS:
            amount = asked.amount or (campaign.short if asked.short else campaign.long)
            if amount and (not asked.only or campaign.name in asked.only):
                reached[campaign.name] = run(campaign, amount, asked.seconds)
                reached[campaign.name]["where"] = asked.where
    print(table(reached | {name: one for name, one in records.items() if name not in reached}))
    if asked.write:
        records |= {name: one for name, one in reached.items() if better(one, records.get(name))}
        RECORDS.write_text(json.dumps(records, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        render(records)
    return int(any(one["findings"] for one in reached.values()))


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
