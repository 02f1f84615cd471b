"""One file of each kind that has every key of every object, so that a test can spoil each of them."""

from typing import Any

SCOPE = {
    "src_stages": ["copy"],
    "src_access": ["transfer_write"],
    "dst_stages": ["copy"],
    "dst_access": ["transfer_read"],
}
WHY = {"hazard": "read_after_write", "from": 0, "to": 0, "resource": 0}
PART = {"mips": [0, 1], "layers": [0, 1], "aspects": ["depth", "stencil"]}
BARRIERS = {
    "memory": [{**SCOPE, "why": WHY}],
    "buffers": [{"resource": 1, "range": [0, 16], **SCOPE, "src_queue": 0, "dst_queue": 1, "why": WHY}],
    "images": [
        {
            "resource": 0,
            **PART,
            **SCOPE,
            "old_layout": "general",
            "new_layout": "transfer_src_optimal",
            "src_queue": 0,
            "dst_queue": 1,
            "why": WHY,
        }
    ],
}
STATE = {"queue": 0, "stages": ["copy"], "access": ["transfer_read"], "layout": "general"}
STAGES_OF_BAKE = ("validate", "cull", "schedule", "merge", "alias", "synchronize")

PLAN: dict[str, Any] = {
    "rplan": 1,
    "graph": "g",
    "graph_hash": "0a",
    "device_profile": {
        "name": "d",
        "features": ["meshShader"],
        "queues": [{"name": "q", "family": 0, "capabilities": ["graphics"]}],
    },
    "passes": [
        {
            "id": 0,
            "name": "draw",
            "declared": 0,
            "owner": 0,
            "queue": 0,
            "culled": False,
            "reason": "none",
            "physical_pass": 0,
            "subpass": 0,
            "flag": 0,
            "why": {"queue": "named", "after": 0, "start_us": 0.5, "duration_us": 1.5},
            "accesses": [
                {
                    "resource": 0,
                    "stages": ["copy"],
                    "access": ["transfer_read"],
                    "layout": "general",
                    "mips": [0, 1],
                    "layers": [0, 1],
                }
            ],
        },
        {"name": "stray", "culled": True, "culled_why": {"rule": "only_culled_readers", "resource": 0, "reader": 0}},
    ],
    "resources": [
        {
            "id": 0,
            "name": "depth",
            "kind": "image",
            "bytes": 4096,
            "lifetime": {"first": 0, "last": 0},
            "aliases": ["bytes"],
            "sharing": "exclusive",
            "memory_domain": "device",
            "life": "transient",
            "format": "depth24plus-stencil8",
            "size": [4, 4, 1],
            "mips": 1,
            "layers": 1,
            "samples": 1,
            "cube": False,
            "inserted": False,
            "transient_attachment": False,
            "memory": 0,
            "ring": 1,
            "remembers": {"of": 0, "frames": 1},
            "usages": ["sampled"],
        },
        {"name": "bytes", "kind": "buffer", "bytes": 16, "size": 16},
    ],
    "batches": [
        {
            "id": 0,
            "queue": 0,
            "waits": [{"queue": 0, "value": 1, "stages": ["copy"], "frame": -1}],
            "commands": [
                {"op": "barriers", "by_region": False, **BARRIERS},
                {
                    "op": "begin_rendering",
                    "physical_pass": 0,
                    "attachments": [
                        {
                            "resource": 0,
                            "mip": 0,
                            "layers": [0, 1],
                            "aspects": ["depth"],
                            "load": "clear",
                            "store": "store",
                            "stencil_load": "clear",
                            "stencil_store": "store",
                            "clear": [1, 0],
                            "resolve_to": 0,
                            "input": False,
                        },
                        {"resource": 0, "load": "clear", "store": "store", "clear": [0, "1", 0.5, 1]},
                        {"resource": 0, "load": "clear", "store": "store", "clear": 0.5},
                    ],
                },
                {"op": "pass", "pass": 0, "layouts": [{"resource": 0, **PART, "layout": "general"}]},
                {"op": "end_rendering"},
                {"op": "set_event", "event": 0, "memory": [], "buffers": [], "images": []},
                {"op": "wait_events", "event": 0, "memory": [], "buffers": [], "images": []},
            ],
            "signals": [{"queue": 0, "value": 1}],
        }
    ],
    "memory": {
        "heaps": [{"id": 0, "type": "device", "size": 4096}],
        "placements": [{"resource": 0, "heap": 0, "offset": 0, "size": 4096}],
        "total": 4096,
        "without_aliasing": 4096,
        "lower_bound": 4096,
    },
    "edges": [
        {"resource": 0, **PART, "range": [0, 0], "entry": STATE, "exit": STATE},
        {"resource": 1, "mips": None, "layers": None, "aspects": [], "range": [0, 16], "entry": STATE, "exit": STATE},
    ],
    "foreign": [
        {"resource": 0, "op": "wait", "batch": 0, "stages": ["copy"]},
        {"resource": 0, "op": "signal", "batch": 0},
    ],
    "subgraphs": [{"key": "0a", "passes": [0], "roots": [0]}],
    "unmerged": [{"first": 0, "second": 0, "why": "not_local", "resource": 0, "reason": "none"}],
    "sets": [{"on": "gpu", "passes": [0]}],
    "packets": [[0]],
    "copies": [{"pass": 0, "from": 0, "to": 1}],
    "flags": ["on"],
    "fallbacks": [{"pass": 0, "output": 0, "input": 1}],
    "report": {
        "bake_us": dict.fromkeys(STAGES_OF_BAKE, 1.5),
        "barriers": 1,
        "submits": 1,
        "frame_us": 1.5,
        "one_queue_us": 1.5,
        "bound_us": 1.5,
        "critical_path_us": 1.5,
        "load_us": 1.5,
        "critical_path": [0],
        "policy": "auto",
        "optimal": False,
        "memory": "least",
        "notes": ["a note"],
    },
}

