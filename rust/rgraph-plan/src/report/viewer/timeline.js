// Passes by queue: boxes in time or in order, submissions as brackets above, barriers as ticks below, waits as arrows.

const LANE = { bracket: 18, ticks: 18, gap: 16 };
// Narrower brackets of submissions are left out, in pixels.
const BRACKET = 12;
// Rows of culled passes, at most.
const CULLED_ROWS = 8;

class Timeline extends AxisView {
  constructor() {
    const scale = plan.scales.measured || plan.scales.modelled || plan.scales.order;
    super('timeline', 'Timeline', 'Passes by queue', scale);
  }

  start() {
    const names = { order: 'Order', modelled: 'Modelled time', measured: 'Measured time' };
    const known = Object.keys(names).filter((id) => plan.scales[id]);
    this.choice = choice('Axis', known.map((id) => [id, names[id]]), this.axis.scale.id, (id) => {
      this.axis.use(plan.scales[id]);
      this.cached = null;
      this.moved();
    });
    this.tools.append(this.choice, legend([
      ['tick memory', 'memory'], ['tick layout', 'layout'], ['tick ownership', 'ownership'], ['tick alias', 'alias'],
    ], 'Barriers'));
    this.frame.append(this.over);
  }

  // Lanes with their cells on the present scale.
  get lanes() {
    if (this.cached) return this.cached;
    const { scale } = this.axis;
    this.reach = this.reachOf(scale);
    const lanes = plan.lanes.map((queue) => this.lane(queue, scale)).filter((lane) => lane.cells.length);
    if (scale.id === 'measured' && payload.measured.host.length) lanes.push(this.hostLane());
    if (state.culled && plan.live < plan.passCount) lanes.push(this.culledLane(scale));
    // Boxes grow where there is room for it.
    const subs = lanes.reduce((sum, lane) => sum + (lane.queue === -2 ? 0.6 : lane.subs), 0);
    const room = this.room - 50 - lanes.length * (LANE.bracket + LANE.ticks + LANE.gap);
    this.box = Math.round(clamp(room / Math.max(1, subs), 38, 76));
    let top = 34;
    for (const lane of lanes) {
      lane.kinds = { submission: [], pass: [], host: [], call: [], wait: [], culled: [] };
      for (const cell of lane.cells) lane.kinds[cell.kind].push(cell);
      lane.top = top;
      lane.height = LANE.bracket + lane.subs * (this.box + 2) + (lane.plain ? 0 : LANE.ticks) + LANE.gap;
      top += lane.height;
    }
    this.height = top;
    this.cached = lanes;
    this.rows = lanes.length;
    return lanes;
  }

  lane(queue, scale) {
    const cells = [];
    const { passes, batches, calls, waits } = plan;
    const ends = [];
    for (let pass = 0; pass < plan.live; pass += 1) {
      if (passes.queue[pass] !== queue || Number.isNaN(scale.begin[pass])) continue;
      const [at, end] = [scale.begin[pass], scale.end[pass]];
      // Measured passes of one queue may overlap: each takes the first free row.
      const slack = scale.extent * 1e-6;
      let sub = ends.findIndex((free) => free <= at + slack);
      if (sub < 0) sub = ends.length < 4 ? ends.length : 3;
      ends[sub] = end;
      cells.push({ key: `p${pass}`, at, end, kind: 'pass', id: pass, sub });
    }
    batches.queue.forEach((of, batch) => {
      if (of !== queue || batches.first[batch] < 0) return;
      const [at, end] = [this.reach.begin[batch], this.reach.end[batch]];
      if (!(end >= at)) return;
      cells.push({ key: `s${batch}`, at, end, kind: 'submission', id: batch });
      for (const wait of plan.waitsOf(batch)) cells.push({ key: `w${wait}`, at, end: at, kind: 'wait', id: wait });
    });
    calls.batch.forEach((batch, call) => {
      const at = callAt(plan, scale, call);
      if (batches.queue[batch] === queue && !Number.isNaN(at)) cells.push({ key: `c${call}`, at, end: at, kind: 'call', id: call });
    });
    const order = { submission: 0, wait: 1, call: 2, pass: 3 };
    cells.sort((a, b) => a.at - b.at || order[a.kind] - order[b.kind] || a.id - b.id);
    const of = queue < 0 ? 'passes on the CPU' : plan.data.queues[queue].capabilities.join(', ');
    return { queue, name: plan.queueName(queue), note: of, cells, subs: Math.max(1, ends.length) };
  }

