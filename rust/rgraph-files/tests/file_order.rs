//! Graphs brought into the order of their files.

use rgraph_files::{read_graph, write_graph};
use rgraph_plan::access::{PassQueue, Usage};
use rgraph_plan::graph::{Graph, Pass, Use};
use rgraph_plan::resource::{Image, Resource, Size};

#[test]
fn a_graph_in_file_order_has_the_hash_of_its_file_and_keeps_its_meaning() {
    let mut graph = Graph::new("g", [64, 64]);
    let buffer = graph.add_resource("buffer", Resource::buffer(256), None);
    let image = graph.add_resource("image", Resource::image(Image::default()), None);
    let size = Some(Size::scaled(Some(image), 0.5, 0.5));
    let half = graph.add_resource("half", Resource::image(Image { size, ..Image::default() }), None);
    let mut over = Resource::image(Image::default());
    over.modifies = Some(half);
    graph.add_resource("over", over, None);
    let slot = graph.add_slot("m", None);
    let unit = Some(graph.unit("b"));
    let last = graph.add_pass("last", Pass { unit, ..Pass::new(PassQueue::Graphics) }, None);
    let unit = Some(graph.unit("a"));
    let inner = Pass { slot: Some(slot), unit, ..Pass::new(PassQueue::Compute) };
    let first = graph.add_pass("m/first", inner, None);
    graph.access(last, half, &Use::new(Usage::Sampled), None);
    graph.access(first, buffer, &Use::new(Usage::StorageWrite), None);
    graph.access(last, buffer, &Use::new(Usage::Uniform), None);
    graph.order_after(last, first);
    graph.order_after(first, first);
    graph.root(buffer);
    let text = write_graph(&graph);

    graph.to_file_order();

    assert_eq!(graph.pass_names().iter().collect::<Vec<_>>(), ["m/first", "last"]);
    assert_eq!(graph.resource_names().iter().collect::<Vec<_>>(), ["image", "half", "over", "buffer"]);
    assert_eq!(write_graph(&graph), text);
    let read = read_graph(text.as_bytes(), "text").expect("the file is good");
    assert_eq!(read.content_hash(), graph.content_hash());
    assert_eq!(graph.find_resource("buffer"), Some(graph.roots()[0]));
    let roots: Vec<_> = graph.resources().ids().filter(|id| graph.is_root(*id)).collect();
    assert_eq!(roots, graph.roots());
}
