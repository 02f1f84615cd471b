//! Programs of passes: what a pass reads is folded into a hash by every invocation, each from texels of its own, and
//! all of them together from every texel; so one wrong texel anywhere makes a wrong texel in what is written.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use rgraph_plan::format::Format;
use rgraph_shader::{Constant, Kind, Language, Program, Source, Stage};

use super::input::{Input, patched, stub};
use super::operation::{Mode, PassOperation, Read, Via};
use super::shape::Shape;
use super::words::{Class, MIX};

/// Reads of a pass, at most.
pub const MOST_READS: usize = 24;

/// Programs by their text: passes alike share one.
#[derive(Default)]
pub struct Library(RefCell<HashMap<String, Arc<Program>>>);

/// What a compute program writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    /// `None`: a buffer.
    pub image: Option<(Dimension, Class)>,
    pub mode: Mode,
    /// Whether a part of the key is a constant that is given when the program is made.
    pub constant: bool,
}

/// The value of that constant.
pub const CONSTANT: u32 = 0x5ca1e;

/// Shapes of storage images.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dimension {
    Plane,
    Layers,
    Volume,
}

impl Dimension {
    /// The shape of some layers of an image.
    pub fn of(shape: &Shape, layers: [u32; 2]) -> Self {
        match (shape.volume, layers[1] - layers[0] > 1) {
            (true, _) => Self::Volume,
            (_, true) => Self::Layers,
            _ => Self::Plane,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Plane => "2d",
            Self::Layers => "2d_array",
            Self::Volume => "3d",
        }
    }
}

const FRAME: &str = "
struct Frame { salt: u32, a: u32, b: u32, c: u32, known: array<vec4<u32>, 24> }
@group(0) @binding(0) var<uniform> frame: Frame;
fn is_known(read: u32, bit: u32) -> bool {
    return ((frame.known[read][bit >> 5u] >> (bit & 31u)) & 1u) != 0u;
}
fn worked(h: u32, rounds: u32) -> u32 {
    var x = h;
    for (var i = 0u; i < rounds; i++) { x = mixed(x, i); }
    return select(h, h ^ 1u, x == 0u && rounds == 4294967295u);
}
";

