//! Every kind of mistake with its whole message: each case declares one graph and says what validation answers.

mod access;
mod attachments;
mod later;
mod links;
mod profiles;
mod queues;
pub mod random;
mod resources;
mod whole;

use std::sync::Arc;

use rgraph_plan::access::{PassQueue, Usage};
use rgraph_plan::format::Format;
use rgraph_plan::graph::{Details, Graph, Pass, PassId, Place, Ranges, Use};
use rgraph_plan::id::IdVec;
use rgraph_plan::inside::size::{ShapeScratch, shapes};
use rgraph_plan::inside::validate::{Found, ValidateScratch, validate};
use rgraph_plan::profile::Profile;
use rgraph_plan::resource::{Image, Resource, ResourceId};

/// A graph under construction: each declaration stands on the next line of `film.py`.
struct Film {
    graph: Graph,
    profile: Profile,
    line: u32,
}

impl Film {
    /// Line 1 declares the graph, line 2 its root, an rgba8unorm image `out` of 64×64 texels.
    fn new() -> Self {
        let mut film = Self { graph: Graph::new("film", [64, 64]), profile: Profile::discrete(), line: 1 };
        let out = film.image("out", Format::Rgba8unorm);
        film.graph.root(out);
        film
    }

    fn place(&mut self) -> Option<Place> {
        self.line += 1;
        Some(Place { file: Arc::from("film.py"), line: self.line })
    }

    fn resource(&mut self, name: &str, resource: Resource) -> ResourceId {
        let place = self.place();
        self.graph.add_resource(name, resource, place)
    }

    fn image(&mut self, name: &str, format: Format) -> ResourceId {
        self.resource(name, Resource::image(of_format(format)))
    }

    fn buffer(&mut self, name: &str, size: u64) -> ResourceId {
        self.resource(name, Resource::buffer(size))
    }

    fn pass(&mut self, name: &str, queue: PassQueue) -> PassId {
        let place = self.place();
        self.graph.add_pass(name, Pass::new(queue), place)
    }

    fn draw(&mut self) -> PassId {
        self.pass("draw", PassQueue::Graphics)
    }

    fn access(&mut self, pass: PassId, resource: ResourceId, how: Use) {
        let place = self.place();
        self.graph.access(pass, resource, &how, place);
    }

    fn uses(&mut self, pass: PassId, resource: ResourceId, usage: Usage) {
        self.access(pass, resource, Use::new(usage));
    }

    fn found(&self) -> Found {
        let (mut out, mut sized, mut problems) = (IdVec::new(), ShapeScratch::default(), Vec::new());
        shapes(&self.graph, &self.profile, &mut out, &mut sized, &mut problems);
        validate(&self.graph, &self.profile, &out, &sized, &problems, &mut ValidateScratch::default())
    }

    /// The lines of all messages.
    fn messages(&self) -> Vec<String> {
        lines(&self.found().mistakes)
    }
}

fn lines(mistakes: &[rgraph_plan::error::Mistake]) -> Vec<String> {
    mistakes.iter().flat_map(|mistake| mistake.to_string().lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

fn of_format(format: Format) -> Image {
    Image { format: Some(format), ..Image::default() }
}

fn multisampled(format: Format) -> Resource {
    Resource::image(Image { samples: Some(4), ..of_format(format) })
}

fn mips(usage: Usage, mips: [u32; 2]) -> Use {
    Use { ranges: Ranges { mips: Some(mips), ..Ranges::default() }, ..Use::new(usage) }
}

fn layers(usage: Usage, layers: [u32; 2]) -> Use {
    Use { ranges: Ranges { layers: Some(layers), ..Ranges::default() }, ..Use::new(usage) }
}

fn bytes(usage: Usage, bytes: [u64; 2]) -> Use {
    Use { ranges: Ranges { bytes: Some(bytes), ..Ranges::default() }, ..Use::new(usage) }
}

fn resolving(resolves: ResourceId) -> Use {
    Use { details: Details { resolves: Some(resolves), ..Details::default() }, ..Use::new(Usage::ResolveAttachment) }
}

/// One test a case: the mistakes of the graph that it declares, line by line.
macro_rules! cases {
    ($($name:ident: |$film:ident| $body:block => [$($line:literal),* $(,)?];)+) => {$(
        #[test]
        fn $name() {
            let mut $film = $crate::validate::Film::new();
            $body
            let expected: &[&str] = &[$($line),*];
            assert_eq!($film.messages(), expected);
        }
    )+};
}
pub(crate) use cases;
