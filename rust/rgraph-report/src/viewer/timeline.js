// Passes by queue: boxes in time or in order, prefixes and submissions as brackets above, barriers as ticks below, waits
// as arrows.

const LANE = { bracket: 15, group: 16, ticks: 15, gap: 10 };
// As many lines to what a lit thing waits for.
const MOST_CAUSES = 24;
// Narrower brackets are left out, in pixels.
const BRACKET = 12;
// What a begin and a duration of many frames, which are rounded to hundredths of microseconds, may be off together.
const ROUNDED = 0.021;
// Rows of passes as chips, at most, and the height of one: passes that do not run, or without a time.
const CHIP_ROWS = 8;
const CHIP = 24;
const HOST_BOX = 21;
// Height of boxes, in pixels; they are low where there are many rows of them.
const BOX = { host: 30, usual: 112, most: 190, least: (rows) => (rows > 8 ? 34 : 64), wished: (rows) => (rows > 8 ? 34 : 80) };

class Timeline extends Pane {
  constructor() {
    super('timeline', 'Timeline', 'Passes by queue');
  }

  start() {
    this.tools.append(legend([
      ['tick memory', 'memory'], ['tick layout', 'layout'], ['tick ownership', 'ownership'], ['tick alias', 'alias'],
    ], 'Barriers'), ...this.kinds(), toggle('Heat', false, (on) => {
      this.heat = on;
      this.redraw();
    }), toggle('Critical path', false, (on) => set('query', on ? 'critical' : '')));
    this.frame.append(this.over);
    on('folds', () => {
      this.forget();
      this.draw();
    });
  }

  // The tones of boxes that this frame has, as a legend.
  kinds() {
    const names = { compute: 'compute', rays: 'ray tracing', copy: 'transfer' };
    const used = new Set();
    for (let pass = 0; pass < plan.live; pass += 1) used.add(plan.kindOf(pass));
    const entries = Object.keys(names).filter((kind) => used.has(kind)).map((kind) => [`tone hue-0 kind-${kind}`, names[kind]]);
    return entries.length ? [legend(entries, 'Passes')] : [];
  }

  // Lanes with their cells on the present scale.
  get lanes() {
    if (this.cached) return this.cached;
    const { scale } = this.axis;
    this.reach = this.reachOf(scale);
    const lanes = plan.lanes.map((queue) => this.lane(queue, scale)).filter((lane) => lane.cells.length);
    if (scale.id === 'measured' && payload.measured.host.length) lanes.push(this.hostLane());
    if (scale.timed) lanes.push(...this.untimedLane(scale));
    if (state.culled && plan.live < plan.passCount) lanes.push(this.culledLane(scale));
    for (const lane of lanes) {
      lane.kinds = { group: [], submission: [], pass: [], host: [], call: [], wait: [], chip: [] };
      for (const cell of lane.cells) lane.kinds[cell.kind].push(cell);
    }
    this.cached = lanes;
    this.rows = lanes.length;
    this.stand();
    return lanes;
  }

  // Heights: boxes grow where there is room for it.
  stand() {
    const lanes = this.cached;
    const fixed = lanes.reduce((sum, lane) => sum + this.fixed(lane), 8);
    const subs = boxRows(lanes);
    this.box = Math.floor(clamp((this.room - fixed) / Math.max(1, subs), BOX.least(subs), BOX.most));
    let top = 4;
    for (const lane of lanes) {
      lane.box = lane.own || this.box;
      lane.top = top;
      lane.over = (lane.kinds.group.length ? LANE.group : 0) + (lane.kinds.submission.length ? LANE.bracket : 4);
      lane.height = this.fixed(lane) + (lane.own ? 0 : lane.subs * this.box);
      top += lane.height;
    }
    this.height = top;
    this.stood = this.room;
  }

  // The part of a lane's height that is the same for boxes of every height.
  fixed(lane) {
    if (lane.chips) return 8 + this.linesOf(lane) * CHIP + LANE.gap;
    if (lane.kinds.host.length) return lane.subs * (lane.own + 2) + LANE.gap;
    return (lane.own || 0) * lane.subs + (lane.kinds.group.length ? LANE.group : 0) + (lane.kinds.submission.length ? LANE.bracket : 4) + lane.subs * 2
      + (lane.kinds.call.length ? LANE.ticks : 4) + LANE.gap;
  }

