// What all drawings share: a grid of rows and cells that is drawn where it is looked at, one cell in the tab order,
// arrows to walk, a key to each mark. Subclasses decide what their rows hold and put marks there. Elements outlive a
// drawing: the next one moves them, makes those that are new and removes the rest.

// Marks closer than this many pixels are drawn as one.
const CLOSE = 3;

class GridView {
  constructor(id, title, label) {
    Object.assign(this, { id, title, label, at: null, built: false, marks: new Map(), rowsMade: new Map(), turn: 0 });
    this.redraw = soon(() => this.draw());
  }

  // Makes the panel; it is drawn when first shown.
  build() {
    this.tools = h('div', { class: 'tools', role: 'group', 'aria-label': `${this.title}: options` });
    this.grid = h('div', { class: 'grid', role: 'grid', 'aria-label': this.label, 'aria-readonly': 'true' });
    this.frame = h('div', { class: 'frame' }, this.grid);
    this.panel = h('section', { class: 'view', id: `view-${this.id}`, role: 'tabpanel', 'aria-labelledby': `tab-${this.id}` },
      this.tools, this.frame);
    this.panel.hidden = true;
    this.listen();
    return this.panel;
  }

  listen() {
    this.frame.addEventListener('scroll', () => this.redraw(), { passive: true });
    this.grid.addEventListener('pointerover', (event) => {
      if (event.pointerType !== 'touch') set('hover', keyOf(event.target));
    });
    this.grid.addEventListener('pointerleave', () => set('hover', null));
    this.grid.addEventListener('focusin', (event) => this.focused(event.target));
    this.grid.addEventListener('focusout', () => set('hover', null));
    this.grid.addEventListener('click', (event) => this.clicked(event.target));
  }

  show() {
    if (!this.built) {
      this.built = true;
      this.start();
    }
    this.draw();
    if (state.pin) this.reveal(state.pin);
  }

  start() {}

  focused(element) {
    const cell = element.closest('[data-cell]');
    if (!cell) return;
    this.at = cell.dataset.cell;
    this.rove();
    // A mark of many has no card of its own.
    if (cell.dataset.key) set('hover', keyOf(cell));
  }

  clicked(element) {
    const cell = element.closest('[data-cell]');
    if (!cell || this.dragged) return;
    this.open(cell.dataset.cell);
  }

  // Pins what a cell stands for; a cell of many magnifies.
  open(id) {
    const [row, key] = split(id);
    this.at = id;
    if (key[0] === 'm') this.magnify(row, key);
    else if (key) set('pin', state.pin === key ? null : key);
  }

  // Begins a drawing of as many rows.
  begin(rows) {
    this.turn += 1;
    this.drawn = [];
    this.held = this.grid.contains(document.activeElement) ? document.activeElement.dataset.cell : null;
    if (this.counted !== rows) this.grid.setAttribute('aria-rowcount', String(this.counted = rows));
  }

  // A row that stands at some height, with its cells in the order of the walk.
  row(index, top, height, cells, name = 'row') {
    let row = this.rowsMade.get(index);
    if (!row) this.rowsMade.set(index, row = h('div', { role: 'row', 'aria-rowindex': index + 1 }));
    if (row.className !== name) row.className = name;
    row.turn = this.turn;
    place(row, 0, top, null, height);
    arrange(row, cells);
    this.drawn.push(row);
    return row;
  }

  // A mark of a row. `key` is the thing that it shows. The mark of the last drawing is taken while its `look` (class
  // and text) is the same; else `label` and `inside` make a new one.
  cell(row, key, look, label, inside, props) {
    const id = `${row}:${key}`;
    let cell = this.marks.get(id);
    if (cell?.look !== look) {
      const text = typeof label === 'function' ? label() : label;
      cell = h('div', { role: 'gridcell', ...props, class: look.split('|', 1)[0], tabindex: -1, 'aria-label': text, data: { key, cell: id } }, inside?.());
      Object.assign(cell, { look, key, dye: 0 });
      this.marks.set(id, cell);
    }
    cell.turn = this.turn;
    return cell;
  }

  // An element that only decorates, by name: kept from drawing to drawing as cells are.
  decor(id, name, text = '') {
    let element = (this.decors ||= new Map()).get(id);
    if (!element) this.decors.set(id, element = h('div', { 'aria-hidden': 'true' }));
    if (element.className !== name) element.className = name;
    if (element.shownText !== text) element.textContent = element.shownText = text;
    element.turn = this.turn;
    return element;
  }

  // What stands in a drawing without anything to draw.
  nothing(text) {
    this.none ||= h('div', { role: 'gridcell', tabindex: 0 }, h('p', { class: 'empty', text }));
    return place(this.none, this.stack ? this.names : 0, 0);
  }

  // Ends a drawing: what is gone, what is lit, what can be reached by tab, and where the focus was.
  end(...behind) {
    for (const kept of [this.marks, this.rowsMade, this.decors]) {
      if (kept) for (const [id, element] of kept) if (element.turn !== this.turn) kept.delete(id);
    }
    arrange(this.grid, [...behind, ...this.drawn]);
    this.paint();
    this.rove();
    const focus = this.held && (this.marks.get(this.at) || this.marks.get(this.held));
    if (focus && focus !== document.activeElement) focus.focus({ preventScroll: true });
  }

