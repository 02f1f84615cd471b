// A plan as the page holds it: the columns that the file carries, and indices into them. Things have keys: `p3` is a
// pass, `r3` a resource, `a3` an access, `b3` a barrier, `c3` a barrier call, `s3` a submission, `w3` a wait.

const READS = 1;
const WRITES = 2;

const HAZARD_KINDS = {
  first_use: 'layout',
  layout: 'layout',
  leave: 'layout',
  release: 'ownership',
  acquire: 'ownership',
  alias: 'alias',
};

function readPlan(data) {
  const { passes, resources, accesses, barriers, calls, batches, waits, flows, texts } = data;
  const passCount = passes.name.length;
  const resourceCount = resources.name.length;
  const live = passes.culled.reduce((sum, why) => sum + (why < 0 ? 1 : 0), 0);
  const plan = { ...data, data, passCount, resourceCount, live };

  plan.text = (at) => (at < 0 ? '' : texts[at]);
  plan.isCulled = (pass) => passes.culled[pass] >= 0;
  plan.queueName = (queue) => (queue < 0 ? 'host' : data.queues[queue].name);
  plan.accessesOf = grouped(accesses.pass, passCount).of;
  plan.accessesTo = grouped(accesses.resource, resourceCount).of;
  plan.needs = grouped(flows.to, passCount).of;
  plan.feeds = grouped(flows.from, passCount).of;
  plan.waitsOf = grouped(waits.batch, batches.queue.length).of;
  plan.passesIn = grouped(passes.batch, batches.queue.length).of;
  plan.callsIn = grouped(calls.batch, batches.queue.length).of;
  plan.callsBefore = grouped(calls.before, passCount).of;
  plan.barriersTo = grouped(barriers.to, passCount).of;
  plan.barriersOn = grouped(barriers.resource.map((own, at) => (own < 0 ? barriers.of[at] : own)), resourceCount).of;

  const most = passes.physical.reduce((top, at) => Math.max(top, at), -1) + 1;
  plan.passesOfRender = grouped(passes.physical, most).of;
  plan.attachments = new Map(data.rendering);

  const callOf = new Int32Array(barriers.resource.length).fill(-1);
  const endOf = new Int32Array(barriers.resource.length).fill(-1);
  calls.first.forEach((first, call) => {
    const into = calls.kind[call] === 2 ? endOf : callOf;
    into.fill(call, first, first + calls.count[call]);
  });
  plan.callOf = (barrier) => callOf[barrier];
  plan.endOf = (barrier) => endOf[barrier];

  const sharing = Array.from({ length: resourceCount }, () => []);
  for (const [one, other] of data.aliases) {
    sharing[one].push(other);
    sharing[other].push(one);
  }
  plan.sharers = (resource) => sharing[resource];
  plan.group = groups(data.aliases, resourceCount);

  plan.unmergedOf = new Map();
  data.unmerged.forEach(([first, second], at) => {
    for (const pass of [first, second]) {
      if (!plan.unmergedOf.has(pass)) plan.unmergedOf.set(pass, []);
      plan.unmergedOf.get(pass).push(at);
    }
  });

  const positions = (names) => {
    const map = new Map();
    names.forEach((name, at) => map.has(name) || map.set(name, at));
    return map;
  };
  plan.passNamed = positions(passes.name);
  plan.resourceNamed = positions(resources.name);

  plan.lanes = data.queues.map((_, at) => at);
  if (passes.queue.some((queue, pass) => queue < 0 && !plan.isCulled(pass))) plan.lanes.push(-1);
  plan.barrierKind = (barrier) => HAZARD_KINDS[plan.text(barriers.hazard[barrier])] || 'memory';
  plan.callKind = (call) => {
    const kinds = new Set();
    for (let at = 0; at < calls.count[call]; at += 1) kinds.add(plan.barrierKind(calls.first[call] + at));
    return ['ownership', 'alias', 'memory', 'layout'].find((kind) => kinds.has(kind)) || 'memory';
  };
  plan.modelled = passes.us.some((us) => us > 0);
  plan.livesOn = (scale) => livesOn(plan, scale);
  plan.passesWithin = (scale, from, to) => passesWithin(plan, scale, from, to);
  plan.passAt = (scale, value) => passAt(plan, scale, value);
  const kinds = [];
  plan.kindOf = (pass) => (kinds[pass] ??= kindOf(plan, pass));
  plan.scales = { order: orderScale(plan) };
  if (plan.modelled) plan.scales.modelled = modelScale(plan);
  plan.critical = new Set(plan.modelled ? criticalPath(plan) : []);
  return plan;
}