  // As many as all chips of the lane fill, if they stand close.
  linesOf(lane) {
    const [line, most] = [this.axis.width * 0.9, this.alone ? CHIP_ROWS : 2];
    let wide = 0;
    for (let at = 0; at < lane.cells.length && wide <= line * most; at += 1) wide += this.chipWidth(lane.cells[at].id) + 4;
    return clamp(Math.ceil(wide / line), 1, most);
  }

  chipWidth(pass) {
    return Math.min(textWidth(shown(plan.passes.name[pass]), 13, 600) + 16, 190, this.axis.width);
  }

  natural(box = this.alone ? BOX.most : BOX.usual) {
    const { lanes } = this;
    return lanes.reduce((sum, lane) => sum + this.fixed(lane), 8) + boxRows(lanes) * box;
  }

  // The height at which every lane is seen and turned names can be read.
  least() {
    return this.natural(BOX.wished(boxRows(this.lanes)));
  }

  lane(queue, scale) {
    const cells = [];
    const { passes, batches, calls } = plan;
    const ends = [];
    const slack = Math.max(scale.extent * 1e-6, ROUNDED);
    for (let pass = 0; pass < plan.live; pass += 1) {
      if (passes.queue[pass] !== queue || (scale.timed && !scale.timed[pass])) continue;
      const [at, end] = [scale.begin[pass], scale.end[pass]];
      // Measured passes of one queue may overlap: each takes the first free row.
      let sub = ends.findIndex((free) => free <= at + slack);
      if (sub < 0) sub = ends.length < 4 ? ends.length : 3;
      ends[sub] = end;
      cells.push({ key: `p${pass}`, at, end, kind: 'pass', id: pass, sub });
    }
    const groups = foldIn(cells, groupsIn(cells, ends.length, scale));
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
    cells.push(...groups);
    const order = { group: 0, submission: 1, wait: 2, call: 3, pass: 4 };
    cells.sort((a, b) => a.at - b.at || order[a.kind] - order[b.kind] || a.id - b.id);
    const of = queue < 0 ? 'passes on the CPU' : plan.data.queues[queue].capabilities.join(', ');
    return { queue, name: plan.queueName(queue), note: of, cells, subs: Math.max(1, ends.length), own: queue < 0 ? BOX.host : 0 };
  }

  // Passes that a run did not time stand behind what ran before them.
  untimedLane(scale) {
    const cells = [];
    for (let pass = 0; pass < plan.live; pass += 1) {
      if (!scale.timed[pass]) cells.push({ key: `p${pass}`, at: scale.begin[pass], end: scale.begin[pass], kind: 'chip', id: pass });
    }
    return cells.length ? [{ name: 'not timed', note: count(cells.length, 'pass', 'passes'), cells, subs: 1, own: CHIP, chips: 'untimed' }] : [];
  }

  hostLane() {
    const cells = payload.measured.host.map((span, at) => ({ key: `h${at}`, at: span.begin_us, end: span.end_us, kind: 'host', id: at }));
    cells.sort((a, b) => a.at - b.at || b.end - a.end);
    const ends = [];
    for (const cell of cells) {
      cell.sub = ends.findIndex((end) => end <= cell.at);
      if (cell.sub < 0) cell.sub = ends.length;
      ends[cell.sub] = cell.end;
    }
    return { queue: -1, name: 'host work', note: 'CPU spans', cells, subs: Math.max(1, ends.length), own: HOST_BOX };
  }

  // Culled passes stand where the pass declared before them ends.
  culledLane(scale) {
    const cells = [];
    let at = scale.start || 0;
    for (const pass of plan.data.shown) {
      if (!plan.isCulled(pass)) at = scale.end[pass];
      else cells.push({ key: `p${pass}`, at, end: at, kind: 'chip', id: pass });
    }
    return { name: 'culled', note: count(cells.length, 'pass', 'passes'), cells, subs: 1, own: CHIP, chips: 'culled' };
  }

