"""Graphs that hypothesis draws, pass by pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from rgraph._core import Graph, Pass

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["GPU_QUEUES", "KINDS", "Drawing"]

_COLORS = ("rgba8unorm", "rgba16float", "r32float", "rg11b10ufloat")
_STORABLE = ("rgba8unorm", "rgba16float", "r32float")
_DEPTHS = ("depth32float", "depth24plus-stencil8")
GPU_QUEUES = ("graphics", "compute", "async_compute", "any")
_SHADER_STAGES = {"graphics": ("vertex", "fragment"), "compute": ("compute",), "async_compute": ("compute",)}


@dataclass
class _Known:
    """What is known of a resource while a graph is drawn."""

    handle: Any  # Image or Buffer
    kind: str  # "color", "depth", "buffer", "structure"
    format: str = ""
    scale: float = 1.0
    mips: int = 1
    layers: int = 1
    samples: int = 1
    size: int = 0
    defined: set[tuple[int, int]] = field(default_factory=set)  # (mip, layer); buffers: (0, 0)
    transient: bool = True
    fresh: bool = False
    readable: bool = True
    writable: bool = True
    has_past: bool = False
    falls_back: bool = False  # attachments do not
    uses: int = 0

    @property
    def whole(self) -> set[tuple[int, int]]:
        return {(mip, layer) for mip in range(self.mips) for layer in range(self.layers)}

    @property
    def is_defined(self) -> bool:
        return self.defined >= self.whole


class Drawing:
    """A graph being drawn: what is declared so far is always well-formed."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw
        self.graph = Graph("drawn", size=(64, 48))
        self.known: list[_Known] = []
        self.passes: list[Pass] = []
        self.flags = 0

    # Small choices.

    def chance(self, percent: int) -> bool:
        """True in `percent` % of draws; shrinks to False."""
        return bool(self.draw(st.integers(0, 99)) >= 100 - percent)

    def pick(self, options: Any) -> Any:
        """One of the options; shrinks to the first."""
        return self.draw(st.sampled_from(list(options)))

    def name(self, kind: str) -> str:
        """An unused name."""
        return f"{kind}{len(self.known) if kind != 'pass' else len(self.passes)}"

    # Resources.

    def color(self, **fixed: Any) -> _Known:
        """Declare a colour image."""
        shape = {
            "format": self.pick(_COLORS),
            "scale": self.pick((1.0, 0.5)),
            "mips": self.pick((1, 1, 3)),
            "layers": self.pick((1, 1, 2)),
            "samples": 1,
        } | fixed
        name = self.name("image")
        rest = {key: shape[key] for key in ("format", "scale", "mips", "layers", "samples")}
        life = (
            "transient" if fixed else self.pick(("transient",) * 6 + ("persistent", "imported", "undefined", "fresh"))
        )
        if life in ("transient", "fresh"):
            handle = self.graph.image(name, **rest, fresh=life == "fresh")
        elif life == "persistent":
            handle = self.graph.image(name, **rest, persistent=True)
        else:
            leave = self.pick((None, "general", "shader_read_only_optimal"))
            contents = "defined" if life == "imported" else "undefined"
            handle = self.graph.image(name, **rest, imported={"queue": "graphics", "contents": contents}, leave=leave)
        known = _Known(handle, "color", transient=life in ("transient", "fresh"), fresh=life == "fresh", **rest)
        if life in ("persistent", "imported"):
            known.defined = known.whole
        self.known.append(known)
        return known

    def depth(self, scale: float, samples: int) -> _Known:
        """Declare a depth image."""
        shape = {"format": self.pick(_DEPTHS), "scale": scale, "samples": samples}
        known = _Known(self.graph.image(self.name("depth"), **shape), "depth", **shape)
        self.known.append(known)
        return known

    def buffer(self, kind: str = "buffer") -> _Known:
        """Declare a buffer, or one that holds an acceleration structure."""
        size = self.pick((256, 1024, 4096))
        name = self.name(kind)
        life = (
            "transient" if kind == "structure" else self.pick(("transient",) * 5 + ("persistent", "imported", "fresh"))
        )
        if kind == "structure":
            handle = self.graph.buffer(name, size, acceleration_structure=True)
        elif life == "imported":
            handle = self.graph.import_buffer(name, size, queue="graphics")
        else:
            handle = self.graph.buffer(name, size, persistent=life == "persistent", fresh=life == "fresh")
        known = _Known(handle, kind, size=size, transient=life in ("transient", "fresh"), fresh=life == "fresh")
        if not known.transient:
            known.defined = known.whole
        self.known.append(known)
        return known

    def find(self, *kinds: str, defined: bool = True, **wanted: Any) -> list[_Known]:
        """Resources that can be read, or (`defined=False`) written."""
        return [
            known
            for known in self.known
            if known.kind in kinds
            and (known.readable and known.is_defined if defined else known.writable)
            and all(getattr(known, key) == value for key, value in wanted.items())
        ]

    # Accesses.

    def reads(self, p: Pass, queue: str, taken: list[_Known], most: int = 3) -> None:
        """Read some defined resources in shaders."""
        stages = _SHADER_STAGES.get(queue)
        for _ in range(self.draw(st.integers(0, most))):
            options = [known for known in self.find("color", "depth", "buffer") if known not in taken]
            if not options:
                return
            known = self.pick(options)
            taken.append(known)
            known.uses += 1
            details: dict[str, Any] = {}
            if stages and self.chance(20):
                details["stages"] = self.pick(stages)
            if known.kind == "buffer":
                usage = self.pick(("storage_read", "uniform", "sampled"))
                if self.chance(20):
                    details["range"] = (0, known.size // 2)
            elif known.kind == "color" and known.samples == 1 and known.format in _STORABLE:
                usage = self.pick(("sampled", "storage_read"))
            else:
                usage = "sampled"
            if known.mips > 1 and self.chance(30):
                details["mips"] = (self.draw(st.integers(0, known.mips - 1)), known.mips)
            if known.layers > 1 and self.chance(30):
                details["layers"] = self.draw(st.integers(0, known.layers - 1))
            p.uses(known.handle, usage, **details)

    def target(self, taken: list[_Known], *kinds: str, **wanted: Any) -> _Known:
        """A resource to write: one that is there, or a new one."""
        options = [known for known in self.find(*kinds, defined=False, **wanted) if known not in taken]
        if options and self.chance(50):
            known: _Known = self.pick(options)
        elif kinds[0] == "color":
            known = self.color(**wanted)
        else:
            known = self.buffer(kinds[0])
        taken.append(known)
        known.uses += 1
        return known

    def write_storage(self, p: Pass, taken: list[_Known], conditional: bool) -> None:
        """Write a storage image or buffer."""
        kind = self.pick(("buffer", "color"))
        known = self.target(taken, kind, **({"format": "rgba16float", "samples": 1} if kind == "color" else {}))
        if conditional and not known.is_defined:
            taken.remove(known)
            return
        usages = ["storage_write"] + (["storage_read_write"] if known.is_defined and known.readable else [])
        details: dict[str, Any] = {}
        layers = range(known.layers)
        if known.layers > 1 and self.chance(30):
            layer = self.draw(st.integers(0, known.layers - 1))
            details["layers"], layers = layer, range(layer, layer + 1)
        mips = range(1)
        if known.mips > 1 and self.chance(30):
            details["mips"], mips = (0, known.mips), range(known.mips)
        usage = self.pick(usages)
        if usage == "storage_write" and not conditional and self.chance(20):
            details["load"] = "discard"
        elif known.kind == "buffer" and known.is_defined and self.chance(20):
            details["range"] = (0, known.size // 2)
        p.uses(known.handle, usage, **details)
        known.defined |= {(mip, layer) for mip in mips for layer in layers}

    # Passes.

    def add(self, queue: Any, **details: Any) -> Pass:
        """Declare a pass with random details."""
        if self.chance(20):
            details["weight_us"] = float(self.draw(st.integers(0, 2000)))
        if self.chance(10):
            details["unit"] = self.pick(("texture", "raster"))
        if self.passes and self.chance(5):
            details["after"] = self.pick(self.passes)
        if self.chance(5):
            details["side_effects"] = True
        p = self.graph.add_pass(self.name("pass"), queue=queue, **details)
        self.passes.append(p)
        return p

    def flag(self) -> dict[str, str]:
        """A flag that switches the pass, sometimes."""
        return {"conditional": self.pick(("rain", "night"))} if self.chance(10) else {}

    def raster(self) -> None:
        """A pass that draws."""
        flag = self.flag()
        p, taken = self.add("graphics", **flag), list[_Known]()
        scale, samples = self.pick((1.0, 0.5)), 4 if self.chance(15) else 1
        area = {"scale": scale, "samples": samples, "layers": 1, "mips": 1}
        for _ in range(self.draw(st.integers(1, 2))):
            known = self.target(taken, "color", **area)
            if flag and not known.is_defined:
                taken.remove(known)
                continue
            load = self.pick((None, "clear", "discard") if not flag else (None, "clear"))
            p.color(known.handle, load=load, clear=(0, 0, 0, 1) if load == "clear" else None)
            known.defined = known.whole
            if samples > 1 and not flag and self.chance(60):
                resolved = self.color(format=known.format, scale=scale, samples=1, layers=1, mips=1)
                p.resolve(resolved.handle, resolves=known.handle)
                resolved.defined = resolved.whole
                taken.append(resolved)
        self.raster_depth(p, taken, scale, samples, bool(flag))
        self.raster_inputs(p, taken, scale, samples)
        self.reads(p, "graphics", taken, most=2)

    def raster_depth(self, p: Pass, taken: list[_Known], scale: float, samples: int, conditional: bool) -> None:
        """Perhaps a depth attachment."""
        choice = self.pick(("none", "none", "write", "test"))
        if choice == "write":
            options = self.find("depth", defined=False, scale=scale, samples=samples)
            known = self.pick(options) if options else self.depth(scale, samples)
            if conditional and not known.is_defined:
                return
            p.depth(known.handle, clear=1.0 if not conditional and self.chance(60) else None)
            if "stencil" not in known.format or known.is_defined or not conditional:
                known.defined = known.whole
            taken.append(known)
        elif choice == "test":
            options = self.find("depth", scale=scale, samples=samples)
            if options:
                known = self.pick(options)
                p.depth_read(known.handle)
                taken.append(known)

    def raster_inputs(self, p: Pass, taken: list[_Known], scale: float, samples: int) -> None:
        """Perhaps input attachments and buffers that only a draw reads."""
        options = self.find("color", scale=scale, samples=samples, mips=1, layers=1)
        options = [known for known in options if known not in taken and not known.falls_back]
        if options and self.chance(20):
            known = self.pick(options)
            p.input_attachment(known.handle)
            taken.append(known)
        options = [known for known in self.find("buffer") if known not in taken]
        if options and self.chance(30):
            known = self.pick(options)
            p.uses(known.handle, self.pick(("vertex", "index", "indirect")))
            taken.append(known)

    def mipmapped(self) -> None:
        """A pass that draws mip 0 and has the others filled."""
        known = self.color(format="rgba8unorm", mips=3, samples=1)
        p = self.add("graphics")
        self.reads(p, "graphics", [known], most=1)
        p.color(known.handle, clear=(0, 0, 0, 0), generate_mips=True)
        known.defined = known.whole

    def compute(self) -> None:
        """A pass that dispatches."""
        queue, flag = self.pick(GPU_QUEUES[1:]), self.flag()
        p, taken = self.add(queue, **flag), list[_Known]()
        self.reads(p, queue, taken)
        for _ in range(self.draw(st.integers(1, 2))):
            self.write_storage(p, taken, bool(flag))
        structures = self.find("structure")
        if structures and self.chance(40):
            p.acceleration_read(self.pick(structures).handle)

    def transfer(self) -> None:
        """A pass that copies, blits, clears or fills."""
        choice = self.pick(("fill", "copy", "clear", "copy_image", "blit", "clear_image"))
        queue = self.pick(("transfer", "graphics", "async_compute"))
        buffers = self.find("buffer")
        images = self.find("color", samples=1, mips=1, layers=1)
        if choice == "copy" and buffers:
            source = self.pick(buffers)
            taken = [source]
            target = self.target(taken, "buffer", size=source.size)
            self.add(queue).copy(source.handle, target.handle)
            target.defined = target.whole
        elif choice == "copy_image" and images:
            source = self.pick(images)
            target = self.color(format=source.format, scale=source.scale, samples=1, mips=1, layers=1)
            self.add(queue).copy(source.handle, target.handle)
            target.defined = target.whole
        elif choice == "blit" and images:
            source = self.pick(images)
            target = self.color(format=source.format, scale=0.5, samples=1, mips=1, layers=1)
            p = self.add("graphics").transfer_src(source.handle, transfer="blit")
            p.transfer_dst(target.handle, transfer="blit", load="discard")
            target.defined = target.whole
        elif choice == "clear_image":
            target = self.color(samples=1)
            p = self.add(self.pick(("graphics", "async_compute")))
            p.transfer_dst(target.handle, transfer="clear", clear=(0, 0, 0, 0), mips=(0, target.mips))
            target.defined = target.whole
        else:
            target = self.target([], "buffer")
            self.add(queue).transfer_dst(target.handle, transfer="fill", load="discard")
            target.defined = target.whole

    def host(self) -> None:
        """A pass of the CPU."""
        buffers = self.find("buffer")
        if buffers and self.chance(50):
            p = self.add("cpu", side_effects=True) if self.chance(50) else self.add("cpu")
            p.host_read(self.pick(buffers).handle)
            return
        known = self.target([], "buffer")
        self.add("cpu").host_write(known.handle)
        known.defined = known.whole

    def acceleration(self) -> None:
        """A pass that builds or updates an acceleration structure."""
        inputs, structures = self.find("buffer"), self.find("structure")
        p = self.add(self.pick(("async_compute", "compute")))
        if structures and self.chance(40):
            p.acceleration_update(self.pick(structures).handle)
        else:
            known = self.buffer("structure")
            p.acceleration_build(known.handle)
            known.defined = known.whole
            structures = [known]
        if inputs and self.chance(60):
            p.acceleration_input(self.pick(inputs).handle)
        if self.chance(60):
            scratch = self.graph.buffer(f"scratch{len(self.passes)}", 1024)
            p.acceleration_scratch(scratch)

    def forward(self) -> None:
        """A pass that reads what the next one writes."""
        late, fresh = self.buffer_of_kind(), self.buffer_of_kind()
        reader = self.add("compute").storage_read(late.handle).storage_write(fresh.handle)
        writer = self.graph.add_pass(self.name("pass"), queue=self.pick(("compute", "async_compute")))
        self.passes.append(writer)
        self.reads(writer, "compute", [late, fresh], most=1)
        writer.storage_write(late.handle)
        late.defined, fresh.defined = late.whole, fresh.whole
        assert reader.name != writer.name

    def buffer_of_kind(self) -> _Known:
        """Declare a transient buffer."""
        known = _Known(self.graph.buffer(self.name("buffer"), 1024), "buffer", size=1024)
        self.known.append(known)
        return known

    def modifying(self) -> None:
        """A pass that goes on with another resource's contents, under another name."""
        options = [known for known in self.find("color", samples=1) if known.transient and not known.has_past]
        options = [known for known in options if known.writable]
        if not options:
            self.raster()
            return
        base = self.pick(options)
        name = self.name("image")
        scaled = base.mips == 1 and base.layers == 1 and base.format in _STORABLE and self.chance(30)
        shape: dict[str, Any]
        if scaled:
            handle = self.graph.image(name, modifies=base.handle, format=base.format, scale=0.75)
            shape = {"scale": 0.75, "mips": 1, "layers": 1}
        else:
            handle = self.graph.image(name, modifies=base.handle)
            shape = {"scale": base.scale, "mips": base.mips, "layers": base.layers}
        known = _Known(handle, "color", base.format, transient=False, **shape)
        known.defined = known.whole
        base.readable = base.writable = False
        self.known.append(known)
        p = self.add("graphics").color(known.handle, load="load")
        self.reads(p, "graphics", [known, base], most=1)

    def past(self) -> None:
        """A pass that reads what an earlier frame left."""
        options = [
            known
            for known in self.find("color", "buffer", samples=1)
            if known.transient and not known.fresh and known.writable
        ]
        if not options:
            self.compute()
            return
        base = self.pick(options)
        frames = self.pick((1, 1, 2))
        first, name = self.pick(("zero", "undefined")), f"{base.handle.name}.{len(self.passes)}"
        previous = base.handle.previous(frames, name, first_frame=first)
        base.has_past = True
        p = self.add(self.pick(("graphics", "async_compute")))
        p.sampled(previous)
        self.write_storage(p, [base], conditional=False)

    def replaceable(self) -> None:
        """A conditional pass whose readers get something else while it is off."""
        options = self.find("color", samples=1, mips=1, layers=1)
        if not options:
            self.raster()
            return
        base = self.pick(options)
        better = self.color(format=base.format, scale=base.scale, samples=1, mips=1, layers=1)
        base.writable = better.writable = False
        better.falls_back = True
        p = self.add("graphics", conditional="better", fallback={better.handle: base.handle})
        p.sampled(base.handle).color(better.handle)
        better.defined = better.whole

    def scattered(self) -> None:
        """Passes that add to one buffer in any order."""
        known = self.target([], "buffer")
        if not known.is_defined:
            self.add("compute").transfer_dst(known.handle, transfer="fill", load="discard")
            known.defined = known.whole
        for _ in range(2):
            p = self.add(self.pick(("compute", "async_compute")))
            p.storage_read_write(known.handle, unordered=True)

    def presenting(self) -> None:
        """Passes that draw to the screen and present it."""
        name = self.name("screen")
        handle = self.graph.import_image(name, format="bgra8unorm", contents="undefined", leave="present_src")
        known = _Known(handle, "screen")
        self.known.append(known)
        p = self.add("graphics").color(handle)
        self.reads(p, "graphics", [known], most=2)
        if self.chance(50):
            self.add("graphics").present(handle)

    def finish(self) -> Graph:
        """Name the roots."""
        options = [known for known in self.known if known.readable and known.is_defined and known.transient]
        options = [known for known in options if not known.has_past]
        if not options:
            known = self.color(format="rgba8unorm", scale=1.0, mips=1, layers=1, samples=1)
            self.add("graphics").color(known.handle, clear=(0, 0, 0, 1))
            options = [known]
        roots = self.draw(st.lists(st.sampled_from(options), min_size=1, max_size=3, unique_by=id))
        for known in roots:
            self.graph.root(known.handle)
        return self.graph


KINDS: tuple[Callable[[Drawing], None], ...] = (
    Drawing.raster,
    Drawing.compute,
    Drawing.raster,
    Drawing.compute,
    Drawing.transfer,
    Drawing.past,
    Drawing.modifying,
    Drawing.mipmapped,
    Drawing.host,
    Drawing.acceleration,
    Drawing.forward,
    Drawing.replaceable,
    Drawing.scattered,
    Drawing.presenting,
)
