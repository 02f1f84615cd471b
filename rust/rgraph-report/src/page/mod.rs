//! One self-contained HTML page that shows a plan: timeline, resources, memory, graph, matrix, tables, and why.
//!
//! The page has the sources in `viewer/` as they are (no build step) and the plan as JSON. The JSON has columns of
//! numbers, and each text once, which keeps 10,000 passes below 5 MB. A content security policy allows the one script
//! and the one style sheet by their hashes, pictures as `data:` URIs, and nothing else. Names reach the page as JSON
//! without a `<` and are inserted as text, so none can be markup. Positions are set through the object model, which the
//! policy allows, and not by style attributes.
//!
//! A drawing is a grid in ARIA's sense: rows of cells, one of them in the tab order, arrows between them. Cells are
//! known from the data, and only those in view are drawn; what is closer than a few pixels is one mark, and the walk by
//! keys magnifies, or puts first, what it comes to. Elements outlive a drawing: zooming moves them. Only boxes of the
//! memory map that are smaller than a few pixels are painted on a canvas; each becomes an element with role and name
//! when the walk comes to it. Values of images travel as PNGs of the upper bytes of singles: browsers decode them
//! exactly, and they compress. A *stack* is one or more *panes* on one axis, which all stacks share; it reads sizes
//! before its panes write any. Sentences are those of `rgraph_ir::words`: the page fills the reason of a barrier into
//! its template.
//!
//! `Device.view` serves the page on 127.0.0.1 (the policy allows the server's own address then): frames of the same
//! plan move what is drawn, another plan begins the page's function again in the same document, with view, pin and zoom
//! kept. Messages have pictures; values of an image are asked for while somebody looks at it.

mod accesses;
pub(super) mod data;
pub(super) mod gather;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::diff::diff;
use crate::escape::escaped;
pub use crate::measured::{HostSpan, Measured, PassSpan};
use crate::series::Series;
use crate::svg::svg;
use rgraph_ir::graph::Graph;
use rgraph_ir::plan::Plan;
use rgraph_ir::words::{bytes_phrase, hazard_templates};

/// The page's script: modules that share the scope of one function, in this order.
const SCRIPTS: [&str; 31] = [
    include_str!("../viewer/dom.js"),
    include_str!("../viewer/text.js"),
    include_str!("../viewer/model.js"),
    include_str!("../viewer/words.js"),
    include_str!("../viewer/state.js"),
    include_str!("../viewer/folds.js"),
    include_str!("../viewer/search.js"),
    include_str!("../viewer/axis.js"),
    include_str!("../viewer/view.js"),
    include_str!("../viewer/pane.js"),
    include_str!("../viewer/minimap.js"),
    include_str!("../viewer/stack.js"),
    include_str!("../viewer/timeline.js"),
    include_str!("../viewer/resources.js"),
    include_str!("../viewer/memory.js"),
    include_str!("../viewer/layers.js"),
    include_str!("../viewer/regions.js"),
    include_str!("../viewer/edges.js"),
    include_str!("../viewer/overview.js"),
    include_str!("../viewer/graph.js"),
    include_str!("../viewer/island.js"),
    include_str!("../viewer/tables.js"),
    include_str!("../viewer/diff.js"),
    include_str!("../viewer/frames.js"),
    include_str!("../viewer/cards.js"),
    include_str!("../viewer/costs.js"),
    include_str!("../viewer/images.js"),
    include_str!("../viewer/tip.js"),
    include_str!("../viewer/save.js"),
    include_str!("../viewer/keys.js"),
    include_str!("../viewer/main.js"),
];

/// Begins the page, and follows a server where there is one.
const LIVE: &str = include_str!("../viewer/live.js");

const STYLE: &str = include_str!("../viewer/viewer.css");

/// What a page shows. Only the plan is needed.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    pub plan: &'a Plan,
    /// What it was baked from: tells accesses, places in files, what modifies and remembers what.
    pub graph: Option<&'a Graph>,
    /// What a run of it took.
    pub measured: Option<&'a Measured>,
    /// Times of many frames; without `measured` the page shows those of the median frame first.
    pub frames: Option<&'a Series>,
    /// Pictures of images: name and `data:` URI.
    pub images: &'a [(String, String)],
    /// Pictures of images of `against` that are not in `images`.
    pub later_images: &'a [(String, String)],
    /// Values of images: of those that have a picture, and of those of `against`.
    pub values: &'a [Values],
    /// What a checker found.
    pub findings: &'a [Finding],
    /// Another plan that this one is compared with, the later one of the two, and its declaration.
    pub against: Option<(&'a Plan, Option<&'a Graph>)>,
    /// The page follows a server that sends it what changes; this names what it has.
    pub live: Option<&'a str>,
}

