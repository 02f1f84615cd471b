"""W8: plans of the last bakes are kept, by hash: in the process, and on disk when asked."""

import json

import pytest

import rgraph as rg
from clitool import run


def graph(size: int) -> rg.Graph:
    g = rg.Graph("travel", size=(size, size))
    out = g.image("out", format="rgba8unorm")
    g.add_pass("draw").color(out)
    g.root(out)
    return g


def test_the_process_remembers_its_last_plans():
    plans = [graph(size).bake() for size in (64, 128, 256)]
    again = graph(64).bake()
    past = rg.history()
    assert [plan.hash for plan in past[:3]] == [again.hash, plans[2].hash, plans[1].hash]
    assert past[0].diff(past[1]) == again.diff(plans[2])
    # They remember what they were baked of.
    assert past[1].check() == []
    assert past[1].what_if(policy="declared").plan.policy == "declared"
    for size in range(300, 340):
        graph(size).bake()
    assert len(rg.history()) <= 32
    assert again.hash not in [plan.hash for plan in rg.history()]


def test_plans_on_disk_are_found_by_how_long_ago(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sizes = (64, 128, 256, 512)
    for size in sizes:
        graph(size).save("travel.rgraph.json")
        done = run("bake", "travel.rgraph.json", "--keep", "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    kept = sorted((tmp_path / ".rgraph/plans").iterdir())
    assert len(kept) == len(sizes)
    assert [rg.Plan.load(file).hash in file.name for file in kept] == [True] * 4
    run("bake", "travel.rgraph.json", "--keep", cwd=tmp_path)
    assert len(list((tmp_path / ".rgraph/plans").iterdir())) == len(sizes)
    done = run("diff", "HEAD~3", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == graph(64).bake().diff_dict(graph(512).bake())
    done = run("diff", "HEAD~2", "HEAD~1", "--json", cwd=tmp_path)
    assert json.loads(done.stdout) == graph(128).bake().diff_dict(graph(256).bake())
    done = run("diff", "HEAD~4", cwd=tmp_path)
    assert done.returncode == 2
    assert "HEAD~3" in done.stderr
    for odd in ("HEAD~x", "HEAD~", "HEAD~-1", "HEAD^", "head~1"):
        done = run("diff", odd, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{odd}: no kept plan has this name\n  help: HEAD is the latest, HEAD~1 the one before it" in done.stderr


def test_the_folder_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setenv("RGRAPH_HISTORY", str(tmp_path / "kept"))
    from rgraph.cli import UsageError, _kept

    monkeypatch.setattr(_kept, "MOST", 3)
    with pytest.raises(UsageError, match="no plan was kept"):
        _kept.find("HEAD")
    plans = [graph(size).bake() for size in (16, 32, 48, 64, 80)]
    for plan in plans:
        _kept.keep(plan)
    assert len(_kept.kept()) == 3
    assert [_kept.find(name).hash for name in ("HEAD", "HEAD~2")] == [plans[4].hash, plans[2].hash]
