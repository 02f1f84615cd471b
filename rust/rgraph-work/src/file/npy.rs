//! Arrays in files: NumPy's format.
//!
//! # Source
//! "A simple file format for NumPy arrays", NEP 1; `numpy.lib.format` for versions 2 and 3.

use crate::texel::Element;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
const MOST_AXES: usize = 32;

/// What the head of a file says of its array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// Its shape, the slowest axis first.
    pub shape: Vec<usize>,
    /// The kind of its numbers.
    pub element: Element,
    /// Whether its bytes are truth values, 0 or 1.
    pub is_bool: bool,
    /// Where its bytes begin.
    pub start: usize,
}

/// Reads the header of a file; what is wrong, as it follows the file's name.
///
/// # Errors
/// If it is no such file, or holds what images and buffers cannot: objects, big-endian numbers, columns first.
pub fn header(bytes: &[u8]) -> Result<Header, String> {
    let broken = || "is no NPY file".to_owned();
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(broken)?;
    let (length, start): (usize, usize) = match *rest {
        [1, _, a, b, ..] => (usize::from(u16::from_le_bytes([a, b])), 10),
        [2 | 3, _, a, b, c, d, ..] => (u32::from_le_bytes([a, b, c, d]) as usize, 12),
        _ => return Err(broken()),
    };
    let end = start.checked_add(length).filter(|end| *end <= bytes.len()).ok_or_else(broken)?;
    let text = std::str::from_utf8(&bytes[start..end]).map_err(|_| broken())?;
    let value = |key: &str| {
        let at = text.find(&format!("'{key}'"))? + key.len() + 2;
        Some(text[at..].trim_start().strip_prefix(':')?.trim_start())
    };
    let kind = value("descr").ok_or_else(broken)?;
    if kind.starts_with('[') {
        return Err("holds records, but must hold numbers: save one of its fields, or array.view(…) of it".to_owned());
    }
    let kind = kind.strip_prefix('\'').and_then(|rest| rest.split('\'').next()).ok_or_else(broken)?;
    let element = element(kind).ok_or_else(|| {
        let shown: String = kind.chars().take(20).collect();
        format!("holds numbers of kind \"{shown}\", but must hold integers or floats of this machine's byte order")
    })?;
    if !value("fortran_order").is_some_and(|rest| rest.starts_with("False")) {
        return Err("holds its columns first: write numpy.ascontiguousarray(…) of it".to_owned());
    }
    let axes = value("shape").and_then(|rest| rest.strip_prefix('(')?.split(')').next()).ok_or_else(broken)?;
    let axes = axes.split(',').map(str::trim).filter(|axis| !axis.is_empty());
    let shape: Vec<usize> = axes.map(str::parse).collect::<Result<_, _>>().map_err(|_| broken())?;
    let size = shape.iter().try_fold(element.size(), |size, axis| size.checked_mul(*axis));
    match size {
        Some(size) if shape.len() <= MOST_AXES && bytes.len() - end == size => {
            Ok(Header { shape, element, is_bool: kind == "|b1", start: end })
        }
        Some(size) => Err(format!("has {} bytes of numbers rather than {size}", bytes.len() - end)),
        None => Err("has a shape of more bytes than there can be".to_owned()),
    }
}

fn element(kind: &str) -> Option<Element> {
    let bytes = kind.get(2..)?.parse().ok()?;
    let native = if cfg!(target_endian = "little") { '<' } else { '>' };
    let mut letters = kind.chars();
    let order = letters.next()?;
    if order != native && !(order == '|' && bytes == 1) {
        return None;
    }
    let element = match letters.next()? {
        'u' | 'b' => Element::Uint(bytes),
        'i' => Element::Int(bytes),
        'f' => Element::Float(bytes),
        _ => return None,
    };
    (!element.name().is_empty()).then_some(element)
}

/// The bytes of a file.
pub fn write(shape: &[usize], element: Element, bytes: &[u8]) -> Vec<u8> {
    let order = match element.size() {
        1 => '|',
        _ if cfg!(target_endian = "little") => '<',
        _ => '>',
    };
    let letter = match element {
        Element::Uint(_) => 'u',
        Element::Int(_) => 'i',
        Element::Float(_) => 'f',
    };
    let axes: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let mut header = format!(
        "{{'descr': '{order}{letter}{}', 'fortran_order': False, 'shape': ({}{comma}), }}",
        element.size(),
        axes.join(", ")
    );
    // The data begins at a multiple of 64 bytes.
    let padding = 63 - (10 + header.len()) % 64;
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    let length = u16::try_from(header.len()).expect("a shape of 32 axes is shorter");
    let mut file = [MAGIC, &[1, 0][..], &length.to_le_bytes(), header.as_bytes()].concat();
    file.extend_from_slice(bytes);
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for (shape, element) in [
            (vec![2, 3], Element::Float(4)),
            (vec![6], Element::Uint(1)),
            (vec![], Element::Int(8)),
            (vec![0, 4], Element::Float(2)),
        ] {
            let bytes = vec![7; shape.iter().product::<usize>() * element.size()];
            let file = write(&shape, element, &bytes);
            let read = header(&file).unwrap();
            assert_eq!((read.shape, read.element, &file[read.start..]), (shape, element, bytes.as_slice()));
            assert_eq!((read.is_bool, read.start % 64), (false, 0));
            for end in 0..file.len() {
                assert!(header(&file[..end]).is_err(), "cut at {end}");
            }
        }
    }

    #[test]
    fn other_files_are_refused() {
        let file = |text: &str| {
            let length = u16::try_from(text.len()).unwrap().to_le_bytes();
            [b"\x93NUMPY\x01\x00".as_slice(), &length, text.as_bytes()].concat()
        };
        for text in [
            "{'descr': '>f4', 'fortran_order': False, 'shape': (0,), }",
            "{'descr': '|O', 'fortran_order': False, 'shape': (0,), }",
            "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,), }",
            "{'descr': '<f3', 'fortran_order': False, 'shape': (0,), }",
            "{'descr': '<f4', 'fortran_order': True, 'shape': (0,), }",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
            "{'descr': '\u{e4}\u{e4}', 'fortran_order': False, 'shape': (1,), }",
            "{}",
        ] {
            assert!(header(&file(text)).is_err(), "{text}");
        }
        assert!(header(b"").is_err());
    }
}
