//! Plans that differ in one field of one noun. The base has one item per flat array, two of what ids name, and a name
//! more for changes that add one.

use rgraph_ir::access::{Accesses, Aspects, Layout, Load, MemoryDomain, Sharing, Stages, Store, Usage, UsageSet};
use rgraph_ir::budget::MemoryBudget;
use rgraph_ir::feature::Features;
use rgraph_ir::format::Format;
use rgraph_ir::graph::Clear;
use rgraph_ir::id::{Id, IdVec, Names, Span};
use rgraph_ir::plan::*;
use rgraph_ir::profile::Capabilities;

use super::{Changed, changed, id, within};

/// Where the only item of a flat array stands.
const FIRST: Span = Span { start: 0, end: 1 };
const NONE: Span = Span { start: 0, end: 0 };

/// Fields that do not count: how long the bake took.
pub const TIMES: [&str; 7] = [
    "Report.bake_us",
    "BakeTimes.validate",
    "BakeTimes.cull",
    "BakeTimes.schedule",
    "BakeTimes.merge",
    "BakeTimes.alias",
    "BakeTimes.synchronize",
];

fn names<const N: usize>(list: [&str; N]) -> Names {
    let mut names = Names::default();
    list.into_iter().for_each(|name| _ = names.push(name));
    names
}

fn two<I: Id, T: Clone>(one: T) -> IdVec<I, T> {
    IdVec::filled(one, 2)
}

fn why() -> Why {
    Why { hazard: Hazard::ReadAfterWrite, from: Some(id(0)), to: Some(id(0)), resource: id(0) }
}

fn pass() -> PlanPass {
    PlanPass {
        name: 0,
        declared: None,
        owner: Some(0),
        queue: Some(id(0)),
        culled: None,
        physical_pass: Some(id(0)),
        subpass: 1,
        flag: Some(id(0)),
        accesses: FIRST,
        why: PassWhy { queue: QueueWhy::NoGain, after: Some(id(0)), start_us: 1.0, duration_us: 1.0 },
    }
}

fn image(format: Format, size: [u32; 3], counts: [u32; 3], volume: bool, cube: bool) -> PlanKind {
    let [mips, layers, samples] = counts;
    PlanKind::Image { format, size, mips, layers, samples, volume, cube }
}

fn resource() -> PlanResource {
    PlanResource {
        kind: image(Format::Rgba8unorm, [8, 8, 1], [2, 6, 1], false, false),
        bytes: 1024,
        lifetime: Some([id(0), id(0)]),
        aliases: FIRST,
        sharing: Sharing::Exclusive,
        memory_domain: Some(MemoryDomain::Host),
        life: PlanLife::Transient,
        inserted: false,
        transient_attachment: false,
        memory: id(0),
        ring: 2,
        remembers: Some(Remembers { of: id(0), frames: 1 }),
        usages: Some(UsageSet::of(Usage::Sampled)),
    }
}

fn edge() -> Edge {
    let state = EdgeState {
        queue: Some(id(0)),
        stages: Stages::COPY,
        access: Accesses::TRANSFER_READ,
        layout: Layout::General,
    };
    Edge {
        resource: id(0),
        mips: [0, 1],
        layers: [0, 1],
        aspects: Aspects::COLOR,
        range: [0, 1],
        entry: state,
        exit: state,
    }
}