// The component that each resource is in when those that share bytes are joined; -1 where it shares none.
function groups(pairs, length) {
  const parent = Int32Array.from({ length }, (_, at) => at);
  const root = (at) => {
    while (parent[at] !== at) {
      parent[at] = parent[parent[at]];
      at = parent[at];
    }
    return at;
  };
  for (const [one, other] of pairs) parent[root(one)] = root(other);
  const shared = new Set(pairs.flat());
  const names = new Map();
  return Int32Array.from({ length }, (_, at) => {
    if (!shared.has(at)) return -1;
    const top = root(at);
    if (!names.has(top)) names.set(top, names.size);
    return names.get(top);
  });
}

// One column a pass: begin and end of each pass, and how far the axis goes.
function orderScale(plan) {
  const begin = Float64Array.from({ length: plan.passCount }, (_, pass) => (plan.isCulled(pass) ? NaN : pass));
  return { id: 'order', begin, end: begin.map((at) => at + 1), extent: Math.max(1, plan.live) };
}

function modelScale(plan) {
  const { start, us } = plan.passes;
  const begin = Float64Array.from(start, (at, pass) => (plan.isCulled(pass) ? NaN : at));
  const end = begin.map((at, pass) => at + us[pass]);
  const last = end.reduce((top, at) => (at > top ? at : top), 0);
  return { id: 'modelled', begin, end, extent: Math.max(last, plan.meta.frame_us) || 1 };
}

// Times of a run. Passes that it did not measure take no time at the end of what ran before them on their queue; `timed`
// tells them apart.
function measuredScale(plan, measured) {
  const begin = new Float64Array(plan.passCount).fill(NaN);
  const end = new Float64Array(plan.passCount).fill(NaN);
  const group = new Uint32Array(plan.passCount).fill(1);
  const timed = new Uint8Array(plan.passCount);
  let extent = 0;
  // Passes on the host stand among what the host did.
  const host = measured.calibrated ? measured.host.filter(({ name }) => {
    const pass = plan.passNamed.get(name);
    return pass !== undefined && plan.passes.queue[pass] < 0;
  }) : [];
  for (const span of measured.passes.concat(host)) {
    const pass = plan.passNamed.get(span.name);
    if (pass === undefined || plan.isCulled(pass)) continue;
    begin[pass] = span.begin_us;
    end[pass] = Math.max(span.begin_us, span.end_us);
    group[pass] = span.group || 1;
    timed[pass] = 1;
    extent = Math.max(extent, end[pass]);
  }
  const shown = [Math.min(0, ...measured.passes.map((span) => span.begin_us)), extent || 1];
  const start = measured.host.reduce((low, span) => Math.min(low, span.begin_us), shown[0]);
  const last = measured.host.reduce((top, span) => Math.max(top, span.end_us), shown[1]);
  const free = new Map();
  for (let pass = 0; pass < plan.live; pass += 1) {
    const queue = plan.passes.queue[pass];
    if (!timed[pass]) begin[pass] = end[pass] = free.get(queue) ?? shown[0];
    free.set(queue, Math.max(end[pass], free.get(queue) ?? end[pass]));
  }
  // The host may have begun long before: what the GPU did is what is shown first.
  return { id: 'measured', begin, end, group, timed, start, extent: last, shown, took: extent };
}

