//! Options of a graph file, and the conditions that ask for them.

use std::collections::BTreeMap;

use super::keys::{CONDITION, GRAPH};
use crate::json::{Fields, Node, Source, shown};
use rgraph_ir::error::{Code, GraphError, Mistake};
use rgraph_ir::nearest::nearest;

/// How deep files and modules may be in each other.
pub(super) const DEEPEST: usize = 32;

/// A value of an option.
#[derive(Clone, PartialEq, Debug)]
pub enum Setting {
    /// True or false.
    Flag(bool),
    /// An integer.
    Int(i64),
    /// A finite number.
    Float(f64),
    Text(String),
}

impl Setting {
    pub fn json(&self) -> String {
        match self {
            Self::Flag(on) => on.to_string(),
            Self::Int(number) => number.to_string(),
            Self::Float(number) => serde_json::Number::from_f64(*number).map_or("null".to_owned(), |n| n.to_string()),
            Self::Text(text) => serde_json::Value::String(text.clone()).to_string(),
        }
    }

    fn kind(&self) -> u8 {
        match self {
            Self::Flag(_) => 0,
            Self::Int(_) | Self::Float(_) => 1,
            Self::Text(_) => 2,
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Int(number) => Some(*number as f64),
            Self::Float(number) => Some(*number),
            _ => None,
        }
    }
}

/// What a graph file is read with: values of its options, instead of their defaults.
pub type Settings = BTreeMap<String, Setting>;

/// The value that stands there; notes it if it is none.
pub(super) fn setting(node: &Node<'_, '_>) -> Option<Setting> {
    if node.is_text() {
        return node.text().map(|text| Setting::Text(text.into_owned()));
    }
    if node.is_number() {
        let number = node.number()?;
        return Some(node.json().parse().map_or(Setting::Float(number), Setting::Int));
    }
    match node.json() {
        "true" => Some(Setting::Flag(true)),
        "false" => Some(Setting::Flag(false)),
        _ => {
            node.wrong("true, false, a number or text");
            None
        }
    }
}

/// The options of a file: its defaults, and in their place what it is read with.
pub(super) fn options(node: Option<Node<'_, '_>>, given: &Settings) -> Result<Settings, Box<Mistake>> {
    let mut all = Settings::new();
    if let Some(node) = node {
        node.entries(" of options with their defaults", |name, value| {
            let _: Option<()> = value.check_name(name);
            if let Some(setting) = setting(&value) {
                all.insert(name.to_owned(), setting);
            }
        });
    }
    for (name, value) in given {
        let Some(known) = all.get_mut(name) else {
            let help = match nearest(name, all.keys().map(String::as_str)) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None if all.is_empty() => "it declares none: \"options\": {NAME: DEFAULT}".to_owned(),
                None => format!("its options are {}", all.keys().cloned().collect::<Vec<_>>().join(", ")),
            };
            let message = format!("the graph has no option \"{}\"", shown(name));
            return Err(Box::new(Mistake::new(Code::UnknownName, message, help)));
        };
        if known.kind() != value.kind() {
            let message = format!("option \"{name}\" is {}, but its default is {}", value.json(), known.json());
            return Err(Box::new(Mistake::new(Code::BadFile, message, "give a value of the same kind")));
        }
        *known = value.clone();
    }
    Ok(all)
}

/// Whether an `"if"` says yes; yes where there is none, and where it is wrong.
pub(super) fn holds(node: Option<Node<'_, '_>>, options: &Settings) -> bool {
    node.and_then(|node| condition(&node, options)).unwrap_or(true)
}

fn condition(node: &Node<'_, '_>, options: &Settings) -> Option<bool> {
    if let Some(name) = node.reference() {
        return asked(node, &name, options).map(|(on, _)| on);
    }
    if node.is_text() {
        return asked(node, &node.text()?, options).map(|(on, _)| on);
    }
    if !node.is_object() && matches!(node.json(), "true" | "false") {
        return node.boolean();
    }
    let fields = node.fields(&CONDITION)?;
    let kinds = ["option", "not", "all", "any"].map(|key| fields.get(key).is_some());
    if kinds.iter().filter(|present| **present).count() != 1 {
        let help = "keep one of \"option\", \"not\", \"all\" and \"any\"";
        node.mistake(Code::BadFile, "is no condition", help);
        return None;
    }
    if let Some(inner) = fields.get("not") {
        return condition(&inner, options).map(|on| !on);
    }
    for (key, wanted) in [("all", true), ("any", false)] {
        if let Some(list) = fields.get(key) {
            let each = list.list(" of conditions", |one| condition(&one, options))?;
            return Some(if wanted { each.iter().all(|on| *on) } else { each.iter().any(|on| *on) });
        }
    }
    compared(&fields, options)
}

fn compared<const N: usize>(fields: &Fields<'_, '_, N>, options: &Settings) -> Option<bool> {
    let name = fields.get("option")?;
    let (mut on, value) = asked(&name, &name.text()?, options)?;
    if let Some(wanted) = fields.get("is") {
        let wanted = setting(&wanted)?;
        on = match (value.number(), wanted.number()) {
            (Some(one), Some(other)) => one == other,
            _ => *value == wanted,
        };
    }
    let mut bound = true;
    for (key, least) in [("at_least", true), ("at_most", false)] {
        let Some(limit) = fields.get(key) else { continue };
        let limit = limit.number()?;
        let Some(number) = value.number() else {
            name.mistake(Code::BadFile, "is an option that is no number", "compare it with \"is\"");
            return None;
        };
        bound &= if least { number >= limit } else { number <= limit };
        on = if fields.get("is").is_some() { on } else { true };
    }
    Some(on && bound)
}

/// An option's value, and whether it counts as yes: neither false, nor 0, nor empty.
fn asked<'o>(node: &Node<'_, '_>, name: &str, options: &'o Settings) -> Option<(bool, &'o Setting)> {
    let Some(value) = options.get(name) else {
        let known: Vec<&str> = options.keys().map(String::as_str).collect();
        let help = match node.source().suggest(name, known.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => "declare it with its default: \"options\": {…}".to_owned(),
        };
        let problem = format!("names option \"{}\", which nothing declares", shown(name));
        node.mistake(Code::UnknownName, problem, help);
        return None;
    };
    let on = match value {
        Setting::Flag(on) => *on,
        Setting::Text(text) => !text.is_empty(),
        number => number.number() != Some(0.0),
    };
    Some((on, value))
}

/// One mistake as all that is wrong.
pub(super) fn alone(file: &str, mut mistake: Mistake) -> GraphError {
    mistake.message = format!("{file}: {}", mistake.message);
    GraphError::one(mistake)
}

/// The options of a file with the values that it is read with.
pub(super) fn own_options(source: &Source<'_>, settings: &Settings) -> Result<Option<Settings>, Box<Mistake>> {
    let Some(fields) = source.root().fields(&GRAPH) else { return Ok(None) };
    options(fields.get("options"), settings).map(Some)
}

/// The options that an included file is read with.
pub(super) fn with(node: Option<Node<'_, '_>>) -> Settings {
    let mut settings = BTreeMap::<String, Setting>::new();
    if let Some(node) = node {
        node.entries(" of options of the file", |name, value| {
            if let Some(value) = setting(&value) {
                settings.insert(name.to_owned(), value);
            }
        });
    }
    settings
}