/// The plan that the others differ from.
pub fn base() -> Plan {
    let barriers = Barriers { memory: FIRST, buffers: FIRST, images: FIRST, by_region: false };
    let scope = Scope {
        src_stages: Stages::COPY,
        src_access: Accesses::TRANSFER_WRITE,
        dst_stages: Stages::COPY,
        dst_access: Accesses::TRANSFER_READ,
    };
    Plan {
        graph: "graph".to_owned(),
        graph_hash: 1,
        profile: "profile".to_owned(),
        features: Some(Features::RAY_QUERY),
        queues: two(PlanQueue { name: "queue".to_owned(), family: 0, capabilities: Capabilities::GRAPHICS }),
        pass_names: names(["one", "two", "three"]),
        resource_names: names(["a", "b", "c"]),
        flag_names: names(["x", "y"]),
        passes: two(pass()),
        pass_accesses: vec![PlanAccess {
            resource: id(0),
            stages: Stages::COPY,
            access: Accesses::TRANSFER_READ,
            layout: Layout::General,
            mips: [0, 1],
            layers: [0, 1],
        }],
        resources: two(resource()),
        aliases: vec![id(0)],
        batches: two(Batch { queue: Some(id(0)), waits: FIRST, commands: Span { start: 0, end: 6 }, signal: Some(1) }),
        waits: vec![Wait { queue: Some(id(0)), value: 1, stages: Stages::COPY, previous_run: false }],
        commands: vec![
            Command::Barriers(barriers),
            Command::SetEvent(id(0), barriers),
            Command::WaitEvents(id(0), barriers),
            Command::BeginRendering { physical_pass: id(0), attachments: FIRST },
            Command::Pass { pass: id(0), layouts: FIRST },
            Command::EndRendering,
        ],
        memory_barriers: vec![MemoryBarrier { scope, why: why() }],
        buffer_barriers: vec![BufferBarrier {
            resource: id(0),
            range: [0, 1],
            scope,
            families: Some([0, 1]),
            why: why(),
        }],
        image_barriers: vec![ImageBarrier {
            resource: id(0),
            mips: [0, 1],
            layers: [0, 1],
            aspects: Aspects::COLOR,
            scope,
            old_layout: Layout::General,
            new_layout: Layout::General,
            families: Some([0, 1]),
            why: why(),
        }],
        attachments: vec![Attachment {
            resource: id(0),
            mip: 0,
            layers: [0, 1],
            aspects: Aspects::COLOR,
            load: Load::Clear,
            store: Store::Store,
            stencil: Some((Load::Load, Store::Store)),
            clear: Some(Clear::Color([0.0; 4])),
            resolve_to: Some(id(0)),
            input: false,
        }],
        layouts: vec![PassLayout {
            resource: id(0),
            mips: [0, 1],
            layers: [0, 1],
            aspects: Aspects::COLOR,
            layout: Layout::General,
        }],
        memory: Memory {
            heaps: two(Heap { memory_type: "device".to_owned(), size: 4096 }),
            placements: vec![Placement { resource: id(0), heap: id(0), offset: 0, size: 1024 }],
            total: 1024,
            without_aliasing: 2048,
            lower_bound: 512,
        },
        edges: vec![edge()],
        foreign: vec![ForeignPoint { resource: id(0), batch: id(0), wait: Some(Stages::COPY) }],
        subgraphs: vec![Subgraph { key: 1, passes: FIRST, roots: FIRST }],
        subgraph_passes: vec![id(0)],
        subgraph_roots: vec![id(0)],
        unmerged: vec![Unmerged { first: id(0), second: id(1), reason: UnmergedWhy::Area }],
        sets: vec![PassSet { cpu: false, passes: FIRST }],
        set_passes: vec![id(0)],
        packets: vec![FIRST],
        packet_passes: vec![id(0)],
        copies: vec![PlanCopy { pass: id(0), from: id(0), to: id(0) }],
        fallbacks: vec![PlanFallback { pass: id(0), output: id(0), input: id(0) }],
        report: Report {
            bake_us: Some(BakeTimes::default()),
            barriers: 1,
            submits: 1,
            frame_us: 1.0,
            one_queue_us: Some(1.0),
            bound: Some(FrameBound { us: 1.0, critical_path_us: 1.0, load_us: 1.0 }),
            critical_path: vec![id(0)],
            policy: "declared",
            optimal: false,
            memory: Some(MemoryBudget::Least),
            notes: vec!["note".to_owned()],
        },
    }
}

/// Each field of each noun of a plan, changed. A list is changed by its items.
pub fn all() -> Vec<Changed<Plan>> {
    let base = base();
    let mut all = whole(&base);
    all.extend(passes(&base));
    all.extend(resources(&base));
    all.extend(batches(&base));
    all.extend(barriers(&base));
    all.extend(rendering(&base));
    all.extend(memory(&base));
    all.extend(edges(&base));
    all.extend(parts(&base));
    all.extend(report(&base));
    all
}