/// The values of one mip of an image, for the view that shows them under the pointer.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Values {
    /// The image.
    pub name: String,
    /// Whether they are of the plan that this one is compared with.
    pub after: bool,
    pub mip: u32,
    /// A `data:` URI of a PNG: the layers side by side, and stacked the first, second and third byte of
    /// their singles; alpha has its three bytes as the colors of a fourth part.
    pub png: String,
    /// Width and height of a layer in the picture, in texels.
    pub size: [u32; 2],
    /// Width, height and layers of the mip.
    pub of: [u32; 3],
    /// The layers that are in the picture.
    pub layers: Vec<u32>,
    /// Numbers per texel.
    pub channels: u32,
    /// `unorm`, `snorm`, `float`, `depth` or `integer`.
    pub kind: String,
    /// The number that stands for 1, of the first two kinds.
    pub full: f32,
}

/// A rule that the plan breaks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// The rule's name.
    pub rule: String,
    /// The pass at which it shows, if one is meant.
    pub pass: Option<String>,
    /// The resource, if one is meant.
    pub resource: Option<String>,
    /// One sentence.
    pub message: String,
}

/// Everything in the page that is not the same in all pages.
#[derive(Serialize)]
struct Payload<'a> {
    version: &'static str,
    plan: data::PlanData,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<data::PlanData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<super::Diff>,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<&'a Measured>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<&'a Series>,
    images: &'a [(String, String)],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    later: &'a [(String, String)],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    values: &'a [Values],
    findings: &'a [Finding],
    hazards: Vec<(&'static str, &'static str)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    live: Option<&'a str>,
}

impl<'a> Page<'a> {
    /// A page of a plan and nothing else.
    pub fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            graph: None,
            measured: None,
            frames: None,
            images: &[],
            later_images: &[],
            values: &[],
            findings: &[],
            against: None,
            live: None,
        }
    }

    /// The page's data as JSON without a `<` in it.
    pub fn json(&self) -> String {
        let payload = Payload {
            version: env!("CARGO_PKG_VERSION"),
            plan: gather::gather(self.plan, self.graph),
            against: self.against.map(|(plan, graph)| gather::gather(plan, graph)),
            diff: self.against.map(|(plan, _)| diff(self.plan, plan)),
            measured: self.measured,
            frames: self.frames,
            images: self.images,
            later: self.later_images,
            values: self.values,
            findings: self.findings,
            hazards: hazard_templates().collect(),
            live: self.live,
        };
        // A `<` occurs in strings only, so its escape is equivalent; without any `<`, no name can end the element.
        serde_json::to_string(&payload).expect("plain data serializes").replace('<', "\\u003c")
    }

    /// The whole page. O(plan + accesses log).
    pub fn html(&self) -> String {
        let scripts = SCRIPTS.concat();
        let whole = format!("'use strict';{{\nfunction page(payload, ended, kept) {{\n{scripts}}}\n{LIVE}}}\n");
        let script = without_comments(&whole);
        let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text));
        let policy = format!(
            "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; \
             form-action 'none'{}",
            hash(&script),
            hash(STYLE),
            if self.live.is_some() { "; connect-src 'self'" } else { "" }
        );
        let json = self.json();
        let title = escaped(&self.plan.graph);
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title} · rgraph</title>\n\
             <link rel=\"icon\" href=\"data:,\">\n\
             <style>{STYLE}</style>\n</head>\n<body>\n\
             <noscript>This page needs scripts; the plan is in it as JSON.</noscript>\n\
             <script type=\"application/json\" id=\"data\">{json}</script>\n\
             <script>{script}</script>\n</body>\n</html>\n"
        )
    }
}

/// A script without the lines that are comments: a tenth of the viewer, which every page would carry. Its sources have
/// no text of several lines in which such a line could be meant.
fn without_comments(script: &str) -> String {
    script.split_inclusive('\n').filter(|line| !line.trim_start().starts_with("//")).collect()
}

/// Bytes of a page from which on notebooks show a still picture instead.
pub const MOST_IN_NOTEBOOK: usize = 2 << 20;

/// What a notebook shows of a plan whose page is larger than [`MOST_IN_NOTEBOOK`]: a still picture and a hint.
pub fn still(plan: &Plan, graph: Option<&Graph>, bytes: usize) -> String {
    let size = bytes_phrase(bytes as u64);
    let picture = svg(plan, graph);
    format!("{picture}<p>The page of this plan has {size}: <code>plan.save(\"plan.html\")</code> writes it.</p>")
}
