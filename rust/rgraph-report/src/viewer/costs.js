// What the frame costs and what would help: the largest first, each with a link and a fix. All of it is read off the
// plan. How long passes take is measured where a run measured them; which of them overlap is modelled.

const MOST_OF_A_KIND = 6;
// A share of its time that work on another queue must run beside the main queue's.
const PAYS = 0.25;

class Costs {
  constructor() {
    Object.assign(this, { id: 'costs', title: 'Costs', built: false });
  }

  build() {
    this.frame = h('div', { class: 'frame', tabindex: 0, 'aria-label': 'What costs' });
    this.panel = h('section', { class: 'view', id: 'view-costs', role: 'tabpanel', 'aria-labelledby': 'tab-costs' }, this.frame);
    this.panel.hidden = true;
    return this.panel;
  }

  show() {
    // Another frame of a series may have been chosen since.
    if (this.built && this.measured === plan.scales.measured) return;
    Object.assign(this, { built: true, measured: plan.scales.measured });
    const parts = [timingCosts(), criticalCosts(), idleCosts(), asyncCosts(), memoryCosts(), mergeCosts(), barrierCosts()].filter(Boolean);
    this.frame.replaceChildren(h('div', { class: 'costs' }, parts.length ? parts : h('p', { class: 'empty', text: 'Nothing stands out.' })));
  }

  draw() {}

  paint() {}

  locate() {
    return null;
  }

  reveal() {
    return false;
  }

  move() {}
}

// What a pass takes by the best that is known, and the whole frame: measured where a run measured some of them.
function taken(passes) {
  const { measured } = plan.scales;
  if (measured?.took && passes.some((pass) => measured.timed[pass])) {
    return { word: 'measured', frame: measured.took, of: (pass) => (measured.timed[pass] ? measured.end[pass] - measured.begin[pass] : 0) };
  }
  return { word: 'modelled', frame: plan.meta.frame_us, of: (pass) => plan.passes.us[pass] };
}

// A kind of cost: what it is in a sentence, and its lines, each a share of the whole.
function costs(title, sentence, lines) {
  if (!lines.length) return null;
  const most = Math.max(...lines.map((line) => line.size));
  return h('section', { class: 'cost' }, h('h2', { text: title }), h('p', { class: 'note', text: sentence }),
    h('ol', null, lines.slice(0, MOST_OF_A_KIND).map(({ size, text, of }) => {
      const { what, fix } = of();
      const bar = h('span', { class: 'share', 'aria-hidden': 'true' });
      bar.style.width = `${Math.max(1, (size / most) * 100)}%`;
      return h('li', null, h('span', { class: 'sum' }, bar, h('span', { text })), h('div', null, h('p', null, what), fix && h('p', { class: 'note' }, fix)));
    })),
    lines.length > MOST_OF_A_KIND && h('p', { class: 'note', text: `and ${count(lines.length - MOST_OF_A_KIND, 'more', 'more')}` }));
}

// A share as a percentage; small ones with a decimal.
const share = (of) => (of > 0 && of < 0.0005 ? 'less than 0.1 %' : `${(of * 100).toFixed(of < 0.1 ? 1 : 0)} %`);

// What can be typed, and a name in it.
const typed = (text) => h('code', { class: text.length < 46 && 'whole' }, broken(text));
const named = (name) => JSON.stringify(shown(name));

// The word for a queue in declarations.
const queueWord = (queue) => ({ 'hue-1': 'async_compute', 'hue-2': 'transfer' }[hue(queue)] || 'graphics');

// Formats with half the bytes, and where they do.
const SMALLER = {
  rgba32float: ['rgba16float', 'half precision is enough'], rg32float: ['rg16float', 'half precision is enough'], r32float: ['r16float', 'half precision is enough'],
  rgba16float: ['rg11b10ufloat', 'there is no alpha and nothing negative'], depth32float: ['depth16unorm', '16 bits are enough'],
};

