//! What a shader asks for, as records.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::types::{PyBool, PyTuple};
use rgraph_shader::{
    Binding, BindingKind, Member, Reflection, Refused, SampleKind, Scalar, SpecConstant, StageReflection, Type, Value,
};
use rgraph_work::infer::check::words;

use crate::arguments::convert::Text;
use crate::arguments::keywords;
use crate::arguments::shader;
use crate::run::error::shader_error;
use crate::run::patient::patiently;
use crate::run::record::record;

/// Reflect a shader: what it binds, its data with offsets in bytes, its inputs and outputs, its workgroup.
///
/// This needs no device.
///
/// Parameters
/// ----------
/// shader
///     WGSL or GLSL text, the path of a file, SPIR-V bytes; or (vertex, fragment).
/// entry
///     The entry point, where the shader has several.
/// constants
///     Values of its constants, as for `Module.compute`: sizes of arrays and of the workgroup may follow from them.
///     Constants that have none count as 1 here.
///
/// Returns
/// -------
/// ShaderReflection
///     The interface of the shader. Variables that it declares and does not use are in `unused` alone, those that no
///     pass can bind in `refused` with the reason.
///
/// Raises
/// ------
/// ShaderError
///     If the shader does not compile (with its line).
///
/// Examples
/// --------
/// >>> import rgraph
/// >>> found = rgraph.reflect('''
/// ... struct Params { radius: i32, scale: f32 }
/// ... @group(0) @binding(0) var<uniform> params: Params;
/// ... @group(0) @binding(1) var dst: texture_storage_2d<rgba8unorm, write>;
/// ... @compute @workgroup_size(8, 8) fn main() { textureStore(dst, vec2(params.radius), vec4(params.scale)); }''')
/// >>> [(binding.name, binding.kind, binding.reads, binding.writes) for binding in found.bindings]
/// [('params', 'uniform', True, False), ('dst', 'image', False, True)]
/// >>> [(member.name, member.type, member.offset) for member in found.bindings[0].members]
/// [('radius', 'i32', 0), ('scale', 'f32', 4)]
/// >>> found.workgroup
/// (8, 8, 1)
#[pyfunction]
#[pyo3(signature = (shader, *, entry = None, constants = None, **unknown), text_signature = "(shader, *, entry=None, constants=None)")]
pub(crate) fn reflect<'py>(
    py: Python<'py>,
    shader: &Bound<'py, PyAny>,
    entry: Option<Text<'py>>,
    constants: Option<&Bound<'py, PyAny>>,
    unknown: Option<&Bound<'_, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    keywords::refuse_function("reflect", unknown)?;
    let (sources, name) = shader::sources(shader)?;
    let name = if name.is_empty() { "shader".to_owned() } else { name };
    let entry = entry.map(|Text(entry)| entry.to_owned());
    let given = shader::constants(constants)?;
    let made = patiently(py, move || Reflection::of(&name, &sources, entry.as_deref(), &given))?;
    let Reflection { stages, interface } = made.map_err(|error| shader_error(py, &error, None))?;
    let push = match &interface.push {
        Some(push) => {
            let parts = members(py, &push.ty)?;
            Some(record!(py, "ShaderPush", (&push.name, push.ty.describe(), push.size, parts))?)
        }
        None => None,
    };
    let inputs = interface.vertex_inputs.iter();
    let outputs = interface.outputs.iter();
    let [x, y, z] = interface.workgroup;
    let values = (
        tuple(py, stages.iter().map(|one| stage(py, one)))?,
        tuple(py, interface.bindings.iter().map(|one| binding(py, one)))?,
        push,
        tuple(py, inputs.map(|one| varying(py, &one.name, one.location, one.scalar, one.components)))?,
        tuple(py, outputs.map(|one| varying(py, &one.name, one.location, one.scalar, one.components)))?,
        (x > 0).then_some((x, y, z)),
        interface.writes_depth,
        PyTuple::new(py, &interface.unused)?,
        tuple(py, interface.constants.iter().map(|one| constant(py, one)))?,
        tuple(py, interface.refused.iter().map(|one| refused(py, one)))?,
    );
    record!(py, "ShaderReflection", values)
}

fn tuple<'py>(
    py: Python<'py>,
    items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, items.collect::<PyResult<Vec<_>>>()?)
}