fn whole(base: &Plan) -> Vec<Changed<Plan>> {
    changed!(base.clone() => Plan {
        graph: "other".to_owned(),
        graph_hash: 2,
        profile: "other".to_owned(),
        features: None,
        queues: IdVec::filled(base.queues[id(0)].clone(), 3),
        pass_names: names(["other", "two", "three"]),
        resource_names: names(["other", "b", "c"]),
        flag_names: names(["other", "y"]),
        passes: IdVec::filled(pass(), 3),
        pass_accesses: vec![PlanAccess { resource: id(1), ..base.pass_accesses[0] }],
        resources: IdVec::filled(resource(), 3),
        aliases: vec![id(1)],
        batches: IdVec::filled(base.batches[id(0)], 3),
        waits: vec![Wait { value: 2, ..base.waits[0] }],
        commands: base.commands.iter().rev().copied().collect(),
        memory_barriers: vec![MemoryBarrier { scope: Scope::default(), ..base.memory_barriers[0] }],
        buffer_barriers: vec![BufferBarrier { scope: Scope::default(), ..base.buffer_barriers[0] }],
        image_barriers: vec![ImageBarrier { scope: Scope::default(), ..base.image_barriers[0] }],
        attachments: vec![Attachment { mip: 1, ..base.attachments[0] }],
        layouts: vec![PassLayout { mips: [1, 2], ..base.layouts[0] }],
        memory: Memory::default(),
        edges: Vec::new(),
        foreign: Vec::new(),
        subgraphs: Vec::new(),
        subgraph_passes: vec![id(1)],
        subgraph_roots: vec![id(1)],
        unmerged: Vec::new(),
        sets: Vec::new(),
        set_passes: vec![id(1)],
        packets: Vec::new(),
        packet_passes: vec![id(1)],
        copies: Vec::new(),
        fallbacks: Vec::new(),
        report: Report::default(),
    })
}

fn passes(base: &Plan) -> Vec<Changed<Plan>> {
    let queues = changed!(base.queues[id(0)].clone() => PlanQueue {
        name: "other".to_owned(),
        family: 1,
        capabilities: Capabilities::COMPUTE,
    });
    let mut all = within(base, queues, |plan, queue| plan.queues[id(0)] = queue);
    let passes = changed!(pass() => PlanPass {
        name: 1,
        declared: Some(0),
        owner: None,
        queue: Some(id(1)),
        culled: Some(Culled::WritesNothing),
        physical_pass: Some(id(1)),
        subpass: 2,
        flag: Some(id(1)),
        accesses: NONE,
        why: PassWhy::default(),
    });
    all.extend(within(base, passes, |plan, pass| plan.passes[id(0)] = pass));
    let why = changed!(pass().why => PassWhy {
        queue: QueueWhy::FewBatches,
        after: None,
        start_us: 2.0,
        duration_us: 2.0,
    });
    all.extend(within(base, why, |plan, why| plan.passes[id(0)].why = why));
    let culled = vec![
        ("Culled::OptedOut", Culled::OptedOut),
        ("Culled::Unread", Culled::Unread(id(0))),
        ("Culled::Unread.0", Culled::Unread(id(1))),
        ("Culled::Overwritten", Culled::Overwritten(id(0))),
        ("Culled::Overwritten.0", Culled::Overwritten(id(1))),
        ("Culled::OnlyCulledReaders", Culled::OnlyCulledReaders(id(0), 0)),
        ("Culled::OnlyCulledReaders.0", Culled::OnlyCulledReaders(id(1), 0)),
        ("Culled::OnlyCulledReaders.1", Culled::OnlyCulledReaders(id(0), 1)),
    ];
    all.extend(within(base, culled, |plan, culled| plan.passes[id(0)].culled = Some(culled)));
    let accesses = changed!(base.pass_accesses[0] => PlanAccess {
        resource: id(1),
        stages: Stages::BLIT,
        access: Accesses::TRANSFER_WRITE,
        layout: Layout::TransferSrc,
        mips: [1, 2],
        layers: [1, 2],
    });
    // The first is "Plan.pass_accesses" again.
    all.extend(within(base, accesses, |plan, access| plan.pass_accesses[0] = access).into_iter().skip(1));
    all
}

