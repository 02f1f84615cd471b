//! Mistakes in a declaration, all at once.
