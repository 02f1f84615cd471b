//! What an entry point of a SPIR-V module asks of its pass.

use super::access::{COMPARES, READ, WRITE};
use super::{Binary, Entry, Form, Variable, bad, class, decoration};
use crate::block::Type;
use rgraph_ir::error::Code;

use crate::error::{self, ShaderError};
use crate::interface::{Binding, BindingKind, Refused};
use crate::stage::{Module, Stage};
use crate::stage_interface::{StageInterface, Varying};
use std::collections::HashMap;

/// Built-in variables that are read here: the depth that a fragment writes, and the size of a workgroup.
const FRAG_DEPTH: u32 = 22;
const WORKGROUP_SIZE: u32 = 25;

impl Binary<'_> {
    /// One entry point with all that it asks for.
    ///
    /// # Errors
    /// `RG-E304`: a binding that is not supported. `RG-E305`: the module contradicts itself.
    pub(crate) fn part(&self, stage: Stage, entry: &str) -> Result<StageInterface, ShaderError> {
        let Some(entry) = self.entries.iter().find(|found| found.stage == Some(stage) && found.name == entry) else {
            return Err(error::plain(Code::EntryPoint, self.name, format!("there is no entry point '{entry}'"), ""));
        };
        if !self.functions.iter().any(|(id, _)| *id == entry.function) {
            return Err(bad(self.name, format!("entry point '{}' has no function", entry.name)));
        }
        let mut part = StageInterface {
            module: Module { stage, entry: entry.name.clone(), spirv: self.words.clone() },
            bindings: Vec::new(),
            refused: Vec::new(),
            push: None,
            unused_push: false,
            workgroup: if stage == Stage::Compute { self.workgroup(entry) } else { [0; 3] },
            inputs: Vec::new(),
            outputs: Vec::new(),
            writes_depth: false,
            unused: Vec::new(),
            parts: 0,
        };
        if stage == Stage::Compute && part.workgroup.iter().any(|axis| *axis == 0 || *axis > i32::MAX as u32) {
            let size = part.workgroup.map(|axis| (axis as i32).to_string()).join(" × ");
            let message = match part.workgroup {
                [0, 0, 0] => format!("entry point '{}' has no size of workgroups", entry.name),
                _ => format!("entry point '{}' has workgroups of {size} invocations", entry.name),
            };
            return Err(bad(self.name, message));
        }
        let uses = self.uses(entry.function);
        for variable in self.variables.iter().filter(|variable| Self::is_resource(variable.class)) {
            match uses.get(&variable.id) {
                Some(uses) => self.resource(variable, *uses, stage, &mut part)?,
                None if variable.class != class::PUSH_CONSTANT => part.unused.push(self.variable_name(variable)),
                None => part.unused_push = true,
            }
        }
        part.unused_push &= part.push.is_none();
        let variables: HashMap<u32, &Variable> =
            self.variables.iter().map(|variable| (variable.id, variable)).collect();
        for id in &entry.interface {
            match variables.get(id) {
                Some(variable) if variable.class == class::INPUT => self.passing(variable, true, &mut part)?,
                Some(variable) if variable.class == class::OUTPUT => self.passing(variable, false, &mut part)?,
                _ => {}
            }
        }
        Ok(part)
    }

    /// The size of workgroups: the built-in constant if there is one, else the entry point's execution mode.
    fn workgroup(&self, entry: &Entry) -> [u32; 3] {
        let number = |id: u32| self.number(id).unwrap_or(0);
        let built_in = |id: &&u32| self.decoration(**id, decoration::BUILT_IN) == Some(WORKGROUP_SIZE);
        if let Some(size) = self.composites.keys().filter(built_in).min().map(|id| self.composites[id]) {
            return size.map(number);
        }
        let mode = self.modes.iter().find(|(function, mode, _)| *function == entry.function && matches!(mode, 17 | 38));
        match mode {
            Some((_, 17, size)) => *size,
            Some((_, _, ids)) => ids.map(number),
            None => [0; 3],
        }
    }

    /// The variable's name, or of a block without instance name the block's, or its place. Blocks that several such
    /// variables have name none of them.
    fn variable_name(&self, variable: &Variable) -> String {
        let named = |id: u32| self.names.get(&id).filter(|name| !name.is_empty()).cloned();
        if let Some(name) = named(variable.id) {
            return name;
        }
        let place = |what| self.decoration(variable.id, what).unwrap_or(0);
        let by_place = match variable.class {
            class::PUSH_CONSTANT => "push".to_owned(),
            _ => format!("group{}_binding{}", place(decoration::DESCRIPTOR_SET), place(decoration::BINDING)),
        };
        if self.shared_blocks.contains(&variable.pointer) {
            return by_place;
        }
        // Naga wraps blocks in a struct without a name.
        let mut ty = self.pointee(variable.pointer);
        for _ in 0..2 {
            match (ty.and_then(named), ty.map(|ty| self.form(ty))) {
                (Some(name), _) => return name,
                (None, Some(Form::Struct(members))) if members.len() == 1 => ty = members.first().copied(),
                _ => break,
            }
        }
        by_place
    }

    fn resource(
        &self,
        variable: &Variable,
        uses: u8,
        stage: Stage,
        part: &mut StageInterface,
    ) -> Result<(), ShaderError> {
        let name = self.variable_name(variable);
        let unsupported = |why: String| error::plain(Code::Unsupported, self.name, format!("'{name}': {why}"), "");
        if variable.class == class::PUSH_CONSTANT {
            let ty = self.pointee(variable.pointer).ok_or_else(|| unsupported("its type is no pointer".to_owned()))?;
            let ty = self.layout(ty, &mut part.parts).map_err(unsupported)?;
            if !matches!(ty, Type::Struct(_)) {
                return Err(unsupported("push data must be a block".to_owned()));
            }
            part.push = Some((name, ty));
            return Ok(());
        }
        match self.binding(variable, uses, stage, &mut part.parts) {
            Ok(binding) => part.bindings.push(binding),
            Err(why) => {
                let place = |what| self.decoration(variable.id, what);
                let (group, binding) = (place(decoration::DESCRIPTOR_SET), place(decoration::BINDING));
                let fault = unsupported(why);
                part.refused.push(Refused { name, group, binding, fault });
            }
        }
        Ok(())
    }

    /// What a variable binds; `Err`: why no pass can fill it.
    fn binding(&self, variable: &Variable, uses: u8, stage: Stage, parts: &mut u32) -> Result<Binding, String> {
        let ty = self.pointee(variable.pointer).ok_or("its type is no pointer")?;
        let place = |what, word: &str| self.decoration(variable.id, what).ok_or_else(|| format!("it has no {word}"));
        let group = place(decoration::DESCRIPTOR_SET, "DescriptorSet")?;
        let binding = place(decoration::BINDING, "Binding")?;
        let (ty, count) = self.elements(ty)?;
        let kind = match variable.class {
            class::UNIFORM_CONSTANT => {
                let index = self.decoration(variable.id, decoration::INPUT_ATTACHMENT_INDEX).unwrap_or(0);
                self.opaque(ty, index, uses & COMPARES != 0)?
            }
            class::UNIFORM if self.decoration(ty, decoration::BUFFER_BLOCK).is_none() => BindingKind::Uniform,
            _ => BindingKind::Storage,
        };
        let layout = match kind {
            BindingKind::Uniform | BindingKind::Storage => Some(self.layout(ty, parts)?),
            _ => None,
        };
        let sampler = matches!(kind, BindingKind::Sampler { .. });
        Ok(Binding {
            name: self.variable_name(variable),
            group,
            binding,
            count,
            kind,
            stages: stage.stages(),
            reads: uses & READ != 0 || sampler,
            writes: uses & WRITE != 0,
            ty: layout,
        })
    }

    /// An input or output variable: a value at its location, or a block of them.
    fn passing(&self, variable: &Variable, input: bool, part: &mut StageInterface) -> Result<(), ShaderError> {
        let Some(ty) = self.pointee(variable.pointer) else {
            return Err(bad(self.name, "a variable's type is no pointer".to_owned()));
        };
        if self.decoration(variable.id, decoration::BUILT_IN) == Some(FRAG_DEPTH) {
            part.writes_depth |= !input;
        }
        let ty = self.of_one_vertex(variable, ty, input, part.module.stage);
        let base = self.decoration(variable.id, decoration::LOCATION);
        let members = match self.form(ty) {
            Form::Struct(members) => members.as_slice(),
            _ => {
                let component = self.decoration(variable.id, decoration::COMPONENT).unwrap_or(0);
                let second = self.decoration(variable.id, decoration::INDEX) == Some(1);
                return match base {
                    // The second source of dual source blending has no target of its own.
                    Some(location) if !second => {
                        self.place(self.names.get(&variable.id), ty, location, component, input, part)
                    }
                    _ => Ok(()),
                };
            }
        };
        // Without locations of their own, members follow each other from the block's.
        let mut next = base;
        for (index, member) in (0_u32..).zip(members) {
            if self.member(ty, index, decoration::BUILT_IN) == Some(FRAG_DEPTH) {
                part.writes_depth |= !input;
            }
            if let Some(location) = self.member(ty, index, decoration::LOCATION).or(next) {
                let component = self.member(ty, index, decoration::COMPONENT).unwrap_or(0);
                let list = |part: &StageInterface| if input { part.inputs.len() } else { part.outputs.len() };
                let before = list(part);
                self.place(self.member_names.get(&(ty, index)), *member, location, component, input, part)?;
                next = next.map(|_| location.saturating_add((list(part) - before) as u32));
            }
        }
        Ok(())
    }

    /// What a variable holds of one vertex: stages that see several at once have arrays of them, but what belongs to a
    /// patch. (Vulkan 1.3, "Interface Matching": the outermost array dimension of such variables is not counted.)
    fn of_one_vertex(&self, variable: &Variable, ty: u32, input: bool, stage: Stage) -> u32 {
        let several = match stage {
            Stage::TessellationControl => true,
            Stage::TessellationEvaluation | Stage::Geometry => input,
            Stage::Mesh => !input,
            Stage::Compute | Stage::Vertex | Stage::Task | Stage::Fragment => false,
            Stage::RayGeneration
            | Stage::Miss
            | Stage::ClosestHit
            | Stage::AnyHit
            | Stage::Intersection
            | Stage::Callable => false,
        };
        let is_patch = |member: u32| self.member(ty, member, decoration::PATCH).is_some();
        let of_patch = self.decoration(variable.id, decoration::PATCH).is_some() || is_patch(0);
        match self.form(ty) {
            Form::Array(of, _) if several && !of_patch => *of,
            _ => ty,
        }
    }

    fn place(
        &self,
        name: Option<&String>,
        ty: u32,
        location: u32,
        component: u32,
        input: bool,
        part: &mut StageInterface,
    ) -> Result<(), ShaderError> {
        let name = name.filter(|name| !name.is_empty()).cloned().unwrap_or_else(|| format!("location{location}"));
        let parts = self
            .varyings(ty)
            .map_err(|why| error::plain(Code::Unsupported, self.name, format!("'{name}': {why}"), ""))?;
        let list = if input { &mut part.inputs } else { &mut part.outputs };
        for (step, (scalar, components)) in (0_u32..).zip(parts) {
            let location = location.saturating_add(step);
            list.push(Varying { name: name.clone(), location, component, scalar, components });
        }
        if list.len() > 1024 {
            return Err(bad(self.name, "more than 1024 values enter or leave a stage".to_owned()));
        }
        Ok(())
    }
}