  cells(row) {
    return this.lanes[row].cells;
  }

  // A resource is where it is first used, a barrier where its call is.
  locate(key) {
    const at = Number(key.slice(1));
    const sought = key[0] === 'b' ? `c${plan.callOf(at)}` : userOf(key) || key;
    for (let row = 0; row < this.lanes.length; row += 1) {
      const { cells } = this.lanes[row];
      const cell = cells.find((one) => one.key === sought)
        || cells.find((one) => one.folded && sought[0] === 'p' && Number(sought.slice(1)) >= one.id && Number(sought.slice(1)) <= one.last);
      if (cell) return [row, cell];
    }
    return null;
  }

  // A bracket folds its passes into one box, and brings them back; all else pins or magnifies.
  open(id) {
    const [row, key] = split(id);
    const group = key.startsWith('mg') && this.lanes[row].kinds.group.find((cell) => cell.key === key);
    if (!group) {
      super.open(id);
      return;
    }
    this.at = id;
    fold(`p:${group.name}`);
  }

  bring(row, cell) {
    this.axis.reveal(cell.at, cell.end, { pass: 8, submission: BRACKET + 2, group: BRACKET + 2 }[cell.kind] || 0);
    const { kinds, top, height } = this.lanes[row];
    if (cell.kind === 'call' || cell.kind === 'chip' || cell.kind === 'wait') apart(this.axis, kinds[cell.kind], cell, 12);
    this.scrollTo(top, height, 4);
  }