fn resources(base: &Plan) -> Vec<Changed<Plan>> {
    let resources = changed!(resource() => PlanResource {
        kind: PlanKind::Buffer { size: 64 },
        bytes: 2048,
        lifetime: None,
        aliases: NONE,
        sharing: Sharing::Concurrent,
        memory_domain: None,
        life: PlanLife::Root,
        inserted: true,
        transient_attachment: true,
        memory: id(1),
        ring: 3,
        remembers: None,
        usages: None,
    });
    let mut all = within(base, resources, |plan, resource| plan.resources[id(0)] = resource);
    let (format, size, counts) = (Format::Rgba8unorm, [8, 8, 1], [2, 6, 1]);
    let kinds = vec![
        ("PlanKind::Image.format", image(Format::R32float, size, counts, false, false)),
        ("PlanKind::Image.size", image(format, [9, 8, 1], counts, false, false)),
        ("PlanKind::Image.mips", image(format, size, [3, 6, 1], false, false)),
        ("PlanKind::Image.layers", image(format, size, [2, 7, 1], false, false)),
        ("PlanKind::Image.samples", image(format, size, [2, 6, 4], false, false)),
        ("PlanKind::Image.volume", image(format, size, counts, true, false)),
        ("PlanKind::Image.cube", image(format, size, counts, false, true)),
        ("PlanKind::Buffer.size", PlanKind::Buffer { size: 65 }),
    ];
    all.extend(within(base, kinds, |plan, kind| plan.resources[id(0)].kind = kind));
    let lifetimes = vec![("first", [id(1), id(0)]), ("last", [id(0), id(1)])];
    all.extend(within(base, lifetimes, |plan, ends| plan.resources[id(0)].lifetime = Some(ends)));
    let remembers = changed!(Remembers { of: id(0), frames: 1 } => Remembers { of: id(1), frames: 2 });
    all.extend(within(base, remembers, |plan, remembers| plan.resources[id(0)].remembers = Some(remembers)));
    let usages = vec![("another usage", UsageSet::of(Usage::StorageRead)), ("no usage", UsageSet::EMPTY)];
    all.extend(within(base, usages, |plan, usages| plan.resources[id(0)].usages = Some(usages)));
    all
}

fn batches(base: &Plan) -> Vec<Changed<Plan>> {
    let batches = changed!(base.batches[id(0)] => Batch {
        queue: Some(id(1)),
        waits: NONE,
        commands: NONE,
        signal: Some(2),
    });
    let mut all = within(base, batches, |plan, batch| plan.batches[id(0)] = batch);
    let waits = changed!(base.waits[0] => Wait {
        queue: Some(id(1)),
        value: 3,
        stages: Stages::BLIT,
        previous_run: true,
    });
    all.extend(within(base, waits, |plan, wait| plan.waits[0] = wait));
    let barriers = Barriers { memory: FIRST, buffers: FIRST, images: FIRST, by_region: false };
    let calls = changed!(barriers => Barriers { memory: NONE, buffers: NONE, images: NONE, by_region: true });
    let commands =
        [Command::Barriers, |calls| Command::SetEvent(id(0), calls), |calls| Command::WaitEvents(id(0), calls)];
    for (at, command) in commands.into_iter().enumerate() {
        all.extend(within(base, calls.clone(), |plan, calls| plan.commands[at] = command(calls)));
    }
    let commands = vec![
        ("Command::SetEvent.0", (1, Command::SetEvent(id(1), barriers))),
        ("Command::WaitEvents.0", (2, Command::WaitEvents(id(1), barriers))),
        (
            "Command::BeginRendering.physical_pass",
            (3, Command::BeginRendering { physical_pass: id(1), attachments: FIRST }),
        ),
        (
            "Command::BeginRendering.attachments",
            (3, Command::BeginRendering { physical_pass: id(0), attachments: NONE }),
        ),
        ("Command::Pass.pass", (4, Command::Pass { pass: id(1), layouts: FIRST })),
        ("Command::Pass.layouts", (4, Command::Pass { pass: id(0), layouts: NONE })),
        ("Command::EndRendering", (4, Command::EndRendering)),
    ];
    all.extend(within(base, commands, |plan, (at, command)| plan.commands[at] = command));
    all
}

