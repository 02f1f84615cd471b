// A row for each resource: its life as a bar, accesses as triangles, barriers as diamonds, layouts between them.

const ROW = 38;

class Resources extends AxisView {
  constructor() {
    super('resources', 'Resources', 'Resources and their accesses, barriers and layouts', plan.scales.order);
    this.order = 'use';
  }

  start() {
    const orders = [['use', 'First use'], ['declared', 'Declared'], ['size', 'Size']];
    this.tools.append(
      choice('Sorted by', orders, this.order, (order) => {
        this.order = order;
        this.sorted = null;
        this.redraw();
      }),
      legend([['glyph reads', 'reads'], ['glyph writes', 'writes'], ['glyph both', 'both']], 'Accesses'),
      legend([['diamond memory', 'memory'], ['diamond layout', 'layout'], ['diamond ownership', 'ownership'], ['diamond alias', 'alias']], 'Barriers'),
    );
    this.known = new Map();
    // A long frame is shown by pieces: scrolling down follows the resources along the frame.
    if (plan.live > 150) this.axis.show(0, 80);
    this.frame.addEventListener('scroll', () => this.follow(), { passive: true });
  }

  // Keeps the first uses of the rows in view where rows are in that order.
  follow() {
    const { axis } = this;
    const span = axis.to - axis.from;
    if (this.order !== 'use' || span >= axis.scale.extent * 0.98) return;
    const first = plan.resources.first[this.list[clamp(Math.floor((this.frame.scrollTop - 10) / ROW), 0, this.rows - 1)]];
    if (first < 0 || (first > axis.from + span * 0.05 && first < axis.from + span * 0.35)) return;
    axis.show(first - span * 0.06, first + span * 0.94);
    strip.redraw();
  }

  // Resources in the chosen order.
  get list() {
    if (this.sorted) return this.sorted;
    const { first, bytes: sizes } = plan.resources;
    const list = Array.from({ length: plan.resourceCount }, (_, at) => at);
    const late = (at) => (first[at] < 0 ? Infinity : first[at]);
    if (this.order === 'use') list.sort((a, b) => late(a) - late(b) || a - b);
    if (this.order === 'size') list.sort((a, b) => sizes[b] - sizes[a] || a - b);
    this.rowOf = new Int32Array(list.length);
    list.forEach((resource, row) => { this.rowOf[resource] = row; });
    this.sorted = list;
    return list;
  }

  get rows() {
    return plan.resourceCount;
  }

  cells(row) {
    const resource = this.list[row];
    if (resource === undefined) return [];
    if (this.known.has(resource)) return this.known.get(resource);
    const cells = [{ key: `r${resource}`, at: -1, end: -1 }];
    const { pass, mode } = plan.accesses;
    for (const access of plan.accessesTo(resource)) {
      if (plan.isCulled(pass[access])) continue;
      const at = pass[access] + 0.5;
      cells.push({ key: `a${access}`, at, end: at, access, mode: mode[access] });
    }
    for (const barrier of plan.barriersOn(resource)) {
      const at = barrierAt(plan, barrier);
      cells.push({ key: `b${barrier}`, at, end: at, barrier });
    }
    cells.sort((a, b) => a.at - b.at);
    this.known.set(resource, cells);
    return cells;
  }

  locate(key) {
    this.list;
    const at = Number(key.slice(1));
    let resource = -1;
    if (key[0] === 'r') resource = at;
    if (key[0] === 'a') resource = plan.accesses.resource[at];
    if (key[0] === 'b') resource = plan.barriers.resource[at] < 0 ? plan.barriers.of[at] : plan.barriers.resource[at];
    if (key[0] === 'p' && plan.accessesOf(at).length) {
      const [access] = plan.accessesOf(at);
      return this.locate(`a${access}`);
    }
    if (resource < 0) return null;
    const row = this.rowOf[resource];
    const cell = this.cells(row).find((one) => one.key === key);
    return cell ? [row, cell] : null;
  }

  bring(row, cell) {
    this.scrollTo(30 + row * ROW, ROW, 34);
    if (cell.at < 0) return;
    this.axis.reveal(cell.at, cell.at, 0);
    const gap = this.cells(row).reduce((least, other) => (
      other.at !== cell.at && other.at >= 0 ? Math.min(least, Math.abs(other.at - cell.at)) : least), Infinity);
    const wanted = (gap * this.axis.width) / 13;
    if (gap < Infinity && this.axis.to - this.axis.from > wanted) this.axis.show(cell.at - wanted / 2, cell.at + wanted / 2);
    strip.redraw();
  }

  magnify(row, key) {
    const [from, to] = key.slice(2).split('-').map(Number);
    this.zoomTo(from, to + 1);
  }

  draw() {
    this.measure();
    this.begin(this.rows);
    this.drawRuler();
    this.grid.style.height = `${30 + this.rows * ROW + 8}px`;
    const { list } = this;
    const first = clamp(Math.floor((this.top - 60) / ROW), 0, list.length);
    const last = clamp(Math.ceil((this.top + this.room) / ROW), 0, list.length);
    for (let row = first; row < last; row += 1) this.drawRow(row, list[row]);
    this.end();
  }