  rove() {
    const stop = this.marks.get(this.at) || this.marks.values().next().value;
    if (stop === this.stop && stop?.tabIndex === 0) return;
    if (this.stop) this.stop.tabIndex = -1;
    if (stop) stop.tabIndex = 0;
    this.stop = stop;
  }

  // Lights what is pointed at or pinned with all that belongs to it, else what was searched for. A grid that lights
  // something dims all marks that are not `on`, so that only those that are lit change.
  paint() {
    const focus = state.hover || state.pin;
    const lit = focus ? related(focus) : search.hits;
    this.grid.classList.toggle('lighting', Boolean(lit));
    for (const [id, mark] of this.marks) {
      const { key } = mark;
      const on = Boolean(lit) && (lit.has(key) || !key || (key[0] === 'm' && this.covers(id, lit)));
      const dye = (on ? 1 : 0) + (key === focus && focus ? 2 : 0) + (search.hits?.has(key) ? 4 : 0) + (key === state.pin ? 8 : 0);
      if (dye === mark.dye) continue;
      mark.dye = dye;
      mark.classList.toggle('on', Boolean(dye & 1));
      mark.classList.toggle('lit', Boolean(dye & 2));
      mark.classList.toggle('hit', Boolean(dye & 4));
      if (dye & 8) mark.setAttribute('aria-selected', 'true');
      else mark.removeAttribute('aria-selected');
    }
    this.decorate?.();
  }

  // On paper a grid is as wide as the page, as far as it stays legible. Whether it is on paper.
  shrink(width) {
    this.grid.style.zoom = printing() ? String(clamp(PAPER / width, 0.4, 1)) : '';
    return printing();
  }

  covers() {
    return true;
  }

  // The cell that the walk is at, or the first.
  here() {
    if (this.at) {
      const [row, key] = split(this.at);
      const index = this.cells(row)?.findIndex((cell) => cell.key === key) ?? -1;
      if (index >= 0) return { row, index };
    }
    return null;
  }

  // Walks by cells and rows; false where there is no further row.
  move(across, down) {
    const here = this.here();
    if (!here) return this.go(...this.first());
    const cells = this.cells(here.row);
    const now = cells[here.index];
    if (!down) return this.go(here.row, cells[clamp(here.index + across, 0, cells.length - 1)]);
    for (let row = here.row + down; row >= 0 && row < this.rows; row += Math.sign(down)) {
      const there = this.cells(row);
      if (there.length) return this.go(row, nearest(there, now.at));
    }
    return false;
  }

  // Walks in from above or below; false where there is nothing.
  enter(step) {
    const rows = this.rows || 0;
    for (let row = step > 0 ? 0 : rows - 1; row >= 0 && row < rows; row += step) {
      const cells = this.cells(row);
      if (cells.length) return this.go(row, cells[0]);
    }
    return false;
  }

  first() {
    for (let row = 0; row < this.rows; row += 1) {
      const cells = this.cells(row);
      if (cells.length) return [row, cells.find((cell) => cell.key[0] === 'p') || cells[0]];
    }
    return [0, null];
  }

  go(row, cell) {
    if (!cell) return false;
    this.at = `${row}:${cell.key}`;
    this.bring(row, cell);
    this.draw();
    this.marks.get(this.at)?.focus({ preventScroll: true });
    return true;
  }

  // Brings a thing into view, if this view shows it.
  reveal(key) {
    const found = this.locate(key);
    if (!found) return false;
    this.at = `${found[0]}:${found[1].key}`;
    this.bring(...found);
    this.redraw();
    return true;
  }

  // Scrolls until a row is in view.
  scrollTo(top, height, above = 0) {
    const { scrollTop, clientHeight } = this.frame;
    if (top - above < scrollTop) this.frame.scrollTop = Math.max(0, top - above);
    else if (top + height > scrollTop + clientHeight) this.frame.scrollTop = top + height - clientHeight + 8;
  }
}

// Of things drawn as one, the one that the walk is at comes first: what cannot be drawn apart can still be reached.
function lead(view, row, run) {
  const at = run.cells.findIndex((cell) => view.at === `${row}:${cell.key}`);
  if (at > 0) run.cells.unshift(...run.cells.splice(at, 1));
  return run;
}

// The label of a mark that stands for several things: all of them, up to a few.
function several(things, label, what, whats) {
  if (things.length === 1) return label(things[0]);
  const rest = things.length > 6 ? `; and ${things.length - 6} more` : '';
  return `${count(things.length, what, whats)}: ${things.slice(0, 6).map(label).join('; ')}${rest}`;
}

function split(id) {
  const at = id.indexOf(':');
  return [Number(id.slice(0, at)), id.slice(at + 1)];
}

function keyOf(element) {
  const key = element.closest?.('[data-key]')?.dataset.key;
  return key && key[0] !== 'm' ? key : null;
}

function nearest(cells, at) {
  let best = cells[0];
  for (const cell of cells) if (Math.abs(cell.at - at) < Math.abs(best.at - at)) best = cell;
  return best;
}
