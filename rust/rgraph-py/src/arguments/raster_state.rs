//! Fixed-function state of draws: blending, culling, depth and stencil tests.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use rgraph_plan::error::Code;
use rgraph_vk::work::{Blend, BlendFactor, BlendOp, Compare, Cull, RasterState, StencilFace, StencilOp, Topology};

use crate::arguments::convert::{Count, Number, Text, items};
use crate::arguments::declare::only;
use crate::arguments::words::{BLEND_OPS, BLENDS, COMPARES, CULLS, FACTORS, STENCIL_OPS, TOPOLOGIES, Words, named};
use crate::classes::passes::Arguments;
use crate::run::error::bad;

/// Takes the state of a draw with so many colour targets.
pub(crate) fn state(arguments: &Arguments<'_>, targets: usize) -> PyResult<RasterState> {
    let mut state = RasterState::default();
    if let Some(value) = arguments.take("topology")? {
        state.topology = of::<Topology>(&value, "topology", TOPOLOGIES)?;
    }
    if let Some(Count(vertices)) = arguments.read("patch_vertices")? {
        state.patch_vertices = vertices;
    }
    if let Some(value) = arguments.take("cull")? {
        state.cull = of::<Cull>(&value, "kind of culling", CULLS)?;
    }
    if let Some(value) = arguments.take("front")? {
        state.clockwise = of(&value, "winding", &[("ccw", false), ("cw", true)])?;
    }
    state.filled = !arguments.read("wireframe")?.unwrap_or(false);
    state.alpha_to_coverage = arguments.read("alpha_to_coverage")?.unwrap_or(false);
    if let Some(value) = arguments.take("depth_test")? {
        state.depth_compare = Some(of::<Compare>(&value, "comparison", COMPARES)?);
    }
    if let Some(writes) = arguments.read("depth_write")? {
        state.depth_write = writes;
    }
    if let Some(value) = arguments.take("depth_bias")? {
        let (Number(constant), Number(slope)) = value.extract()?;
        state.depth_bias = Some([(constant as f32).to_bits(), (slope as f32).to_bits()]);
    }
    if let Some(value) = arguments.take("stencil")? {
        state.stencil = Some(match items(&value).transpose()?.as_deref() {
            Some([front, back]) if !value.is_instance_of::<PyDict>() => [face(front)?, face(back)?],
            _ => [face(&value)?; 2],
        });
    }
    if let Some(value) = arguments.take("blend")? {
        state.blend = each(&value, targets, "blend", |value| blend(value).map(Some), None)?;
    }
    if let Some(value) = arguments.take("write_mask")? {
        state.write_mask = each(&value, targets, "write_mask", mask, 15)?;
    }
    Ok(state)
}

fn of<T: Copy>(value: &Bound<'_, PyAny>, what: &str, words: Words<T>) -> PyResult<T> {
    named(value.py(), what, Text::of(value.as_borrowed(), &format!("the word for the {what}"))?.0, words)
}

/// One value for all targets, or a list of one for each; None is `otherwise`.
fn each<T: Copy>(
    value: &Bound<'_, PyAny>,
    targets: usize,
    what: &str,
    read: impl Fn(&Bound<'_, PyAny>) -> PyResult<T>,
    otherwise: T,
) -> PyResult<Vec<T>> {
    if value.is_instance_of::<PyString>() || value.is_instance_of::<PyDict>() {
        return Ok(vec![read(value)?; targets]);
    }
    let Some(all) = items(value).transpose()? else {
        let kind = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "{what} is a word, or a list with one for each colour target, not {kind}"
        )));
    };
    if all.len() != targets {
        return Err(PyTypeError::new_err(format!("{what} has {} entries for {targets} colour targets", all.len())));
    }
    all.iter().map(|value| if value.is_none() { Ok(otherwise) } else { read(value) }).collect()
}

fn mask(value: &Bound<'_, PyAny>) -> PyResult<u8> {
    let Text(channels) = value.extract()?;
    let bit = |channel: char| match "rgba".find(channel) {
        Some(bit) => Ok(1 << bit),
        None => {
            let message = format!("there is no channel \"{channel}\" to be written");
            Err(bad(value.py(), Code::UnknownName, message, "a write mask is some of \"rgba\""))
        }
    };
    channels.chars().try_fold(0, |mask, channel| Ok(mask | bit(channel)?))
}

fn blend(value: &Bound<'_, PyAny>) -> PyResult<Blend> {
    let Ok(dict) = value.cast::<PyDict>() else { return of(value, "blending", BLENDS) };
    only(dict, &["color", "alpha"])?;
    let equation = |name| match dict.get_item(name)? {
        None => Ok(None),
        Some(value) => match items(&value).transpose()?.as_deref() {
            Some([source, destination, op]) => Ok(Some((
                of::<BlendFactor>(source, "blend factor", FACTORS)?,
                of::<BlendFactor>(destination, "blend factor", FACTORS)?,
                of::<BlendOp>(op, "blend operation", BLEND_OPS)?,
            ))),
            _ => Err(PyTypeError::new_err("blending is (factor of the source, factor of the destination, operation)")),
        },
    };
    let Some(color) = equation("color")? else {
        return Err(PyTypeError::new_err("blending needs at least \"color\""));
    };
    Ok(Blend { color, alpha: equation("alpha")?.unwrap_or(color) })
}

fn face(value: &Bound<'_, PyAny>) -> PyResult<StencilFace> {
    let dict = value.cast::<PyDict>()?;
    only(dict, &["compare", "fail", "depth_fail", "pass", "reference", "read_mask", "write_mask"])?;
    let op = |name| match dict.get_item(name)? {
        None => Ok(StencilOp::Keep),
        Some(value) => of(&value, "stencil operation", STENCIL_OPS),
    };
    let number = |name, default| match dict.get_item(name)? {
        None => Ok::<_, PyErr>(default),
        Some(value) => Ok(value.extract::<Count>()?.0),
    };
    Ok(StencilFace {
        compare: dict.get_item("compare")?.map_or(Ok(Compare::Always), |value| of(&value, "comparison", COMPARES))?,
        fail: op("fail")?,
        depth_fail: op("depth_fail")?,
        pass: op("pass")?,
        reference: number("reference", 0)?,
        read_mask: number("read_mask", 255)?,
        write_mask: number("write_mask", 255)?,
    })
}
