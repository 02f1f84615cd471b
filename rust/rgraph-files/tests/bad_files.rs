//! Bad input: every mistake of a file is reported with file, line, path and the value found; nothing crashes.

use rgraph_files::{read_graph, read_profile};
use rgraph_plan::error::{Code, GraphError};

fn refusal(text: &[u8]) -> GraphError {
    match read_graph(text, "bad.rgraph.json") {
        Ok(_) => panic!("accepted: {}", String::from_utf8_lossy(text)),
        Err(error) => error,
    }
}

/// Wraps passes of one line into a graph with the image `lit`, the buffer `lights` and the pass `first`.
fn with_pass(pass: &str) -> String {
    format!(
        "{{\"rgraph\": 1,\n\"images\": {{\"lit\": {{}}}}, \"buffers\": {{\"lights\": {{\"size\": 4}}}},\n\
         \"passes\": [{{\"name\": \"first\"}},\n{pass}]}}"
    )
}

fn with_access(access: &str) -> String {
    with_pass(&format!("{{\"name\": \"draw\", \"accesses\": [\n{access}]}}"))
}

fn with_image(image: &str) -> String {
    format!("{{\"rgraph\": 1,\n\"images\": {{\"lit\": {{}},\n\"new\": {image}}}}}")
}

/// Whole files and the one message that each gets.
const FILES: [(&str, &str); 18] = [
    ("", "RG-E222 bad.rgraph.json:1: not JSON: there is nothing in it"),
    (" \n\t ", "RG-E222 bad.rgraph.json:1: not JSON: there is nothing in it"),
    ("hello", "RG-E222 bad.rgraph.json:1: not JSON: expected value in column 1"),
    ("{\"rgraph\": 1,\n\n}", "RG-E222 bad.rgraph.json:3: not JSON: key must be a string in column 1"),
    ("{\"rgraph\": 1} x", "RG-E222 bad.rgraph.json:1: not JSON: trailing characters in column 15"),
    ("{\"rgraph\": 1,\n\"passes\": [", "RG-E222 bad.rgraph.json:2: not JSON: EOF while parsing a list in column 11"),
    ("{\"rgraph\": NaN}", "RG-E222 bad.rgraph.json:1: not JSON: expected value in column 12"),
    ("[1, 2]", "RG-E222 bad.rgraph.json:1: the file is a list, but must be an object: a graph file"),
    ("7", "RG-E222 bad.rgraph.json:1: the file is 7, but must be an object: a graph file"),
    (
        "{\n\"rgraph\": 2, \"future\": 1}",
        "RG-E222 bad.rgraph.json:2: rgraph is version 2\n  help: this reader knows version 1: \"rgraph\": 1",
    ),
    ("{\"rgraph\": \"1\"}", "RG-E222 bad.rgraph.json:1: rgraph is \"1\", but must be an integer"),
    ("{\"rgraph\": -1}", "RG-E213 bad.rgraph.json:1: rgraph is -1, but must be 0 or more"),
    (
        "{\"name\": \"x\"}",
        "RG-E222 bad.rgraph.json:1: the file has no \"rgraph\" with its version\n  help: begin it with {\"rgraph\": 1, …",
    ),
    (
        "{\"rplan\": 1}",
        "RG-E222 bad.rgraph.json:1: the file has no \"rgraph\" with its version\n  help: this is a plan file",
    ),
    (
        "{\"rgraph\": 1,\n\"pases\": []}",
        "RG-E222 bad.rgraph.json:2: pases is not a key of a graph\n  help: did you mean \"passes\"? known: rgraph, name, \
         reference_size, options, shaders, samplers, modules, images, buffers, passes, roots",
    ),
    (
        "{\"rgraph\": 1,\n\"passes\": [],\n\"passes\": []}",
        "RG-E201 bad.rgraph.json:3: passes is given twice\n  help: keep one of them",
    ),
    (
        "{\"rgraph\": 1, \"images\": []}",
        "RG-E222 bad.rgraph.json:1: images is a list, but must be an object of images by name",
    ),
    (
        "{\"rgraph\": 1, \"roots\": [\"nothing\"]}",
        "RG-E202 bad.rgraph.json:1: roots[0] names resource \"nothing\", which nothing declares\n  help: declare a \
         resource of that name, or correct it",
    ),
];

