//! Dispatches: `"compute": {"shader": …, "groups": …, "bindings": {…}, "push": …}`.

use std::sync::Arc;

use rgraph_files::graph::{Here, work};
use rgraph_files::json::{Fields, Node};
use rgraph_ir::access::Usage;
use rgraph_ir::error::Code;
use rgraph_ir::format::Format;
use rgraph_shader::{Binding, BindingKind, Kind, Program};

use super::data;
use super::load::Work;
use super::range::{Named, named};
use super::sampler;
use crate::infer::{self, Elements, Given};
use crate::work::{Bound, Dispatch, Groups, PushData, Step};

impl Work<'_, '_> {
    /// A dispatch.
    pub(super) fn compute(&mut self, node: Node<'_, '_>) -> Option<Step> {
        let fields = node.fields(&work::COMPUTE)?;
        let mut program = self.program(&fields, Kind::Compute)?;
        let push = self.push(&fields, &program)?;
        let bound = self.bind(&node, fields.get("bindings"), &mut program)?;
        let groups = match fields.get("groups") {
            Some(groups) => self.groups(&groups)?,
            None => self.covered(&node, &program)?,
        };
        let key = fields.get("key").map_or(Some(0), |key| key.u64())?;
        Some(Step::Dispatch(Dispatch { program, bound, push, groups, key }))
    }

    /// The program that fields name.
    pub(super) fn program<const N: usize>(&mut self, fields: &Fields<'_, '_, N>, kind: Kind) -> Option<Arc<Program>> {
        match self.library.program(fields, kind, self.who)? {
            Ok(program) => Some(program),
            Err(fault) => {
                self.fault(fault);
                None
            }
        }
    }

    /// The push data that fields say.
    pub(super) fn push<const N: usize>(&mut self, fields: &Fields<'_, '_, N>, program: &Program) -> Option<PushData> {
        let value = match fields.get("push") {
            Some(node) => Some(data::read(&node)?),
            None => None,
        };
        let node = fields.node();
        let packed = infer::push(self.who, program, value.as_ref());
        self.kept(&node, packed)
    }

    /// What stands behind the variables of a program.
    pub(super) fn bind(
        &mut self,
        node: &Node<'_, '_>,
        bindings: Option<Node<'_, '_>>,
        program: &mut Arc<Program>,
    ) -> Option<Arc<[Bound]>> {
        let (mut names, mut values, mut good) = (Vec::new(), Vec::new(), true);
        if let Some(bindings) = bindings {
            bindings.entries(": {VARIABLE: …}", |name, value| {
                let given = match program.interface.find(name) {
                    Some((_, binding)) if !value.is_null() => {
                        let given = self.given(&value, binding);
                        good &= given.is_some();
                        given
                    }
                    _ => None,
                };
                names.push(name.to_owned());
                values.push(given);
            })?;
        }
        if !good {
            return None;
        }
        let bound = infer::bind(self.who, program, names.iter().map(String::as_str), &values, &mut self.needs);
        self.kept(node, bound)
    }

    /// What is bound to one variable: one value, or one for each of its elements.
    fn given(&mut self, node: &Node<'_, '_>, binding: &Binding) -> Option<Elements> {
        if binding.count != 1 && node.is_list() {
            return node.list("", |one| self.one(&one, binding)).map(Elements::Many);
        }
        self.one(node, binding).map(Elements::One)
    }

    fn one(&mut self, node: &Node<'_, '_>, binding: &Binding) -> Option<Given> {
        let mut is_part = node.is_text();
        let mut inner = None;
        if node.is_object() {
            let mut count = 0;
            node.entries("", |key, value| {
                count += 1;
                is_part |= key == "resource";
                if key == "data" && binding.kind == BindingKind::Uniform {
                    inner = Some(data::read(&value));
                }
            })?;
            inner = inner.filter(|_| count == 1);
        }
        if matches!(binding.kind, BindingKind::Sampler { .. }) && !(node.is_object() && is_part) {
            return sampler::named(node, self.samplers).map(Given::Sampler);
        }
        if is_part {
            let here = Here { graph: self.graph, scope: self.scope };
            let samplers = self.samplers;
            return named(node, &here, |Named { id, part, sampler, format, .. }| {
                let sampler = match sampler {
                    Some(node) => Some(sampler::named(&node, samplers)?),
                    None => None,
                };
                match format {
                    Some(node) => Some(Given::Texels(id, part, node.word::<Format>()?)),
                    None => Some(Given::Resource(id, part, sampler)),
                }
            });
        }
        if binding.kind == BindingKind::Uniform {
            return inner.unwrap_or_else(|| data::read(node)).map(Given::Data);
        }
        let help = match binding.kind {
            BindingKind::Storage => "name a buffer, or {\"resource\": …}",
            _ => "name an image, or {\"resource\": …}",
        };
        Some(Given::Other(format!("plain data ({})", node.found()), help.to_owned()))
    }

    pub(super) fn covered(&mut self, node: &Node<'_, '_>, program: &Program) -> Option<Groups> {
        let groups = infer::covered(self.who, program, &self.needs.written);
        self.kept(node, groups)
    }

    /// `[x, y, z]`, a number, a buffer that says them, or `{"cover": IMAGE, "mip": 0}`.
    fn groups(&mut self, node: &Node<'_, '_>) -> Option<Groups> {
        const WANTED: &str = "[x, y, z] workgroups, a buffer with their counts, or {\"cover\": IMAGE}";
        if let Some(groups) = self.counted(node, WANTED)? {
            return Some(groups);
        }
        let here = Here { graph: self.graph, scope: self.scope };
        let (buffer, part) = named(node, &here, |Named { id, part, .. }| Some((id, part)))?;
        if here.graph.resources()[buffer].as_buffer().is_none() {
            node.mistake(Code::BadUsage, "is an image, but must be a buffer with three 32-bit counts", "");
            return None;
        }
        self.needs.uses(buffer, Usage::Indirect, part, |_| {});
        Some(Groups::Indirect { buffer, offset: part.ranges.bytes.map_or(0, |[first, _]| first) })
    }

    /// `[x, y, z]`, a number, or `{"cover": IMAGE, "mip": 0}`.
    pub(super) fn rays(&mut self, node: &Node<'_, '_>) -> Option<Groups> {
        const WANTED: &str = "[x, y, z] rays, or {\"cover\": IMAGE}";
        let counted = self.counted(node, WANTED)?;
        if counted.is_none() {
            node.wrong(WANTED);
        }
        counted
    }

    /// Numbers, or what covers a resource; `None` within: a resource is named.
    fn counted(&self, node: &Node<'_, '_>, wanted: &str) -> Option<Option<Groups>> {
        if node.is_number() {
            return node.u32().map(|x| Some(Groups::Fixed([x, 1, 1])));
        }
        if node.is_list() {
            let list = node.short_list(&[1, 2, 3], wanted, |axis| axis.u32())?;
            let axis = |at: usize| list.get(at).copied().unwrap_or(1);
            return Some(Some(Groups::Fixed([axis(0), axis(1), axis(2)])));
        }
        let mut covers = false;
        if node.is_object() {
            node.entries("", |key, _| covers |= key == "cover")?;
        }
        if covers {
            let here = Here { graph: self.graph, scope: self.scope };
            let fields = node.fields(&work::COVER)?;
            let id = here.resource(&fields.get("cover")?)?;
            let mip = fields.get("mip").map_or(Some(0), |mip| mip.u32())?;
            return Some(Some(Groups::Cover(id, mip)));
        }
        if !node.is_text() && !node.is_object() {
            node.wrong(wanted);
            return None;
        }
        Some(None)
    }
}