// When each resource is alive on a scale: from the first of its passes to the last. NaN where nothing uses it.
function livesOn(plan, scale) {
  if (scale.lives) return scale.lives;
  const { first, last } = plan.resources;
  const begin = new Float64Array(plan.resourceCount).fill(NaN);
  const end = new Float64Array(plan.resourceCount).fill(NaN);
  for (let resource = 0; resource < plan.resourceCount; resource += 1) {
    if (first[resource] < 0) continue;
    begin[resource] = Math.min(scale.begin[first[resource]], scale.begin[last[resource]]);
    end[resource] = Math.max(scale.end[first[resource]], scale.end[last[resource]]);
    if (scale.id === 'order') continue;
    for (const access of plan.accessesTo(resource)) {
      const pass = plan.accesses.pass[access];
      if (plan.isCulled(pass)) continue;
      begin[resource] = Math.min(begin[resource], scale.begin[pass]);
      end[resource] = Math.max(end[resource], scale.end[pass]);
    }
  }
  scale.lives = { begin, end };
  return scale.lives;
}

// The first and the last pass within a range of a scale; null if none.
function passesWithin(plan, scale, from, to) {
  let [first, last] = [-1, -1];
  for (let pass = 0; pass < plan.live; pass += 1) {
    if (scale.end[pass] < from || scale.begin[pass] > to) continue;
    if (first < 0) first = pass;
    last = pass;
  }
  return first < 0 ? null : [first, last];
}

// The pass that runs at a place of a scale, the one that began last if there are several; -1 if none does.
function passAt(plan, scale, value) {
  let best = -1;
  for (let pass = 0; pass < plan.live; pass += 1) {
    if (scale.begin[pass] <= value && scale.end[pass] > value && (best < 0 || scale.begin[pass] >= scale.begin[best])) best = pass;
  }
  return best;
}

// What a pass does: `raster`, `compute`, `rays`, `copy`, `host` or `other`, by its stages.
function kindOf(plan, pass) {
  const { passes, accesses } = plan;
  if (passes.physical[pass] >= 0) return 'raster';
  if (passes.queue[pass] < 0 && !plan.isCulled(pass)) return 'host';
  const stages = [...plan.accessesOf(pass)].map((access) => plan.text(accesses.stages[access])).join(' ');
  if (/ray|acceleration/.test(stages)) return 'rays';
  if (/compute/.test(stages)) return 'compute';
  return /transfer|copy|blit|clear|resolve/.test(stages) ? 'copy' : 'other';
}

// The passes that the length of the modelled frame depends on, last first: before each the one that it had to wait for,
// which is what it needs or what ran before it on its queue, if that ended later.
function criticalPath(plan) {
  const { start, us, after, queue } = plan.passes;
  const end = (pass) => start[pass] + us[pass];
  const before = new Int32Array(plan.live).fill(-1);
  const latest = new Map();
  let last = -1;
  for (let pass = 0; pass < plan.live; pass += 1) {
    before[pass] = latest.get(queue[pass]) ?? -1;
    latest.set(queue[pass], pass);
    if (last < 0 || end(pass) >= end(last)) last = pass;
  }
  const path = [];
  for (let pass = last; pass >= 0;) {
    path.push(pass);
    const [need, free] = [after[pass], before[pass]];
    const next = need < 0 || (free >= 0 && end(free) > end(need)) ? free : need;
    pass = next >= 0 && next < pass && end(next) > 0 ? next : -1;
  }
  return path;
}

// Where a barrier call stands on a scale: where the pass behind it begins, else where the one before it ends.
function callAt(plan, scale, call) {
  const { before, after } = plan.calls;
  if (before[call] >= 0) return scale.begin[before[call]];
  return after[call] >= 0 ? scale.end[after[call]] : 0;
}

// Where a barrier stands among the columns of the order.
function barrierAt(plan, barrier, scale = plan.scales.order) {
  const call = plan.callOf(barrier);
  return call < 0 ? 0 : callAt(plan, scale, call);
}

// Bytes alive at each column, and where they are most.
function memoryCurve(plan) {
  const change = new Float64Array(plan.live + 1);
  plan.resources.placed.forEach((size, resource) => {
    const first = plan.resources.first[resource];
    if (size < 0 || first < 0) return;
    const kept = plan.resources.root[resource];
    change[first] += size;
    change[kept ? plan.live : plan.resources.last[resource] + 1] -= size;
  });
  const alive = new Float64Array(plan.live);
  let sum = 0;
  let peak = 0;
  for (let slot = 0; slot < plan.live; slot += 1) {
    sum += change[slot];
    alive[slot] = sum;
    if (sum > alive[peak]) peak = slot;
  }
  return { alive, peak };
}