fn stage<'py>(py: Python<'py>, stage: &StageReflection) -> PyResult<Bound<'py, PyAny>> {
    let inputs = stage.inputs.iter().map(|one| varying(py, &one.name, one.location, one.scalar, one.components));
    let inputs = tuple(py, inputs)?;
    let outputs = stage.outputs.iter().map(|one| varying(py, &one.name, one.location, one.scalar, one.components));
    record!(py, "ShaderStage", (stage.stage.name(), &stage.entry, inputs, tuple(py, outputs)?))
}

fn constant<'py>(py: Python<'py>, constant: &SpecConstant) -> PyResult<Bound<'py, PyAny>> {
    let default = match constant.default {
        None => py.None().into_bound(py),
        Some(value) => match value.value() {
            Value::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
            Value::Int(value) => value.into_pyobject(py)?.into_any(),
            Value::Float(value) => value.into_pyobject(py)?.into_any(),
            Value::List(_) | Value::Map(_) | Value::Bytes(_) => py.None().into_bound(py),
        },
    };
    let ty = Type::Scalar(constant.scalar).describe();
    record!(py, "ShaderConstant", (&constant.name, constant.id, ty, default, constant.required))
}

fn refused<'py>(py: Python<'py>, one: &Refused) -> PyResult<Bound<'py, PyAny>> {
    record!(py, "ShaderRefusal", (&one.name, one.group.zip(one.binding), one.fault.to_string()))
}

fn varying<'py>(
    py: Python<'py>,
    name: &str,
    location: u32,
    scalar: Scalar,
    components: u32,
) -> PyResult<Bound<'py, PyAny>> {
    let ty = if components == 1 { Type::Scalar(scalar) } else { Type::Vector(scalar, components) };
    record!(py, "ShaderVarying", (name, location, ty.describe()))
}

fn binding<'py>(py: Python<'py>, binding: &Binding) -> PyResult<Bound<'py, PyAny>> {
    let (kind, sample, format) = match binding.kind {
        BindingKind::Uniform => ("uniform", None, None),
        BindingKind::Storage => ("storage", None, None),
        BindingKind::Sampled { sample, .. } => ("sampled", Some(sample), None),
        BindingKind::Combined { sample, .. } => ("combined", Some(sample), None),
        BindingKind::Image { sample, format, .. } => ("image", Some(sample), format),
        BindingKind::Texels { sample, format, .. } => ("texels", Some(sample), format),
        BindingKind::Sampler { .. } => ("sampler", None, None),
        BindingKind::InputAttachment { .. } => ("input_attachment", None, None),
        BindingKind::AccelerationStructure => ("acceleration_structure", None, None),
    };
    let sample = sample.map(|sample| match sample {
        SampleKind::Float => "float",
        SampleKind::Int => "int",
        SampleKind::Uint => "uint",
        SampleKind::Depth => "depth",
    });
    let (ty, size, parts) = match &binding.ty {
        Some(ty) => (ty.describe(), Some(ty.size()), members(py, ty)?),
        None => (words(binding), None, PyTuple::empty(py)),
    };
    let stages = PyTuple::new(py, binding.stages.names().collect::<Vec<_>>())?;
    let values = (
        &binding.name,
        (binding.group, binding.binding),
        kind,
        ty,
        (binding.count > 0).then_some(binding.count),
        binding.reads,
        binding.writes,
        stages,
        size,
        parts,
        sample,
        format.map(|format| format.name()),
    );
    record!(py, "ShaderBinding", values)
}

/// The members of a struct, or of the elements of an array.
fn members<'py>(py: Python<'py>, ty: &Type) -> PyResult<Bound<'py, PyTuple>> {
    match ty {
        Type::Struct(block) => tuple(py, block.members.iter().map(|one| member(py, one))),
        Type::Array { of, .. } => members(py, of),
        _ => Ok(PyTuple::empty(py)),
    }
}

fn member<'py>(py: Python<'py>, member: &Member) -> PyResult<Bound<'py, PyAny>> {
    let stride = match &member.ty {
        Type::Array { stride, .. } | Type::Matrix { stride, .. } => Some(*stride),
        _ => None,
    };
    let size = member.ty.open_stride().is_none().then(|| member.ty.size());
    record!(
        py,
        "ShaderMember",
        (&member.name, member.ty.describe(), member.offset, size, stride, members(py, &member.ty)?)
    )
}
