//! Results that take the place of a function's body, by its type, as cargo-mutants chooses them.

use syn::{GenericArgument, PathArguments, Type};

/// Most values of one type.
const MOST: usize = 6;

/// Values of a type, as expressions; none where a value would have to name its type.
pub fn of(returned: &Type) -> Vec<String> {
    let mut values = match returned {
        Type::Paren(inner) => of(&inner.elem),
        Type::Group(inner) => of(&inner.elem),
        Type::Tuple(inner) if inner.elems.is_empty() => vec!["()".into()],
        Type::Tuple(inner) => tuples(&inner.elems.iter().map(of).collect::<Vec<_>>()),
        Type::Reference(inner) => reference(inner),
        Type::Path(inner) => path(inner),
        Type::ImplTrait(_) | Type::Never(_) => Vec::new(),
        _ => vec!["Default::default()".into()],
    };
    values.truncate(MOST);
    values
}

fn tuples(parts: &[Vec<String>]) -> Vec<String> {
    let mut whole = vec![String::new()];
    for part in parts {
        whole = whole.iter().flat_map(|head| part.iter().map(move |value| format!("{head}{value}, "))).collect();
    }
    whole.into_iter().map(|inside| format!("({inside})")).collect()
}

fn reference(of_type: &syn::TypeReference) -> Vec<String> {
    match &*of_type.elem {
        Type::Path(inner) if inner.path.is_ident("str") => vec!["\"\"".into(), "\"xyzzy\"".into()],
        Type::Slice(inner) => {
            let mut values = vec!["Vec::leak(Vec::new())".to_string()];
            values.extend(of(&inner.elem).into_iter().map(|value| format!("Vec::leak(vec![{value}])")));
            values
        }
        inner => of(inner).into_iter().map(|value| format!("Box::leak(Box::new({value}))")).collect(),
    }
}

fn path(of_type: &syn::TypePath) -> Vec<String> {
    let Some(last) = of_type.path.segments.last() else { return Vec::new() };
    let inner = |at: usize| match &last.arguments {
        PathArguments::AngleBracketed(list) => list.args.iter().filter_map(as_type).nth(at).map(of).unwrap_or_default(),
        _ => Vec::new(),
    };
    let each = |form: &str| inner(0).into_iter().map(|value| form.replace('@', &value)).collect::<Vec<_>>();
    match last.ident.to_string().as_str() {
        "bool" => vec!["true".into(), "false".into()],
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => vec!["0".into(), "1".into()],
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => vec!["0".into(), "1".into(), "-1".into()],
        "f32" | "f64" => vec!["0.0".into(), "1.0".into(), "-1.0".into()],
        "String" => vec!["String::new()".into(), "\"xyzzy\".into()".into()],
        "Option" => [vec!["None".to_string()], each("Some(@)")].concat(),
        "Result" => each("Ok(@)"),
        "Vec" => [vec!["vec![]".to_string()], each("vec![@]")].concat(),
        "Box" => each("Box::new(@)"),
        "Arc" => each("std::sync::Arc::new(@)"),
        "Rc" => each("std::rc::Rc::new(@)"),
        _ => vec!["Default::default()".into()],
    }
}

fn as_type(argument: &GenericArgument) -> Option<&Type> {
    match argument {
        GenericArgument::Type(inner) => Some(inner),
        _ => None,
    }
}
