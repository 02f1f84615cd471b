//! Data of shaders: numbers, lists, objects by member, bytes.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use rgraph_files::json::Node;
use rgraph_files::write::Sheet;
use rgraph_ir::error::Code;
use rgraph_shader::{Type, Value};

const BYTES: &str = "base64";

/// The value that stands there; notes it if there is none.
pub(super) fn read(node: &Node<'_, '_>) -> Option<Value> {
    if node.is_number() {
        let number = node.number()?;
        return Some(node.json().parse().map_or(Value::Float(number), Value::Int));
    }
    if node.is_list() {
        return node.list(" of numbers", |one| read(&one)).map(Value::List);
    }
    match node.json() {
        "true" => return Some(Value::Bool(true)),
        "false" => return Some(Value::Bool(false)),
        _ => {}
    }
    if !node.is_object() {
        node.wrong("data: a number, true or false, a list, or an object by member");
        return None;
    }
    let (mut members, mut bytes, mut good) = (Vec::new(), None, true);
    node.entries("", |name, value| {
        if name == BYTES && value.is_text() {
            bytes = value.text().and_then(|text| BASE64_STANDARD.decode(text.as_bytes()).ok());
            if bytes.is_none() {
                value.mistake(Code::BadFile, "is not base 64", "write bytes in base 64 (RFC 4648)");
                good = false;
            }
            return;
        }
        match read(&value) {
            Some(value) => members.push((name.to_owned(), value)),
            None => good = false,
        }
    })?;
    let value = match bytes {
        Some(bytes) if members.is_empty() => Value::Bytes(bytes),
        Some(_) => {
            node.mistake(Code::BadFile, "has bytes and members at once", "keep one of them");
            return None;
        }
        None => Value::Map(members),
    };
    good.then_some(value)
}

/// Writes bytes that lie as a type says: as a value where one has exactly these bytes.
pub(super) fn write(sheet: &mut Sheet, ty: Option<&Type>, bytes: &[u8]) {
    match ty.and_then(|ty| ty.unpack(bytes)) {
        Some(value) => put(sheet, &value),
        None => sheet.row().put(BYTES, BASE64_STANDARD.encode(bytes)).end(),
    }
}

/// Writes a value.
pub(super) fn put(sheet: &mut Sheet, value: &Value) {
    match value {
        Value::Bool(bit) => sheet.value(bit),
        Value::Int(int) => sheet.text(&int.to_string()),
        Value::Float(float) => sheet.value(float),
        Value::List(values) => {
            sheet.text("[");
            for (at, value) in values.iter().enumerate() {
                sheet.text(if at == 0 { "" } else { ", " });
                put(sheet, value);
            }
            sheet.text("]");
        }
        Value::Map(members) => {
            let mut row = sheet.row();
            for (name, value) in members {
                put(row.key(name), value);
            }
            row.end();
        }
        Value::Bytes(bytes) => sheet.row().put(BYTES, BASE64_STANDARD.encode(bytes)).end(),
    }
}
