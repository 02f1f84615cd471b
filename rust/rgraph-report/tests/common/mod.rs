//! A plan made by hand that says everything a plan can say.
#![allow(dead_code, reason = "each test file uses a part of it")]

use rgraph_plan::access::{Accesses as A, Aspects, Layout, Load, Sharing, Stages as S, Store, Usage};
use rgraph_plan::format::Format;
use rgraph_plan::graph::Clear;
use rgraph_plan::id::{Id, Span};
use rgraph_plan::plan::*;
use rgraph_plan::profile::Capabilities;
use rgraph_plan::resource::ResourceId;

pub fn id<I: Id>(index: usize) -> I {
    I::new(index)
}

/// Appends `items` to `list` and says where they stand.
pub fn push<T>(list: &mut Vec<T>, items: impl IntoIterator<Item = T>) -> Span {
    let start = list.len();
    list.extend(items);
    Span::new(start, list.len())
}

pub fn scope(src: (S, A), dst: (S, A)) -> Scope {
    Scope { src_stages: src.0, src_access: src.1, dst_stages: dst.0, dst_access: dst.1 }
}

fn image(format: Format, size: [u32; 2], mips: u32) -> PlanKind {
    let size = [size[0], size[1], 1];
    PlanKind::Image { format, size, mips, layers: 1, samples: 1, volume: false, cube: false }
}

pub const ALBEDO: usize = 0;
pub const DEPTH: usize = 1;
pub const HDR: usize = 2;
pub const OUT: usize = 3;
pub const LIGHTS: usize = 4;
pub const VOLUME: usize = 5;
pub const HISTORY: usize = 6;

pub fn image_barrier(
    plan: &Plan,
    resource: usize,
    layouts: (Layout, Layout),
    scope: Scope,
    hazard: Hazard,
    from: Option<usize>,
    to: usize,
) -> ImageBarrier {
    let PlanKind::Image { format, mips, layers, .. } = plan.resources[id::<ResourceId>(resource)].kind else {
        panic!()
    };
    ImageBarrier {
        resource: id(resource),
        mips: [0, mips],
        layers: [0, layers],
        aspects: format.aspects(),
        scope,
        old_layout: layouts.0,
        new_layout: layouts.1,
        families: None,
        why: Why { hazard, from: from.map(id), to: Some(id(to)), resource: id(resource) },
    }
}