// How a pass uses a resource: its first access; and what it draws to: attachments of a kind, `color` or `depth`.
const usageOf = (pass, resource) => plan.text(plan.accesses.usage[[...plan.accessesOf(pass)].find((access) => plan.accesses.resource[access] === resource)] ?? -1).replaceAll(' ', '_');
const attachmentsOf = (pass, kind) => [...plan.accessesOf(pass)].map((access) => plan.accesses.resource[access]).filter((resource) => usageOf(pass, resource).startsWith(kind));
// The passes of the render pass that a pass is in.
const together = (pass) => (plan.passes.physical[pass] < 0 ? [pass] : [...plan.passesOfRender(plan.passes.physical[pass])]);
const inside = (pass) => ` in ${shown(plan.passes.name[pass])}`;

// The layers of a resource that a pass accesses, half open; undefined where it accesses all.
const imageLayers = (pass, resource) => {
  const access = [...plan.accessesOf(pass)].find((one) => plan.accesses.resource[one] === resource);
  const found = /layers? (\d+)(?:\.\.(\d+))?/.exec(access === undefined ? '' : plan.text(plan.accesses.part[access]));
  return found ? [+found[1], found[2] ? +found[2] : +found[1] + 1] : undefined;
};

// What lets two passes merge, by the reason why they did not.
const MERGES = {
  area(first, second) {
    const [one, two] = [first, second].map((pass) => attachmentsOf(pass, 'color')[0] ?? attachmentsOf(pass, 'depth')[0]);
    return one === undefined || two === undefined ? [] : [typed(`image(${named(plan.resources.name[two])}, like=${named(plan.resources.name[one])})`), ' gives both one area.'];
  },
  depth(first, second) {
    const [depth] = together(first).flatMap((pass) => attachmentsOf(pass, 'depth'));
    if (depth === undefined) return [];
    const name = named(plan.resources.name[depth]);
    if (!attachmentsOf(second, 'depth').includes(depth)) return [typed(`pass_.depth(${name})`), `${inside(second)} gives both one depth.`];
    // Layers of one image: one pass can draw to all of them.
    const layers = [...together(first), second].map((pass) => imageLayers(pass, depth)).filter(Boolean);
    const [begin, end] = [Math.min(...layers.map((one) => one[0])), Math.max(...layers.map((one) => one[1]))];
    return layers.length ? [typed(`pass_.depth(${name}, layers=(${begin}, ${end}))`), ' in one pass draws to each of these layers, if its shader chooses the layer.'] : [];
  },
  not_local(first, second, resource) {
    const [usage, name] = [usageOf(second, resource), plan.resources.name[resource]];
    if (usage.startsWith('color') || usage.startsWith('resolve')) return [typed(`image(${named(`${name}_next`)}, like=${named(name)})`), ` as what ${shown(plan.passes.name[second])} draws to.`];
    if (usage.startsWith('storage_write')) return [typed(`pass_.color(${named(name)})`), `${inside(second)}, if each fragment writes its own texel.`];
    return plan.text(plan.resources.format[resource]) !== 'buffer' ? [typed(`pass_.input_attachment(${named(name)})`), `${inside(second)}, if it needs its own texel only.`] : [];
  },
  other_queue(first, second) {
    const waits = [...[...plan.needs(second)].map((flow) => plan.flows.from[flow]), plan.passes.after[second]];
    const other = waits.find((pass) => pass >= 0 && plan.passes.queue[pass] !== plan.passes.queue[second]);
    return other === undefined ? [] : [typed(`add_pass(${named(plan.passes.name[other])}, queue="graphics")`), ' leaves nothing to wait for.'];
  },
  conditional(first, second) {
    const off = [second, ...together(first)].find((pass) => plan.passes.flag[pass] >= 0) ?? second;
    return [typed(`add_pass(${named(plan.passes.name[off])}, conditional=None)`), ' if it need not be switched off.'];
  },
  too_many(first, second) {
    const known = new Set(together(first).flatMap((pass) => attachmentsOf(pass, 'color')));
    const own = attachmentsOf(second, 'color').find((resource) => !known.has(resource));
    return own === undefined ? [] : [typed(`pass_.storage_write(${named(plan.resources.name[own])})`), `${inside(second)} takes no place among them, if its shader can store it.`];
  },
  reloaded(first, second, resource) {
    const kind = usageOf(second, resource).startsWith('depth') ? 'depth' : 'color';
    return [typed(`pass_.${kind}(${named(plan.resources.name[resource])}, load="load")`), `${inside(second)}, if it needs no clear.`];
  },
  ordered: () => ['Leave out ', typed('after='), ' between them.'],
  one_aspect(first, second, resource) {
    const format = plan.text(plan.resources.format[resource]).replace(/-?stencil8$/, '');
    return format ? [typed(`image(${named(plan.resources.name[resource])}, format="${format}")`), ' if nothing needs its stencil.'] : [];
  },
  other_part(first, second, resource) {
    const layers = together(first).map((pass) => imageLayers(pass, resource)).find(Boolean);
    const range = layers ? `, layers=${layers[1] > layers[0] + 1 ? `(${layers[0]}, ${layers[1]})` : layers[0]}` : '';
    return [typed(`pass_.color(${named(plan.resources.name[resource])}${range})`), `${inside(second)}: the same layers, or none of them.`];
  },
};