impl Library {
    fn get(&self, kind: Kind, text: String, inputs: &[Input]) -> Arc<Program> {
        if let Some(known) = self.0.borrow().get(&text) {
            return known.clone();
        }
        let given = text.contains("override part").then(|| ("part".to_owned(), Constant::Int(CONSTANT.into())));
        let sources = [Source::Text(Language::Wgsl, &text)];
        let made = Program::specialized("hash", kind, &sources, None, &given.into_iter().collect());
        let made = made.unwrap_or_else(|error| panic!("{error}\n{text}"));
        let program = Arc::new(if inputs.is_empty() { made } else { with_inputs(&made, inputs) });
        self.0.borrow_mut().insert(text, program.clone());
        program
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// The program of a dispatch that writes a target.
    pub fn compute(
        &self,
        operation: &PassOperation,
        shape_of: &dyn Fn(&Read) -> Shape,
        target: Target,
    ) -> Arc<Program> {
        let mut text = format!(
            "{MIX}{FRAME}struct Push {{ key: u32, cover: u32, loops: u32, layers: u32 }}\nvar<push_constant> push: Push;\n"
        );
        let calls = folds(&mut text, operation, shape_of, |_| true);
        let key = if target.constant { "push.key ^ part" } else { "push.key" };
        if target.constant {
            text.push_str("override part: u32 = 1u;\n");
        }
        let body = match target.image {
            None => buffer_body(&mut text, target.mode),
            Some((dimension, class)) => image_body(&mut text, dimension, class, target.mode),
        };
        let group = if target.image.is_some() { "8, 8, 1" } else { "64" };
        let _ = write!(
            text,
            "@compute @workgroup_size({group})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
{}
    var h = frame.salt;
{calls}    h = mixed(worked(h, push.loops), {key});
{}
}}
",
            body[0], body[1]
        );
        self.get(Kind::Compute, text, &[])
    }

    /// The program of a draw to some colour targets and maybe depth.
    pub fn raster(
        &self,
        operation: &PassOperation,
        shape_of: &dyn Fn(&Read) -> Shape,
        colors: &[Class],
        depth: bool,
    ) -> Arc<Program> {
        let mut text = format!(
            "{MIX}{FRAME}struct Push {{ keys: vec4<u32>, size: vec2<u32>, passed: u32, loops: u32, z: f32 }}
var<push_constant> push: Push;
struct Corner {{ @builtin(position) position: vec4<f32>, @location(0) @interpolate(flat) h: u32 }}\n"
        );
        let vertex = folds(&mut text, operation, shape_of, |read| read.vertex && read.via != Via::Vertex);
        let fragment = folds(&mut text, operation, shape_of, |read| !read.vertex);
        let mut inputs = String::new();
        let mut attributes = String::new();
        let mut location = 0;
        for (at, read) in operation.reads.iter().enumerate().filter(|(_, read)| read.via == Via::Vertex) {
            for bit in 0..read.cells.len() {
                let _ = write!(inputs, ", @location({location}) a{location}: u32");
                let _ = writeln!(attributes, "    if is_known({at}u, {bit}u) {{ h = mixed(h, a{location}); }}");
                location += 1;
            }
        }
        let mut inputs_read = Vec::new();
        let mut loads = String::new();
        for (at, read) in operation.reads.iter().enumerate().filter(|(_, read)| read.via == Via::Input) {
            let input = Input { at, float: shape_of(read).format == Some(Format::R32float) };
            text.push_str(&stub(input));
            inputs_read.push(input);
            let _ = write!(loads, "if is_known({at}u, side) {{ v = mixed(v, input{at}()); }} ");
        }
        let mut outputs = String::new();
        let mut values = String::new();
        for (at, class) in colors.iter().enumerate() {
            let (ty, value) = match class {
                Class::Float => ("f32", "f32(v >> 16u)"),
                _ => ("u32", "v"),
            };
            let _ = write!(outputs, "@location({at}) c{at}: {ty}, ");
            let _ = writeln!(
                values,
                "    v = mixed(mixed(mixed(h, push.keys[{at}]), side), push.passed); {loads}out.c{at} = {value};"
            );
        }
        if depth {
            outputs.push_str("@builtin(frag_depth) depth: f32, ");
            let _ = writeln!(
                values,
                "    v = mixed(mixed(mixed(h, push.keys.w), side), push.passed); {loads}out.depth = f32(v >> 16u) / 65535.0;",
            );
        }
        let _ = write!(
            text,
            "struct Out {{ {outputs} }}
@vertex fn corner(@builtin(vertex_index) index: u32{inputs}) -> Corner {{
    let at = 0u; let n = 8u;
    var h = frame.salt;
{attributes}{vertex}    let uv = vec2<f32>(f32((index << 1u) & 2u), f32(index & 2u));
    return Corner(vec4<f32>(uv * 2.0 - 1.0, push.z, 1.0), h);
}}
@fragment fn texel(in: Corner) -> Out {{
    let id = vec2<u32>(in.position.xy);
    let at = id.x + id.y * push.size.x;
    let n = push.size.x * push.size.y;
    var h = in.h;
{fragment}    h = worked(h, push.loops);
    let side = select(0u, 1u, id.x >= push.size.x / 2u);
    var v = 0u;
    var out: Out;
{values}    return out;
}}
"
        );
        self.get(Kind::Raster, text, &inputs_read)
    }
}

/// A program whose fragment stage loads input attachments.
fn with_inputs(program: &Program, inputs: &[Input]) -> Program {
    let stage = |wanted: Stage| program.modules.iter().find(|module| module.stage == wanted).expect("a raster program");
    let vertex: Vec<u8> = stage(Stage::Vertex).spirv.iter().flat_map(|word| word.to_le_bytes()).collect();
    let fragment = patched(&stage(Stage::Fragment).spirv, inputs);
    let made = Program::new("hash", Kind::Raster, &[Source::Spirv(&vertex), Source::Spirv(&fragment)], None);
    made.unwrap_or_else(|error| panic!("{error}"))
}

