"""W13: a heap limit is kept by reordering, or proved impossible: the error names what is alive, and why."""

import pytest

import rgraph as rg

MIB = 1 << 20


def limited(limit: int) -> rg.Profile:
    values = rg.Profile.minimal().to_dict()
    values["memory"] = [{"type": "device", "heap_size": limit}]
    return rg.Profile.from_dict(values)


def wide(chains: int, length: int) -> rg.Graph:
    """Chains of images of one MiB, declared level by level: that order keeps one image of each alive."""
    g = rg.Graph("wide", size=(512, 512))
    total = g.buffer("sum", 256)
    g.add_pass("zero", queue="compute").storage_write(total)
    last: list[rg.Image] = []
    for level in range(length):
        now = [g.image(f"{chain}.{level}", format="rgba8unorm") for chain in range(chains)]
        for chain, image in enumerate(now):
            made = g.add_pass(f"make {chain}.{level}", queue="compute").storage_write(image)
            if last:
                made.sampled(last[chain])
        last = now
    for chain, image in enumerate(last):
        g.add_pass(f"add {chain}", queue="compute").sampled(image).storage_read_write(total)
    g.root(total)
    return g


def test_a_limit_is_kept_by_another_order():
    g = wide(6, 4)
    plan = g.bake(limited(2 * MIB + MIB // 2))
    assert plan.check() == []
    assert sum(heap["size"] for heap in plan.to_dict()["memory"]["heaps"]) <= 2 * MIB + MIB // 2


def test_a_limit_below_every_order_is_proved_impossible():
    """One buffer lives around a chain that is too long for a search of all orders."""
    g = rg.Graph("long")
    around, out = g.buffer("around", 8 * MIB), g.buffer("out", MIB)
    link = g.buffer("link 0", MIB)
    g.add_pass("first", queue="compute").storage_write(around).storage_write(link)
    for at in range(1, 40):
        following = g.buffer(f"link {at}", MIB)
        g.add_pass(f"step {at}", queue="compute").storage_read(link).storage_write(following)
        link = following
    g.add_pass("last", queue="compute").storage_read(around).storage_read(link).storage_write(out)
    g.root(out)
    with pytest.raises(rg.GraphError, match=f"every permitted order of the frame needs {10 * MIB}") as caught:
        g.bake(limited(10 * MIB - 1))
    assert caught.value.code == "RG-E221"
    assert '"first" uses it and comes before, "last" uses it and comes after' in str(caught.value)
    assert g.bake(limited(10 * MIB)).check() == []


def test_small_frames_are_proved_by_all_orders():
    with pytest.raises(rg.GraphError, match="every permitted order") as caught:
        wide(3, 3).bake(limited(MIB))
    assert "in the best of all orders, which were searched" in str(caught.value)
    # The bound is exact: with so much memory there is an order.
    needs = int(str(caught.value).split("needs ")[1].split(",")[0])
    assert wide(3, 3).bake(limited(needs)).check() == []
