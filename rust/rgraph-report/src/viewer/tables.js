// Everything as tables to sort and to copy: what the drawings show, for those who rather read it.

const TABLE_ROW = 26;
// Rows have two lines where the last column, mostly a reason, has less room than a third of its texts want, or where a
// tenth of the names would be cut in one.
const DEEP_ROW = 38;
// It has at least this width.
// Of both sides of a cell together, and where not all columns are in view otherwise.
const MARGIN = 20;
const TIGHT = 8;
const LAST_COLUMN = 196;
// Columns of names are no narrower, where that brings all columns into view.
const NAME_COLUMN = 120;
const ROOMY_COLUMN = 210;
// No column is made narrower by hand.
const LEAST_COLUMN = 44;
// Rows that decide that.
const ROWS_MEASURED = 2000;
// As many rows are printed, of tables and of resources.
const MOST_PRINTED = 2000;

const TABLES = {
  passes: {
    title: 'Passes',
    columns: ['#', 'Pass', 'Queue', 'Submission', 'Starts µs', 'Takes µs', 'Measured µs', 'Reads', 'Writes', 'Barriers', 'Render pass', 'Why there'],
    hidden: () => (plan.scales.measured ? [] : [6]),
    length: () => plan.passCount,
    key: (at) => `p${at}`,
    row(pass) {
      const { passes, accesses } = plan;
      if (plan.isCulled(pass)) return [pass, shown(passes.name[pass]), 'culled', '', '', '', '', '', '', '', '', plan.text(passes.culled[pass])];
      const modes = (bit) => plan.accessesOf(pass).filter((at) => accesses.mode[at] & bit).length;
      const measured = plan.scales.measured;
      const took = measured?.timed[pass] ? round(measured.end[pass] - measured.begin[pass]) : '';
      return [pass, shown(passes.name[pass]), plan.queueName(passes.queue[pass]), passes.batch[pass], round(passes.start[pass]), round(passes.us[pass]), took,
        modes(READS), modes(WRITES), plan.barriersTo(pass).length, passes.physical[pass] < 0 ? '' : passes.physical[pass], plan.text(passes.why_queue[pass])];
    },
  },
  resources: {
    title: 'Resources',
    columns: ['#', 'Resource', 'Format', 'Shape', 'Bytes', 'Life', 'First pass', 'Last pass', 'Heap', 'Offset', 'Shares with', 'Why alone'],
    length: () => plan.resourceCount,
    key: (at) => `r${at}`,
    row(resource) {
      const { resources, passes } = plan;
      const text = (column) => plan.text(column[resource]);
      const pass = (column) => (column[resource] < 0 ? '' : shown(passes.name[column[resource]]));
      const placed = resources.heap[resource] >= 0;
      return [resource, shown(resources.name[resource]), text(resources.format), text(resources.shape), resources.bytes[resource],
        text(resources.life) + (resources.root[resource] && text(resources.life) !== 'root' ? ', root' : ''), pass(resources.first), pass(resources.last),
        placed ? resources.heap[resource] : '', placed ? resources.offset[resource] : '', plan.sharers(resource).length, text(resources.why_alone)];
    },
  },
  accesses: {
    title: 'Accesses',
    columns: ['#', 'Pass', 'Does', 'Resource', 'Part', 'Usage', 'Stages', 'Layout'],
    length: () => plan.accesses.pass.length,
    key: (at) => `a${at}`,
    row(access) {
      const { accesses, passes, resources } = plan;
      const text = (column) => plan.text(column[access]);
      return [access, shown(passes.name[accesses.pass[access]]), MODES[accesses.mode[access]], shown(resources.name[accesses.resource[access]]),
        text(accesses.part), text(accesses.usage), text(accesses.stages), text(accesses.layout)];
    },
  },
  barriers: {
    title: 'Barriers',
    head: 2,
    columns: ['#', 'Call', 'On', 'Layouts', 'Hazard', 'Why', 'Waits for', 'Made available', 'Who waits', 'Made visible to', 'Families'],
    length: () => plan.barriers.of.length,
    key: (at) => `b${at}`,
    row(barrier) {
      const { barriers } = plan;
      const text = (column) => plan.text(column[barrier]);
      return [barrier, plan.callOf(barrier), say.subject(barrier), say.change(barrier), text(barriers.hazard), say.why(barrier), text(barriers.src_stages),
        text(barriers.src_access), text(barriers.dst_stages), text(barriers.dst_access), text(barriers.families)];
    },
  },
  submissions: {
    title: 'Submissions',
    head: 0,
    columns: ['#', 'Queue', 'Waits for', 'Passes', 'Barrier calls', 'Signals'],
    length: () => plan.batches.queue.length,
    key: (at) => `s${at}`,
    row(batch) {
      const waits = [...plan.waitsOf(batch)].map((wait) => say.wait(wait)).join('; ');
      const passes = [...plan.passesIn(batch)].map((pass) => shown(plan.passes.name[pass])).join(', ');
      return [batch, plan.queueName(plan.batches.queue[batch]), waits, passes, plan.callsIn(batch).length, plan.batches.signal[batch] || ''];
    },
  },
  unmerged: {
    title: 'Not merged',
    columns: ['#', 'First', 'Second', 'Why'],
    length: () => plan.data.unmerged.length,
    key: (at) => `p${plan.data.unmerged[at][0]}`,
    row(at) {
      const [first, second, why] = plan.data.unmerged[at];
      return [at, shown(plan.passes.name[first]), shown(plan.passes.name[second]), why];
    },
  },
  outside: {
    title: 'Imported and exported',
    columns: ['#', 'Resource', 'Enters the frame', 'Leaves it'],
    length: () => plan.data.edges.length,
    key: (at) => `r${plan.data.edges[at][0]}`,
    row(at) {
      const [resource, entry, exit] = plan.data.edges[at];
      return [at, shown(plan.resources.name[resource]), entry.slice(entry.indexOf(': ') + 2), exit];
    },
  },
  findings: {
    title: 'Findings',
    columns: ['#', 'Rule', 'Pass', 'Resource', 'What is wrong'],
    length: () => payload.findings.length,
    key: (at) => findings.keyOf(at),
    row(at) {
      const { rule, pass, resource, message } = payload.findings[at];
      return [at, rule, shown(pass || '—'), shown(resource || '—'), message];
    },
  },
};

