// A row for each resource: its life as a bar, accesses as triangles, barriers as diamonds, layouts between them. Names
// that begin alike are groups that fold.

// Height of a row: alone there is room for the names of layouts.
const ROW = { alone: 38, stacked: 25 };
// Above this many rows, only resources of the part of the frame that is in view are listed.
const IN_VIEW = 60;
// More resources than this open without groups.
const MOST_GROUPED = 12_000;
// Above this many, groups open folded where so many of them or more are left, and half of the rows or fewer: the lives
// of a large frame are then seen at once.
const SHUT = { many: 200, least: 6, share: 0.5 };

class Resources extends Pane {
  constructor() {
    super('resources', 'Resources', 'Resources and their accesses, barriers and layouts');
    this.order = 'use';
    this.grouped = false;
    this.near = plan.resourceCount > IN_VIEW;
    this.lists = new Map();
    this.known = new Map();
    // Groups that are folded here only.
    this.own = new Set();
  }

  // Folds groups, in this view only, where there are too many resources to be seen.
  foldByItself() {
    if (!this.grouped || plan.resourceCount <= SHUT.many || folds.size) return;
    const groups = [...groupsOf('r').keys()];
    const alone = plan.resourceCount - groups.reduce((sum, group) => sum + groupsOf('r').get(group).length, 0);
    if (groups.length + alone < SHUT.least || groups.length + alone > plan.resourceCount * SHUT.share) return;
    for (const group of groups) this.own.add(group);
  }

  isFolded(group) {
    return folds.has(group) || this.own.has(group);
  }

  start() {
    const orders = [['use', 'First use'], ['declared', 'Declared'], ['size', 'Size']];
    const again = () => {
      this.lists.clear();
      this.forget();
      this.draw();
    };
    const prefixes = new Set(plan.resources.name.map(prefixOf).filter(Boolean));
    this.grouped = prefixes.size > 0 && plan.resourceCount <= MOST_GROUPED;
    this.foldByItself();
    this.tools.append(
      choice('Sorted by', orders, this.order, (order) => {
        this.order = order;
        again();
      }),
      prefixes.size ? toggle('Grouped', this.grouped, (on) => {
        this.grouped = on;
        again();
      }) : '',
      toggle('Only in view', this.near, (on) => {
        this.near = on;
        again();
      }),
      legend([['glyph reads', 'reads'], ['glyph writes', 'writes'], ['glyph both', 'both']], 'Accesses'),
      legend([['diamond memory', 'memory'], ['diamond layout', 'layout'], ['diamond ownership', 'ownership'], ['diamond alias', 'alias']], 'Barriers'),
    );
    on('folds', again);
  }

  get line() {
    return this.alone ? ROW.alone : ROW.stacked;
  }

  // Resources in the chosen order, with the groups that they are in: everything that can be a row.
  get list() {
    const key = `${this.order} ${this.grouped}`;
    if (this.lists.has(key)) return this.lists.get(key);
    const { first, bytes: sizes } = plan.resources;
    const list = Array.from({ length: plan.resourceCount }, (_, at) => at);
    const late = (at) => (first[at] < 0 ? Infinity : first[at]);
    if (this.order === 'use') list.sort((a, b) => late(a) - late(b) || a - b);
    if (this.order === 'size') list.sort((a, b) => sizes[b] - sizes[a] || a - b);
    const rows = this.grouped ? prefixRows(list, (at) => plan.resources.name[at], (group) => this.isFolded(group), 'r')
      : list.map((item) => ({ item, depth: 0, label: shown(plan.resources.name[item]) }));
    this.rowOf = new Map();
    rows.forEach((row, at) => {
      row.at = at;
      for (const item of row.members && this.isFolded(row.group) ? row.members : [row.item]) if (item !== undefined) this.rowOf.set(item, at);
    });
    this.lists.set(key, rows);
    return rows;
  }

  get rows() {
    return this.list.length;
  }

