//! One file per class of the module, or per group of methods of one.

pub(crate) mod array;
pub(crate) mod array_layout;
pub(crate) mod array_numbers;
pub(crate) mod assign;
pub(crate) mod binary;
pub(crate) mod box_tree;
pub(crate) mod capture;
pub(crate) mod checks;
pub(crate) mod commands;
pub(crate) mod compiled;
pub(crate) mod compute;
pub(crate) mod device;
pub(crate) mod device_end;
pub(crate) mod device_resource;
pub(crate) mod devices;
pub(crate) mod devices_compiled;
pub(crate) mod devices_plan;
pub(crate) mod diagnose;
pub(crate) mod dlpack;
pub(crate) mod draw;
pub(crate) mod draw_calls;
pub(crate) mod dump;
pub(crate) mod format;
pub(crate) mod frame;
pub(crate) mod fuzz;
pub(crate) mod graph;
pub(crate) mod graph_bake;
pub(crate) mod graph_files;
pub(crate) mod graph_lists;
pub(crate) mod history;
pub(crate) mod layers;
pub(crate) mod live;
pub(crate) mod module;
pub(crate) mod module_declare;
pub(crate) mod nested;
pub(crate) mod pass;
pub(crate) mod pass_accesses;
pub(crate) mod passes;
pub(crate) mod pickled;
pub(crate) mod places;
pub(crate) mod plan;
pub(crate) mod plan_checks;
pub(crate) mod plan_records;
pub(crate) mod preparation;
pub(crate) mod preview;
pub(crate) mod profile;
pub(crate) mod raster;
pub(crate) mod rays;
pub(crate) mod reflect;
pub(crate) mod report;
pub(crate) mod resource;
pub(crate) mod run_one;
pub(crate) mod run_several;
pub(crate) mod sampler;
pub(crate) mod semaphore;
pub(crate) mod series;
pub(crate) mod share;
pub(crate) mod show;
pub(crate) mod texels;
pub(crate) mod trace;
pub(crate) mod transfer;
pub(crate) mod unpickled;
pub(crate) mod view;
pub(crate) mod what_if;
pub(crate) mod window;

/// A count with its noun in the right number: `1 batch`, `2 batches`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ if noun.ends_with('s') || noun.ends_with('h') => format!("{count} {noun}es"),
        _ if noun.ends_with("py") => format!("{count} {}ies", noun.trim_end_matches('y')),
        _ => format!("{count} {noun}s"),
    }
}