QUEUE = {"name": "q", "family": 0, "count": 1, "capabilities": ["graphics", "compute", "transfer"]}
PROFILE: dict[str, Any] = {
    "rprofile": 1,
    "name": "d",
    "queues": [QUEUE],
    "buffer_image_granularity": 1024,
    "image_alignment": 1024,
    "buffer_alignment": 256,
    "memory": [{"type": "device", "heap_size": 4096}],
    "limits": {
        "max_image_2d": 4096,
        "max_image_3d": 256,
        "max_image_cube": 4096,
        "max_image_layers": 256,
        "max_color_attachments": 4,
        "max_samples": 4,
        "max_buffer": 65536,
        "max_uniform_range": 65536,
    },
    "cross_queue_us": 1,
    "barrier_us": 1,
    "submit_us": 1,
    "pass_us": 1,
    "copy_gb_s": 1,
    "copy_us": 1,
    "foreign_us": 1,
    "foreign_transfer_us": 1,
    "width": 1,
    "draws_overlap_dispatches": True,
    "features": ["meshShader"],
}

DEVICES: dict[str, Any] = {
    "rdevices": 1,
    "graph": "g",
    "graph_hash": "0a",
    "devices": [{"profile": "d"}, {"profile": "d"}],
    "parts": [{"device": 0, "passes": [0]}],
    "copies": [{"resource": 0, "from": 0, "to": 1, "bytes": 4}],
    "steps": [{"do": "run", "of": 0}, {"do": "send", "of": 0}, {"do": "receive", "of": 0}],
    "homes": [{"resource": 0, "device": 0}],
    "results": [{"resource": 0, "device": 0}],
    "report": {"frame_us": 1.5, "one_device_us": 1.5, "notes": ["a note"]},
}

