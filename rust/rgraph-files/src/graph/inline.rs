//! Modules as values: `"modules"` of a file declares them once, `"use"` among the passes makes an instance. A module is
//! read as a file of its own would be, so an instance has its own options, resources and names.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::extras::Included;
use super::keys::{DECLARED, GraphFields, USE};
use super::options::{DEEPEST, Settings, holds, own_options, with};
use super::scope::{Given, Scope};
use super::section::{Phase, Reader, Section};
use crate::json::{Node, Source};
use rgraph_ir::error::{Code, Mistake};
use rgraph_ir::nearest::nearest;

/// A module that a file declares.
#[derive(Clone)]
pub(super) struct Inline {
    /// Its text, on the lines where the file has it.
    text: Included,
    /// The file.
    identity: String,
}

/// The modules of the files that are being read, the innermost file last.
pub(super) type Inlines = Vec<HashMap<String, Inline>>;

/// The modules that a file declares.
pub(super) fn declared(fields: &GraphFields<'_, '_>, identity: &str) -> HashMap<String, Inline> {
    let mut all = HashMap::new();
    let Some(node) = fields.get("modules") else { return all };
    let file = node.source().file().to_string();
    node.entries(" of modules by name", |name, value| {
        let _: Option<()> = value.check_name(name);
        if !value.is_object() {
            return value.wrong("an object, as a graph file has");
        }
        let lines = value.place().line.saturating_sub(1) as usize;
        let bytes: Vec<u8> = std::iter::repeat_n(b'\n', lines).chain(value.json().bytes()).collect();
        let text = Included { bytes: bytes.into(), name: file.clone(), identity: format!("{identity}\n{name}") };
        all.insert(name.to_owned(), Inline { text, identity: identity.to_owned() });
    });
    all
}

impl Reader<'_> {
    /// An instance of a module.
    pub(super) fn instance(&mut self, node: Node<'_, '_>, section: &Section<'_, '_>, scope: &Scope<'_>) {
        let Some(fields) = node.fields(&USE) else { return };
        if !holds(fields.get("if"), section.options) || !self.may(&node) {
            return;
        }
        let Some(named) = fields.get("use") else { return };
        let Some(name) = named.name() else { return };
        let Some(module) = self.inlines.iter().rev().find_map(|modules| modules.get(&*name)).cloned() else {
            let known: Vec<&str> = self.inlines.iter().flat_map(|modules| modules.keys().map(String::as_str)).collect();
            let help = match nearest(&name, known) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => "declare it: \"modules\": {NAME: {…}}".to_owned(),
            };
            return named.mistake(Code::UnknownName, "names a module that nothing declares", help);
        };
        if self.files.iter().any(|(identity, _)| *identity == module.text.identity) {
            return named.mistake(Code::Cycle, "uses the module that it is in", "take one of these uses out");
        }
        if self.files.len() >= DEEPEST {
            let problem = format!("is used more than {DEEPEST} modules and files deep");
            return named.mistake(Code::TooLarge, problem, "use fewer modules in each other");
        }
        let prefix = fields.get("as").map_or_else(|| Some(name.clone()), |name| name.name());
        let Some(prefix) = prefix else { return };
        let inner = Scope {
            prefix: scope.full(&format!("{prefix}/")),
            outer: Some(scope),
            given: Rc::new(Given::new(self.given(fields.get("resources"), scope))),
            slot: scope.slot,
            layer: None,
        };
        let settings = with(fields.get("with"));
        self.files.push((module.text.identity.clone(), module.text.name.clone()));
        let done = self.declared_in(&module, &settings, &inner);
        self.files.pop();
        self.done(done, &node, &fields, &inner);
    }

    /// Goes through a module for one instance.
    fn declared_in(
        &mut self,
        module: &Inline,
        settings: &Settings,
        scope: &Scope<'_>,
    ) -> Result<Vec<Mistake>, Box<Mistake>> {
        let bytes: Arc<[u8]> = Arc::clone(&module.text.bytes);
        let mut source = match Source::open(&bytes, &module.text.name) {
            Ok(source) => source,
            Err(error) => return Ok(error.mistakes().to_vec()),
        };
        let Some(options) = own_options(&source, settings)? else { return Ok(source.take_mistakes()) };
        source.set_options(options.iter().map(|(name, value)| (name.clone(), value.json())).collect());
        let found = source.count();
        if let Some(fields) = source.root().fields(&DECLARED) {
            source.forget_repeated(found);
            self.extras.enter(&module.identity, &fields, self.phase == Phase::Passes);
            self.inlines.push(declared(&fields, &module.text.identity));
            let inner = Section::of_file(&fields, &options);
            self.section(&inner, scope);
            if self.phase == Phase::Passes {
                self.roots(&inner, scope);
            }
            self.inlines.pop();
            self.extras.leave();
        }
        Ok(source.take_mistakes())
    }
}
