// The matrix of passes against resources: time goes down, a column for each resource, roots underlined, culled passes
// grey with their reason. After Pavlo Muratov's "Organizing GPU Work with Directed Acyclic Graphs" (2020).

const LINE = 22;
const COLUMN = 24;
const HEAD = 128;
// As many rows and columns are printed.
const MOST_ON_PAPER = 400;

class Matrix extends GridView {
  constructor() {
    super('matrix', 'Matrix', 'Passes from top to bottom against resources');
  }

  start() {
    this.tools.append(legend([['glyph reads', 'reads'], ['glyph writes', 'writes'], ['glyph both', 'both']], 'Marks'),
      h('span', { class: 'note', text: 'Roots are underlined.' }));
    const used = new Int32Array(plan.resourceCount).fill(-1);
    let next = 0;
    for (const pass of plan.data.shown) {
      for (const access of plan.accessesOf(pass)) {
        const resource = plan.accesses.resource[access];
        if (used[resource] < 0) used[resource] = next++;
      }
    }
    this.used = [...used.keys()].filter((at) => used[at] >= 0).sort((a, b) => used[a] - used[b]);
    this.longest = plan.passes.name.reduce((most, name) => Math.max(most, textWidth(shown(name), 13, 600)), 0) + 56;
    this.tools.append(folder(['p', 'r']));
    on('folds', () => this.changed());
    this.gather();
  }

  // Rows and columns: a pass or a resource, or those of a folded group. Passes of one row follow each other.
  gather() {
    this.list = [];
    this.rowOf = new Map();
    for (const pass of plan.data.shown) {
      if (!state.culled && plan.isCulled(pass)) continue;
      const group = foldedOf('p', pass);
      const last = this.list[this.list.length - 1];
      if (group && last?.group === group) last.members.push(pass);
      else this.list.push({ group, pass, members: [pass] });
      this.rowOf.set(pass, this.list.length);
    }
    this.columns = [];
    this.columnOf = new Map();
    const open = new Map();
    for (const resource of this.used) {
      const group = foldedOf('r', resource);
      let column = group ? open.get(group) : undefined;
      if (column === undefined) {
        column = this.columns.length;
        this.columns.push({ group, resource, members: [] });
        if (group) open.set(group, column);
      }
      this.columns[column].members.push(resource);
      this.columnOf.set(resource, column);
    }
    this.known = new Map();
  }

  // The heads of the columns are row 0.
  get rows() {
    return this.list.length + 1;
  }

  get names() {
    const { clientWidth } = this.frame;
    return clientWidth < 480 ? 110 : Math.round(clamp(this.longest, 140, clientWidth * 0.3));
  }

  cells(row) {
    if (this.known.has(row)) return this.known.get(row);
    const cells = row === 0 ? this.columns.map(({ resource, members }, at) => ({ key: `${members.length > 1 ? 'mr' : 'r'}${resource}`, at, end: at, column: at }))
      : this.cellsOf(this.list[row - 1]);
    this.known.set(row, cells);
    return cells;
  }

  cellsOf({ pass, members }) {
    const cells = [{ key: `${members.length > 1 ? 'mp' : 'p'}${pass}`, at: -1, end: -1, column: -1 }];
    const seen = new Map();
    for (const access of members.flatMap((one) => [...plan.accessesOf(one)])) {
      const column = this.columnOf.get(plan.accesses.resource[access]);
      const before = seen.get(column);
      if (before) {
        before.mode |= plan.accesses.mode[access];
        before.accesses.push(access);
        if (members.length > 1 || this.columns[column].members.length > 1) before.key = `ma${before.accesses[0]}`;
      } else {
        const cell = { key: `a${access}`, at: column, end: column, column, accesses: [access], mode: plan.accesses.mode[access] };
        seen.set(column, cell);
        cells.push(cell);
      }
    }
    return cells.sort((a, b) => a.at - b.at);
  }

  locate(key) {
    const at = Number(key.slice(1));
    if (key[0] === 'r') return this.columnOf.has(at) ? [0, this.cells(0)[this.columnOf.get(at)]] : null;
    const row = this.rowOf.get(key[0] === 'p' ? at : key[0] === 'a' ? plan.accesses.pass[at] : -1);
    if (row === undefined) return null;
    const cells = this.cells(row);
    return [row, cells.find((cell) => cell.key === key || (key[0] === 'a' && cell.accesses?.includes(at))) || cells[0]];
  }

  // What stands for several unfolds.
  magnify(row, key) {
    const at = Number(key.slice(2));
    const { pass, resource } = plan.accesses;
    const groups = { mp: [foldedOf('p', at)], mr: [foldedOf('r', at)], ma: [foldedOf('p', pass[at]), foldedOf('r', resource[at])] }[key.slice(0, 2)];
    for (const group of groups) if (group) fold(group);
  }

  covers(id, lit) {
    const [row, key] = split(id);
    const cell = this.cells(row).find((one) => one.key === key);
    if (cell.accesses) return cell.accesses.some((access) => lit.has(`a${access}`));
    const [of, letter] = row === 0 ? [this.columns[cell.column], 'r'] : [this.list[row - 1], 'p'];
    return of.members.some((at) => lit.has(letter + at));
  }

  bring(row, cell) {
    if (row > 0) this.scrollTo(HEAD + (row - 1) * LINE, LINE, HEAD);
    if (cell.column < 0) return;
    const left = this.names + cell.column * COLUMN;
    const { scrollLeft, clientWidth } = this.frame;
    if (left - this.names < scrollLeft) this.frame.scrollLeft = left - this.names;
    else if (left + 2 * COLUMN > scrollLeft + clientWidth) this.frame.scrollLeft = left + 2 * COLUMN - clientWidth;
  }