const round = (value) => Math.round(value * 10) / 10;

// Times below each other have as many places behind the point, so that their digits stand below each other too.
const tenths = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const inColumn = (value, column) => (column.endsWith('µs') ? tenths.format(value) : number(value));

class Tables extends GridView {
  constructor(id = 'tables', title = 'Tables', label = 'Table') {
    super(id, title, label);
    this.which = 'passes';
    this.sort = [0, 1];
    // Widths of columns that were chosen by hand, by table.
    this.chosen = {};
  }

  start() {
    this.known = Object.entries(TABLES).filter(([, table]) => table.length() > 0);
    if (!this.known.some(([id]) => id === this.which)) this.which = this.known[0]?.[0] || 'passes';
    this.tools.append(
      choice('Table', this.known.map(([id, table]) => [id, `${table.title} ${number(table.length())}`]), this.which, (id) => {
        this.which = id;
        this.sort = [0, 1];
        this.sorted = null;
        this.at = null;
        this.frame.scrollTop = 0;
        this.draw();
      }),
      h('button', { type: 'button', class: 'plain', onclick: (event) => this.copy(event.target) }, 'Copy'),
    );
    this.grid.classList.add('table');
  }

  get table() {
    return TABLES[this.which];
  }

  // The columns that have something to show.
  get columns() {
    const hidden = this.table.hidden?.() || [];
    return [...this.table.columns.keys()].filter((column) => !hidden.includes(column));
  }

  // Height of a row.
  get line() {
    return this.deep ? DEEP_ROW : TABLE_ROW;
  }