CONDITIONS: list[Any] = [
    "on",
    True,
    {"option": "size", "is": 4, "at_least": 1, "at_most": 8},
    {"not": "off"},
    {"all": ["on"]},
    {"any": ["on"]},
]
STATE_BEFORE = {
    "layout": "general",
    "queue": "graphics",
    "stages": ["fragment"],
    "access": ["shader_sampled_read"],
    "contents": "defined",
    "wait": True,
    "signal": True,
}
OPTIONS = {"on": True, "off": False, "size": 4, "word": "copy"}
DECLARATION: dict[str, Any] = {
    "rgraph": 1,
    "name": "g",
    "reference_size": [4, 4],
    "options": OPTIONS,
    "images": {
        "plain": {
            "format": "rgba8unorm",
            "size": [4, 4],
            "layers": 6,
            "mips": 1,
            "samples": 1,
            "cube": True,
            "persistent": True,
            "sharing": "exclusive",
            "memory_domain": "device",
            "leave": {"layout": "general", "queue": "graphics"},
            "if": True,
        },
        "volume": {"format": "rgba8unorm", "size": [4, 4, 4], "fresh": True},
        "half": {"format": "rgba8unorm", "size": {"relative_to": "reference", "scale": [0.5, 0.5], "round": "down"}},
        "box": {"format": "rgba8unorm", "size": {"relative_to": "volume", "scale": [0.5, 0.5, 1]}, "mips": "full"},
        "axes": {
            "format": "rgba8unorm",
            "size": {"x": 4, "y": {"relative_to": "plain", "scale": 0.5, "round": "up"}, "z": 2, "round": "up"},
        },
        "over": {"modifies": "half"},
        "old": {"history_of": "half", "frames": 1, "first_frame": "zeros"},
        "given": {"format": "rgba8unorm", "imported": STATE_BEFORE},
        "photo": {"file": "photo.npy"},
    },
    "buffers": {
        "bytes": {"size": 64, "imported": True},
        "array": {"shape": [4, 4], "dtype": "float32", "persistent": True, "sharing": "exclusive"},
        "more": {"shape": 4, "dtype": "float32", "fresh": True, "memory_domain": "device"},
        "scene": {"size": 64, "acceleration_structure": True, "leave": {"queue": "graphics"}, "if": True},
        "next": {"modifies": "more"},
        "before": {"history_of": "more", "frames": 2, "first_frame": "zeros"},
        "table": {"file": "photo.npy"},
    },
    "passes": [
        {
            "name": "draw",
            "queue": "graphics",
            "accesses": [
                {
                    "resource": "half",
                    "usage": "color_attachment",
                    "stages": ["color_attachment_output"],
                    "mips": [0, 1],
                    "layers": [0, 1],
                    "aspects": ["color"],
                    "load": "clear",
                    "stencil_load": "clear",
                    "clear": [0, "1", 0.5, 1],
                    "generate_mips": False,
                    "resolves": "half",
                    "resolve_mode": "average",
                    "unordered": False,
                    "if": "on",
                },
                {"resource": "bytes", "usage": "transfer_dst", "range": [0, 4], "transfer": "copy"},
            ],
            "weight_us": 1.5,
            "unit": "u",
            "device": 0,
            "side_effects": True,
            "unordered": False,
            "after": [],
            "conditional": "flag",
            "fallback": {"half": "plain"},
            "setup": False,
            "needs": ["meshShader"],
            "if": True,
        },
        {"name": "later", "after": ["draw"], "device": "any"},
        *({"name": f"asks {at}", "if": condition} for at, condition in enumerate(CONDITIONS)),
    ],
    "roots": ["half", {"resource": "half", "if": "on"}],
}

MODULE: dict[str, Any] = {
    "rgraph": 1,
    "name": "m",
    "reference_size": [4, 4],
    "options": {"on": True},
    "shaders": {},
    "samplers": {"s": {}},
    "modules": {},
    "images": {"inner": {"format": "rgba8unorm"}},
    "buffers": {"own": {"size": 4}},
    "passes": [{"name": "p"}],
    "roots": ["own"],
}
INSIDE = {"images": {"i": {"format": "rgba8unorm"}}, "buffers": {"b": {"size": 4}}, "passes": [], "roots": ["b"]}
PARTS: dict[str, Any] = {
    "rgraph": 1,
    "options": OPTIONS,
    "images": {"lit": {"format": "rgba8unorm"}},
    "modules": {"module": MODULE},
    "passes": [
        {"module": "inline", **INSIDE, "if": "on"},
        {"include": "part.rgraph.json", "as": "file", "with": {"on": True}, "resources": {"inner": "lit"}, "if": "on"},
        {"extension_point": "here", "if": "on"},
        {"extend": "here", **INSIDE, "if": "on"},
        {"use": "module", "as": "once", "with": {"on": True}, "resources": {"inner": "lit"}, "if": "on"},
        {"layer": "scene", "order": 1, "accesses": [{"resource": "lit", "usage": "color_attachment"}], "if": "on"},
        {"extend": "scene", "key": 1, "behind": [{"name": "behind"}], "if": "on"},
    ],
}

FLAT = "@fragment fn main() -> @location(0) vec4<f32> { return vec4<f32>(1.0); }"
CORNERS = """@vertex fn main(@location(0) at: vec2<f32>) -> @builtin(position) vec4<f32> {
    return vec4<f32>(at, 0.0, 1.0); }"""
