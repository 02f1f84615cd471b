//! Joins the stages of a program: values handed from stage to stage, bindings and push data of all.

use crate::block::{Block, Scalar, Type};
use rgraph_ir::error::Code;

use crate::error::{self, ShaderError};
use crate::interface::{Binding, BindingKind, Interface, Push, Refused};
use crate::stage::Stage;
use crate::stage_interface::{StageInterface, Varying};

/// The interface of all parts together; parts in pipeline order.
///
/// # Errors
/// `RG-E303`: the fragment stage reads what the vertex stage does not write, or another type.
/// `RG-E304`: two bindings of one place or one name differ, or push blocks contradict each other.
pub(crate) fn join(name: &str, parts: &[StageInterface]) -> Result<Interface, ShaderError> {
    for pair in parts.windows(2) {
        hand_over(name, &pair[0], &pair[1])?;
    }
    let out = merge(name, parts)?;
    match out.refused.first() {
        Some(refused) => Err(refused.fault.clone()),
        None => Ok(out),
    }
}

/// The same of stages that need not fit each other, with bindings that no pass can fill.
///
/// # Errors
/// `RG-E304`: push blocks contradict each other.
pub(crate) fn merge(name: &str, parts: &[StageInterface]) -> Result<Interface, ShaderError> {
    let mut out = Interface::default();
    for part in parts {
        let stage = part.module.stage;
        out.refused.extend(part.refused.iter().cloned());
        for binding in &part.bindings {
            if let Err(fault) = bind(name, &mut out, binding, stage) {
                let (group, slot) = (Some(binding.group), Some(binding.binding));
                out.refused.push(Refused { name: binding.name.clone(), group, binding: slot, fault });
            }
        }
        if let Some((variable, ty)) = &part.push {
            push(name, &mut out, variable, ty, stage)?;
        }
        if stage == Stage::Vertex {
            out.vertex_inputs = part.inputs.iter().map(Varying::input).collect();
            out.vertex_inputs.sort_by_key(|input| input.location);
        }
        if stage == Stage::Fragment {
            out.outputs = part.outputs.iter().map(Varying::output).collect();
            out.outputs.sort_by_key(|output| output.location);
            out.writes_depth = part.writes_depth;
        }
        if stage == Stage::Compute {
            out.workgroup = part.workgroup;
        }
    }
    out.bindings.sort_by_key(|binding| (binding.group, binding.binding));
    out.unused_push = out.push.is_none() && parts.iter().any(|part| part.unused_push);
    for part in parts {
        for unused in &part.unused {
            if out.find(unused).is_none() && !out.unused.contains(unused) {
                out.unused.push(unused.clone());
            }
        }
    }
    Ok(out)
}

/// Everything that a stage reads must be written by the one before it, with the same type.
fn hand_over(name: &str, from: &StageInterface, to: &StageInterface) -> Result<(), ShaderError> {
    let (before, after) = (from.module.stage.name(), to.module.stage.name());
    for input in &to.inputs {
        let place = |varying: &Varying| (varying.location, varying.component);
        let message = match from.outputs.iter().find(|output| place(output) == place(input)) {
            Some(output) if output.ty() == input.ty() => continue,
            Some(output) => format!(
                "the {after} stage reads '{}' at location {} as {}, and the {before} stage writes '{}' there as {}",
                input.name,
                input.location,
                input.ty(),
                output.name,
                output.ty()
            ),
            None => format!(
                "the {after} stage reads '{}' ({}) at location {}, which the {before} stage does not write",
                input.name,
                input.ty(),
                input.location
            ),
        };
        let written: Vec<String> = from
            .outputs
            .iter()
            .map(|output| format!("{}: '{}' {}", output.location, output.name, output.ty()))
            .collect();
        let help = match written.is_empty() {
            true => format!("the {before} stage writes no location; add an output"),
            false => format!("the {before} stage writes location {}", written.join(", ")),
        };
        return Err(error::plain(Code::StageMismatch, name, message, help));
    }
    Ok(())
}