  // Positions of the rows, as they are sorted; only what matches while something is looked for.
  get list() {
    if (this.sorted) return this.sorted;
    const { table } = this;
    let list = Array.from({ length: table.length() }, (_, at) => at).filter((at) => !table.hides?.(at));
    if (search.hits) {
      const fits = list.filter((at) => search.hits.has(table.key(at)));
      if (fits.length) list = fits;
    }
    const [column, direction] = this.sort;
    if (column > 0 || direction < 0) {
      const values = new Map(list.map((at) => [at, table.row(at)[column]]));
      const compare = (a, b) => (typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b)));
      // What has no value comes last in both directions.
      const empty = (at) => values.get(at) === '';
      list.sort((a, b) => empty(a) - empty(b) || direction * compare(values.get(a), values.get(b)) || a - b);
    }
    this.sorted = list;
    return list;
  }

  get rows() {
    return this.list.length;
  }

  cells(row) {
    return this.columns.map((column) => ({ key: `${this.table.key(this.list[row])}`, at: column, end: column, column }));
  }

  here() {
    const match = /^(\d+):(.*)#(\d+)$/.exec(this.at || '');
    return match && Number(match[1]) < this.rows ? { row: Number(match[1]), index: Number(match[3]) } : null;
  }

  first() {
    return [0, this.rows ? this.cells(0)[1] : null];
  }

  go(row, cell) {
    if (!cell) return;
    this.at = `${row}:${cell.key}#${cell.column}`;
    this.scrollTo(TABLE_ROW + this.line * row, this.line, TABLE_ROW);
    this.draw();
    const mark = this.marks.get(this.at);
    mark?.focus({ preventScroll: true });
    mark?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  open(id) {
    this.at = id;
    const key = id.slice(id.indexOf(':') + 1, id.lastIndexOf('#'));
    if (/\d/.test(key)) set('pin', state.pin === key ? null : key);
  }

  locate(key) {
    const row = this.list.findIndex((at) => this.table.key(at) === key);
    return row < 0 ? null : [row, { key: `${key}#1`, at: 1, column: 1 }];
  }

  bring(row) {
    this.scrollTo(TABLE_ROW + this.line * row, this.line, TABLE_ROW);
  }

  draw() {
    const { table, list } = this;
    this.begin(list.length + 1);
    this.grid.setAttribute('aria-label', `${table.title}, ${count(list.length, 'row')}`);
    const { columns } = this;
    this.grid.setAttribute('aria-colcount', String(columns.length));
    const { scrollTop, clientHeight, clientWidth } = this.frame;
    this.deep = this.isDeep(clientWidth);
    this.grid.classList.toggle('deep', this.deep);
    const { line } = this;
    this.grid.style.height = `${list.length * line + TABLE_ROW + 4}px`;
    const first = printing() ? 0 : clamp(Math.floor((scrollTop - TABLE_ROW) / line), 0, list.length);
    const last = printing() ? Math.min(list.length, MOST_PRINTED) : clamp(Math.ceil((scrollTop + clientHeight - TABLE_ROW) / line), 0, list.length);
    const rows = list.slice(first, last).map((at) => table.row(at));
    const widths = this.widths(rows, clientWidth);
    this.grid.classList.toggle('tight', widths.margins > 0);
    const heads = columns.map((column, at) => {
      const sorted = this.sort[0] === column;
      const arrow = sorted && (column > 0 || this.sort[1] < 0) ? (this.sort[1] > 0 ? ' ↑' : ' ↓') : '';
      const button = h('button', { type: 'button', onclick: () => this.sortBy(column) }, table.columns[column] + arrow);
      const direction = this.sort[1] > 0 ? 'ascending' : 'descending';
      const figures = rows.some((values) => typeof values[column] === 'number');
      const edge = h('i', { class: 'edge', 'aria-hidden': 'true', title: 'Drag: width of the column. Twice: as before.' });
      edge.addEventListener('pointerdown', (event) => this.widen(event, column, widths.of[column]));
      edge.addEventListener('dblclick', () => this.setWidth(column, null));
      button.addEventListener('keydown', (event) => {
        const by = event.shiftKey && { ArrowLeft: -16, ArrowRight: 16 }[event.key];
        if (!by) return;
        this.setWidth(column, widths.of[column] + by);
        this.headOf(column)?.focus();
        event.preventDefault();
        event.stopPropagation();
      });
      const head = h('div', { role: 'columnheader', class: figures ? 'th figure' : 'th', 'aria-colindex': at + 1, 'aria-sort': sorted ? direction : 'none' }, button, edge);
      return place(head, widths.at[column], 0, widths.of[column], TABLE_ROW);
    });
    this.row(0, 0, TABLE_ROW, heads, 'row heads');
    rows.forEach((values, index) => {
      const row = first + index;
      const key = table.key(list[row]);
      const cells = columns.map((column, at) => {
        const value = values[column];
        const id = `${row}:${key}#${column}`;
        const tight = widths.of[column] < widths.whole[column];
        const inside = table.inside?.(list[row], column, value) || (typeof value === 'number' ? inColumn(value, table.columns[column])
          : this.text(String(value), tight ? widths.of[column] - MARGIN - 2 + widths.margins : Infinity));
        const cell = h('div', { role: column === (table.head ?? 1) ? 'rowheader' : 'gridcell', class: typeof value === 'number' ? 'td figure' : 'td', tabindex: -1,
          'aria-colindex': at + 1, title: (String(value).length > 50 || tight) && value, 'aria-label': tight && inside.textContent?.includes('…') && value, data: { key, cell: id } }, inside);
        Object.assign(cell, { key, dye: 0, turn: this.turn });
        this.marks.set(id, cell);
        // A reason takes the room of columns before it that have nothing.
        const free = at === columns.length - 1 ? columns.findIndex((_, from) => from > 0 && columns.slice(from, at).every((one) => values[one] === '')) : at;
        const left = widths.at[at - free > 2 ? columns[free] : column];
        return place(cell, left, 0, widths.at[column] + widths.of[column] - left, line);
      });
      this.row(row + 1, TABLE_ROW + row * line, line, cells, table.kind ? `row ${table.kind(list[row])}` : 'row');
    });
    this.grid.style.width = `${widths.total}px`;
    this.shrink(widths.total);
    this.end();
  }

  // A text in one line, or in two where it fits into no one: broken between words, its beginning left out first.
  text(value, room) {
    if (!this.deep || textWidth(value) <= room) return h('span', { text: fit(value, room) });
    const lines = fitTwo(value, room);
    return h('span', lines ? { class: 'two' } : { text: fit(value, room) }, lines && [lines[0], h('wbr'), lines[1]]);
  }

  headOf(column) {
    return this.grid.querySelectorAll('[role=columnheader] button')[this.columns.indexOf(column)];
  }

  widen(event, column, width) {
    event.preventDefault();
    drag(event, (next) => this.setWidth(column, width + next.clientX - event.clientX));
  }

  // Makes a column as wide as is asked for; null: as wide as it would be by itself.
  setWidth(column, width) {
    const widths = (this.chosen[this.which] ||= {});
    if (width === null) delete widths[column];
    else widths[column] = Math.max(LEAST_COLUMN, Math.round(width));
    this.measured = null;
    this.draw();
  }

  // Widths of columns, by what is in view; they only grow, so that nothing jumps while one scrolls. The last one takes the
  // room that is left where its text wants more.
  widths(rows, room) {
    const { table, columns } = this;
    const chosen = (!printing() && this.chosen[this.which]) || {};
    const which = `${this.which}${printing()}`;
    const of = this.wide?.which === which ? this.wide.of
      : table.columns.map((name, column) => (columns.includes(column) ? Math.max(textWidth(name, 13, 600) + 26, table.least?.[column] || 0) : 0));
    const end = of.length - 1;
    for (const values of rows) {
      for (const column of columns) of[column] = Math.max(of[column], Math.min(column === end && !printing() ? 1600 : 420, textWidth(String(values[column]), 13, table.kind ? 600 : 400) + 24));
    }
    this.wide = { which, of };
    const shown = of.map((width, column) => chosen[column] ?? width);
    let margins = 0;
    const sum = (widths) => widths.slice(0, end).reduce((all, width) => all + width, 0);
    if (!printing() && end > 1) {
      // Names are cut in their middle where all columns then are in view. The last column of a difference is one side of
      // it, which is as wide as the other.
      const least = Math.min(of[end], table.kind ? of[end - 1] : LAST_COLUMN);
      const names = columns.filter((column) => (column < end || table.kind) && of[column] > NAME_COLUMN && !chosen[column] && !table.least?.[column]);
      const beyond = (width) => names.reduce((all, column) => all + Math.max(0, (column === end ? least : shown[column]) - width), 0);
      // Margins go first.
      margins = sum(shown) + least + 1 - room > beyond(ROOMY_COLUMN) ? MARGIN - TIGHT : 0;
      for (const column of columns) if (column < end && !chosen[column]) shown[column] -= margins;
      const over = sum(shown) + least + 1 - room;
      shown[end] = least;
      const spare = beyond(NAME_COLUMN);
      // Where that is not to be had, names leave the others as much room as they can do without.
      const fewer = over <= spare ? (column) => (over * Math.max(0, shown[column] - NAME_COLUMN)) / spare : (column) => Math.max(0, shown[column] - ROOMY_COLUMN);
      if (over > 0) for (const column of names) shown[column] -= fewer(column);
      shown[end] = chosen[end] ?? Math.min(of[end], Math.max(room - sum(shown) - 1, table.kind ? shown[end] : LAST_COLUMN));
    }
    let total = 0;
    const at = shown.map((width) => {
      total += width;
      return total - width;
    });
    return { of: shown, whole: of.map((width, column) => (column === end && !table.kind ? 0 : width - (column < end ? margins : 0))), at, total, margins };
  }

  // Whether the last column, or names, need two lines in such a room.
  isDeep(room) {
    if (printing()) return false;
    const { table, list, columns } = this;
    const which = `${this.which} ${list.length} ${room}`;
    if (this.measured?.which === which) return this.measured.deep;
    const rows = list.slice(0, ROWS_MEASURED).map((at) => table.row(at));
    const { of, whole, margins } = this.widths(rows, room);
    const end = of.length - 1;
    const wants = (values, column) => typeof values[column] === 'string' && textWidth(values[column], 13, table.kind ? 600 : 400) + MARGIN + 4;
    const cut = (column) => rows.filter((values) => wants(values, column) - margins > of[column]).length;
    const deep = columns.some((column) => of[column] < whole[column] && cut(column) > rows.length / 10)
      || (!table.kind && end > 1 && rows.filter((values) => values[end - 1] !== '' && wants(values, end) > of[end]).length > rows.length / 3);
    this.measured = { which, deep };
    return deep;
  }

  // Numbers begin with the largest, words with the first of the alphabet.
  sortBy(column) {
    const { table } = this;
    const figures = column > 0 && this.list.some((at) => typeof table.row(at)[column] === 'number');
    this.sort = [column, this.sort[0] === column ? -this.sort[1] : figures ? -1 : 1];
    this.sorted = null;
    this.draw();
    this.headOf(column)?.focus();
  }

  // The table as text with tabs, for spreadsheets.
  async copy(button) {
    const { table, list } = this;
    const clean = (value) => String(value).replace(/[\t\n\r]/g, ' ');
    const text = [table.columns, ...list.map((at) => table.row(at))].map((row) => this.columns.map((column) => clean(row[column])).join('\t')).join('\n');
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Pages from disk and pages inside others may not use the clipboard that way.
      const area = h('textarea', { class: 'hidden', 'aria-hidden': 'true' });
      area.value = text;
      document.body.append(area);
      area.select();
      done = document.execCommand('copy');
      area.remove();
    }
    announce(done ? `${count(list.length, 'row')} copied` : 'the browser does not let this page copy');
    button.focus();
  }

  changed() {
    this.sorted = null;
    if (this.built && !this.panel.hidden) this.draw();
  }
}