// The passes that the length of the frame depends on.
function criticalCosts() {
  const { name, queue } = plan.passes;
  if (!plan.critical.size) return null;
  const took = taken([...plan.critical]);
  const path = [...plan.critical].sort((a, b) => took.of(b) - took.of(a));
  const sum = path.reduce((total, pass) => total + took.of(pass), 0);
  const frame = took.frame || sum || 1;
  const lines = path.filter((pass) => took.of(pass) > 0).map((pass) => {
    const size = took.of(pass);
    const others = plan.data.queues.length > 1 && plan.kindOf(pass) === 'compute' && hue(queue[pass]) === 'hue-0';
    const of = () => ({
      what: [link(`p${pass}`), ` takes ${share(size / frame)} of the frame.`],
      fix: others ? ['It is compute on the graphics queue: ', typed(`add_pass(${named(name[pass])}, queue="async_compute")`), ' lets it overlap if what follows does not need it.']
        : [typed(`plan.what_if(drop=${named(name[pass])})`), ' tells what the frame takes without it.'],
    });
    return { size, text: micros(size), of };
  });
  return costs('Critical path', `${count(path.length, 'pass', 'passes')} that nothing overlaps away: ${micros(sum)} of ${micros(frame)}, ${took.word}. A frame gets shorter only where these do.`, lines);
}

// Where a queue stands still before a pass, because that pass waits for another queue.
function idleCosts() {
  const { us, start, queue, after, name } = plan.passes;
  const free = new Map();
  const lines = [];
  for (let pass = 0; pass < plan.live; pass += 1) {
    const before = free.get(queue[pass]);
    const idle = start[pass] - (before === undefined ? 0 : start[before] + us[before]);
    free.set(queue[pass], pass);
    const need = after[pass];
    if (before === undefined || idle < Math.max(0.5, plan.meta.frame_us * 0.002) || need < 0 || queue[need] === queue[pass]) continue;
    const of = () => ({
      what: [`${plan.queueName(queue[pass])} stands still before `, link(`p${pass}`), `: it waits for `, link(`p${need}`), ` on ${plan.queueName(queue[need])}.`],
      fix: us[need] < idle ? [typed(`add_pass(${named(name[need])}, queue="graphics")`), ' runs it without the wait.']
        : [typed(`plan.what_if(queue={${named(name[need])}: "${queueWord(queue[pass])}"})`), ' tells what both on one queue take; or split it, so that the part that is needed ends sooner.'],
    });
    lines.push({ size: idle, text: micros(idle), of });
  }
  return costs('Waits between queues', 'Time in which a queue has work that it may not begin, modelled.', lines.sort((a, b) => b.size - a.size));
}