/// Adds a stage's binding to those of the stages before.
fn bind(name: &str, out: &mut Interface, new: &Binding, stage: Stage) -> Result<(), ShaderError> {
    let clash = |message: String, help: &str| Err(error::plain(Code::Unsupported, name, message, help));
    let (group, slot) = (new.group, new.binding);
    let Some(old) = out.bindings.iter_mut().find(|old| (old.group, old.binding) == (group, slot)) else {
        if let Some(other) = out.bindings.iter().find(|other| other.name == new.name) {
            let message = format!(
                "two bindings are called '{}': ({}, {}) and ({group}, {slot})",
                new.name, other.group, other.binding
            );
            return clash(message, "give each a name of its own, or both the same group and binding");
        }
        out.bindings.push(new.clone());
        return Ok(());
    };
    let aliased = out.aliases.iter().any(|(_, of_group, of_slot)| (*of_group, *of_slot) == (group, slot));
    if aliased || old.name != new.name {
        let alias = (new.name.clone(), group, slot);
        // One resource under two names, whose contents each sees in its own way, is meant where one stage has both.
        let known = old.name == new.name || out.aliases.contains(&alias);
        let meant = known || old.stages.contains(stage.stages());
        let kind = together(old.kind, new.kind).filter(|_| meant && old.count == new.count);
        let Some(kind) = kind else {
            let message = format!(
                "binding ({group}, {slot}) is called '{}' and, in the {} stage, '{}'",
                old.name,
                stage.name(),
                new.name
            );
            return clash(message, "give it one name, or two bindings");
        };
        let least = |binding: &Binding| binding.ty.as_ref().map_or(0, |ty| ty.size() + ty.open_stride().unwrap_or(0));
        if kind == BindingKind::Uniform && old.ty != new.ty {
            // Which of the layouts data would have, nobody can say: it is given as bytes.
            let len = Some(least(old).max(least(new)));
            old.ty = Some(Type::Array { of: Box::new(Type::Scalar(Scalar::U8)), len, stride: 1 });
        } else if least(new) > least(old) {
            old.ty.clone_from(&new.ty);
        }
        old.kind = kind;
        old.stages |= new.stages;
        old.reads |= new.reads;
        old.writes |= new.writes;
        if !known {
            out.aliases.push(alias);
        }
        return Ok(());
    }
    let layouts = match (&old.ty, &new.ty) {
        (Some(one), Some(other)) => same_layout(one, other),
        (one, other) => one.is_none() == other.is_none(),
    };
    let kind = match (old.kind, new.kind) {
        // Whether a sampler compares and whether an image is read as depth is known only where it is used so.
        (BindingKind::Sampler { comparison: one }, BindingKind::Sampler { comparison: other }) if one != other => None,
        (one, other) => (one == other).then_some(one),
    };
    let Some(kind) = kind.filter(|_| layouts && old.count == new.count) else {
        let message =
            format!("'{}' at ({group}, {slot}) is not the same in the {} stage as before it", new.name, stage.name());
        return clash(message, "declare it alike in both stages, or give it another name and binding");
    };
    old.kind = kind;
    old.stages |= new.stages;
    old.reads |= new.reads;
    old.writes |= new.writes;
    Ok(())
}

/// What two variables of one place are to their one descriptor. (Vulkan 1.3, "Shader Resource and Descriptor Type
/// Correspondence": an image and a sampler may be those of one combined image sampler.)
fn together(one: BindingKind, other: BindingKind) -> Option<BindingKind> {
    use BindingKind as K;
    match (one, other) {
        (one, other) if one == other => Some(one),
        (K::Sampled { dimension, arrayed, multisampled: false, sample }, K::Sampler { .. })
        | (K::Sampler { .. }, K::Sampled { dimension, arrayed, multisampled: false, sample }) => {
            Some(K::Combined { dimension, arrayed, multisampled: false, sample })
        }
        (whole @ K::Combined { .. }, K::Sampler { .. }) | (K::Sampler { .. }, whole @ K::Combined { .. }) => {
            Some(whole)
        }
        (
            whole @ K::Combined { dimension, arrayed, multisampled, sample },
            K::Sampled { dimension: d, arrayed: a, multisampled: m, sample: s },
        )
        | (
            K::Sampled { dimension: d, arrayed: a, multisampled: m, sample: s },
            whole @ K::Combined { dimension, arrayed, multisampled, sample },
        ) if (dimension, arrayed, multisampled, sample) == (d, a, m, s) => Some(whole),
        _ => None,
    }
}

/// Whether two layouts put the same members at the same places; names of structs do not matter.
fn same_layout(one: &Type, other: &Type) -> bool {
    match (one, other) {
        (Type::Struct(one), Type::Struct(other)) => {
            one.members.len() == other.members.len()
                && one.members.iter().zip(&other.members).all(|(one, other)| {
                    one.name == other.name && one.offset == other.offset && same_layout(&one.ty, &other.ty)
                })
        }
        (Type::Array { of, len, stride }, Type::Array { of: other, len: other_len, stride: other_stride }) => {
            len == other_len && stride == other_stride && same_layout(of, other)
        }
        _ => one == other,
    }
}

/// Push data of several stages is one block: members that both have must agree, and none may overlap.
fn push(name: &str, out: &mut Interface, variable: &str, ty: &Type, stage: Stage) -> Result<(), ShaderError> {
    let Type::Struct(new) = ty else { return Ok(()) };
    let Some(old) = &mut out.push else {
        let size = ty.size().next_multiple_of(4);
        out.push = Some(Push { name: variable.to_owned(), ty: ty.clone(), size, stages: stage.stages() });
        return Ok(());
    };
    let Type::Struct(block) = &mut old.ty else { return Ok(()) };
    for member in &new.members {
        let end = member.offset + member.ty.size();
        let meets = |old: &&crate::block::Member| {
            old.name == member.name || (old.offset < end && member.offset < old.offset + old.ty.size())
        };
        match block.members.iter().find(meets) {
            None => block.members.push(member.clone()),
            Some(old) if old.name == member.name && old.offset == member.offset && same_layout(&old.ty, &member.ty) => {
            }
            Some(old) => {
                let message = format!(
                    "push data: '{}' ({}, at byte {}) contradicts '{}' ({}, at byte {}) of the {} stage",
                    old.name,
                    old.ty,
                    old.offset,
                    member.name,
                    member.ty,
                    member.offset,
                    stage.name()
                );
                let help = "declare the same block in both stages, or members at bytes that do not meet";
                return Err(error::plain(Code::Unsupported, name, message, help));
            }
        }
    }
    block.members.sort_by_key(|member| member.offset);
    let Block { size, .. } = block;
    *size = (*size).max(new.size);
    old.size = size.next_multiple_of(4);
    old.stages |= stage.stages();
    Ok(())
}
