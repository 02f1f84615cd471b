//! Mistakes about what queues can do.

use rgraph_plan::access::{PassQueue, Stages, Usage};
use rgraph_plan::format::Format;
use rgraph_plan::graph::Use;
use rgraph_plan::profile::Capabilities;

use super::cases;

cases! {
    what_no_queue_can_is_named_once_for_each_need: |film| {
        film.profile.queues.remove(0);
        let (a, b) = (film.image("a", Format::Rgba8unorm), film.image("b", Format::Rgba8unorm));
        let mix = film.pass("mix", PassQueue::Any);
        film.uses(mix, a, Usage::ColorAttachment);
        film.uses(mix, b, Usage::ColorAttachment);
    } => [
        "RG-E211 pass \"mix\" needs graphics, and no queue of profile \"discrete\" can",
        "  mix  film.py:5  declared here, on queue any",
        "  a    film.py:6  as color_attachment needs graphics",
        "  help: split the pass, or plan for another device: this one has \"compute\" (compute and transfer) and \"transfer\" (transfer)",
    ];
    stages_add_to_what_an_access_needs: |film| {
        let corners = film.buffer("corners", 64);
        let copy = film.pass("copy", PassQueue::Transfer);
        film.access(copy, corners, Use { stages: Stages::VERTEX_ATTRIBUTE_INPUT, ..Use::new(Usage::Vertex) });
    } => [
        "RG-E211 pass \"copy\" uses \"corners\" as vertex at vertex_attribute_input, which needs graphics, but queue transfer is \"transfer\" and can transfer",
        "  copy     film.py:5  vertex",
        "  corners  film.py:3  buffer of 64 bytes",
        "  help: run the pass on queue graphics or compute",
    ];
    a_compute_pass_needs_a_queue_that_can_dispatch: |film| {
        film.profile.queues[0].capabilities -= Capabilities::COMPUTE;
        let sum = film.buffer("sum", 64);
        let add = film.pass("add", PassQueue::Compute);
        film.uses(add, sum, Usage::StorageWrite);
    } => [
        "RG-E211 pass \"add\" uses \"sum\" as storage_write, which needs compute, but queue compute is \"graphics\" and can graphics and transfer",
        "  add  film.py:5  storage_write",
        "  sum  film.py:3  buffer of 64 bytes",
        "  help: run the pass on queue async_compute",
    ];
}