  // Rows with something in the part of the frame that is in view, from top to bottom.
  get visible() {
    const { axis } = this;
    const key = this.near ? `${axis.from} ${axis.to}` : '';
    if (this.cached?.key === key) return this.cached.rows;
    const lives = plan.livesOn(axis.scale);
    const inView = (item) => !(lives.begin[item] > axis.to || lives.end[item] < axis.from || Number.isNaN(lives.begin[item]));
    const whole = !this.near || axis.to - axis.from >= (axis.scale.extent - (axis.scale.start || 0)) * 0.98;
    const rows = whole ? this.list : this.list.filter((row) => (row.members ? row.members.some(inView) : inView(row.item)));
    const place = new Map(rows.map((row, at) => [row.at, at]));
    this.cached = { key, rows, place };
    return rows;
  }

  natural() {
    return Math.min(this.list.length, 15) * this.line + 10;
  }

  forget() {
    this.cached = null;
    this.known.clear();
  }

  cells(row) {
    const of = this.list[row];
    if (!of) return [];
    if (this.known.has(row)) return this.known.get(row);
    const cells = [{ key: of.group ? `mf${row}` : `r${of.item}`, at: -Infinity, end: -Infinity }];
    const { pass, mode } = plan.accesses;
    const { scale } = this.axis;
    const members = !of.group ? [of.item] : this.isFolded(of.group) ? of.members : [];
    for (const resource of members) {
      for (const access of plan.accessesTo(resource)) {
        if (plan.isCulled(pass[access])) continue;
        const at = (scale.begin[pass[access]] + scale.end[pass[access]]) / 2;
        cells.push({ key: `a${access}`, at, end: at, access, mode: mode[access] });
      }
      for (const barrier of plan.barriersOn(resource)) {
        const at = barrierAt(plan, barrier, scale);
        cells.push({ key: `b${barrier}`, at, end: at, barrier });
      }
    }
    cells.sort((a, b) => a.at - b.at);
    this.known.set(row, cells);
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
    const row = this.rowOf.get(resource);
    if (row === undefined) return null;
    const cells = this.cells(row);
    return [row, cells.find((one) => one.key === key) || cells[0]];
  }

  bring(row, cell) {
    if (cell.at > -Infinity) {
      this.axis.reveal(cell.at, cell.at, 0);
      const same = this.cells(row).filter((other) => other.at > -Infinity && (other.access === undefined) === (cell.access === undefined));
      apart(this.axis, same, cell, 13);
    }
    this.visible;
    const place = this.cached.place.get(row);
    if (place !== undefined) this.scrollTo(place * this.line, this.line, 4);
  }

  open(id) {
    const [row, key] = split(id);
    if (key[0] === 'm' && key[1] === 'f') {
      this.at = id;
      const { group } = this.list[row];
      if (this.own.delete(group)) tell('folds');
      else fold(group);
    } else super.open(id);
  }

  magnify(row, key) {
    const [from, to] = key.slice(2).split('-').map(Number);
    this.zoomTo(this.axis.scale.begin[from], this.axis.scale.end[to]);
  }

  covers(id, lit) {
    const [row, key] = split(id);
    if (key[1] === 'f') return this.list[row]?.members?.some((item) => lit.has(`r${item}`));
    const [from, to] = key.slice(2).split('-').map(Number);
    const inside = ({ access }) => access !== undefined && plan.accesses.pass[access] >= from && plan.accesses.pass[access] <= to;
    return this.cells(row).some((cell) => inside(cell) && lit.has(cell.key));
  }

  paintRows() {
    const { visible, line } = this;
    this.begin(this.rows);
    this.setHeight(visible.length * line + 8);
    const first = clamp(Math.floor(this.top / line) - 1, 0, visible.length);
    const last = clamp(Math.ceil((this.top + this.room) / line) + 1, 0, visible.length);
    for (let at = first; at < last; at += 1) {
      if (visible[at].group) this.drawGroup(visible[at], at * line);
      else this.drawRow(visible[at], at * line);
    }
    if (!visible.length) this.row(0, 0, 40, [this.nothing(this.list.length ? 'No resource is alive in view.' : 'No pass uses a resource.')]);
    this.end();
  }