  hostLane() {
    const cells = payload.measured.host.map((span, at) => ({ key: `h${at}`, at: span.begin_us, end: span.end_us, kind: 'host', id: at }));
    cells.sort((a, b) => a.at - b.at || b.end - a.end);
    const ends = [];
    for (const cell of cells) {
      cell.sub = ends.findIndex((end) => end <= cell.at);
      if (cell.sub < 0) cell.sub = ends.length < 4 ? ends.length : 3;
      ends[cell.sub] = cell.end;
    }
    const note = payload.measured.calibrated ? 'what the CPU did' : 'CPU, on its own clock';
    return { queue: -1, name: 'host work', note, cells, subs: ends.length, plain: true };
  }

  // Culled passes stand where the pass declared before them ends.
  culledLane(scale) {
    const cells = [];
    let at = 0;
    for (const pass of plan.data.shown) {
      if (!plan.isCulled(pass)) at = Number.isNaN(scale.end[pass]) ? at : scale.end[pass];
      else cells.push({ key: `p${pass}`, at, end: at, kind: 'culled', id: pass, sub: 0 });
    }
    return { queue: -2, name: 'culled', note: count(cells.length, 'pass', 'passes'), cells, subs: 1, plain: true };
  }

  cells(row) {
    return this.lanes[row].cells;
  }

  // A resource is where it is first used, a barrier where its call is.
  locate(key) {
    const at = Number(key.slice(1));
    const sought = key[0] === 'b' ? `c${plan.callOf(at)}` : userOf(key) || key;
    for (let row = 0; row < this.lanes.length; row += 1) {
      const cell = this.lanes[row].cells.find((one) => one.key === sought);
      if (cell) return [row, cell];
    }
    return null;
  }

  bring(row, cell) {
    this.axis.reveal(cell.at, cell.end, cell.kind === 'pass' ? 8 : 0);
    if (cell.kind === 'call' || cell.kind === 'culled') this.apart(row, cell);
    const lane = this.lanes[row];
    this.scrollTo(lane.top, lane.height, 30);
    strip.redraw();
  }

  // Magnifies until neighbours of one kind are drawn apart.
  apart(row, cell) {
    const same = this.lanes[row].cells.filter((other) => other.kind === cell.kind && other.at !== cell.at);
    const gap = same.reduce((least, other) => Math.min(least, Math.abs(other.at - cell.at)), Infinity);
    const wanted = (gap * this.axis.width) / 12;
    if (gap < Infinity && this.axis.to - this.axis.from > wanted) {
      this.axis.show(cell.at - wanted / 2, cell.at + wanted / 2);
    }
  }

  magnify(row, key) {
    if (key === 'md') return set('view', 'diagram');
    const [from, to] = key.slice(2).split('-').map(Number);
    return this.zoomTo(this.axis.scale.begin[from], this.axis.scale.end[to]);
  }

  covers(id, lit) {
    if (split(id)[1] === 'md') return true;
    const [from, to] = split(id)[1].slice(2).split('-').map(Number);
    for (const key of lit) {
      const at = Number(key.slice(1));
      if (key[0] === 'p' && at >= from && at <= to) return true;
    }
    return false;
  }

  draw() {
    this.measure();
    const { axis, names, lanes } = this;
    this.begin(lanes.length);
    this.drawRuler();
    this.grid.style.height = `${this.height}px`;
    this.grid.classList.toggle('tall', this.box >= 56);
    lanes.forEach((lane, row) => {
      lane.header ||= h('div', { role: 'rowheader', class: 'name' },
        h('span', { class: 'strong', text: shown(lane.name) }), h('span', { class: 'note', text: lane.note }));
      const cells = [];
      for (const kind of ['submission', 'pass', 'host', 'call', 'wait']) {
        const small = kind === 'call' || kind === 'wait';
        for (const run of small ? joined(axis, lane.kinds[kind], 7) : joined(axis, lane.kinds[kind], CLOSE, 56)) {
          cells.push(...this.mark(row, lane, kind, lead(this, row, run)));
        }
      }
      if (lane.queue === -2) cells.push(...this.drawCulled(row, lane));
      place(lane.header, 0, 0, names - 8, lane.height);
      cells.sort((a, b) => a.spot.left - b.spot.left);
      this.row(row, lane.top, lane.height, [lane.header, ...cells]);
    });
    this.arrows();
    this.end();
  }

