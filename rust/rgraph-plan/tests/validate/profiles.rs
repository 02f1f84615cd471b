//! Mistakes of profiles.

use rgraph_plan::access::{PassQueue, Usage};
use rgraph_plan::feature::Features;
use rgraph_plan::id::Id;
use rgraph_plan::profile::Capabilities;

use super::cases;

cases! {
    a_pass_that_needs_more_than_the_profile_has_is_refused_with_the_features_and_their_shaders: |film| {
        film.profile.features = Some(Features::GEOMETRY_SHADER | Features::ACCELERATION_STRUCTURE);
        let pass = film.draw();
        film.uses(pass, rgraph_plan::resource::ResourceId::new(0), Usage::ColorAttachment);
        film.graph.pass_mut(pass).need(&"sun.glsl".into(), Features::RAY_QUERY | Features::GEOMETRY_SHADER);
        film.graph.pass_mut(pass).need(&"sky.glsl".into(), Features::RAY_QUERY | Features::MESH_SHADER);
    } => [
        "RG-E227 pass \"draw\" needs rayQuery (VK_KHR_ray_query) and meshShader (VK_EXT_mesh_shader), which profile \"discrete\" lacks",
        "  draw      film.py:3  shader \"sun.glsl\" needs rayQuery (VK_KHR_ray_query)",
        "  draw      film.py:3  shader \"sky.glsl\" needs rayQuery (VK_KHR_ray_query) and meshShader (VK_EXT_mesh_shader)",
        "  discrete  has no rayQuery (VK_KHR_ray_query) and meshShader (VK_EXT_mesh_shader)",
        "  help: plan for a device with them, write the pass without, or declare another one where they are missing",
    ];
    stages_and_structures_need_their_feature_whatever_a_shader_does: |film| {
        film.profile.features = Some(Features::empty());
        let pass = film.draw();
        film.uses(pass, rgraph_plan::resource::ResourceId::new(0), Usage::ColorAttachment);
        let table = film.buffer("table", 64);
        film.graph.resource_mut(table).life = rgraph_plan::resource::Life::Persistent;
        let how = rgraph_plan::graph::Use::new(Usage::StorageRead);
        film.access(pass, table, rgraph_plan::graph::Use { stages: rgraph_plan::access::Stages::MESH_SHADER, ..how });
    } => [
        "RG-E227 pass \"draw\" needs meshShader (VK_EXT_mesh_shader), which profile \"discrete\" lacks",
        "  draw      film.py:3  its accesses need meshShader (VK_EXT_mesh_shader)",
        "  discrete  has no meshShader (VK_EXT_mesh_shader)",
        "  help: plan for a device with them, write the pass without, or declare another one where they are missing",
    ];
    a_profile_needs_queues_that_can_do_something: |film| {
        film.profile.queues[0].capabilities = Capabilities::empty();
        film.profile.queues[1].count = 0;
    } => [
        "RG-E220 profile \"discrete\" has a queue \"graphics\" that can do nothing",
        "  help: give it capabilities: graphics, compute or transfer",
        "RG-E220 profile \"discrete\" has no queue of \"compute\": its count is 0",
        "  help: leave it out, or give it a count of at least 1",
    ];
    a_profile_without_queues_is_refused: |film| {
        film.profile.queues.clear();
    } => [
        "RG-E220 profile \"discrete\" has no queue",
        "  help: give it at least one queue with graphics, compute or transfer",
    ];
    a_profile_lists_each_family_once: |film| {
        film.profile.queues = vec![film.profile.queues[0].clone(); 17];
    } => [
        "RG-E220 profile \"discrete\" lists 17 queues",
        "  help: list each queue family once, at most 16, and give the number of its queues as count",
    ];
    alignments_are_powers_of_two: |film| {
        film.profile.image_alignment = 0;
        film.profile.buffer_alignment = 48;
        film.profile.buffer_image_granularity = 1 << 40;
    } => [
        "RG-E220 profile \"discrete\" has buffer_image_granularity 1099511627776",
        "  help: give it a power of two from 1 to 2^30, in bytes",
        "RG-E220 profile \"discrete\" has image_alignment 0",
        "  help: give it a power of two from 1 to 2^30, in bytes",
        "RG-E220 profile \"discrete\" has buffer_alignment 48",
        "  help: give it a power of two from 1 to 2^30, in bytes",
    ];
    costs_are_numbers: |film| {
        film.profile.cross_queue_us = f64::NAN;
        film.profile.submit_us = -1.0;
        film.profile.barrier_us = f64::INFINITY;
    } => [
        "RG-E220 profile \"discrete\" has cross_queue_us NaN",
        "  help: give it a cost in microseconds, 0 to 10^12",
        "RG-E220 profile \"discrete\" has barrier_us inf",
        "  help: give it a cost in microseconds, 0 to 10^12",
        "RG-E220 profile \"discrete\" has submit_us -1.0",
        "  help: give it a cost in microseconds, 0 to 10^12",
    ];
    memory_and_limits_are_not_nothing: |film| {
        film.profile.memory.clear();
        film.profile.limits.max_color_attachments = 0;
    } => [
        "RG-E220 profile \"discrete\" has no memory",
        "  help: give it at least one class of memory, or leave memory out",
        "RG-E220 profile \"discrete\" has limit max_color_attachments 0",
        "  help: give it the device's limit, or leave it out",
    ];
    shaders_of_a_pass_on_any_queue_that_draws_nothing_need_one_that_computes: |film| {
        film.profile.queues.truncate(1);
        film.profile.queues[0].capabilities = Capabilities::GRAPHICS;
        let sums = film.buffer("sums", 64);
        let add = film.pass("add", PassQueue::Any);
        film.uses(add, sums, Usage::StorageWrite);
    } => [
        "RG-E211 pass \"add\" needs compute, and no queue of profile \"discrete\" can",
        "  add   film.py:4  declared here, on queue any",
        "  sums  film.py:5  as storage_write needs compute",
        "  help: split the pass, or plan for another device: this one has \"graphics\" (graphics and transfer)",
    ];
}