  magnify(row, key) {
    if (key === 'md') return set('view', 'matrix');
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

  forget() {
    this.cached = null;
  }

  get keepsCells() {
    return true;
  }

  paintRows() {
    const { axis, names, lanes } = this;
    if (this.stood !== this.room) this.stand();
    this.begin(lanes.length);
    this.grid.classList.toggle('heat', Boolean(this.heat));
    lanes.forEach((lane, row) => {
      lane.header ||= h('div', { role: 'rowheader', class: 'name', title: shown(lane.name) },
        h('span', { class: 'strong', text: shown(lane.name) }), h('span', { class: 'note', text: lane.note }));
      const cells = [];
      for (const kind of ['group', 'submission', 'pass', 'host', 'call', 'wait']) {
        const close = { call: 8, wait: 13 }[kind];
        const runs = close ? joined(axis, lane.kinds[kind], close, 32) : rowsOf(lane, kind).flatMap((cells) => joined(axis, cells, CLOSE, 72));
        for (const run of runs) cells.push(...this.mark(row, lane, kind, lead(this, row, run)));
      }
      if (lane.chips) cells.push(...this.chips(row, lane));
      place(lane.header, 0, 0, names - 8, lane.height);
      cells.sort((a, b) => a.spot.left - b.spot.left);
      this.row(row, lane.top, lane.height, [lane.header, ...cells]);
    });
    if (!lanes.length) this.row(0, 0, 40, [this.nothing('No pass runs.')]);
    this.setHeight(this.height);
    this.arrows();
    this.end();
  }

  mark(row, lane, kind, run) {
    const { axis, names } = this;
    const left = names + Math.max(run.left, -2);
    const width = Math.max(2, Math.min(run.right, axis.width + 2) - Math.max(run.left, -2));
    const box = { left, width, top: lane.over + (run.cells[0].sub || 0) * (lane.box + 2), many: run.cells.length > 1 };
    if (kind === 'group') return this.group(row, run.cells[0], box);
    if (kind === 'submission') return this.submission(row, lane, run.cells[0], box);
    if (kind === 'pass' && !box.many && run.cells[0].folded) return this.bundle(row, lane, run.cells[0], box);
    if (kind === 'pass') return box.many ? this.crowd(row, lane, run, box) : this.pass(row, lane, run.cells[0], box);
    if (kind === 'host') return this.span(row, lane, run.cells[0], box);
    const x = names + axis.x(run.cells[0].at);
    return kind === 'wait' ? this.wait(row, lane, run, x) : this.call(row, lane, run, x);
  }

  // Passes that follow each other and whose names begin alike.
  group(row, { key, id, last, name }, { left, width, many }) {
    if (many || width < BRACKET + 10) return [];
    const shut = folds.has(`p:${name}`);
    const text = fit(shown(name), width - 24, 11);
    // An arrow alone says nothing; walking there shows it.
    if (!text && this.at !== `${row}:${key}`) return [];
    const label = () => `${shown(name)}: ${count(last - id + 1, 'pass', 'passes')}, ${shut ? 'unfold' : 'fold'}`;
    const cell = this.cell(row, key, `prefix|${text}${shut}`, label,
      () => [h('span', { class: `arrowhead${shut ? ' folded' : ''}` }), text], { 'aria-expanded': String(!shut), title: shown(name) });
    return [place(cell, left, 1, width - 1, LANE.group - 2)];
  }

  // The passes of a folded bracket as one box.
  bundle(row, lane, { key, id, last, name }, { left, top, width }) {
    const passes = count(last - id + 1, 'pass', 'passes');
    const label = labelIn(`${shown(name)} ${passes}`, width - 1, lane.box);
    const box = this.cell(row, key, `box ${slim(label)}${hue(lane.queue)} group-box|${label.key}`, () => `${shown(name)}: ${passes}, magnify`, () => labelOf(label));
    return [place(box, left, top, Math.max(2, width - 1), lane.box)];
  }

  submission(row, lane, { key, id }, { left, width, many }) {
    if (many || (width < BRACKET && this.at !== `${row}:${key}`)) return [];
    const label = width > 66 ? `${lane.queue < 0 ? 'host' : 'submit'} ${id}` : width > 24 ? String(id) : '';
    const top = lane.kinds.group.length ? LANE.group + 2 : 3;
    return [place(this.cell(row, key, `bracket|${label}`, () => say.key(key), () => label), left, top, width, LANE.bracket - 4)];
  }

  // Passes too narrow to be seen apart.
  crowd(row, lane, run, { left, top, width }) {
    const ids = run.cells.map((cell) => cell.id);
    const [from, to] = [Math.min(...ids), Math.max(...ids, ...run.cells.map((cell) => cell.last ?? -1))];
    const name = () => `${count(ids.length, 'pass', 'passes')} from ${shown(plan.passes.name[from])} to `
      + `${shown(plan.passes.name[to])}: magnify`;
    const text = width > 18 ? number(ids.length) : '';
    const box = this.cell(row, `mp${from}-${to}`, `box many ${hue(lane.queue)}|${text}`, name, () => h('span', { class: 'label', text }));
    return [place(box, left, top, Math.max(width, CLOSE), lane.box)];
  }

  pass(row, lane, { key, id, short }, { left, top, width }) {
    const { scale } = this.axis;
    const time = scale.id === 'order' ? plan.passes.us[id] : scale.end[id] - scale.begin[id];
    const sign = changes.pass.get(plan.passes.name[id]);
    let timed = time > 0 && width > 14 + textWidth(micros(time), 11);
    const name = shown(plan.passes.name[id]);
    const text = `${sign ? `${sign}\u00a0` : ''}${short && width < textWidth(name, 13, 600) + 12 ? shown(short) : name}`;
    let label = labelIn(text, width - 1, lane.box - (timed ? 15 : 0));
    // A whole name is worth more than a time: the time is in the tip.
    if (timed && label.key.includes('…')) {
      const whole = labelIn(text, width - 1, lane.box);
      if (!whole.key.includes('…')) [label, timed] = [whole, false];
    }
    const kind = `${kindClass(id)}${this.heat ? ` ${heatOf(time)}` : ''}`;
    const look = `box ${slim(label)}${hue(lane.queue)} ${kind}${mergedClass(id)}|${label.key}${timed}`;
    const box = this.cell(row, key, look, () => say.key(key), () => [
      findings.byPass.has(id) && h('span', { class: 'badge', text: '!' }), labelOf(label),
      timed && h('span', { class: 'time', text: micros(time) })]);
    return [place(box, left, top, Math.max(2, width - 1), lane.box)];
  }

  span(row, lane, { key, id }, { left, top, width, many }) {
    if (many) return [];
    const span = payload.measured.host[id];
    const label = `host: ${shown(span.name)}, ${micros(span.end_us - span.begin_us)}`;
    const text = width > 24 ? fit(shown(span.name), width - 12) : '';
    return [place(this.cell(row, key, `box ${text ? '' : 'slim '}${hue(-1)}|${text}`, label, () => text), left, 2 + top - lane.over, width, lane.box)];
  }

  wait(row, lane, run, x) {
    const [{ key }] = run.cells;
    const label = () => several(run.cells, (cell) => say.key(cell.key), 'wait');
    return [place(this.cell(row, key, `wait|${namesOf(run)}`, label), x - 6, lane.over - 13, 12, 12)];
  }

  call(row, lane, run, x) {
    const [{ key, id }] = run.cells;
    const calls = run.cells.map((cell) => cell.id);
    const barriers = calls.reduce((sum, call) => sum + plan.calls.count[call], 0);
    const label = () => several(calls, (call) => say.call(call), 'barrier call');
    const height = clamp(5 + barriers * 2, 7, LANE.ticks - 2);
    const tick = this.cell(row, key, `tick ${plan.callKind(id)}|${namesOf(run)}`, label);
    return [place(tick, x - 5, lane.over + lane.subs * (lane.box + 2) + 1, 10, height)];
  }

  // As many as fit, in rows: each in the row where it stands nearest to its place. The matrix has those that do not fit.
  chips(row, lane) {
    const { axis, names } = this;
    const most = this.linesOf(lane);
    const lines = Array.from({ length: most }, () => ({ chips: [], packed: 0 }));
    const inView = lane.cells.filter((cell) => cell.at >= axis.from && cell.at <= axis.to);
    let left = 0;
    for (const cell of inView) {
      const width = this.chipWidth(cell.id);
      const x = clamp(axis.x(cell.at), 0, axis.width - width);
      // Where a row ends before the chip does, those before it give way to the left.
      const places = lines.map(({ chips, packed }) => {
        const last = chips[chips.length - 1];
        const at = Math.min(Math.max(x, last ? last.x + last.width + 4 : 0), axis.width - width);
        return at < packed ? Infinity : Math.abs(at - x);
      });
      const nearest = places.indexOf(Math.min(...places));
      if (places[nearest] === Infinity && this.at !== `${row}:${cell.key}`) {
        left += 1;
        continue;
      }
      const { chips } = lines[nearest];
      lines[nearest].packed += width + 4;
      const chip = { cell, width, x };
      chips.push(chip);
      const before = chips[chips.length - 2];
      chip.x = Math.min(Math.max(x, before ? before.x + before.width + 4 : 0), axis.width - width);
      for (let at = chips.length - 2; at >= 0 && chips[at].x + chips[at].width + 4 > chips[at + 1].x; at -= 1) chips[at].x = chips[at + 1].x - 4 - chips[at].width;
    }
    const cells = lines.flatMap(({ chips }, line) => chips.map(({ cell, width, x }) => {
      const text = fit(shown(plan.passes.name[cell.id]), width - 14, 13, 600);
      const hued = lane.chips === 'culled' ? '' : ` ${hue(plan.passes.queue[cell.id])}`;
      const label = () => (lane.chips === 'culled' ? say.key(cell.key) : `${say.key(cell.key)}, not timed`);
      const box = this.cell(row, cell.key, `box ${lane.chips}${hued}|${text}`, label, () => h('span', { class: 'label', text }));
      return place(box, names + x, 4 + line * CHIP, width, CHIP - 4);
    }));
    if (left) {
      const text = `${number(left)} more: see the matrix`;
      const box = this.cell(row, 'md', `box culled many|${text}`, text, () => h('span', { class: 'label', text }));
      cells.push(place(box, names, 4 + most * CHIP - 3, Math.min(240, axis.width), 16));
    }
    return cells;
  }

  // Begin and end of each submission on a scale; NaN where it has no pass.
  reachOf(scale) {
    const span = (values, pick) => plan.batches.queue.map((_, batch) => most(plan.passesIn(batch), values, pick)[0] ?? NaN);
    return { begin: span(scale.begin, Math.min), end: span(scale.end, Math.max) };
  }

  // Waits for other queues as arrows, from the end of what signals to what waits.
  arrows() {
    const { axis, names } = this;
    const { waits, batches } = plan;
    place(this.over, 0, 0, this.width, this.height);
    this.bows = [];
    const lanes = new Map(this.lanes.map((lane) => [lane.chips || lane.kinds.host.length ? null : lane.queue, lane]));
    for (let wait = 0; wait < waits.batch.length; wait += 1) {
      const target = lanes.get(batches.queue[waits.batch[wait]]);
      const origin = lanes.get(waits.queue[wait]);
      if (!target || !origin || Number.isNaN(this.reach.begin[waits.batch[wait]])) continue;
      const to = axis.x(this.reach.begin[waits.batch[wait]]);
      const source = waits.source[wait];
      const signalled = source < 0 ? NaN : this.reach.end[source];
      const from = Number.isNaN(signalled) ? to - 16 : axis.x(signalled);
      if (!(to >= 0 && from <= axis.width + 40)) continue;
      const up = origin.top > target.top;
      const low = (lane) => lane.top + lane.over + lane.subs * (lane.box + 2) - 8;
      const high = (lane) => lane.top + lane.over + 8;
      const y1 = up ? high(origin) : low(origin);
      const y2 = up ? low(target) : high(target);
      const bend = Math.max(10, Math.abs(to - from) / 2);
      const [x1, x2] = [names + Math.max(from, -12), names + to];
      this.bows.push({ key: `w${wait}`, name: source < 0 ? 'arrow previous' : 'arrow', spot: `${target.top},${Math.round(to / 18)}`, x1, y1, x2, y2, bend });
    }
  }

  decorate() {
    const focus = state.hover || state.pin;
    const lit = focus ? related(focus) : search.hits;
    // All arrows of a look are one path: there may be hundreds, and every step of the wheel moves them all.
    const looks = new Map();
    const add = (name, d) => looks.set(name, `${looks.get(name) || ''}${d} `);
    const drawn = new Set();
    for (const { key, name, spot, x1, y1, x2, y2, bend } of this.bows || []) {
      const dim = lit && !lit.has(key) ? ' dim' : '';
      // Arrows to one place are seen as one, but for those that are lit.
      if (drawn.has(spot + dim)) continue;
      drawn.add(spot + dim);
      add(name + dim, `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2 - 1} ${y2}`);
      add(`head${dim}`, `M${x2 - 7} ${y2 - 4} L${x2} ${y2} L${x2 - 7} ${y2 + 4} Z`);
    }
    this.over.classList.toggle('faint', !lit && drawn.size > 40);
    this.strokes ||= new Map();
    const paths = [...looks].map(([name, d]) => {
      if (!this.strokes.has(name)) this.strokes.set(name, svg('path', { class: name }));
      this.strokes.get(name).setAttribute('d', d);
      return this.strokes.get(name);
    });
    arrange(this.over, [...paths, ...(focus ? this.causes(focus) : [])]);
  }

  // Lines to what is lit from what it waits for: a barrier's producer to its consumer, a pass's needs to the pass.
  causes(focus) {
    const { barriers, calls, flows } = plan;
    const at = Number(focus.slice(1));
    const pairs = new Map();
    const add = (from, to) => from >= 0 && to >= 0 && pairs.set(`${from} ${to}`, [from, to]);
    if (focus[0] === 'b') add(barriers.from[at], barriers.to[at]);
    if (focus[0] === 'c') for (let n = calls.first[at]; n < calls.first[at] + calls.count[at]; n += 1) add(barriers.from[n], barriers.to[n]);
    if (focus[0] === 'p') for (const flow of plan.needs(at)) add(flows.from[flow], at);
    return [...pairs.values()].slice(0, MOST_CAUSES).flatMap(([from, to]) => {
      const [a, b] = [this.spotOf(from), this.spotOf(to)];
      if (!a || !b) return [];
      const dip = clamp(Math.abs(b.left - a.right) / 6, 8, 26);
      return [svg('path', { class: 'cause', d: `M${a.right} ${a.y} C${a.right + dip} ${a.y + dip} ${b.left - dip * 1.5} ${b.y + dip} ${b.left} ${b.y}` }),
        svg('path', { class: 'cause tip-of', d: `M${b.left} ${b.y} l-7 1 l4 6 Z` })];
    });
  }

  // The lower corners of a pass's box; nothing where it has none.
  spotOf(pass) {
    const { axis, names } = this;
    if (!this.cached.rowOf) {
      this.cached.rowOf = new Map(this.cached.flatMap((lane) => lane.kinds.pass.map((cell) => [cell.id, { lane, cell }])));
    }
    const found = this.cached.rowOf.get(pass);
    if (!found) return null;
    const { lane, cell } = found;
    const x = (value) => names + clamp(axis.x(value), -6, axis.width + 6);
    return { left: x(cell.at), right: x(cell.end), y: lane.top + lane.over + (cell.sub + 1) * (lane.box + 2) - 8 };
  }
}

// Passes of a lane that follow each other in one row and whose names begin alike: brackets. Each of their cells gets the
// rest of its name.
function groupsIn(cells, rows, scale) {
  if (rows > 1 || plan.live > 3000) return [];
  const groups = [];
  const prefix = (pass) => prefixOf(plan.passes.name[pass]);
  for (let at = 0; at < cells.length;) {
    const name = prefix(cells[at].id);
    let end = at + 1;
    while (name && end < cells.length && prefix(cells[end].id) === name) end += 1;
    if (name && end - at > 1) {
      for (const cell of cells.slice(at, end)) cell.short = plan.passes.name[cell.id].slice(name.length + 1);
      const [first, last] = [cells[at].id, cells[end - 1].id];
      groups.push({ key: `mg${first}-${last}`, at: scale.begin[first], end: scale.end[last], kind: 'group', id: first, last, name });
    }
    at = end;
  }
  return groups;
}

// Puts one cell in the place of the passes of each folded bracket.
function foldIn(cells, groups) {
  for (const group of groups) {
    if (!folds.has(`p:${group.name}`)) continue;
    const from = cells.findIndex((cell) => cell.id === group.id);
    const many = group.last - group.id + 1;
    const inside = cells.slice(from).findIndex((cell) => cell.id === group.last) + 1;
    cells.splice(from, inside, { ...group, key: `mp${group.id}-${group.last}`, kind: 'pass', sub: 0, folded: many });
  }
  return groups;
}

// Boxes of a lane by the row that they stand in: passes at one time stand below each other, and are never drawn as one.
function rowsOf(lane, kind) {
  if (lane.subs < 2 || kind !== 'pass') return [lane.kinds[kind]];
  lane.rows ||= Array.from({ length: lane.subs }, (_, sub) => lane.kinds.pass.filter((cell) => (cell.sub || 0) === sub));
  return lane.rows;
}

// Rows of boxes that share the height that there is.
const boxRows = (lanes) => lanes.reduce((sum, lane) => sum + (lane.own ? 0 : lane.subs), 0);

// What a run of cells stands for, as the look of its mark.
const namesOf = (run) => (run.cells.length === 1 ? '' : `${run.cells.length}${run.cells[run.cells.length - 1].key}`);

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

// The tone of a kind of pass.
const kindClass = (pass) => `kind-${plan.kindOf(pass)}`;

// The colour of a time, from cold to hot: eight steps of the share of the longest pass, by its square root.
function heatOf(us) {
  heatOf.longest ||= plan.passes.us.reduce((top, one) => Math.max(top, one), 0) || 1;
  const measured = plan.scales.measured;
  const longest = shared.axis.scale.id === 'measured' ? (measured.longest ||= measured.end.reduce((top, end, at) => Math.max(top, end - measured.begin[at] || 0), 0)) : heatOf.longest;
  return `heat-${clamp(Math.floor(Math.sqrt(us / longest) * 8), 0, 7)}`;
}

// Passes of one render pass stand closer together.
function mergedClass(pass) {
  const physical = plan.passes.physical[pass];
  if (physical < 0) return '';
  const all = plan.passesOfRender(physical);
  if (all.length < 2) return '';
  return `${pass === all[0] ? ' merged-first' : ''}${pass === all[all.length - 1] ? ' merged-last' : ''} merged`;
}