COUNT = """
override step: u32 = 1u; override on: bool = true; var<immediate> add: u32;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<uniform> size: vec4<f32>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (on) { out[id.x % 4] = u32(size.x) + add + step; } }"""
COMPUTE = {
    "shader": {"wgsl": [COUNT]},
    "entry": "main",
    "constants": {"step": 2, "on": True},
    "bindings": {"out": "bytes", "size": {"data": [1, 2, 3, 4]}},
    "push": 1,
    "key": 1,
}
COUNTS = {"shader": "count", "bindings": {"out": "bytes", "size": [1, 2, 3, 4]}, "push": 1}
WORK: dict[str, Any] = {
    "rgraph": 1,
    "reference_size": [4, 4],
    "options": OPTIONS,
    "shaders": {
        "flat": {"wgsl": FLAT},
        "count": {"wgsl": COUNT},
        "file": {"file": "flat.wgsl"},
        "name": "flat.wgsl",
        "words": {"spirv": "AwIjBw=="},
    },
    "samplers": {
        "all": {
            "filter": "linear",
            "mag": "linear",
            "min": "linear",
            "mip": "linear",
            "address": ["clamp", "repeat"],
            "anisotropy": 2,
            "compare": "less",
            "lod": [0, 8],
            "border": "black",
        },
        "one": {"address": "repeat"},
    },
    "images": {
        "lit": {"format": "rgba8unorm", "mips": 2, "layers": 2},
        "small": {"format": "rgba8unorm", "mips": 2, "layers": 2},
        "many": {"format": "rgba8unorm", "samples": 4},
        "flat": {"format": "rgba8unorm"},
    },
    "buffers": {"bytes": {"size": 1024, "imported": True}, "counts": {"size": 64, "imported": True}},
    "passes": [
        {"name": "number", "compute": {**COMPUTE, "groups": 1}},
        {"name": "axes", "compute": {**COUNTS, "groups": [1, 1, 1]}},
        {"name": "buffer", "compute": {**COUNTS, "groups": {"resource": "counts", "range": [0, 12]}}},
        {"name": "cover", "compute": {**COUNTS, "groups": {"cover": "flat", "mip": 0}}},
        {
            "name": "copy",
            "copy": {
                "from": {
                    "resource": "lit",
                    "mip": 0,
                    "layer": 0,
                    "aspects": ["color"],
                    "offset": [0, 0, 0],
                    "size": [1, 1, 1],
                    "sampler": "all",
                    "format": "r32float",
                },
                "to": {"resource": "small", "mips": [0, 1], "layers": [0, 1]},
            },
        },
        {"name": "blit", "blit": {"from": "lit", "to": "small", "filter": "nearest"}},
        {"name": "clear", "clear": {"image": "flat", "value": [0, 0, 0, 1]}},
        {"name": "fill", "fill": {"buffer": "bytes", "word": -1}},
        {"name": "resolve", "resolve": {"from": "many", "to": "flat"}},
        {
            "name": "steps",
            "steps": [
                {"compute": COUNTS},
                {"copy": {"from": "lit", "to": "small"}},
                {"blit": {"from": "lit", "to": "small"}},
                {"clear": {"image": "flat", "value": [0, 0, 0, 1]}},
                {"fill": {"buffer": "counts"}},
                {"resolve": {"from": "many", "to": "flat"}},
            ],
        },
    ],
}

STENCIL = {
    "compare": "always",
    "fail": "keep",
    "depth_fail": "keep",
    "pass": "replace",
    "reference": 1,
    "read_mask": 255,
    "write_mask": 255,
}
TARGET = {"resource": "lit", "mip": 0, "layer": 0, "aspects": ["color"], "load": "clear", "clear": [0, 0, 0, 1]}
DEPTH = {
    "resource": "depth",
    "mips": [0, 1],
    "layers": [0, 1],
    "aspects": ["depth", "stencil"],
    "load": "clear",
    "stencil_load": "clear",
    "clear": [1, 0],
}
DRAW: dict[str, Any] = {
    "rgraph": 1,
    "reference_size": [4, 4],
    "options": OPTIONS,
    "images": {
        "lit": {"format": "rgba8unorm"},
        "many": {"format": "rgba8unorm", "samples": 4},
        "depth": {"format": "depth24plus-stencil8"},
    },
    "buffers": {"bytes": {"size": 1024, "imported": True}},
    "passes": [
        {
            "name": "draw",
            "raster": {
                "shader": [{"wgsl": CORNERS}, {"wgsl": FLAT}],
                "color": [TARGET],
                "depth": DEPTH,
                "vertices": 3,
                "instances": 1,
                "first_vertex": 0,
                "first_instance": 0,
                "vertex_offset": -1,
                "vertex_buffers": [
                    {
                        "buffer": "bytes",
                        "attributes": [["at", "float32x2", 0]],
                        "stride": 8,
                        "offset": 0,
                        "per_instance": False,
                    }
                ],
                "index": "bytes",
                "index_format": "uint32",
                "key": 1,
                "viewport": [0, 0, 4, 4],
                "topology": "triangles",
                "patch_vertices": 3,
                "cull": "none",
                "front": "ccw",
                "wireframe": False,
                "depth_test": "less",
                "depth_write": True,
                "depth_bias": [0, 0.5],
                "stencil": [STENCIL, {}],
                "blend": [{"color": ["one", "zero", "add"], "alpha": ["one", "zero", "add"]}],
                "write_mask": ["rgba"],
                "alpha_to_coverage": False,
            },
        },
        {
            "name": "plain",
            "raster": {
                "shader": {"wgsl": FLAT},
                "entry": "main",
                "constants": {},
                "bindings": {},
                "color": {"resource": "many", "clear": [0, 0, 0, 1], "resolve": "lit", "resolve_mode": "average"},
                "resolve_mode": "average",
                "indirect": "bytes",
                "draws": 1,
                "stride": 16,
                "stencil": STENCIL,
                "blend": "alpha",
                "write_mask": "rgb",
            },
        },
        {"name": "steps", "steps": [{"raster": {"shader": {"wgsl": FLAT}, "color": "lit"}}]},
    ],
}