type ResourceRow = (&'static str, PlanKind, u64, Option<[usize; 2]>, PlanLife);
type PassRow = (&'static str, Option<u32>, Option<usize>, Option<Culled>, Option<usize>, Span, PassWhy);

fn resources(plan: &mut Plan) {
    let all: [ResourceRow; 7] = [
        ("albedo", image(Format::Rgba8unorm, [1920, 1080], 1), 8_323_072, Some([0, 2]), PlanLife::Transient),
        ("depth", image(Format::Depth24plusStencil8, [1920, 1080], 1), 8_323_072, Some([0, 2]), PlanLife::Transient),
        ("hdr", image(Format::Rgba16float, [1920, 1080], 11), 22_151_168, Some([1, 4]), PlanLife::Transient),
        ("out", image(Format::Rgba8unorm, [1920, 1080], 1), 8_323_072, Some([4, 4]), PlanLife::Root),
        ("lights", PlanKind::Buffer { size: 65_000 }, 65_024, Some([1, 5]), PlanLife::Imported),
        (
            "volume",
            PlanKind::Image {
                format: Format::R32float,
                size: [32, 16, 8],
                mips: 1,
                layers: 1,
                samples: 1,
                volume: true,
                cube: false,
            },
            65_536,
            None,
            PlanLife::Persistent,
        ),
        (
            "hdr/history",
            PlanKind::Image {
                format: Format::Rgba16float,
                size: [64, 64, 1],
                mips: 1,
                layers: 12,
                samples: 4,
                volume: false,
                cube: true,
            },
            65_536,
            Some([2, 2]),
            PlanLife::History,
        ),
    ];
    for (at, (name, kind, bytes, lifetime, life)) in all.into_iter().enumerate() {
        plan.resource_names.push(name);
        let aliases = match at {
            ALBEDO => vec![id(OUT)],
            OUT => vec![id(ALBEDO)],
            _ => vec![],
        };
        let aliases = push(&mut plan.aliases, aliases);
        plan.resources.push(PlanResource {
            kind,
            bytes,
            lifetime: lifetime.map(|ends| ends.map(id)),
            aliases,
            sharing: if at == HDR { Sharing::Concurrent } else { Sharing::Exclusive },
            memory_domain: None,
            life,
            inserted: at == HISTORY,
            transient_attachment: at == ALBEDO,
            memory: if at == OUT { id(ALBEDO) } else { id(at) },
            ring: if at == HDR { 2 } else { 1 },
            remembers: (at == HISTORY).then(|| Remembers { of: id(HDR), frames: 1 }),
            usages: Some([Usage::Sampled, Usage::StorageWrite].into_iter().collect()),
        });
    }
}

fn passes(plan: &mut Plan) {
    let why = |queue, after: Option<usize>, start_us, duration_us| PassWhy {
        queue,
        after: after.map(id),
        start_us,
        duration_us,
    };
    let blit = push(
        &mut plan.pass_accesses,
        [
            PlanAccess {
                resource: id(HDR),
                stages: S::BLIT,
                access: A::TRANSFER_READ,
                layout: Layout::TransferSrc,
                mips: [0, 1],
                layers: [0, 1],
            },
            PlanAccess {
                resource: id(HDR),
                stages: S::BLIT,
                access: A::TRANSFER_WRITE,
                layout: Layout::TransferDst,
                mips: [1, 2],
                layers: [0, 1],
            },
        ],
    );
    let none = Span::default();
    let all: [PassRow; 11] = [
        ("gbuffer", Some(0), Some(0), None, Some(0), none, why(QueueWhy::Named, None, 0.0, 120.5)),
        ("lighting", Some(1), Some(1), None, None, none, why(QueueWhy::EarliestFinish, Some(0), 130.5, 350.0)),
        ("fog", Some(2), Some(0), None, Some(1), none, why(QueueWhy::NoOther, Some(0), 120.5, 0.1)),
        ("lighting/mips/hdr.1", None, Some(0), None, None, blit, why(QueueWhy::OnlyCapable, Some(1), 490.5, 3.0)),
        ("tonemap", Some(4), Some(0), None, Some(2), none, why(QueueWhy::Named, Some(3), 493.5, 60.0)),
        ("log", Some(9), None, None, None, none, why(QueueWhy::Named, Some(4), 560.0, 1.0)),
        ("debug", Some(3), None, Some(Culled::Unread(id(VOLUME))), None, none, PassWhy::default()),
        ("debug draw", Some(5), None, Some(Culled::OnlyCulledReaders(id(VOLUME), 3)), None, none, PassWhy::default()),
        ("early", Some(6), None, Some(Culled::Overwritten(id(OUT))), None, none, PassWhy::default()),
        ("idle", Some(7), None, Some(Culled::WritesNothing), None, none, PassWhy::default()),
        ("option", Some(8), None, Some(Culled::OptedOut), None, none, PassWhy::default()),
    ];
    for (name, declared, queue, culled, physical, accesses, why) in all {
        let owner = (name == "lighting/mips/hdr.1").then_some(1);
        let name = plan.pass_names.push(name) as u32;
        let (queue, physical_pass, subpass) = (queue.map(id), physical.map(id), u32::from(physical == Some(2)));
        let flag = (plan.passes.len() == 2).then(|| id(0));
        plan.passes.push(PlanPass {
            name,
            declared,
            owner,
            queue,
            culled,
            physical_pass,
            subpass,
            flag,
            accesses,
            why,
        });
    }
}

fn barriers(
    plan: &mut Plan,
    images: Vec<ImageBarrier>,
    buffers: Vec<BufferBarrier>,
    memory: Vec<MemoryBarrier>,
) -> Barriers {
    Barriers {
        memory: push(&mut plan.memory_barriers, memory),
        buffers: push(&mut plan.buffer_barriers, buffers),
        images: push(&mut plan.image_barriers, images),
        by_region: false,
    }
}

fn attachment(resource: usize, load: Load, store: Store, clear: Option<Clear>) -> Attachment {
    Attachment {
        resource: id(resource),
        mip: 0,
        layers: [0, 1],
        aspects: if resource == DEPTH { Aspects::DEPTH | Aspects::STENCIL } else { Aspects::COLOR },
        load,
        store,
        stencil: None,
        clear,
        resolve_to: None,
        input: false,
    }
}

fn pass_command(plan: &mut Plan, pass: usize, found: &[(usize, Layout)]) -> Command {
    let layouts = found.iter().map(|(resource, layout)| PassLayout {
        resource: id(*resource),
        mips: [0, 1],
        layers: [0, 1],
        aspects: plan.resources[id::<ResourceId>(*resource)].kind.aspects(),
        layout: *layout,
    });
    let layouts = push(&mut plan.layouts, layouts.collect::<Vec<_>>());
    Command::Pass { pass: id(pass), layouts }
}

fn graphics_batch(plan: &mut Plan) -> Vec<Command> {
    let color = (S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_WRITE);
    let tests = S::EARLY_FRAGMENT_TESTS | S::LATE_FRAGMENT_TESTS;
    let depth = (tests, A::DEPTH_STENCIL_ATTACHMENT_READ | A::DEPTH_STENCIL_ATTACHMENT_WRITE);
    let nothing = (S::empty(), A::empty());
    let first = vec![
        image_barrier(
            plan,
            ALBEDO,
            (Layout::Undefined, Layout::ColorAttachment),
            scope((color.0, A::empty()), color),
            Hazard::Alias,
            Some(4),
            0,
        ),
        image_barrier(
            plan,
            DEPTH,
            (Layout::Undefined, Layout::DepthStencilAttachment),
            scope((tests, A::empty()), depth),
            Hazard::FirstUse,
            None,
            0,
        ),
    ];
    let first = barriers(plan, first, vec![], vec![]);
    let attachments = vec![
        attachment(ALBEDO, Load::Clear, Store::Store, Some(Clear::Color([0.0, 0.25, 1e-9, 1.0]))),
        Attachment {
            stencil: Some((Load::Discard, Store::Discard)),
            ..attachment(DEPTH, Load::Clear, Store::Store, Some(Clear::Depth(1.0, Some(255))))
        },
    ];
    let attachments = push(&mut plan.attachments, attachments);
    let draw = pass_command(plan, 0, &[(ALBEDO, Layout::ColorAttachment), (DEPTH, Layout::DepthStencilAttachment)]);
    let mut release = image_barrier(
        plan,
        ALBEDO,
        (Layout::ColorAttachment, Layout::ShaderReadOnly),
        scope(color, nothing),
        Hazard::Release,
        Some(0),
        1,
    );
    release.families = Some([0, 2]);
    let release = barriers(plan, vec![release], vec![], vec![]);
    let read = scope(depth, (S::FRAGMENT_SHADER, A::SHADER_SAMPLED_READ));
    let split = image_barrier(
        plan,
        DEPTH,
        (Layout::DepthStencilAttachment, Layout::DepthStencilReadOnly),
        read,
        Hazard::ReadAfterWrite,
        Some(0),
        2,
    );
    let split = barriers(plan, vec![split], vec![], vec![]);
    let fog = vec![
        Attachment { input: true, ..attachment(ALBEDO, Load::Load, Store::Nothing, None) },
        Attachment {
            resolve_to: Some(id(OUT)),
            mip: 0,
            layers: [2, 3],
            ..attachment(HISTORY, Load::Discard, Store::Discard, Some(Clear::Depth(0.5, None)))
        },
    ];
    let fog = push(&mut plan.attachments, fog);
    let region = Barriers {
        by_region: true,
        ..barriers(
            plan,
            vec![],
            vec![],
            vec![MemoryBarrier {
                scope: scope(color, (S::FRAGMENT_SHADER, A::INPUT_ATTACHMENT_READ)),
                why: Why { hazard: Hazard::ReadAfterWrite, from: Some(id(0)), to: Some(id(2)), resource: id(ALBEDO) },
            }],
        )
    };
    let fog_pass = pass_command(plan, 2, &[]);
    vec![
        Command::Barriers(first),
        Command::BeginRendering { physical_pass: id(0), attachments },
        draw,
        Command::EndRendering,
        Command::Barriers(release),
        Command::SetEvent(id(0), split),
        Command::WaitEvents(id(0), split),
        Command::BeginRendering { physical_pass: id(1), attachments: fog },
        Command::Barriers(region),
        fog_pass,
        Command::EndRendering,
    ]
}

fn rest(plan: &mut Plan) -> [Vec<Command>; 3] {
    let compute = (S::COMPUTE_SHADER, A::SHADER_SAMPLED_READ);
    let mut acquire = image_barrier(
        plan,
        ALBEDO,
        (Layout::ColorAttachment, Layout::ShaderReadOnly),
        scope((S::empty(), A::empty()), compute),
        Hazard::Acquire,
        Some(0),
        1,
    );
    acquire.families = Some([0, 2]);
    let lights = BufferBarrier {
        resource: id(LIGHTS),
        range: [256, 65_000],
        scope: scope((S::ALL_TRANSFER, A::TRANSFER_WRITE), (S::COMPUTE_SHADER, A::SHADER_STORAGE_READ)),
        families: None,
        why: Why { hazard: Hazard::WriteAfterRead, from: None, to: Some(id(1)), resource: id(LIGHTS) },
    };
    let acquire = barriers(plan, vec![acquire], vec![lights], vec![]);
    let light = pass_command(plan, 1, &[(ALBEDO, Layout::ShaderReadOnly), (HDR, Layout::General)]);
    let blit = pass_command(plan, 3, &[(HDR, Layout::TransferSrc)]);
    let tone = pass_command(plan, 4, &[(HDR, Layout::ReadOnly), (OUT, Layout::Attachment)]);
    let host = MemoryBarrier {
        scope: scope((S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_WRITE), (S::HOST, A::HOST_READ)),
        why: Why { hazard: Hazard::Host, from: Some(id(4)), to: Some(id(5)), resource: id(OUT) },
    };
    let host = barriers(plan, vec![], vec![], vec![host]);
    let log = pass_command(plan, 5, &[]);
    [vec![Command::Barriers(acquire), light], vec![blit, tone, Command::Barriers(host)], vec![log]]
}

/// A frame of three queues with everything that a plan can say.
pub fn plan() -> Plan {
    let mut plan = Plan {
        graph: "frame".into(),
        graph_hash: 0x0123_4567_89ab_cdef,
        profile: "discrete".into(),
        ..Plan::default()
    };
    let all = Capabilities::all();
    for (name, family, capabilities) in
        [("graphics", 0, all), ("compute", 2, all - Capabilities::GRAPHICS), ("transfer", 1, Capabilities::TRANSFER)]
    {
        plan.queues.push(PlanQueue { name: name.into(), family, capabilities });
    }
    resources(&mut plan);
    plan.flag_names.push("foggy");
    passes(&mut plan);
    plan.fallbacks.push(PlanFallback { pass: id(2), output: id(HDR), input: id(OUT) });
    let first = graphics_batch(&mut plan);
    let [second, third, fourth] = rest(&mut plan);
    let wait =
        |queue: Option<usize>, value, stages, previous_run| Wait { queue: queue.map(id), value, stages, previous_run };
    let batches = [
        (Some(0), vec![wait(Some(1), 1, S::COLOR_ATTACHMENT_OUTPUT, true)], first, Some(1)),
        (Some(1), vec![wait(Some(0), 1, S::COMPUTE_SHADER, false)], second, Some(1)),
        (Some(0), vec![wait(Some(1), 1, S::BLIT | S::FRAGMENT_SHADER, false)], third, Some(2)),
        (None, vec![wait(Some(0), 2, S::HOST, false), wait(None, 7, S::HOST, true)], fourth, None),
    ];
    for (queue, waits, commands, signal) in batches {
        let waits = push(&mut plan.waits, waits);
        let commands = push(&mut plan.commands, commands);
        plan.batches.push(Batch { queue: queue.map(id), waits, commands, signal });
    }
    let heap = plan.memory.heaps.push(Heap { memory_type: "device".into(), size: 38_797_312 });
    for (resource, offset, size) in [
        (HDR, 0, 22_151_168),
        (DEPTH, 22_151_168, 8_323_072),
        (ALBEDO, 30_474_240, 8_323_072),
        (OUT, 30_474_240, 8_323_072),
    ] {
        plan.memory.placements.push(Placement { resource: id(resource), heap, offset, size });
    }
    plan.memory.total = 38_797_312;
    plan.memory.without_aliasing = 47_120_384;
    plan.memory.lower_bound = 38_797_312;
    let state =
        |queue: Option<usize>, stages, access, layout| EdgeState { queue: queue.map(id), stages, access, layout };
    plan.edges = vec![
        Edge {
            resource: id(LIGHTS),
            mips: [0, 1],
            layers: [0, 1],
            aspects: Aspects::empty(),
            range: [0, 65_000],
            entry: state(Some(1), S::COMPUTE_SHADER, A::SHADER_STORAGE_READ, Layout::Undefined),
            exit: state(None, S::HOST, A::HOST_READ, Layout::Undefined),
        },
        Edge {
            resource: id(HISTORY),
            mips: [0, 1],
            layers: [6, 12],
            aspects: Aspects::COLOR,
            range: [0, 0],
            entry: state(Some(0), S::FRAGMENT_SHADER, A::SHADER_SAMPLED_READ, Layout::ShaderReadOnly),
            exit: state(Some(0), S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_WRITE, Layout::ColorAttachment),
        },
    ];
    let passes = push(&mut plan.subgraph_passes, (0..5).map(id));
    let roots = push(&mut plan.subgraph_roots, [id(OUT)]);
    plan.subgraphs.push(Subgraph { key: 0xfeed, passes, roots });
    let passes = push(&mut plan.subgraph_passes, [id(5)]);
    plan.subgraphs.push(Subgraph { key: u64::MAX, passes, roots: Span::new(1, 1) });
    let whys = [
        UnmergedWhy::Area,
        UnmergedWhy::Depth,
        UnmergedWhy::NotLocal(id(HDR)),
        UnmergedWhy::OtherQueue,
        UnmergedWhy::NothingShared,
        UnmergedWhy::Conditional,
        UnmergedWhy::TooMany,
        UnmergedWhy::Reloaded(id(DEPTH)),
        UnmergedWhy::Ordered,
    ];
    plan.unmerged = whys.map(|reason| Unmerged { first: id(0), second: id(2), reason }).to_vec();
    plan.report = Report {
        bake_us: None,
        barriers: 6,
        submits: 3,
        frame_us: 561.0,
        one_queue_us: Some(700.5),
        bound: Some(FrameBound { us: 412.5, critical_path_us: 412.5, load_us: 88.0 }),
        critical_path: vec![id(0), id(2)],
        policy: "weighted",
        optimal: true,
        memory: Some(rgraph_plan::budget::MemoryBudget::Bytes(77)),
        notes: vec!["pass 'fog' asked for \"async\"\nand got none".into()],
    };
    plan
}

/// Compares with a golden file, or rewrites it where `UPDATE_GOLDEN` is set.
pub fn golden(name: &str, text: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, kept, "{name} changed: look at it, and set UPDATE_GOLDEN=1 if it is right");
}
