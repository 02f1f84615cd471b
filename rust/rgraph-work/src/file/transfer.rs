//! Transfers: `"copy"`, `"blit"`, `"resolve"`, `"clear"` and `"fill"`.

use rgraph_files::graph::{Here, work};
use rgraph_files::json::{Fields, Node};

use super::load::Work;
use super::range::{Named, named};
use super::sampler::word;
use crate::error::WorkError;
use crate::infer::transfer::{self, Side};
use crate::words::FILTERS;
use crate::work::Step;

impl Work<'_, '_> {
    fn side<const N: usize>(&self, fields: &Fields<'_, '_, N>, key: &'static str) -> Option<Side> {
        let here = Here { graph: self.graph, scope: self.scope };
        named(&fields.get(key)?, &here, |Named { id, part, texels, .. }| {
            Some(Side { texels, ..Side::of(here.graph, id, id, part) })
        })
    }

    /// A transfer of the kind that `key` names.
    pub(super) fn transfer(&mut self, key: &str, node: Node<'_, '_>) -> Option<Step> {
        let made = match key {
            "clear" => {
                let fields = node.fields(&work::CLEAR)?;
                let (image, value) = (self.side(&fields, "image"), fields.get("value"));
                transfer::clear(self.who, &image?, rgraph_files::graph::read_clear(&value?)?, &mut self.needs)
            }
            "fill" => {
                let fields = node.fields(&work::FILL)?;
                let buffer = self.side(&fields, "buffer");
                let word = fields.get("word").map_or(Some(0), |word| filler(&word))?;
                transfer::fill(self.who, &buffer?, word, &mut self.needs)
            }
            "blit" => {
                let fields = node.fields(&work::BLIT)?;
                let (from, to) = (self.side(&fields, "from"), self.side(&fields, "to"));
                let linear = fields.get("filter").map_or(Some(true), |filter| word(&filter, "a filter", FILTERS))?;
                transfer::blit(self.who, &from?, &to?, linear, &mut self.needs)
            }
            _ => {
                let fields = node.fields(if key == "copy" { &work::COPY } else { &work::RESOLVE })?;
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