// Work given to another queue that nothing of the main queue overlaps: its waits cost more than it hides.
function asyncCosts() {
  const { passes, batches, waits } = plan;
  const scale = plan.scales.measured || plan.scales.modelled;
  if (!scale) return null;
  const { begin, end } = scale;
  const main = [...Array(plan.live).keys()].filter((pass) => passes.queue[pass] >= 0 && hue(passes.queue[pass]) === 'hue-0').sort((a, b) => begin[a] - begin[b]);
  // How long passes of the main queue run beside a pass; on one queue they begin in the order in which they end.
  const overlap = (pass) => {
    let [low, high] = [0, main.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (end[main[middle]] <= begin[pass]) low = middle + 1;
      else high = middle;
    }
    let sum = 0;
    for (; low < main.length && begin[main[low]] < end[pass]; low += 1) sum += Math.min(end[pass], end[main[low]]) - Math.max(begin[pass], begin[main[low]]);
    return sum;
  };
  const lines = [];
  batches.queue.forEach((queue, batch) => {
    if (queue < 0 || hue(queue) === 'hue-0') return;
    const inside = [...plan.passesIn(batch)].filter((pass) => !scale.timed || scale.timed[pass]);
    const sum = (list, of) => list.reduce((total, one) => total + of(one), 0);
    const took = sum(inside, (pass) => end[pass] - begin[pass]);
    const beside = sum(inside, overlap);
    if (!(took > 0) || beside > took * PAYS) return;
    const signalled = waits.source.reduce((total, source) => total + (source === batch ? 1 : 0), 0);
    const of = () => ({
      what: [...links(inside.map((pass) => `p${pass}`)), ` on ${plan.queueName(queue)}: ${micros(beside)} of ${micros(took)} run beside other work, for ${count(plan.waitsOf(batch).length + signalled, 'wait')}.`],
      fix: [typed(`add_pass(${named(passes.name[inside[0]])}, queue="graphics")`), inside.length > 1 ? ` and the same for ${inside.length - 1} more: no waits.` : ' runs it without waits.'],
    });
    lines.push({ size: took - beside, text: micros(took - beside), of });
  });
  return costs('Async that does not pay', `Passes of another queue while the graphics queue has nothing to do, ${scale.id}.`, lines.sort((a, b) => b.size - a.size));
}

// A run that timed each pass alone: what could not overlap for it.
function timingCosts() {
  if (!payload.measured?.isolated) return null;
  const { measured } = plan.scales;
  const took = (pass) => (measured.timed[pass] ? measured.end[pass] - measured.begin[pass] : 0);
  const fix = [typed('device.run(graph, measure="batches")'), ' times them together, as they run without timing.'];
  const lines = [];
  // Passes of a submission between two barrier calls may overlap.
  for (let batch = 0; batch < plan.batches.queue.length; batch += 1) {
    let run = [];
    for (const pass of [...plan.passesIn(batch), -1]) {
      if (pass >= 0 && !plan.callsBefore(pass).length) {
        run.push(pass);
        continue;
      }
      const apart = run;
      const size = apart.reduce((sum, one) => sum + took(one), 0) - Math.max(0, ...apart.map(took));
      if (size > 0) lines.push({ size, text: micros(size), of: () => ({ what: [...links(apart.map((one) => `p${one}`)), ' have no barrier between them, and could not overlap.'], fix }) });
      run = [pass];
    }
  }
  return costs('Timing that isolates passes', `Each pass was timed alone: ${micros(measured.took)} is more than the frame takes without. Each line is the most that overlap could hide.`, lines.sort((a, b) => b.size - a.size));
}

// Bytes over the bound, and the resources that hold most of the peak alone.
function memoryCosts() {
  const { meta, resources } = plan;
  if (!meta.memory) return null;
  const { peak } = frameMemory();
  const alive = [...resources.placed.keys()].filter((at) => resources.placed[at] > 0 && resources.first[at] >= 0 && resources.first[at] <= peak && (resources.root[at] || resources.last[at] >= peak));
  const lines = alive.sort((a, b) => resources.placed[b] - resources.placed[a]).map((at) => {
    const why = plan.text(resources.why_alone[at]);
    const smaller = SMALLER[plan.text(resources.format[at])];
    const of = () => ({
      what: [link(`r${at}`), ` is alive at the peak, `, link(`p${peak}`), `: ${plan.text(resources.format[at])}, ${plan.text(resources.shape[at])}.`],
      fix: [why ? `It shares its bytes with nothing: ${why}.` : `It shares its bytes with ${count(plan.sharers(at).length, 'other')}.`,
        ...(smaller ? [' ', typed(`image(${named(resources.name[at])}, format="${smaller[0]}")`), ` halves it where ${smaller[1]}.`] : [])],
    });
    return { size: resources.placed[at], text: bytes(resources.placed[at]), of };
  });
  const over = meta.memory - meta.memory_bound;
  const [top, below] = over > 0 ? atFault() : [-1, -1];
  if (top >= 0) {
    const of = () => ({
      what: [link(`r${top}`), ' ends where the heap ends', ...(below >= 0 ? [': it stands above ', link(`r${below}`), ', which is alive beside it.'] : ['.'])],
      fix: [typed('graph.bake(profile, effort=4)'), ' searches longer for placements.'],
    });
    lines.unshift({ size: over, text: bytes(over), of });
  }
  const sentence = over > 0 ? `${bytes(meta.memory)} needed, ${bytes(over)} over the bound that no placement beats.` : `${bytes(meta.memory)} needed, which no placement beats: only smaller or shorter-lived resources help.`;
  return costs('Memory at the peak', sentence, lines);
}