fn barriers(base: &Plan) -> Vec<Changed<Plan>> {
    let why = changed!(why() => Why {
        hazard: Hazard::WriteAfterRead,
        from: Some(id(1)),
        to: Some(id(1)),
        resource: id(1),
    });
    let mut all = within(base, why.clone(), |plan, why| plan.memory_barriers[0].why = why);
    all.extend(within(base, why.clone(), |plan, why| plan.buffer_barriers[0].why = why));
    all.extend(within(base, why, |plan, why| plan.image_barriers[0].why = why));
    let scopes = changed!(base.memory_barriers[0].scope => Scope {
        src_stages: Stages::BLIT,
        src_access: Accesses::HOST_WRITE,
        dst_stages: Stages::BLIT,
        dst_access: Accesses::HOST_READ,
    });
    all.extend(within(base, scopes.clone(), |plan, scope| plan.memory_barriers[0].scope = scope));
    all.extend(within(base, scopes.clone(), |plan, scope| plan.buffer_barriers[0].scope = scope));
    all.extend(within(base, scopes, |plan, scope| plan.image_barriers[0].scope = scope));
    let other = Why { hazard: Hazard::Leave, ..base.memory_barriers[0].why };
    let scope = Scope { src_stages: Stages::HOST, ..base.memory_barriers[0].scope };
    let memory = changed!(base.memory_barriers[0] => MemoryBarrier { scope: scope, why: other });
    all.extend(within(base, memory, |plan, barrier| plan.memory_barriers[0] = barrier));
    let buffers = changed!(base.buffer_barriers[0] => BufferBarrier {
        resource: id(1),
        range: [1, 2],
        scope: scope,
        families: Some([1, 0]),
        why: other,
    });
    all.extend(within(base, buffers, |plan, barrier| plan.buffer_barriers[0] = barrier));
    let images = changed!(base.image_barriers[0] => ImageBarrier {
        resource: id(1),
        mips: [1, 2],
        layers: [1, 2],
        aspects: Aspects::DEPTH,
        scope: scope,
        old_layout: Layout::Undefined,
        new_layout: Layout::ReadOnly,
        families: Some([1, 0]),
        why: other,
    });
    all.extend(within(base, images, |plan, barrier| plan.image_barriers[0] = barrier));
    all
}

fn rendering(base: &Plan) -> Vec<Changed<Plan>> {
    let attachments = changed!(base.attachments[0] => Attachment {
        resource: id(1),
        mip: 2,
        layers: [1, 2],
        aspects: Aspects::DEPTH,
        load: Load::Load,
        store: Store::Discard,
        stencil: Some((Load::Load, Store::Discard)),
        clear: Some(Clear::Color([0.0, 0.0, 0.0, 1.0])),
        resolve_to: Some(id(1)),
        input: true,
    });
    let mut all = within(base, attachments, |plan, attachment| plan.attachments[0] = attachment);
    let clears = vec![
        ("Clear::Depth", Clear::Depth(0.0, None)),
        ("Clear::Depth.0", Clear::Depth(1.0, None)),
        ("Clear::Depth.1", Clear::Depth(0.0, Some(0))),
    ];
    all.extend(within(base, clears, |plan, clear| plan.attachments[0].clear = Some(clear)));
    let layouts = changed!(base.layouts[0] => PassLayout {
        resource: id(1),
        mips: [0, 2],
        layers: [1, 2],
        aspects: Aspects::DEPTH,
        layout: Layout::ReadOnly,
    });
    all.extend(within(base, layouts, |plan, layout| plan.layouts[0] = layout));
    all
}