  // The name of a row: shortened in its middle, its bytes where there is room for both.
  header(row, key, look, name, note, { depth, role, mark, label }) {
    const { names } = this;
    const room = names - 30 - depth * 12 - mark.length * 14;
    const wide = textWidth(note, 11) + 10;
    const noted = textWidth(name, 13, 600) + wide <= room || room > 170;
    const text = fit(name, room - (noted ? wide : 0), 13, 600) || '…';
    const header = this.cell(row, key, `${look}|${text}${noted}${names}`, label, () => [mark,
      h('span', { class: role, text }), noted && h('span', { class: 'note', text: note })], { role: 'rowheader', title: text === name ? null : name });
    header.style.paddingLeft = `${12 + depth * 12}px`;
    // Marks of the first pass reach half their width into it.
    return place(header, 0, 0, names - 12, this.line);
  }

  drawGroup(of, top) {
    const row = of.at;
    const folded = this.isFolded(of.group);
    const size = of.members.reduce((sum, item) => sum + plan.resources.bytes[item], 0);
    const label = () => `${of.name}: ${count(of.members.length, 'resource')}, ${folded ? 'unfold' : 'fold'}`;
    const arrow = [h('span', { class: folded ? 'arrowhead folded' : 'arrowhead' })];
    const header = this.header(row, `mf${row}`, `name resource prefix-row ${folded ? 'folded' : 'open'}`, `${of.name} (${of.members.length})`, bytes(size),
      { depth: of.depth, role: 'strong', mark: arrow, label });
    header.setAttribute('aria-expanded', String(!folded));
    const { axis, names } = this;
    const lives = plan.livesOn(axis.scale);
    const used = of.members.filter((item) => !Number.isNaN(lives.begin[item]));
    const from = used.reduce((low, item) => Math.min(low, lives.begin[item]), Infinity);
    const to = used.reduce((high, item) => Math.max(high, lives.end[item]), -Infinity);
    const [left, right] = [clamp(axis.x(from), -4, axis.width + 4), clamp(axis.x(to), -4, axis.width + 4)];
    const parts = [header];
    if (right > left) parts.push(place(this.decor(`group${row}`, 'bar group-bar'), names + left, this.line / 2 - 4, right - left, 7));
    if (folded) {
      const accesses = this.cells(row).filter((cell) => cell.access !== undefined);
      for (const run of joined(axis, accesses, 11, 44)) parts.push(this.access(row, lead(this, row, run)));
    }
    this.row(row, top, this.line, parts);
  }

  drawRow({ at: row, item: resource, depth, label }, top) {
    const { names, axis } = this;
    const { resources } = plan;
    const sign = changes.resource.get(resources.name[resource]);
    const mark = [findings.byResource.has(resource) && h('span', { class: 'badge', text: '!' }), sign && h('span', { class: 'sign', text: sign })].filter(Boolean);
    const header = this.header(row, `r${resource}`, 'name resource', label, bytes(resources.bytes[resource]),
      { depth, role: resources.root[resource] ? 'strong root' : depth ? 'leaf' : 'strong', mark, label: () => say.resource(resource) });
    const cells = this.cells(row);
    const parts = [header, ...this.bar(resource, cells)];
    const accesses = cells.filter((cell) => cell.access !== undefined);
    const barriers = cells.filter((cell) => cell.barrier !== undefined);
    const low = this.alone ? 7 : 5;
    for (const run of joined(axis, accesses, 11, 44)) parts.push(this.access(row, lead(this, row, run)));
    for (const run of joined(axis, barriers, 9)) {
      const [{ key, barrier }] = lead(this, row, run).cells;
      const many = () => several(run.cells, (cell) => say.barrier(cell.barrier), 'barrier');
      const mark = this.cell(row, key, `diamond ${plan.barrierKind(barrier)}|${namesOf(run)}`, many);
      parts.push(place(mark, names + axis.x(run.cells[0].at) - 5, low + 2, 10, 10));
    }
    if (this.alone) parts.push(...this.layouts(row, barriers));
    // What only decorates lies below; marks stand in the order in which they are walked.
    const rank = (one) => (one === header ? -2e9 : one.key ? one.spot.left : -1e9);
    parts.sort((a, b) => rank(a) - rank(b));
    this.row(row, top, this.line, parts);
  }