  mark(row, lane, kind, run) {
    const { axis, names } = this;
    const [{ id, key, sub }] = run.cells;
    const left = names + Math.max(run.left, -2);
    const width = Math.max(2, Math.min(run.right, axis.width + 2) - Math.max(run.left, -2));
    const many = run.cells.length > 1;
    const top = LANE.bracket + (sub || 0) * (this.box + 2);
    const below = LANE.bracket + lane.subs * (this.box + 2);
    if (kind === 'submission') {
      if (many || (width < BRACKET && this.at !== `${row}:${key}`)) return [];
      const label = width > 66 ? `${lane.queue < 0 ? 'host' : 'submit'} ${id}` : width > 24 ? String(id) : '';
      return [place(this.cell(row, key, `bracket|${label}`, () => say.key(key), () => label), left, 3, width, LANE.bracket - 5)];
    }
    if (kind === 'pass' && many) {
      const ids = run.cells.map((cell) => cell.id);
      const [from, to] = [Math.min(...ids), Math.max(...ids)];
      const name = () => `${count(ids.length, 'pass', 'passes')} from ${shown(plan.passes.name[from])} to `
        + `${shown(plan.passes.name[to])}: magnify`;
      const text = width > 18 ? number(ids.length) : '';
      const box = this.cell(row, `mp${from}-${to}`, `box many ${hue(lane.queue)}|${text}`, name, () => h('span', { class: 'label', text }));
      return [place(box, left, top, Math.max(width, CLOSE), this.box)];
    }
    if (kind === 'pass') {
      const time = axis.scale.id === 'order' ? plan.passes.us[id] : axis.scale.end[id] - axis.scale.begin[id];
      const named = width > 22;
      const timed = width > 64 && time > 0;
      const look = `box ${hue(lane.queue)}${mergedClass(id)}|${named}${timed}`;
      const box = this.cell(row, key, look, () => say.key(key), () => {
        const sign = changes.pass.get(plan.passes.name[id]);
        return [findings.byPass.has(id) && h('span', { class: 'badge', text: '!' }),
          named && h('span', { class: 'label', text: `${sign ? `${sign} ` : ''}${shown(plan.passes.name[id])}` }),
          timed && h('span', { class: 'time', text: micros(time) })];
      });
      return [place(box, left, top, Math.max(2, width - 1), this.box)];
    }
    if (kind === 'host') {
      if (many) return [];
      const span = payload.measured.host[id];
      const label = `host: ${shown(span.name)}, ${micros(span.end_us - span.begin_us)}`;
      const text = width > 30 ? shown(span.name) : '';
      const box = this.cell(row, key, `box ${hue(-1)}|${text}`, label, () => text);
      return [place(box, left, top, width, this.box)];
    }
    const x = names + axis.x(run.cells[0].at);
    if (kind === 'wait') {
      const label = () => several(run.cells.map((cell) => say.key(cell.key)), 'wait');
      return [place(this.cell(row, key, `wait|${namesOf(run)}`, label), x - 6, LANE.bracket - 15, 12, 12)];
    }
    const calls = run.cells.map((cell) => cell.id);
    const barriers = calls.reduce((sum, call) => sum + plan.calls.count[call], 0);
    const label = () => several(calls.map((call) => say.call(call)), 'barrier call');
    const height = clamp(5 + barriers * 2, 7, LANE.ticks - 3);
    const tick = this.cell(row, key, `tick ${plan.callKind(id)}|${namesOf(run)}`, label);
    return [place(tick, x - 5, below, 10, height)];
  }

  // As many as fit, in rows; where more stand at one place, the diagram has them.
  drawCulled(row, lane) {
    const { axis, names } = this;
    const width = Math.min(120, axis.width);
    const cells = [];
    const ends = [];
    const inView = lane.cells.filter((cell) => cell.at >= axis.from && cell.at <= axis.to);
    const here = inView.find((cell) => this.at === `${row}:${cell.key}`);
    let left = 0;
    for (const cell of inView) {
      const x = Math.min(axis.x(cell.at), axis.width - width);
      let line = ends.findIndex((end) => end + 4 <= x);
      if (line < 0) line = ends.length;
      if (line >= CULLED_ROWS && cell !== here) {
        left += 1;
        continue;
      }
      ends[line] = x + width;
      const label = () => h('span', { class: 'label', text: shown(plan.passes.name[cell.id]) });
      const box = this.cell(row, cell.key, 'box culled', () => say.key(cell.key), label);
      cells.push(place(box, names + x, 4 + line * 32, width, 28));
    }
    const lines = Math.max(1, ends.length) + (left ? 1 : 0);
    if (left) {
      const text = `${number(left)} more culled: see the diagram`;
      const box = this.cell(row, 'md', `box culled many|${text}`, text, () => h('span', { class: 'label', text }));
      cells.push(place(box, names, 4 + (lines - 1) * 32, Math.min(240, axis.width), 28));
    }
    lane.height = 8 + lines * 32 + LANE.gap;
    this.grid.style.height = `${lane.top + lane.height}px`;
    return cells;
  }

