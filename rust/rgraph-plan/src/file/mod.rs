//! The graph, profile and plan files of FORMATS.
