//! Tables that tests keep in a file: any change of a row shows, for better or worse. `UPDATE_GOLDEN=1` rewrites them;
//! look at what changed.

use std::path::Path;

/// What a row is about: its text up to two blanks.
fn name(row: &str) -> &str {
    row.split("  ").next().unwrap_or_default()
}

/// Fails unless a file of the crate's folder holds this table.
pub fn assert_kept(file: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, table).expect("the file can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let changed = |row: &&str| !kept.lines().any(|other| other == *row);
    let both = |row: &str| {
        let before = kept.lines().find(|other| name(other) == name(row)).unwrap_or("none");
        format!("- {before}\n+ {row}")
    };
    let changed: Vec<String> = table.lines().filter(changed).map(both).collect();
    assert!(
        changed.is_empty() && kept.lines().count() == table.lines().count(),
        "look at these rows of {file}, and set UPDATE_GOLDEN=1 if they are right:\n  {}\n{}",
        table.lines().next().unwrap_or_default(),
        changed.join("\n")
    );
}