  // Waits for other queues as arrows, from the end of what signals to what waits.
  arrows() {
    const { axis, names } = this;
    const { waits, batches } = plan;
    place(this.over, 0, 0, this.width, this.height);
    const paths = [];
    const drawn = new Set();
    const lanes = new Map(this.lanes.map((lane) => [lane.plain ? null : lane.queue, lane]));
    for (let wait = 0; wait < waits.batch.length; wait += 1) {
      const target = lanes.get(batches.queue[waits.batch[wait]]);
      const origin = lanes.get(waits.queue[wait]);
      if (!target || !origin || Number.isNaN(this.reach.begin[waits.batch[wait]])) continue;
      const to = axis.x(this.reach.begin[waits.batch[wait]]);
      const source = waits.source[wait];
      const signalled = source < 0 ? NaN : this.reach.end[source];
      const from = Number.isNaN(signalled) ? to - 16 : axis.x(signalled);
      if (!(to >= -40 && from <= axis.width + 40) ) continue;
      // Arrows to one place are seen as one.
      const spot = `${target.top},${Math.round(to / 14)}`;
      if (drawn.has(spot)) continue;
      drawn.add(spot);
      const up = origin.top > target.top;
      const low = (lane) => lane.top + LANE.bracket + lane.subs * (this.box + 2) - 8;
      const high = (lane) => lane.top + LANE.bracket + 8;
      const y1 = up ? high(origin) : low(origin);
      const y2 = up ? low(target) : high(target);
      const bend = Math.max(10, Math.abs(to - from) / 2);
      const [x1, x2] = [names + from, names + to];
      paths.push(svg('path', {
        d: `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2 - 1} ${y2}`,
        class: source < 0 ? 'arrow previous' : 'arrow', data: { key: `w${wait}` },
      }));
      paths.push(svg('path', { d: `M${x2 - 7} ${y2 - 4} L${x2} ${y2} L${x2 - 7} ${y2 + 4} Z`, class: 'head', data: { key: `w${wait}` } }));
    }
    this.over.classList.toggle('faint', paths.length > 80);
    this.over.replaceChildren(...paths);
  }

  // Begin and end of each submission on a scale; NaN where it has no pass.
  reachOf(scale) {
    const span = (values, pick) => plan.batches.queue.map((_, batch) => most(plan.passesIn(batch), values, pick)[0] ?? NaN);
    return { begin: span(scale.begin, Math.min), end: span(scale.end, Math.max) };
  }

  decorate() {
    const focus = state.hover || state.pin;
    const lit = focus ? related(focus) : null;
    for (const path of this.over.children) path.classList.toggle('dim', Boolean(lit) && !lit.has(path.dataset.key));
  }

  changed() {
    this.cached = null;
    if (!this.panel.hidden) this.draw();
  }
}

// What a run of cells stands for, as the look of its mark.
const namesOf = (run) => (run.cells.length === 1 ? '' : run.cells.map((cell) => cell.key).join());

// The smallest (or largest) number of some passes, as a list that is empty where none has one.
function most(passes, values, pick) {
  let best = NaN;
  for (const pass of passes) {
    const value = values[pass];
    if (!Number.isNaN(value)) best = Number.isNaN(best) ? value : pick(best, value);
  }
  return Number.isNaN(best) ? [] : [best];
}

// The pass of an access, or the first pass that uses a resource.
function userOf(key) {
  const at = Number(key.slice(1));
  const access = key[0] === 'a' ? at : key[0] === 'r' ? plan.accessesTo(at)[0] : undefined;
  return access === undefined ? null : `p${plan.accesses.pass[access]}`;
}

// The colour class of a queue.
const hue = (queue) => hueOf(plan, queue);

function hueOf(of, queue) {
  if (queue < 0) return 'hue-host';
  const { capabilities } = of.data.queues[queue];
  if (capabilities.includes('graphics')) return 'hue-0';
  if (capabilities.includes('compute')) return 'hue-1';
  return 'hue-2';
}

// Passes of one render pass stand closer together.
function mergedClass(pass) {
  const physical = plan.passes.physical[pass];
  if (physical < 0) return '';
  const all = plan.passesOfRender(physical);
  if (all.length < 2) return '';
  return `${pass === all[0] ? ' merged-first' : ''}${pass === all[all.length - 1] ? ' merged-last' : ''} merged`;
}

// A group of radio buttons that looks like one switch.
function choice(label, options, chosen, act) {
  const name = `choice-${label.toLowerCase().replace(/\W+/g, '-')}-${choice.made = (choice.made || 0) + 1}`;
  const set = h('fieldset', { class: 'choice' }, h('legend', { text: label }));
  for (const [value, text] of options) {
    const input = h('input', { type: 'radio', name, value, onchange: () => act(value) });
    input.checked = value === chosen;
    set.append(h('label', null, input, h('span', { text })));
  }
  return set;
}

function legend(entries, title) {
  return h('div', { class: 'legend', role: 'note', 'aria-label': `${title}: what the marks mean` },
    h('span', { class: 'note', text: title }),
    entries.map(([mark, text]) => h('span', { class: 'entry' }, h('span', { class: `sample ${mark}`, 'aria-hidden': 'true' }), text)));
}
