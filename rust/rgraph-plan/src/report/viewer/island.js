// The diagram of passes against resources: time goes down, a column for each resource, roots underlined, culled passes
// grey with their reason. After Pavlo Muratov's "Organizing GPU Work with Directed Acyclic Graphs" (2020).

const LINE = 22;
const COLUMN = 24;
const HEAD = 128;

class Diagram extends GridView {
  constructor() {
    super('diagram', 'Diagram', 'Passes from top to bottom against resources');
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
    this.columnOf = used;
    this.longest = plan.passes.name.reduce((most, name) => Math.max(most, textWidth(shown(name), 13, 600)), 0) + 56;
    this.columns = [...used.keys()].filter((at) => used[at] >= 0).sort((a, b) => used[a] - used[b]);
  }

  get list() {
    if (!this.passes) this.passes = plan.data.shown.filter((pass) => state.culled || !plan.isCulled(pass));
    return this.passes;
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
    if (row === 0) return this.columns.map((resource, at) => ({ key: `r${resource}`, at, end: at, column: at }));
    const pass = this.list[row - 1];
    const cells = [{ key: `p${pass}`, at: -1, end: -1, column: -1 }];
    const seen = new Map();
    for (const access of plan.accessesOf(pass)) {
      const column = this.columnOf[plan.accesses.resource[access]];
      const before = seen.get(column);
      if (before) before.mode |= plan.accesses.mode[access];
      else {
        const cell = { key: `a${access}`, at: column, end: column, column, access, mode: plan.accesses.mode[access] };
        seen.set(column, cell);
        cells.push(cell);
      }
    }
    return cells.sort((a, b) => a.at - b.at);
  }

  locate(key) {
    const at = Number(key.slice(1));
    if (key[0] === 'r') return this.columnOf[at] < 0 ? null : [0, this.cells(0)[this.columnOf[at]]];
    const pass = key[0] === 'p' ? at : key[0] === 'a' ? plan.accesses.pass[at] : -1;
    const row = pass < 0 ? -1 : this.list.indexOf(pass) + 1;
    if (row < 1) return null;
    const cells = this.cells(row);
    return [row, cells.find((cell) => cell.key === key) || cells[0]];
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
    const reasons = list.some((pass) => plan.isCulled(pass)) ? 380 : 24;
    this.grid.style.width = `${names + columns.length * COLUMN + Math.max(reasons, 90)}px`;
    const from = clamp(Math.floor(scrollLeft / COLUMN) - 4, 0, columns.length);
    const to = clamp(Math.ceil((scrollLeft + clientWidth) / COLUMN), 0, columns.length);
    const first = clamp(Math.floor((scrollTop - HEAD) / LINE) - 1, 0, list.length);
    const last = clamp(Math.ceil((scrollTop + clientHeight - HEAD / 2) / LINE), 0, list.length);
    this.head(from, to);
    for (let at = first; at < last; at += 1) this.line(at + 1, list[at], from, to);
    this.end(this.lives(from, to, first, last));
  }

  head(from, to) {
    const { names } = this;
    this.corner ||= h('span', { role: 'gridcell', class: 'corner' }, h('span', { class: 'hidden', text: 'resources' }));
    const heads = [this.corner];
    for (let column = from; column < to; column += 1) {
      const resource = this.columns[column];
      const root = plan.resources.root[resource] ? ' root' : '';
      const cell = this.cell(0, `r${resource}`, `column${root}`, () => say.resource(resource),
        () => h('span', { text: fit(shown(plan.resources.name[resource]), 134, 12, 600) }),
        { role: 'columnheader', 'aria-colindex': column + 2, title: shown(plan.resources.name[resource]) });
      heads.push(place(cell, names + column * COLUMN, 0, COLUMN, HEAD - 6));
    }
    this.row(0, 0, HEAD - 6, heads, 'row heads');
  }

  // A line down each column while its resource is alive.
  lives(from, to, first, last) {
    const { names, list } = this;
    const turn = new Map(list.map((pass, at) => [pass, at]));
    const back = h('div', { class: 'lives', 'aria-hidden': 'true' });
    for (let column = from; column < to; column += 1) {
      const resource = this.columns[column];
      const [begin, end] = [plan.resources.first[resource], plan.resources.last[resource]];
      if (begin < 0) continue;
      const top = Math.max(turn.get(begin) ?? 0, first - 1);
      const bottom = Math.min(turn.get(end) ?? 0, last + 1);
      if (bottom < top) continue;
      const group = plan.group[resource];
      const line = h('div', { class: `life ${group >= 0 ? `group-${group % 8}` : ''}` });
      back.append(place(line, names + column * COLUMN + COLUMN / 2 - 2, HEAD + top * LINE + LINE / 2, 4, (bottom - top) * LINE));
    }
    return back;
  }

  line(row, pass, from, to) {
    const { names } = this;
    const culled = plan.isCulled(pass);
    const name = shown(plan.passes.name[pass]);
    const text = fit(name, names - 52, 13, 600);
    const header = this.cell(row, `p${pass}`, `name pass${culled ? ' culled' : ''}|${text}`, () => say.pass(pass), () => [
      h('span', { class: `dot ${culled ? '' : hue(plan.passes.queue[pass])}`, 'aria-hidden': 'true' }),
      findings.byPass.has(pass) && h('span', { class: 'badge', text: '!' }),
      h('span', { class: 'strong', text })], { role: 'rowheader', title: text === name ? null : name });
    place(header, 0, 0, names - 8, LINE);
    const parts = [header];
    let right = -1;
    for (const cell of this.cells(row)) {
      right = Math.max(right, cell.column);
      if (cell.column < from || cell.column >= to) continue;
      const look = `glyph ${MODE_CLASS[cell.mode]}${culled ? ' culled' : ''}`;
      const mark = this.cell(row, cell.key, look, () => say.access(cell.access), null, { 'aria-colindex': cell.column + 2 });
      parts.push(place(mark, names + cell.column * COLUMN + (COLUMN - 14) / 2, 4, 14, 14));
    }
    if (culled) {
      const text = this.decor(`reason${pass}`, 'reason', plan.text(plan.passes.culled[pass]));
      parts.push(place(text, names + (right + 1) * COLUMN + 8, 3));
    }
    this.row(row, HEAD + (row - 1) * LINE, LINE, parts);
  }

  changed() {
    this.passes = null;
    if (!this.panel.hidden) this.draw();
  }
}
