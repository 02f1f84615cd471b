//! Files that a GLSL text includes. They are read before it compiles, so that a compiler opens no file and a program is
//! known by its texts.

use std::ops::Range;

use crate::language::Language;
use crate::scan;

/// Most files that a text includes, directly or through others.
pub const MOST_FILES: usize = 256;

/// A file that is included.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct IncludedFile {
    /// Its name as seen from the folder of the text that includes it, with `/` between its parts; it may begin with
    /// `..`.
    pub name: String,
    pub text: String,
}

/// The files that a GLSL text includes, and which line names which of them.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Included {
    files: Vec<IncludedFile>,
    /// The text (0) or file (its position and one) that has the line, the name in the line, the file's position.
    lines: Vec<(usize, String, usize)>,
}

impl Included {
    /// No files.
    pub const fn new() -> Self {
        Self { files: Vec::new(), lines: Vec::new() }
    }

    /// Finds the files that lines `#include "name"` and `#include <name>` name, also in branches that are off: a file
    /// that is not there is an error only where the line is reached. A name is looked for in the folder of the file
    /// that has the line, then in that of the text. `read` returns the text of a file by its name as seen from the
    /// latter, if it is there and may be read: names with `..` at their begin lie above that folder.
    pub fn find(text: &str, mut read: impl FnMut(&str) -> Option<String>) -> Self {
        let mut found = Self::default();
        let mut next = 0;
        while next <= found.files.len() {
            let (own, folder) = match next.checked_sub(1).map(|at| &found.files[at]) {
                None => (text, ""),
                Some(file) => (file.text.as_str(), file.name.rsplit_once('/').map_or("", |(folder, _)| folder)),
            };
            let names: Vec<(String, Vec<String>)> = lines(own)
                .into_iter()
                .map(|line| {
                    let places = [folder, ""].iter().filter_map(|folder| seen(folder, line.name)).collect();
                    (line.name.to_owned(), places)
                })
                .collect();
            for (name, places) in names {
                if found.lines.iter().any(|(within, known, _)| *within == next && *known == name) {
                    continue;
                }
                if let Some(file) = places.into_iter().find_map(|place| found.open(place, &mut read)) {
                    found.lines.push((next, name, file));
                }
            }
            next += 1;
        }
        found
    }

    /// The position of a file, which is read if it is not known yet.
    fn open(&mut self, name: String, read: &mut impl FnMut(&str) -> Option<String>) -> Option<usize> {
        if let Some(known) = self.files.iter().position(|file| file.name == name) {
            return Some(known);
        }
        let text = read(&name).filter(|_| self.files.len() < MOST_FILES)?;
        self.files.push(IncludedFile { name, text });
        Some(self.files.len() - 1)
    }

    /// The files, each once.
    pub fn files(&self) -> &[IncludedFile] {
        &self.files
    }

    /// Which line names which file: the text (0) or file (its position and one) that has it, the name, the file's
    /// position.
    #[cfg(feature = "glsl")]
    pub(crate) fn lines(&self) -> &[(usize, String, usize)] {
        &self.lines
    }

    /// The text with each line `#include` replaced by the text of its file; `None`: it would be longer than
    /// 1 MiB, as where a file includes itself.
    pub fn flat(&self, text: &str) -> Option<String> {
        let mut out = String::with_capacity(text.len());
        // Texts that are open: which one, and where its rest begins.
        let mut open = vec![(0_usize, 0_usize)];
        while let Some((within, start)) = open.pop() {
            let own = within.checked_sub(1).map_or(text, |at: usize| self.files[at].text.as_str());
            let target = |line: &Line<'_>| {
                let found = self.lines.iter().find(|(of, name, _)| *of == within && name == line.name);
                found.map(|(.., file)| *file)
            };
            let rest = lines(own).into_iter().filter(|line| line.span.start >= start);
            match rest.filter_map(|line| Some((target(&line)?, line.span))).next() {
                Some((file, line)) => {
                    out.push_str(own.get(start..line.start)?);
                    open.push((within, line.end));
                    open.push((file + 1, 0));
                }
                None => out.push_str(own.get(start..)?),
            }
            if out.len() > scan::LONGEST || open.len() > MOST_FILES {
                return None;
            }
        }
        Some(out)
    }
}

/// A line that includes a file.
struct Line<'t> {
    /// Its bytes, without its end.
    span: Range<usize>,
    name: &'t str,
}

/// The lines of a text that include files.
fn lines(text: &str) -> Vec<Line<'_>> {
    if !text.contains("include") {
        return Vec::new();
    }
    let bare = scan::without_comments(text, Language::Glsl);
    scan::directives(&bare, "include")
        .filter_map(|(span, _)| {
            // The name may look like a comment, so it is read off the text itself.
            let rest = text[span.clone()].split_once("include")?.1.trim_start();
            let close = match rest.chars().next()? {
                '"' => '"',
                '<' => '>',
                _ => return None,
            };
            let name = rest[1..].split(close).next()?.trim();
            Some(Line { span, name })
        })
        .collect()
}

/// The name of a file that is named in a folder, both as seen from one folder; `None`: it is no relative name.
fn seen(folder: &str, name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with('/') || name.contains(['\\', '\0', ':']) {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.last().is_some_and(|last| *last != "..").then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(name: &str) -> Option<String> {
        let text = match name {
            "a.glsl" => "#include \"sub/b.glsl\"\nA",
            "sub/b.glsl" => "#include \"c.glsl\"\n#include <../d.glsl>\nB",
            "sub/c.glsl" => "C",
            "d.glsl" => "#include \"../lib/e.glsl\"\nD",
            "../lib/e.glsl" => "#include \"f.glsl\"\n#include \"../../g.glsl\"\n",
            "../lib/f.glsl" => "#include \"../shaders/../shaders/a.glsl\"\nF",
            "self.glsl" => "#include \"self.glsl\"\n",
            _ => return None,
        };
        Some(text.to_owned())
    }

    #[test]
    fn names_are_looked_for_beside_their_line_and_in_the_folder_of_the_text() {
        let asked = std::cell::RefCell::new(Vec::new());
        let read = |name: &str| {
            asked.borrow_mut().push(name.to_owned());
            files(name)
        };
        let text = "#version 450\n  # include \"a.glsl\" // why\n/*\n#include \"no.glsl\"\n*/#include \"gone.glsl\"\n#include \"/etc/x\"\nT";
        let found = Included::find(text, read);
        let names: Vec<&str> = found.files().iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["a.glsl", "sub/b.glsl", "sub/c.glsl", "d.glsl", "../lib/e.glsl", "../lib/f.glsl"]);
        let asked = asked.into_inner();
        assert!(
            asked.iter().all(|name| !name.starts_with('/') && !name.contains("/..") || name == "../../g.glsl"),
            "{asked:?}"
        );
        let flat = found.flat("#include \"a.glsl\"\nT");
        assert_eq!(
            flat.as_deref(),
            Some("C\n#include \"../shaders/../shaders/a.glsl\"\nF\n#include \"../../g.glsl\"\n\nD\nB\nA\nT")
        );
    }

    #[test]
    fn a_file_that_includes_itself_is_read_once_and_has_no_flat_text() {
        let text = "#include \"self.glsl\"\n";
        let found = Included::find(text, files);
        assert_eq!(found.files().len(), 1);
        assert_eq!(found.flat(text), None);
    }
}
