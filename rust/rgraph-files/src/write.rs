//! Rows of JSON: objects on one line with the keys in the order they are put, `", "` and `": "` between them. Text and
//! numbers are written by `serde_json`; only the line breaks are ours.

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io;

/// Writes `, ` between elements and `: ` after keys.
struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }
    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }
    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

/// A text being written.
#[derive(Default)]
pub struct Sheet {
    out: Vec<u8>,
}

impl Sheet {
    /// Appends text as it is.
    pub fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Appends a value as JSON on one line.
    pub fn value(&mut self, value: &(impl Serialize + ?Sized)) {
        let mut serializer = Serializer::with_formatter(&mut self.out, Spaced);
        value.serialize(&mut serializer).expect("plain data serializes into memory");
    }

    /// Appends `"key": value` on a line of its own, after a comma.
    pub fn line(&mut self, indent: &str, key: &str, value: &(impl Serialize + ?Sized)) {
        self.key(indent, key);
        self.value(value);
    }

    /// Appends a comma, a new line and `"key": `.
    pub fn key(&mut self, indent: &str, key: &str) {
        self.text(",\n");
        self.text(indent);
        self.value(key);
        self.text(": ");
    }

    /// Appends a list, one element a line: `each` writes one.
    pub fn list<T>(&mut self, indent: &str, items: impl IntoIterator<Item = T>, mut each: impl FnMut(&mut Self, T)) {
        self.text("[");
        let mut first = true;
        for item in items {
            self.text(if first { "\n" } else { ",\n" });
            self.text(indent);
            self.text("  ");
            each(self, item);
            first = false;
        }
        if !first {
            self.text("\n");
            self.text(indent);
        }
        self.text("]");
    }

    /// Begins an object on this line.
    pub fn row(&mut self) -> Row<'_> {
        self.text("{");
        Row { sheet: self, first: true }
    }

    /// The text.
    pub fn finish(self) -> String {
        String::from_utf8(self.out).expect("JSON and our own literals are UTF-8")
    }
}

/// An object on one line.
pub struct Row<'s> {
    sheet: &'s mut Sheet,
    first: bool,
}

impl Row<'_> {
    /// Appends `"key": ` and hands out the sheet for its value.
    pub fn key(&mut self, key: &str) -> &mut Sheet {
        if !self.first {
            self.sheet.text(", ");
        }
        self.first = false;
        self.sheet.value(key);
        self.sheet.text(": ");
        self.sheet
    }

    /// Appends `"key": value`.
    pub fn put(&mut self, key: &str, value: impl Serialize) -> &mut Self {
        self.key(key).value(&value);
        self
    }

    /// Appends `"key": value` if there is a value.
    pub fn some(&mut self, key: &str, value: Option<impl Serialize>) -> &mut Self {
        if let Some(value) = value {
            self.put(key, value);
        }
        self
    }

    /// Appends `"key": true` if it is so.
    pub fn flag(&mut self, key: &str, value: bool) -> &mut Self {
        if value {
            self.put(key, true);
        }
        self
    }

    /// Ends the object.
    pub fn end(&mut self) {
        self.sheet.text("}");
    }
}

/// Names as a list.
pub fn words<'w>(names: impl Iterator<Item = &'w str>) -> Vec<&'w str> {
    names.collect()
}
