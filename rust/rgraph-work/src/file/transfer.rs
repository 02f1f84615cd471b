//! Transfers: `"copy"`, `"blit"`, `"resolve"`, `"clear"` and `"fill"`.

use rgraph_files::graph::Here;
use rgraph_files::json::{Fields, Node};

use super::load::Work;
use super::range::{Named, named};
use super::sampler::word;
use crate::error::WorkError;
use crate::infer::transfer::{self, Side};
use crate::words::FILTERS;
use crate::work::Step;

/// Keys of a copy, and of a resolve.
pub(super) const COPY_KEYS: [&str; 2] = ["from", "to"];
/// Keys of a blit.
pub(super) const BLIT_KEYS: [&str; 3] = ["from", "to", "filter"];
/// Keys of a clear.
pub(super) const CLEAR_KEYS: [&str; 2] = ["image", "value"];
/// Keys of a fill.
pub(super) const FILL_KEYS: [&str; 2] = ["buffer", "word"];

impl Work<'_, '_> {
    fn side<const N: usize>(&self, fields: &Fields<'_, '_, N>, key: &'static str) -> Option<Side> {
        let here = Here { graph: self.graph, scope: self.scope };
        named(&fields.need(key)?, &here, |Named { id, part, texels, .. }| {
            Some(Side { texels, ..Side::of(here.graph, id, id, part) })
        })
    }

    /// A transfer of the kind that `key` names.
    pub(super) fn transfer(&mut self, key: &str, node: Node<'_, '_>) -> Option<Step> {
        let made = match key {
            "clear" => {
                let fields = node.fields("a clear", &CLEAR_KEYS)?;
                let (image, value) = (self.side(&fields, "image"), fields.need("value"));
                transfer::clear(self.who, &image?, rgraph_files::graph::read_clear(&value?)?, &mut self.needs)
            }
            "fill" => {
                let fields = node.fields("a fill", &FILL_KEYS)?;
                let buffer = self.side(&fields, "buffer");
                let word = fields.get("word").map_or(Some(0), |word| filler(&word))?;
                transfer::fill(self.who, &buffer?, word, &mut self.needs)
            }
            "blit" => {
                let fields = node.fields("a blit", &BLIT_KEYS)?;
                let (from, to) = (self.side(&fields, "from"), self.side(&fields, "to"));
                let linear = fields.get("filter").map_or(Some(true), |filter| word(&filter, "a filter", FILTERS))?;
                transfer::blit(self.who, &from?, &to?, linear, &mut self.needs)
            }
            _ => {
                let what = if key == "copy" { "a copy" } else { "a resolve" };
                let fields = node.fields(what, &COPY_KEYS)?;
                let (from, to) = (self.side(&fields, "from"), self.side(&fields, "to"));
                let make = if key == "copy" { transfer::copy } else { transfer::resolve };
                make(self.who, &from?, &to?, &mut self.needs)
            }
        };
        self.kept(&node, made.map_err(WorkError::from))
    }
}

/// A 32-bit word, unsigned or signed.
fn filler(node: &Node<'_, '_>) -> Option<u32> {
    match node.json().parse::<i32>() {
        Ok(signed) => Some(signed as u32),
        Err(_) => node.u32(),
    }
}