// The two resources that the bytes over the bound are due to: the one that ends last in its heap, and the one below it.
function atFault() {
  const { resources } = plan;
  const end = (at) => resources.offset[at] + resources.placed[at];
  const placed = [...resources.placed.keys()].filter((at) => resources.placed[at] > 0 && resources.first[at] >= 0);
  const top = placed.reduce((best, at) => (best < 0 || end(at) > end(best) ? at : best), -1);
  const until = (at) => (resources.root[at] ? plan.live : resources.last[at]);
  const below = placed.find((at) => top >= 0 && resources.heap[at] === resources.heap[top] && end(at) === resources.offset[top]
    && resources.first[at] <= until(top) && until(at) >= resources.first[top]);
  return [top, below ?? -1];
}

// Neighbours that could be one render pass but are not; those that share no attachment would gain nothing.
function mergeCosts() {
  const pairs = plan.data.unmerged.filter(([, , , reason]) => reason !== 'nothing_shared');
  const took = taken(pairs.flatMap(([first, second]) => [first, second]));
  const lines = pairs.map(([first, second, why, reason, resource]) => ({
    size: Math.max(took.of(first) + took.of(second), 0.001),
    text: micros(took.of(first) + took.of(second)),
    of: () => ({ what: [link(`p${first}`), ' and ', link(`p${second}`), ' are two render passes.'], fix: [`${why[0].toUpperCase()}${why.slice(1)}. `, ...(MERGES[reason]?.(first, second, resource) || [])] }),
  }));
  return costs('Passes that did not merge', `Tiles are stored and loaded again between them; what both take, ${took.word}.`, lines.sort((a, b) => b.size - a.size));
}

// Barriers whose producer ends just before their consumer: nothing hides them. One for each consumer, the largest.
function barrierCosts() {
  const { barriers, resources, passes } = plan;
  // A plan of that policy has no use for the advice to take it.
  const advice = plan.meta.policy === 'overlap' ? [' The overlap schedule found no other pass for the time between.']
    : [' A pass that needs neither hides it: ', typed('graph.bake(profile, policy="overlap")'), ' puts one between them where there is one.'];
  const largest = new Map();
  const before = new Int32Array(plan.live).fill(-1);
  for (let batch = 0; batch < plan.batches.queue.length; batch += 1) {
    const inside = plan.passesIn(batch);
    for (let at = 1; at < inside.length; at += 1) before[inside[at]] = inside[at - 1];
  }
  barriers.from.forEach((from, at) => {
    const to = barriers.to[at];
    if (from < 0 || to < 0 || plan.endOf(at) >= 0 || before[to] !== from || passes.queue[to] < 0) return;
    const size = resources.bytes[barriers.resource[at] < 0 ? barriers.of[at] : barriers.resource[at]];
    if (size <= (largest.get(to)?.size ?? -1)) return;
    const of = () => ({ what: [link(`b${at}`), ' stands between neighbours ', link(`p${from}`), ' and ', link(`p${to}`), '.'],
      fix: [`${say.why(at)}.`, ...advice] });
    largest.set(to, { size, text: bytes(size), of });
  });
  return costs('Barriers with nothing to hide them', 'Their producer runs just before their consumer, so the queue drains; by bytes.', [...largest.values()].sort((a, b) => b.size - a.size));
}