  drawRow(row, resource) {
    const { names, axis } = this;
    const { resources } = plan;
    const name = resources.name[resource];
    const sign = changes.resource.get(name);
    const header = this.cell(row, `r${resource}`, 'name resource', () => say.resource(resource), () => [
      findings.byResource.has(resource) && h('span', { class: 'badge', text: '!' }), sign && h('span', { class: 'sign', text: sign }),
      h('span', { class: resources.root[resource] ? 'strong root' : 'strong', text: shown(name) }),
      h('span', { class: 'note', text: bytes(resources.bytes[resource]) })], { role: 'rowheader' });
    place(header, 0, 0, names - 8, ROW);
    const cells = this.cells(row);
    const parts = [header, ...this.bar(resource, cells)];
    const accesses = cells.filter((cell) => cell.access !== undefined);
    const barriers = cells.filter((cell) => cell.barrier !== undefined);
    for (const run of joined(axis, accesses, 11)) parts.push(this.access(row, lead(this, row, run)));
    for (const run of joined(axis, barriers, 9)) {
      const [{ key, barrier }] = lead(this, row, run).cells;
      const label = () => several(run.cells.map((cell) => say.barrier(cell.barrier)), 'barrier');
      const mark = this.cell(row, key, `diamond ${plan.barrierKind(barrier)}|${namesOf(run)}`, label);
      parts.push(place(mark, names + axis.x(run.cells[0].at) - 5, 9, 10, 10));
    }
    parts.push(...this.layouts(row, barriers));
    // What only decorates lies below; marks stand in the order in which they are walked.
    const rank = (one) => (one === header ? -2e9 : one.key ? one.spot.left : -1e9);
    parts.sort((a, b) => rank(a) - rank(b));
    this.row(row, 30 + row * ROW, ROW, parts);
  }

  access(row, run) {
    const [{ key }] = run.cells;
    const many = run.cells.length > 1;
    const x = this.names + (run.left + run.right) / 2;
    // Accesses of one pass are one mark.
    if (!many || run.left === run.right) {
      const label = () => several(run.cells.map((cell) => say.access(cell.access)), 'access', 'accesses');
      const all = run.cells.reduce((sum, cell) => sum | cell.mode, 0);
      const mark = this.cell(row, key, `glyph ${MODE_CLASS[all]}|${namesOf(run)}`, label);
      return place(mark, x - 7, 7, 14, 14);
    }
    const passes = run.cells.map((cell) => plan.accesses.pass[cell.access]);
    const modes = run.cells.reduce((sum, cell) => sum | cell.mode, 0);
    const key2 = `ma${passes[0]}-${passes[passes.length - 1]}`;
    const mark = this.cell(row, key2, `glyph crowd ${MODE_CLASS[modes]}`, () => `${count(run.cells.length, 'access', 'accesses')}: magnify`);
    return place(mark, this.names + run.left - 7, 7, Math.max(14, run.right - run.left + 14), 14);
  }

  // The life of a resource: solid while it holds something, hatched where it outlives the frame.
  bar(resource, cells) {
    const { axis, names } = this;
    const { first, last, root, life } = plan.resources;
    if (first[resource] < 0) return [];
    const kind = plan.text(life[resource]);
    const outlives = kind !== 'transient' && kind !== 'root';
    const from = outlives ? 0 : first[resource];
    const to = outlives || root[resource] ? plan.live : last[resource] + 1;
    const left = clamp(axis.x(from), -4, axis.width + 4);
    const right = clamp(axis.x(to), -4, axis.width + 4);
    if (right <= left) return [];
    const group = plan.group[resource];
    const bar = this.decor(`bar${resource}`, `bar ${outlives ? 'outlives' : ''} ${group >= 0 ? `group-${group % 8}` : ''}`);
    const bars = [place(bar, names + left, 4, right - left, 20)];
    // A barrier may stand before the first use: the planner gathers calls.
    const early = cells.find((cell) => cell.barrier !== undefined);
    const start = early && !outlives ? clamp(axis.x(early.at), 0, axis.width) : left;
    if (start < left - 2) bars.unshift(place(this.decor(`early${resource}`, 'early'), names + start, 13, left - start, 2));
    return bars;
  }

  // The name of the layout from one barrier to the next, where there is room for it.
  layouts(row, barriers) {
    const { axis, names } = this;
    const texts = [];
    barriers.forEach(({ at, barrier }, index) => {
      const layout = plan.text(plan.barriers.new[barrier]);
      const next = barriers[index + 1]?.at ?? plan.live;
      const [left, right] = [Math.max(0, axis.x(at)), Math.min(axis.width, axis.x(next)) - 8];
      const room = right - left;
      if (!layout || room < 44) return;
      texts.push(place(this.decor(`layout${row}:${barrier}`, 'between', spread(layout)), names + left, 25, room, 11));
    });
    return texts;
  }
}

const MODE_CLASS = { 1: 'reads', 2: 'writes', 3: 'both' };