/// Bindings and fold functions of some reads; returns the calls.
fn folds(
    text: &mut String,
    operation: &PassOperation,
    shape_of: &dyn Fn(&Read) -> Shape,
    wanted: impl Fn(&Read) -> bool,
) -> String {
    let mut calls = String::new();
    for (at, read) in operation.reads.iter().enumerate().filter(|(_, read)| wanted(read)) {
        let shape = shape_of(read);
        let binding = at + 1;
        match read.via {
            Via::Uniform | Via::Storage => {
                let words = (read.bytes[1] - read.bytes[0]) / 4;
                let (declared, load) = match read.via {
                    Via::Uniform => {
                        (format!("<uniform> r{at}: array<vec4<u32>, {}>", words / 4), format!("r{at}[j >> 2u][j & 3u]"))
                    }
                    _ => (format!("<storage, read> r{at}: array<u32>"), format!("r{at}[j]")),
                };
                let _ = write!(
                    text,
                    "@group(0) @binding({binding}) var{declared};
fn fold{at}(start: u32, at: u32, n: u32) -> u32 {{
    var h = start;
    for (var c = 0u; c < {}u; c++) {{
        if !is_known({at}u, c) {{ continue; }}
        var j = c * 128u + at % 128u;
        let first = {load};
        h = mixed(h, first);
        for (var more = at + n; more < 128u; more += n) {{
            j = c * 128u + more;
            let other = {load};
            if other != first {{ h = mixed(h, other ^ 1540483477u); }}
        }}
    }}
    return h;
}}
",
                    words.div_ceil(128)
                );
            }
            Via::Sampled | Via::Image => image_fold(text, at, read, &shape),
            Via::Vertex | Via::Host | Via::Input => continue,
        }
        let _ = writeln!(calls, "    h = fold{at}(h, at, n);");
    }
    calls
}

fn image_fold(text: &mut String, at: usize, read: &Read, shape: &Shape) {
    let format = shape.format.unwrap_or(Format::R32uint);
    let class = Class::of(format, read.aspect);
    let dimension = Dimension::of(shape, read.layers);
    let many = shape.samples > 1;
    let (ty, number) = match class {
        Class::Uint | Class::Stencil => ("u32", "u32(t.x)"),
        Class::Float => ("f32", "u32(t.x)"),
        Class::Depth => ("", "u32(round(t * 65535.0))"),
    };
    let name = dimension.name();
    let storage = read.via == Via::Image;
    let declared = match (storage, class, many) {
        (true, ..) => {
            format!("texture_storage_{name}<{}, read>", if class == Class::Float { "r32float" } else { "r32uint" })
        }
        (_, Class::Depth, _) => format!("texture_depth_{name}"),
        (_, _, true) => format!("texture_multisampled_2d<{ty}>"),
        _ => format!("texture_{name}<{ty}>"),
    };
    let level = if storage || many { "" } else { ", m" };
    let (size, corner, layer) = match dimension {
        Dimension::Volume => (format!("textureDimensions(r{at}{level})"), "p", ""),
        Dimension::Layers => (format!("vec3<u32>(textureDimensions(r{at}{level}), 1u)"), "p.xy", ", l"),
        Dimension::Plane => (format!("vec3<u32>(textureDimensions(r{at}{level}), 1u)"), "p.xy", ""),
    };
    let load = |extra: &str| format!("textureLoad(r{at}, {corner}{layer}{extra})");
    let fetch = match (storage, many) {
        (true, _) => format!("let t = {}; return {number};", load("")),
        (_, true) => {
            let samples = shape.samples;
            format!(
                "var t = {}; let first = {number};
    for (var s = 1u; s < {samples}u; s++) {{ t = {}; if {number} != first {{ return first ^ 2147483648u; }} }}
    return first;",
                load(", 0"),
                load(", s")
            )
        }
        _ => format!("let t = {}; return {number};", load(", m")),
    };
    let levels = if storage || many { "1u".to_owned() } else { format!("textureNumLevels(r{at})") };
    // Of storage images, naga asks for the number of layers with an instruction that is for sampled ones only.
    let layers = if layer.is_empty() { "1u".to_owned() } else { format!("{}u", read.layers[1] - read.layers[0]) };
    let _ = write!(
        text,
        "@group(0) @binding({}) var r{at}: {declared};
fn texel{at}(j: u32, x: u32, across: u32, down: u32, l: u32, m: u32) -> u32 {{
    let p = vec3<u32>(x + j % across, (j / across) % down, j / (across * down));
    {fetch}
}}
fn fold{at}(start: u32, at: u32, n: u32) -> u32 {{
    var h = start;
    for (var m = 0u; m < {levels}; m++) {{
        let size = {size};
        for (var l = 0u; l < {layers}; l++) {{
            for (var side = 0u; side < 2u; side++) {{
                if !is_known({at}u, (m * {layers} + l) * 2u + side) {{ continue; }}
                let middle = size.x / 2u;
                let x = select(0u, middle, side == 1u);
                let across = select(middle, size.x - middle, side == 1u);
                let total = across * size.y * size.z;
                let first = texel{at}(at % total, x, across, size.y, l, m);
                h = mixed(h, first);
                for (var more = at + n; more < total; more += n) {{
                    let other = texel{at}(more, x, across, size.y, l, m);
                    if other != first {{ h = mixed(h, other ^ 1540483477u); }}
                }}
            }}
        }}
    }}
    return h;
}}
",
        at + 1
    );
}