  draw() {
    const { names, list, columns } = this;
    const { scrollTop, scrollLeft, clientWidth, clientHeight } = this.frame;
    this.begin(this.rows);
    this.grid.setAttribute('aria-colcount', String(columns.length + 1));
    this.grid.style.height = `${HEAD + list.length * LINE + 24}px`;
    // Reasons of culled passes follow their marks: the longest one has room behind the last column.
    this.reasons ??= plan.passes.culled.reduce((most, why) => (why < 0 ? most : Math.max(most, textWidth(plan.text(why), 13) + 34)), 90);
    const width = names + columns.length * COLUMN + this.reasons;
    this.grid.style.width = `${width}px`;
    const paper = this.shrink(width);
    const from = paper ? 0 : clamp(Math.floor(scrollLeft / COLUMN) - 4, 0, columns.length);
    const to = paper ? Math.min(columns.length, MOST_ON_PAPER) : clamp(Math.ceil((scrollLeft + clientWidth) / COLUMN), 0, columns.length);
    const first = paper ? 0 : clamp(Math.floor((scrollTop - HEAD) / LINE) - 1, 0, list.length);
    const last = paper ? Math.min(list.length, MOST_ON_PAPER) : clamp(Math.ceil((scrollTop + clientHeight - HEAD / 2) / LINE), 0, list.length);
    this.head(from, to);
    for (let at = first; at < last; at += 1) this.line(at + 1, list[at], from, to);
    if (!list.length) this.row(1, HEAD, 40, [this.nothing('No pass is declared, or those that are culled are hidden.')]);
    this.end(this.lives(from, to, first, last));
  }

  head(from, to) {
    const { names } = this;
    this.corner ||= h('span', { role: 'gridcell', class: 'corner' }, h('span', { class: 'hidden', text: 'resources' }));
    const heads = [this.corner];
    for (let column = from; column < to; column += 1) {
      const { resource, group, members } = this.columns[column];
      const folded = members.length > 1;
      const name = folded ? groupName(group, members.length) : shown(plan.resources.name[resource]);
      const root = members.some((one) => plan.resources.root[one]) ? ' root' : '';
      const words = () => (folded ? `${name}: unfold` : say.resource(resource));
      const cell = this.cell(0, `${folded ? 'mr' : 'r'}${resource}`, `column${root}|${name}`, words, () => h('span', { text: fit(name, 134, 12, 600) }),
        { role: 'columnheader', 'aria-colindex': column + 2, 'aria-expanded': folded && 'false', title: name });
      heads.push(place(cell, names + column * COLUMN, 0, COLUMN, HEAD - 6));
    }
    this.row(0, 0, HEAD - 6, heads, 'row heads');
  }

  // A line down each column while its resource is alive.
  lives(from, to, first, last) {
    const { names } = this;
    const back = h('div', { class: 'lives', 'aria-hidden': 'true' });
    for (let column = from; column < to; column += 1) {
      const used = this.columns[column].members.filter((one) => plan.resources.first[one] >= 0);
      if (!used.length) continue;
      const places = (ends) => used.map((one) => (this.rowOf.get(ends[one]) ?? 1) - 1);
      const top = Math.max(Math.min(...places(plan.resources.first)), first - 1);
      const bottom = Math.min(Math.max(...places(plan.resources.last)), last + 1);
      if (bottom < top) continue;
      const group = used.length > 1 ? -1 : plan.group[used[0]];
      const line = h('div', { class: `life ${group >= 0 ? `group-${group % 8}` : ''}` });
      back.append(place(line, names + column * COLUMN + COLUMN / 2 - 2, HEAD + top * LINE + LINE / 2, 4, (bottom - top) * LINE));
    }
    return back;
  }

  line(row, { pass, group, members }, from, to) {
    const { names } = this;
    const culled = plan.isCulled(pass);
    const folded = members.length > 1;
    const name = folded ? groupName(group, members.length) : shown(plan.passes.name[pass]);
    const text = fit(name, names - 52, 13, 600);
    const words = () => (folded ? `${name}: unfold` : say.pass(pass));
    const header = this.cell(row, `${folded ? 'mp' : 'p'}${pass}`, `name pass${culled ? ' culled' : ''}|${text}`, words, () => [
      h('span', { class: `dot ${culled ? '' : hue(plan.passes.queue[pass])}`, 'aria-hidden': 'true' }),
      findings.byPass.has(pass) && h('span', { class: 'badge', text: '!' }),
      h('span', { class: 'strong', text })], { role: 'rowheader', title: text === name ? null : name, 'aria-expanded': folded && 'false' });
    place(header, 0, 0, names - 8, LINE);
    const parts = [header];
    let right = -1;
    for (const cell of this.cells(row)) {
      right = Math.max(right, cell.column);
      if (cell.column < from || cell.column >= to) continue;
      const look = `glyph ${MODE_CLASS[cell.mode]}${culled ? ' culled' : ''}`;
      const words = () => (cell.key[0] === 'm' ? `${count(cell.accesses.length, 'access', 'accesses')}: unfold` : say.access(cell.accesses[0]));
      const mark = this.cell(row, cell.key, look, words, null, { 'aria-colindex': cell.column + 2 });
      parts.push(place(mark, names + cell.column * COLUMN + (COLUMN - 14) / 2, 4, 14, 14));
    }
    if (culled) {
      const text = this.decor(`reason${pass}`, 'reason', plan.text(plan.passes.culled[pass]));
      parts.push(place(text, names + (right + 1) * COLUMN + 8, 3));
    }
    this.row(row, HEAD + (row - 1) * LINE, LINE, parts);
  }

  changed() {
    if (!this.used) return;
    this.gather();
    if (!this.panel.hidden) this.draw();
  }
}