  access(row, run) {
    const [{ key }] = run.cells;
    const many = run.cells.length > 1;
    const x = this.names + (run.left + run.right) / 2;
    const top = this.alone ? 7 : 5;
    const modes = run.cells.reduce((sum, cell) => sum | cell.mode, 0);
    // Accesses of one pass are one mark.
    if (!many || run.left === run.right) {
      const label = () => several(run.cells, (cell) => say.access(cell.access), 'access', 'accesses');
      const mark = this.cell(row, key, `glyph ${MODE_CLASS[modes]}|${namesOf(run)}`, label);
      return place(mark, x - 7, top, 14, 14);
    }
    const passes = run.cells.map((cell) => plan.accesses.pass[cell.access]);
    const key2 = `ma${Math.min(...passes)}-${Math.max(...passes)}`;
    const mark = this.cell(row, key2, `glyph crowd ${MODE_CLASS[modes]}`, () => `${count(run.cells.length, 'access', 'accesses')}: magnify`);
    return place(mark, this.names + run.left - 7, top, Math.max(14, run.right - run.left + 14), 14);
  }

  // The life of a resource: solid while it holds something, hatched where it outlives the frame.
  bar(resource, cells) {
    const { axis, names } = this;
    const { first, root, life } = plan.resources;
    if (first[resource] < 0) return [];
    const kind = plan.text(life[resource]);
    const outlives = kind !== 'transient' && kind !== 'root';
    const lives = plan.livesOn(axis.scale);
    const from = outlives ? axis.scale.start || 0 : lives.begin[resource];
    const to = outlives || root[resource] ? axis.scale.extent : lives.end[resource];
    const left = clamp(axis.x(from), -4, axis.width + 4);
    const right = clamp(axis.x(to), -4, axis.width + 4);
    if (right < left || axis.x(to) < 0 || axis.x(from) > axis.width) return [];
    const group = plan.group[resource];
    const bar = this.decor(`bar${resource}`, `bar ${outlives ? 'outlives' : ''} ${group >= 0 ? `group-${group % 8}` : ''}`);
    const bars = [place(bar, names + left, this.alone ? 4 : 3, Math.max(2, right - left), this.alone ? 20 : 18)];
    // A barrier may stand before the first use: the planner gathers calls.
    const early = cells.find((cell) => cell.barrier !== undefined);
    const start = early && !outlives ? clamp(axis.x(early.at), 0, axis.width) : left;
    if (start < left - 2) bars.unshift(place(this.decor(`early${resource}`, 'early'), names + start, this.alone ? 13 : 11, left - start, 2));
    return bars;
  }

  // The name of the layout from one barrier to the next, where there is room for it.
  layouts(row, barriers) {
    const { axis, names } = this;
    const texts = [];
    barriers.forEach(({ at, barrier }, index) => {
      const layout = plan.text(plan.barriers.new[barrier]);
      const next = barriers[index + 1]?.at ?? axis.scale.extent;
      const [left, right] = [Math.max(0, axis.x(at)), Math.min(axis.width, axis.x(next)) - 8];
      const room = right - left;
      if (!layout || room < 44) return;
      texts.push(place(this.decor(`layout${row}:${barrier}`, 'between', spread(layout)), names + left, 25, room, 11));
    });
    return texts;
  }
}

const MODE_CLASS = { 1: 'reads', 2: 'writes', 3: 'both' };
