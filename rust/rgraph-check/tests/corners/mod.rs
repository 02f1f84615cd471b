//! Small graphs in the corners of ARCHITECTURE's "What a declaration means". Each is baked over profiles, policies,
//! efforts and splits; every plan checks clean and computes what the declaration says.

/// One test per corner: its name as a sentence, its lines as `support/corner.rs` reads them.
macro_rules! corners {
    ($($(#[$meta:meta])* $name:ident = $text:literal;)+) => {$(
        $(#[$meta])*
        #[test]
        fn $name() {
            crate::support::corner::assert_corner($text);
        }
    )+};
}

mod aspects;
mod conditional;
mod files;
mod forward;
mod fresh;
mod history;
mod host;
mod modifies;
mod outside;
mod ownership;
mod render;
mod subpasses;
mod undefined;
mod unordered;
mod views;
