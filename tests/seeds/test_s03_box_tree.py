"""S3: the tree of all permitted orders is a policy, and is counted, sampled and printed."""

from itertools import permutations

import rgraph as rg

AFTER = {"a": (), "b": ("a",), "c": (), "d": ("c",), "e": ("b", "d"), "f": ("a",)}


def graph(weights: dict[str, float]) -> rg.Graph:
    g = rg.Graph("boxes", size=(64, 64))
    images = {name: g.image(f"of {name}", format="rgba8unorm") for name in AFTER}
    for name, before in AFTER.items():
        step = g.add_pass(name, queue="compute", weight_us=weights.get(name, 10)).storage_write(images[name])
        for earlier in before:
            step.sampled(images[earlier])
    g.root(*images.values())
    return g


def permitted() -> set[tuple[str, ...]]:
    def keeps(order: tuple[str, ...]) -> bool:
        return all(order.index(one) < order.index(name) for name in order for one in AFTER[name])

    return {order for order in permutations(AFTER) if keeps(order)}


def test_orders_are_counted_and_sampled_as_brute_force_finds_them():
    tree, orders = graph({}).box_tree(), permitted()
    assert tree.count() == len(orders)
    assert {tuple(tree.sample(seed)) for seed in range(40 * len(orders))} == orders
    assert tree.sample(7) == tree.sample(7)


def test_the_policy_flattens_by_weight():
    for heavy in ("a", "c"):
        g = graph({heavy: 500})
        plan = g.bake("single_queue", policy="box_tree")
        assert plan.policy == "box_tree"
        assert plan.check() == []
        assert plan.pass_names == g.box_tree("single_queue").flatten()
        assert plan.pass_names[0] == heavy


def test_the_tree_is_printed_with_the_memory_between_passes():
    g = rg.Graph("two chains", size=(64, 64))
    for chain in "xy":
        first, second = g.image(f"{chain}1", format="rgba8unorm"), g.image(f"{chain}2", format="rgba8unorm")
        g.add_pass(f"{chain} begins", queue="compute", weight_us=10).storage_write(first)
        g.add_pass(f"{chain} ends", queue="compute", weight_us=20).sampled(first).storage_write(second)
        g.root(second)
    assert str(g.box_tree()).splitlines() == [
        "parallel, 4 passes",
        "├ sequence, 2 passes",
        "│ ├ x begins  10.0 µs",
        "│ └ x ends  20.0 µs  ← x begins (x1)",
        "└ sequence, 2 passes",
        "  ├ y begins  10.0 µs",
        "  └ y ends  20.0 µs  ← y begins (y1)",
    ]
    assert str(graph({}).box_tree()).startswith("prime, 6 passes")