fn memory(base: &Plan) -> Vec<Changed<Plan>> {
    let memory = changed!(base.memory.clone() => Memory {
        heaps: IdVec::filled(base.memory.heaps[id(0)].clone(), 3),
        placements: Vec::new(),
        total: 1,
        without_aliasing: 1,
        lower_bound: 1,
    });
    let mut all = within(base, memory, |plan, memory| plan.memory = memory);
    let heaps = changed!(base.memory.heaps[id(0)].clone() => Heap { memory_type: "host".to_owned(), size: 1 });
    all.extend(within(base, heaps, |plan, heap| plan.memory.heaps[id(0)] = heap));
    let placements = changed!(base.memory.placements[0] => Placement {
        resource: id(1),
        heap: id(1),
        offset: 1,
        size: 1,
    });
    all.extend(within(base, placements, |plan, placement| plan.memory.placements[0] = placement));
    all
}

fn edges(base: &Plan) -> Vec<Changed<Plan>> {
    let states = changed!(edge().entry => EdgeState {
        queue: None,
        stages: Stages::BLIT,
        access: Accesses::TRANSFER_WRITE,
        layout: Layout::ReadOnly,
    });
    let mut all = within(base, states.clone(), |plan, state| plan.edges[0].entry = state);
    all.extend(within(base, states, |plan, state| plan.edges[0].exit = state));
    let other = EdgeState { queue: Some(id(1)), ..edge().entry };
    let edges = changed!(edge() => Edge {
        resource: id(1),
        mips: [1, 2],
        layers: [1, 2],
        aspects: Aspects::DEPTH,
        range: [1, 2],
        entry: other,
        exit: other,
    });
    all.extend(within(base, edges, |plan, edge| plan.edges[0] = edge));
    let foreign = changed!(base.foreign[0] => ForeignPoint { resource: id(1), batch: id(1), wait: None });
    all.extend(within(base, foreign, |plan, point| plan.foreign[0] = point));
    all
}

fn parts(base: &Plan) -> Vec<Changed<Plan>> {
    let subgraphs = changed!(base.subgraphs[0] => Subgraph { key: 2, passes: NONE, roots: NONE });
    let mut all = within(base, subgraphs, |plan, part| plan.subgraphs[0] = part);
    let unmerged = changed!(base.unmerged[0] => Unmerged {
        first: id(1),
        second: id(0),
        reason: UnmergedWhy::Depth,
    });
    all.extend(within(base, unmerged, |plan, pair| plan.unmerged[0] = pair));
    let sets = changed!(base.sets[0] => PassSet { cpu: true, passes: NONE });
    all.extend(within(base, sets, |plan, set| plan.sets[0] = set));
    let copies = changed!(base.copies[0] => PlanCopy { pass: id(1), from: id(1), to: id(1) });
    all.extend(within(base, copies, |plan, copy| plan.copies[0] = copy));
    let fallbacks = changed!(base.fallbacks[0] => PlanFallback { pass: id(1), output: id(1), input: id(1) });
    all.extend(within(base, fallbacks, |plan, one| plan.fallbacks[0] = one));
    all.extend(within(base, vec![("an empty packet row", NONE)], |plan, row| plan.packets[0] = row));
    all
}

fn report(base: &Plan) -> Vec<Changed<Plan>> {
    let reports = changed!(base.report.clone() => Report {
        bake_us: None,
        barriers: 2,
        submits: 2,
        frame_us: 2.0,
        one_queue_us: None,
        bound: None,
        critical_path: vec![id(1)],
        policy: "overlap",
        optimal: true,
        memory: None,
        notes: Vec::new(),
    });
    let mut all = within(base, reports, |plan, report| plan.report = report);
    let bounds = changed!(base.report.bound.unwrap_or_default() => FrameBound {
        us: 2.0,
        critical_path_us: 2.0,
        load_us: 2.0,
    });
    all.extend(within(base, bounds, |plan, bound| plan.report.bound = Some(bound)));
    let times = changed!(BakeTimes::default() => BakeTimes {
        validate: 1.0,
        cull: 1.0,
        schedule: 1.0,
        merge: 1.0,
        alias: 1.0,
        synchronize: 1.0,
    });
    all.extend(within(base, times, |plan, times| plan.report.bake_us = Some(times)));
    let budgets = vec![("Bytes", MemoryBudget::Bytes(1)), ("Bytes.0", MemoryBudget::Bytes(2))];
    all.extend(within(base, budgets, |plan, budget| plan.report.memory = Some(budget)));
    all
}