RAYS = "#version 460\n#extension GL_EXT_ray_tracing : require\n"
RAYGEN = (
    RAYS + "layout(binding = 0, rgba8) uniform writeonly image2D o; void main() { imageStore(o, ivec2(0), vec4(1)); }"
)
RAYGEN_PUSH = RAYGEN.replace("void", "layout(push_constant) uniform P { float gain; }; void").replace(
    "vec4(1)", "vec4(gain)"
)
MISS = RAYS + "layout(location = 0) rayPayloadInEXT float light; void main() { light = 0.0; }"
HIT = RAYS + "void main() {}"
CALLED = RAYS + "layout(location = 0) callableDataInEXT float light; void main() { light = 0.0; }"
BOX = RAYS + "void main() { reportIntersectionEXT(0.5, 0u); }"
GEOMETRY = {"structure": "mesh", "scratch": "scratch", "opaque": True, "refit": False, "updatable": False}
TRIANGLES = {
    "buffer": {"resource": "bytes", "range": [0, 36]},
    "stride": 12,
    "vertices": 3,
    "index": "bytes",
    "index_format": "uint32",
    "triangles": 1,
}
INSTANCE = {"structure": "mesh", "transform": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0], "index": 1, "mask": 1, "hit": 1}
TRACES: dict[str, Any] = {
    "rgraph": 1,
    "images": {"out": {"format": "rgba8unorm", "size": [4, 4]}},
    "buffers": {
        "bytes": {"size": 1024, "imported": True},
        "mesh": {"size": 16640, "acceleration_structure": True},
        "scratch": {"size": 16640},
    },
    "passes": [
        {"name": "triangles", "build": {**GEOMETRY, "triangles": TRIANGLES}},
        {
            "name": "boxes",
            "build": {
                "structure": "mesh",
                "scratch": "scratch",
                "boxes": {"buffer": "bytes", "stride": 24, "boxes": 1},
            },
        },
        {
            "name": "instances",
            "build": {
                "structure": "mesh",
                "scratch": "scratch",
                "instances": {"buffer": "bytes", "instances": 1, "structures": ["mesh"]},
            },
        },
        {"name": "records", "instances": {"to": "bytes", "all": [INSTANCE], "transforms": "bytes"}},
        {
            "name": "trace",
            "trace": {
                "raygen": {"glsl": RAYGEN_PUSH},
                "miss": [{"glsl": MISS}],
                "hit": [{"closest": {"glsl": HIT}, "any": {"glsl": HIT}, "intersection": {"glsl": BOX}}],
                "callable": [{"glsl": CALLED}],
                "records": ["AAAA"],
                "entry": "main",
                "constants": {},
                "bindings": {"o": "out"},
                "push": 1,
                "size": [4, 4, 1],
                "depth": 1,
            },
        },
        {
            "name": "steps",
            "steps": [
                {"build": {"structure": "mesh", "scratch": "scratch", "triangles": TRIANGLES}},
                {"instances": {"to": "bytes", "all": []}},
                {"trace": {"raygen": {"glsl": RAYGEN}, "bindings": {"o": "out"}, "size": {"cover": "out", "mip": 0}}},
            ],
        },
    ],
}
GRAPHS = {"declaration": DECLARATION, "parts": PARTS, "work": WORK, "draw": DRAW, "rays": TRACES}