fn buffer_body(text: &mut String, mode: Mode) -> [String; 2] {
    let ty = if mode == Mode::Add { "atomic<u32>" } else { "u32" };
    let _ = writeln!(text, "@group(0) @binding(40) var<storage, read_write> goal: array<{ty}>;");
    let store = match mode {
        Mode::Set => "goal[at] = v;",
        Mode::Mix => "goal[at] = mixed(v, goal[at]);",
        Mode::Add => "atomicAdd(&goal[at], v);",
    };
    let begin = "    let at = id.x; let n = arrayLength(&goal);
    if at >= n { return; }";
    let end = format!(
        "    let cell = at / 128u;
    if ((push.cover >> cell) & 1u) == 0u {{ return; }}
    let v = mixed(h, cell);
    {store}"
    );
    [begin.to_owned(), end]
}

fn image_body(text: &mut String, dimension: Dimension, class: Class, mode: Mode) -> [String; 2] {
    let float = class == Class::Float;
    let access = if mode == Mode::Set { "write" } else { "read_write" };
    let format = if float { "r32float" } else { "r32uint" };
    let name = dimension.name();
    let _ = writeln!(text, "@group(0) @binding(40) var goal: texture_storage_{name}<{format}, {access}>;");
    let (size, corner, layer) = match dimension {
        Dimension::Volume => ("textureDimensions(goal)", "id", "0u"),
        Dimension::Layers => ("vec3<u32>(textureDimensions(goal), push.layers)", "id.xy, id.z", "id.z"),
        Dimension::Plane => ("vec3<u32>(textureDimensions(goal), 1u)", "id.xy", "0u"),
    };
    let begin = format!(
        "    let size = {size};
    if any(id >= size) {{ return; }}
    let at = id.x + size.x * (id.y + size.y * id.z); let n = size.x * size.y * size.z;"
    );
    let old =
        if mode == Mode::Mix { format!("v = mixed(v, u32(textureLoad(goal, {corner}).x));") } else { String::new() };
    let value = if float { "vec4<f32>(f32(v >> 16u), 0.0, 0.0, 1.0)" } else { "vec4<u32>(v, 0u, 0u, 1u)" };
    let end = format!(
        "    let side = select(0u, 1u, id.x >= size.x / 2u);
    if side == 1u && push.cover == 0u {{ return; }}
    var v = mixed(h, {layer} * 2u + side);
    {old}
    textureStore(goal, {corner}, {value});"
    );
    [begin, end]
}