#[test]
fn a_bad_file_gets_one_message_with_its_line() {
    for (text, message) in FILES {
        assert_eq!(refusal(text.as_bytes()).to_string(), message, "{text}");
    }
}

#[test]
fn bytes_that_are_no_text_are_found_by_line_and_column() {
    let error = refusal(b"{\"rgraph\": 1,\n\"name\": \"ab\xffcd\"}");
    let message = "RG-E222 bad.rgraph.json:2: not UTF-8: byte 0xff in column 12\n  help: save it as UTF-8";
    assert_eq!(error.to_string(), message);
}

/// An access, and the message about it (after file, line and the path up to the access).
const ACCESSES: [(&str, &str, &str); 25] = [
    ("7", "RG-E222", " is 7, but must be an object: an access"),
    (r#"{"usage": "sampled"}"#, "RG-E222", " has no \"resource\""),
    (r#"{"resource": "lit"}"#, "RG-E222", " has no \"usage\""),
    (
        r#"{"resource": "lti", "usage": "sampled"}"#,
        "RG-E202",
        ".resource names resource \"lti\", which nothing declares\n  help: did you mean \"lit\"?",
    ),
    (r#"{"resource": 5, "usage": "sampled"}"#, "RG-E222", ".resource is 5, but must be text"),
    (
        r#"{"resource": "lit", "usage": "sampeld"}"#,
        "RG-E222",
        ".usage is \"sampeld\", which is not a usage\n  help: did you mean \"sampled\"? known: color_attachment, \
         depth_stencil_attachment, depth_stencil_read, input_attachment, resolve_attachment, sampled, storage_read, \
         storage_write, storage_read_write, uniform, vertex, index, indirect, transfer_src, transfer_dst, host_read, \
         host_write, present, acceleration_input, acceleration_build, acceleration_update, acceleration_scratch, \
         acceleration_read",
    ),
    (r#"{"resource": "lit", "usage": null}"#, "RG-E222", ".usage is null, but must be a usage"),
    (
        r#"{"resource": "lit", "usage": "sampled", "lod": "x"}"#,
        "RG-E222",
        ".lod is not a key of an access\n  help: did you mean \"load\"? known: resource, usage, stages, mips, layers, \
         aspects, range, load, stencil_load, clear, generate_mips, resolves, resolve_mode, transfer, unordered, if",
    ),
    (
        r#"{"resource": "lit", "usage": "sampled", "load": "keep"}"#,
        "RG-E222",
        ".load is \"keep\", which is not a load operation\n  help: known: clear, load, discard",
    ),
    (
        r#"{"resource": "lit", "usage": "sampled", "mips": 3}"#,
        "RG-E222",
        ".mips is 3, but must be a range [first, end]",
    ),
    (
        r#"{"resource": "lit", "usage": "sampled", "mips": [0]}"#,
        "RG-E222",
        ".mips is a list of 1, but must be a range [first, end]",
    ),
    (r#"{"resource": "lit", "usage": "sampled", "mips": [-1, 2]}"#, "RG-E213", ".mips[0] is -1, but must be 0 or more"),
    (
        r#"{"resource": "lit", "usage": "sampled", "layers": [0, 1.5]}"#,
        "RG-E213",
        ".layers[1] is 1.5, but must be an integer",
    ),
    (
        r#"{"resource": "lit", "usage": "sampled", "layers": [0, 4294967296]}"#,
        "RG-E213",
        ".layers[1] is 4294967296, but must be at most 4294967295",
    ),
    (
        r#"{"resource": "lights", "usage": "uniform", "range": [0, 18446744073709551616]}"#,
        "RG-E213",
        ".range[1] is 18446744073709551616, but must be at most 18446744073709551615",
    ),
    (
        r#"{"resource": "lights", "usage": "uniform", "range": [0, 1e400]}"#,
        "RG-E213",
        ".range[1] is 1e400, but must be at most 18446744073709551615",
    ),
    (
        r#"{"resource": "lit", "usage": "sampled", "clear": [0, 0, 0]}"#,
        "RG-E222",
        ".clear is a list of 3, but must be four numbers of a colour, [depth, stencil], or one depth",
    ),
    (
        r#"{"resource": "lit", "usage": "sampled", "clear": [0, 0, 1e400, 1]}"#,
        "RG-E213",
        ".clear[2] is 1e400, too large for a number",
    ),
    (
        r#"{"resource": "lit", "usage": "sampled", "clear": [1, 0.5]}"#,
        "RG-E213",
        ".clear[1] is 0.5, but must be an integer",
    ),
    (
        r#"{"resource": "lit", "usage": "sampled", "clear": "red"}"#,
        "RG-E222",
        ".clear is \"red\", but must be four numbers of a colour, [depth, stencil], or one depth",
    ),
    (
        r#"{"resource": "lit", "usage": "sampled", "unordered": 1}"#,
        "RG-E222",
        ".unordered is 1, but must be true or false",
    ),
    (
        r#"{"resource": "lit", "usage": "sampled", "stages": "fragment"}"#,
        "RG-E222",
        ".stages is \"fragment\", but must be a list of words",
    ),
    (
        r#"{"resource": "lit", "usage": "sampled", "stages": ["fragmant"]}"#,
        "RG-E222",
        ".stages[0] is \"fragmant\", which is not a pipeline stage\n  help: did you mean \"fragment\"? known: \
         draw_indirect, index_input, vertex_attribute_input, vertex, tessellation_control, tessellation_evaluation, \
         geometry, task, mesh, fragment, early_fragment_tests, late_fragment_tests, color_attachment_output, compute, \
         ray_tracing, acceleration_structure_build, copy, blit, resolve, clear, host, all_transfer",
    ),
    (
        r#"{"resource": "lit", "usage": "sampled", "aspects": ["colour"]}"#,
        "RG-E222",
        ".aspects[0] is \"colour\", which is not an aspect\n  help: did you mean \"color\"? known: color, depth, stencil",
    ),
    (
        r#"{"resource": "lit", "usage": "sampled", "usage": "sampled"}"#,
        "RG-E201",
        ".usage is given twice\n  help: keep one of them",
    ),
];

#[test]
fn a_bad_access_is_named_by_its_path_and_pass() {
    for (access, code, message) in ACCESSES {
        let error = refusal(with_access(access).as_bytes());
        let expected = format!("{code} bad.rgraph.json:5: passes[1].accesses[0]{message}");
        assert_eq!(error.to_string(), expected, "{access}");
        assert_eq!(error.mistakes()[0].pass.as_deref(), Some("draw"), "{access}");
    }
}

const PASSES: [(&str, &str, &str); 14] = [
    ("[]", "RG-E222", " is a list, but must be an object: a pass"),
    ("{}", "RG-E222", " has no \"name\""),
    (r#"{"name": ""}"#, "RG-E219", ".name has a name of 0 bytes: \"\"\n  help: give it a name of 1 to 1024 bytes"),
    (r#"{"name": 3}"#, "RG-E222", ".name is 3, but must be text"),
    (
        r#"{"name": "p", "queue": "gfx"}"#,
        "RG-E222",
        ".queue is \"gfx\", which is not a queue\n  help: known: graphics, compute, async_compute, transfer, cpu, any",
    ),
    (
        r#"{"name": "p", "queue": "async"}"#,
        "RG-E222",
        ".queue is \"async\", which is not a queue\n  help: did you mean \"async_compute\"? known: graphics, compute, async_compute, transfer, cpu, any",
    ),
    (r#"{"name": "p", "weight_us": "slow"}"#, "RG-E222", ".weight_us is \"slow\", but must be a number"),
    (r#"{"name": "p", "weight_us": 1e999}"#, "RG-E213", ".weight_us is 1e999, too large for a number"),
    (r#"{"name": "p", "device": "first"}"#, "RG-E222", ".device is \"first\", but must be a GPU's index or \"any\""),
    (r#"{"name": "p", "device": -1}"#, "RG-E213", ".device is -1, but must be 0 or more"),
    (
        r#"{"name": "p", "after": ["frist"]}"#,
        "RG-E202",
        ".after[0] names pass \"frist\", which nothing declares\n  help: did you mean \"first\"?",
    ),
    (r#"{"name": "p", "after": "first"}"#, "RG-E222", ".after is \"first\", but must be a list of pass names"),
    (
        r#"{"name": "p", "fallback": {"lot": "lit"}}"#,
        "RG-E202",
        ".fallback.lot names resource \"lot\", which nothing declares\n  help: did you mean \"lit\"?",
    ),
    (r#"{"name": "p", "fallback": ["lit"]}"#, "RG-E222", ".fallback is a list, but must be an object: {OUTPUT: INPUT}"),
];

#[test]
fn a_bad_pass_is_named_by_its_path() {
    for (pass, code, message) in PASSES {
        let error = refusal(with_pass(pass).as_bytes());
        assert_eq!(error.to_string(), format!("{code} bad.rgraph.json:4: passes[1]{message}"), "{pass}");
    }
}

const IMAGES: [(&str, &str, &str); 20] = [
    ("null", "RG-E222", " is null, but must be an object: an image"),
    (
        r#"{"format": "rgba8unrom"}"#,
        "RG-E222",
        ".format is \"rgba8unrom\", which is not a format\n  help: did you mean \"rgba8unorm\"?",
    ),
    (
        r#"{"format": "R8G8B8A8_UNROM"}"#,
        "RG-E222",
        ".format is \"R8G8B8A8_UNROM\", which is not a format\n  help: did you mean \"R8G8B8A8_UNORM\"?",
    ),
    (
        r#"{"size": 5}"#,
        "RG-E222",
        ".size is 5, but must be [width, height], [width, height, depth], or an object with \"relative_to\" or \"scale\"",
    ),
    (
        r#"{"size": [1]}"#,
        "RG-E222",
        ".size is a list of 1, but must be [width, height], [width, height, depth], or an object with \"relative_to\" \
         or \"scale\"",
    ),
    (r#"{"size": [1, -4]}"#, "RG-E213", ".size[1] is -4, but must be 0 or more"),
    (r#"{"size": [1, 99999999999]}"#, "RG-E213", ".size[1] is 99999999999, but must be at most 4294967295"),
    (
        r#"{"size": {"relative": "lit"}}"#,
        "RG-E222",
        ".size.relative is not a key of a relative size\n  help: did you mean \"relative_to\"? known: relative_to, scale, round",
    ),
    (
        r#"{"size": {"relative_to": "lot"}}"#,
        "RG-E202",
        ".size.relative_to names resource \"lot\", which nothing declares\n  help: did you mean \"lit\"?",
    ),
    (r#"{"size": {"scale": 2}}"#, "RG-E222", ".size.scale is 2, but must be a list of factors [x, y]"),
    (r#"{"size": {"x": 2}}"#, "RG-E222", ".size has no \"y\""),
    (
        r#"{"size": {"round": "near"}}"#,
        "RG-E222",
        ".size.round is \"near\", which is not a way of rounding\n  help: known: down, up",
    ),
    (r#"{"mips": "all"}"#, "RG-E222", ".mips is \"all\", but must be a number of levels or \"full\""),
    (r#"{"samples": 2.5}"#, "RG-E213", ".samples is 2.5, but must be an integer"),
    (r#"{"frames": 2}"#, "RG-E222", ".frames needs history_of\n  help: add \"history_of\", or leave it out"),
    (
        r#"{"history_of": "lit", "first_frame": "zeroes"}"#,
        "RG-E222",
        ".first_frame is \"zeroes\", which is not what a history holds at first\n  help: did you mean \"zeros\"? known: zeros, undefined",
    ),
    (r#"{"imported": "yes"}"#, "RG-E222", ".imported is \"yes\", but must be true or an object: an import"),
    (
        r#"{"imported": {"layout": "shader_readonly"}}"#,
        "RG-E222",
        ".imported.layout is \"shader_readonly\", which is not an image layout\n  help: known: undefined, general, \
         color_attachment_optimal, depth_stencil_attachment_optimal, depth_stencil_read_only_optimal, \
         shader_read_only_optimal, transfer_src_optimal, transfer_dst_optimal, present_src, attachment_optimal, \
         read_only_optimal",
    ),
    (
        r#"{"imported": true, "persistent": true}"#,
        "RG-E222",
        " has more than one of imported, persistent, fresh and history_of\n  help: keep one: imported, persistent, fresh or history_of",
    ),
    (r#"{"leave": {"layout": 3}}"#, "RG-E222", ".leave.layout is 3, but must be an image layout"),
];

#[test]
fn a_bad_image_is_named_by_its_path_and_resource() {
    for (image, code, message) in IMAGES {
        let error = refusal(with_image(image).as_bytes());
        assert_eq!(error.to_string(), format!("{code} bad.rgraph.json:3: images.new{message}"), "{image}");
        assert_eq!(error.mistakes()[0].resource.as_deref(), Some("new"), "{image}");
    }
}

#[test]
fn all_mistakes_of_a_file_are_said_at_once() {
    let text = "{\"rgraph\": 1, \"colour\": 0,\n\
        \"images\": {\"a\": {\"format\": \"rgb\", \"size\": [1, -1]},\n\"a\": {}, \"b\": {\"modifies\": \"c\"}},\n\
        \"buffers\": {\"a\": {\"size\": 1}, \"d\": {}},\n\
        \"passes\": [{\"name\": \"p\", \"queue\": 1},\n{\"name\": \"p\", \"accesses\": [{}, {\"resource\": \"zz\", \"usage\": \"vertx\"}]}],\n\
        \"roots\": [\"a\", 4]}";
    let error = refusal(text.as_bytes());
    let messages: Vec<String> =
        error.mistakes().iter().map(|mistake| format!("{} {}", mistake.code, mistake.message)).collect();
    assert_eq!(
        messages,
        [
            "RG-E222 bad.rgraph.json:1: colour is not a key of a graph",
            "RG-E201 two resources are called \"a\"",
            "RG-E201 two resources are called \"a\"",
            "RG-E222 bad.rgraph.json:2: images.a.format is \"rgb\", which is not a format",
            "RG-E213 bad.rgraph.json:2: images.a.size[1] is -1, but must be 0 or more",
            "RG-E202 bad.rgraph.json:3: images.b.modifies names resource \"c\", which nothing declares",
            "RG-E222 bad.rgraph.json:4: buffers.d has no \"size\"",
            "RG-E222 bad.rgraph.json:5: passes[0].queue is 1, but must be a queue",
            "RG-E222 bad.rgraph.json:6: passes[1].accesses[0] has no \"resource\"",
            "RG-E222 bad.rgraph.json:6: passes[1].accesses[0] has no \"usage\"",
            "RG-E202 bad.rgraph.json:6: passes[1].accesses[1].resource names resource \"zz\", which nothing declares",
            "RG-E222 bad.rgraph.json:6: passes[1].accesses[1].usage is \"vertx\", which is not a usage",
            "RG-E201 two passes are called \"p\"",
            "RG-E222 bad.rgraph.json:7: roots[1] is 4, but must be text",
        ]
    );
    let twice = &error.mistakes()[1];
    let places: Vec<String> = twice.sides.iter().map(|side| side.place.as_ref().unwrap().to_string()).collect();
    assert_eq!(places, ["bad.rgraph.json:2", "bad.rgraph.json:3"]);
}

#[test]
fn a_hundred_megabytes_of_brackets_are_one_message() {
    let error = refusal(&vec![b'['; 100 << 20]);
    let message = "RG-E222 bad.rgraph.json:1: lists and objects are nested deeper than 64 levels\n  help: the formats need nine levels";
    assert_eq!(error.to_string(), message);
    let mut text = b"{\"rgraph\": 1,\n\"passes\": ".to_vec();
    text.extend(std::iter::repeat_n(b'[', 1000));
    text.extend(std::iter::repeat_n(b']', 1000));
    text.push(b'}');
    assert!(refusal(&text).to_string().contains("bad.rgraph.json:2: lists and objects are nested deeper"));
}

#[test]
fn millions_of_mistakes_end_after_a_thousand() {
    let mut text = b"{\"rgraph\": 1, \"passes\": [0".to_vec();
    for _ in 0..3_000_000 {
        text.extend_from_slice(b",0");
    }
    text.extend_from_slice(b"]}");
    let error = refusal(&text);
    assert_eq!(error.mistakes().len(), 1001);
    assert!(error.mistakes()[1000].message.contains("reading stopped after 1000 mistakes"));
}

#[test]
fn a_name_given_a_million_times_is_said_a_thousand_times() {
    let mut text = b"{\"rgraph\": 1, \"images\": {\"a\": {}".to_vec();
    for _ in 0..1_000_000 {
        text.extend_from_slice(b",\"a\":{}");
    }
    text.extend_from_slice(b"}}");
    let error = refusal(&text);
    assert_eq!(error.mistakes().len(), 1001);
    assert_eq!(error.mistakes()[999].code, Code::DuplicateName);
}

#[test]
fn more_declarations_than_can_be_planned_are_one_message() {
    let mut text = "{\"rgraph\": 1,\n\"images\": {\"a\": {}".to_owned();
    for image in 0..1_100_000 {
        text += &format!(",\"{image}\":{{}}");
    }
    text += "}}";
    let message =
        "RG-E223 bad.rgraph.json:2: images.1048575 is one of more than 1048576 images and buffers\n  help: use fewer";
    assert_eq!(refusal(text.as_bytes()).to_string(), message);
}

#[test]
fn a_name_of_a_megabyte_is_shown_clipped() {
    let long = "n".repeat(1 << 20);
    for text in [
        with_pass(&format!("{{\"name\": \"{long}\"}}")),
        with_pass(&format!("{{\"name\": \"p\", \"{long}\": 1}}")),
        with_pass(&format!("{{\"name\": \"p\", \"queue\": \"{long}\"}}")),
        with_pass(&format!("{{\"name\": \"p\", \"unit\": \"{long}\"}}")),
        with_access(&format!("{{\"resource\": \"{long}\", \"usage\": \"sampled\"}}")),
        format!("{{\"rgraph\": 1, \"name\": \"{long}\"}}"),
        format!("{{\"rgraph\": 1, \"images\": {{\"{long}\": {{}}}}}}"),
        format!("{{\"rgraph\": 1, \"images\": {{\"a\": {{\"size\": [{}, 1]}}}}}}", "9".repeat(1 << 20)),
    ] {
        let error = refusal(text.as_bytes());
        assert_eq!(error.mistakes().len(), 1);
        let message = error.to_string();
        assert!(message.len() < 500 && message.contains('…'), "{message}");
        assert!(message.contains("bad.rgraph.json:"), "{message}");
    }
}

#[test]
fn escapes_that_are_no_characters_are_a_mistake_and_not_a_crash() {
    let error = refusal(with_pass(r#"{"name": "\ud800"}"#).as_bytes());
    assert!(error.to_string().starts_with("RG-E222 bad.rgraph.json:4: passes[1].name cannot be read: "), "{error}");
    let error = refusal(with_pass(r#"{"name": "p", "\ud800": 1}"#).as_bytes());
    assert!(error.to_string().starts_with("RG-E222 bad.rgraph.json:4: passes[1] cannot be read: "), "{error}");
}

#[test]
fn a_good_graph_cut_anywhere_is_refused_with_its_file() {
    let whole = with_access(r#"{"resource": "lit", "usage": "sampled", "clear": [0, 0.5, -1e-3, 1]}"#);
    read_graph(whole.as_bytes(), "bad.rgraph.json").unwrap();
    for end in 0..whole.len() {
        let error = refusal(&whole.as_bytes()[..end]);
        assert!(error.to_string().starts_with("RG-E222 bad.rgraph.json:"), "{error}");
    }
}

#[test]
fn any_byte_of_a_graph_may_be_changed_without_a_crash() {
    let whole = with_access(r#"{"resource": "lit", "usage": "sampled", "mips": [0, 1], "clear": [0, 0.5, -1e-3, 1]}"#);
    let mut refused = 0;
    for at in 0..whole.len() {
        for byte in [b'"', b'{', b'}', b'[', b']', b',', b':', b'0', b'-', b'e', b'\\', b'\n', 0, 0xc3] {
            let mut text = whole.clone().into_bytes();
            text[at] = byte;
            refused += usize::from(read_graph(&text, "bad.rgraph.json").is_err());
        }
    }
    assert!(refused > whole.len() * 7, "{refused} of {}", whole.len() * 14);
}

#[test]
fn a_bad_profile_is_named_by_its_path() {
    for (text, message) in [
        ("{\"rprofile\": 1}", "RG-E222 p:1: the file has no \"queues\""),
        ("{\"rprofile\": 1, \"queues\": []}", "RG-E220 p:1: queues is empty\n  help: name at least one queue"),
        (
            "{\"rprofile\": 1, \"queues\": [{\"name\": \"q\", \"family\": 0, \"capabilities\": [\"graphic\"]}]}",
            "RG-E222 p:1: queues[0].capabilities[0] is \"graphic\", which is not a capability\n  help: did you mean \
             \"graphics\"? known: graphics, compute, transfer",
        ),
        (
            "{\"rprofile\": 1, \"queues\": [{\"name\": \"q\", \"family\": 0, \"count\": 0, \"capabilities\": []}]}",
            "RG-E220 p:1: queues[0].count is 0\n  help: leave the queue out where there is none",
        ),
        (
            "{\"rprofile\": 1, \"queues\": [{\"name\": \"q\", \"family\": 0, \"count\": 5000000, \"capabilities\": []}]}",
            "RG-E213 p:1: queues[0].count is 5000000, but must be at most 256",
        ),
        (
            "{\"rprofile\": 1, \"queues\": [], \"barrier_us\": -2}",
            "RG-E220 p:1: queues is empty\n  help: name at least one queue\nRG-E213 p:1: barrier_us is -2, but must be 0 or more",
        ),
        ("{\"rgraph\": 1}", "RG-E222 p:1: the file has no \"rprofile\" with its version\n  help: this is a graph file"),
    ] {
        assert_eq!(read_profile(text.as_bytes(), "p").unwrap_err().to_string(), message, "{text}");
    }
    let error = read_profile(b"{\"rprofile\": 3}", "p").unwrap_err();
    assert_eq!(error.mistakes()[0].code, Code::BadFile);
}
