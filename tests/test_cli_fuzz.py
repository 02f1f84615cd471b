"""The command `rgraph fuzz`: seeds, findings and workers."""

import json
import re
from pathlib import Path

import pytest

import rgraph
from clitool import run_bytes
from rgraph.cli import main


def test_fuzz_counts_graphs_and_keeps_what_breaks_a_law(tmp_path: Path):
    done = run_bytes("fuzz", "--seconds", "0", "--seed", "5", "-o", tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert b"64 graphs from seed 5" in done.stdout
    assert not list(tmp_path.iterdir())


def test_fuzz_as_json(tmp_path: Path):
    done = run_bytes("fuzz", "--seconds", "0", "--seed", "7", "-o", tmp_path, "--json")
    assert json.loads(done.stdout) == {"graphs": 64, "seed": 7, "findings": []}


def test_fuzz_on_workers_tries_the_same_seeds(tmp_path: Path):
    done = run_bytes("fuzz", "--seconds", "0.5", "--seed", "7", "--workers", "2", "-o", tmp_path, "--json")
    assert done.returncode == 0
    values = json.loads(done.stdout)
    assert values["graphs"] % 64 == 0
    assert (values["seed"], values["findings"]) == (7, [])
    refused = run_bytes("fuzz", "--scheduler", "tcp://127.0.0.1:9", "--patience", "0.5", "-o", tmp_path)
    assert refused.returncode == 1
    assert re.search(rb"RG-E603 no scheduler answers at tcp://127.0.0.1:9|RG-E225 .* Dask is not", refused.stderr)


def test_fuzz_reads_what_workers_found(monkeypatch: pytest.MonkeyPatch):
    from concurrent.futures import ThreadPoolExecutor

    from rgraph.batch._calls import Pool
    from rgraph.cli import fuzz

    graph, profile = rgraph._core.generate(3)
    plan = graph.bake(profile)
    both = [("a law", graph, profile, plan), ("b", graph, profile, None)]
    monkeypatch.setattr(fuzz, "fuzz", lambda seed, _: [(seed, *one) for one in both])
    times = iter([True] * 3)
    with ThreadPoolExecutor(2) as pool:
        on = Pool(pool, own=False)
        found = [one for batch in fuzz._spread(5, lambda: next(times, False), on) for one in batch]
    assert [one[0] for one in found[::2]] == [5, 69, 133, 197]
    assert {one[1] for one in found} == {"a law", "b"}
    assert all(one[2].hash == graph.hash and one[4] in (None, plan) for one in found)


def test_fuzz_tries_seeds_of_lost_workers_again_and_names_those_that_lose_all(monkeypatch: pytest.MonkeyPatch):
    from concurrent.futures import BrokenExecutor, ThreadPoolExecutor

    from rgraph.batch._calls import Pool
    from rgraph.cli import fuzz

    tries: list[int] = []

    def dies(seed: int, _: int) -> list[object]:
        tries.append(seed)
        if seed == 69 or tries.count(5) < 3:
            raise BrokenExecutor("gone")
        return []

    monkeypatch.setattr(fuzz, "fuzz", dies)
    times = iter([True])
    with ThreadPoolExecutor(1) as pool:
        batches = fuzz._spread(5, lambda: next(times, False), Pool(pool, own=False))
        assert next(batches) == []
        with pytest.raises(
            rgraph.BatchError, match="each worker that tried seeds 69 to 132 was lost\n  gone"
        ) as caught:
            next(batches)
    assert "help: rgraph fuzz --seed 69 --seconds 0 tries them in its own process" in str(caught.value)
    assert sorted(tries) == [5, 5, 5, 69, 69, 69]


def test_fuzz_keeps_findings_and_says_how_to_see_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
):
    from rgraph.cli import fuzz

    graph, profile = rgraph._core.generate(3)
    plan = graph.bake(profile)
    found = [(3, "it is a law", graph, profile, plan), (4, "it cannot be baked", graph, profile, None)]
    monkeypatch.setattr(fuzz, "fuzz", lambda seed, count: found)
    assert main(["fuzz", "--seconds", "0", "-o", str(tmp_path)]) == 1
    out, error = capsysbinary.readouterr()
    stem = tmp_path / "finding-"
    assert error.decode() == (
        f"seed 3: it is a law\n  rgraph check {stem}3.rplan.json --graph {stem}3.rgraph.json\n"
        f"seed 4: it cannot be baked\n  rgraph bake {stem}4.rgraph.json --profile {stem}4.rprofile.json\n"
    )
    assert out.decode() == "64 graphs from seed 1, 2 of them broke a law\n"
    assert main(["check", f"{stem}3.rplan.json"]) == 0
