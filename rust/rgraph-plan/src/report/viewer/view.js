// What all drawings share: a grid of rows and cells that is drawn where it is looked at, one cell in the tab order,
// arrows to walk, a key to each mark. Subclasses say what their rows hold and put marks there.

// Marks closer than this many pixels are drawn as one.
const CLOSE = 3;

class GridView {
  constructor(id, title, label) {
    Object.assign(this, { id, title, label, at: null, built: false, marks: new Map() });
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
    this.frame.addEventListener('scroll', this.redraw, { passive: true });
    this.grid.addEventListener('pointerover', (event) => {
      if (event.pointerType !== 'touch') set('hover', keyOf(event.target));
    });
    this.grid.addEventListener('pointerleave', () => set('hover', null));
    this.grid.addEventListener('focusin', (event) => this.focused(event.target));
    this.grid.addEventListener('focusout', () => set('hover', null));
    this.grid.addEventListener('click', (event) => this.clicked(event.target));
    return this.panel;
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
    if (cell.dataset.key) set('hover', cell.dataset.key);
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

  // Forgets what was drawn and makes room for as many rows.
  begin(rows) {
    this.held = this.grid.contains(document.activeElement) ? document.activeElement.dataset.cell : null;
    this.grid.replaceChildren();
    this.marks.clear();
    this.grid.setAttribute('aria-rowcount', String(rows));
  }

  // A row that stands at some height.
  row(index, top, height, header, ...cells) {
    const row = h('div', { class: 'row', role: 'row', 'aria-rowindex': index + 1 }, header, cells);
    place(row, 0, top, null, height);
    this.grid.append(row);
    return row;
  }

  // A mark of a row. `key` is what it stands for.
  cell(row, key, label, props, ...children) {
    const id = `${row}:${key}`;
    const role = props.role || 'gridcell';
    const cell = h('div', { ...props, role, tabindex: -1, 'aria-label': label, data: { key, cell: id } }, ...children);
    this.marks.set(id, cell);
    return cell;
  }

  // Ends a drawing: what is lit, what can be reached by tab, and where the focus was.
  end() {
    this.paint();
    this.rove();
    if (this.held) (this.marks.get(this.at) || this.marks.get(this.held))?.focus({ preventScroll: true });
  }

  rove() {
    let first = null;
    for (const [id, mark] of this.marks) {
      first ||= mark;
      mark.tabIndex = id === this.at ? 0 : -1;
    }
    if (first && !this.marks.has(this.at)) first.tabIndex = 0;
  }

  // Lights what is pointed at or pinned with all that belongs to it, else what was searched for.
  paint() {
    const focus = state.hover || state.pin;
    const lit = focus ? related(focus) : search.hits;
    this.grid.classList.toggle('lighting', Boolean(lit));
    for (const mark of this.marks.values()) {
      const { key } = mark.dataset;
      const inside = !lit || lit.has(key) || !key || (key[0] === 'm' && this.covers(mark.dataset.cell, lit));
      mark.classList.toggle('dim', !inside);
      mark.classList.toggle('lit', Boolean(focus) && key === focus);
      mark.classList.toggle('hit', Boolean(search.hits?.has(key)));
      if (key === state.pin) mark.setAttribute('aria-selected', 'true');
      else mark.removeAttribute('aria-selected');
    }
    this.decorate?.();
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

  // Walks by cells and rows.
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
    return undefined;
  }

  first() {
    for (let row = 0; row < this.rows; row += 1) {
      const cells = this.cells(row);
      if (cells.length) return [row, cells.find((cell) => cell.key[0] === 'p') || cells[0]];
    }
    return [0, null];
  }

  go(row, cell) {
    if (!cell) return;
    this.at = `${row}:${cell.key}`;
    this.bring(row, cell);
    this.draw();
    this.marks.get(this.at)?.focus({ preventScroll: true });
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
function several(labels, what, whats) {
  if (labels.length === 1) return labels[0];
  const rest = labels.length > 6 ? `; and ${labels.length - 6} more` : '';
  return `${count(labels.length, what, whats)}: ${labels.slice(0, 6).join('; ')}${rest}`;
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

// A drawing along an axis: names at the left, a ruler above, zooming and panning.
class AxisView extends GridView {
  constructor(id, title, label, scale) {
    super(id, title, label);
    this.axis = new Axis(scale);
  }

  build() {
    const panel = super.build();
    this.ruler = svg('svg', { class: 'ruler', 'aria-hidden': 'true' });
    this.over = svg('svg', { class: 'over', 'aria-hidden': 'true' });
    this.frame.prepend(this.ruler);
    this.frame.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    this.frame.addEventListener('pointerdown', (event) => this.grab(event));
    return panel;
  }

  // Width of the column of names, in pixels.
  get names() {
    return this.frame.clientWidth < 480 ? 92 : 168;
  }

  wheel(event) {
    const x = event.clientX - this.frame.getBoundingClientRect().left - this.names;
    if (event.ctrlKey || event.metaKey) this.axis.zoom(1.0015 ** event.deltaY, Math.max(0, x));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.axis.pan(event.deltaX || event.deltaY);
    else return;
    event.preventDefault();
    this.moved();
  }

  grab(event) {
    this.dragged = false;
    if (event.button !== 0 || event.pointerType === 'touch') return;
    let { clientX } = event;
    const startX = clientX;
    const move = (next) => {
      if (Math.abs(next.clientX - startX) > 4) this.dragged = true;
      if (!this.dragged) return;
      this.axis.pan(clientX - next.clientX);
      clientX = next.clientX;
      this.moved();
    };
    const stop = () => {
      removeEventListener('pointermove', move);
      removeEventListener('pointerup', stop);
    };
    addEventListener('pointermove', move);
    addEventListener('pointerup', stop);
  }

  // The axis shows another part.
  moved() {
    this.redraw();
    strip.redraw();
  }

  zoom(factor) {
    this.axis.zoom(factor);
    this.moved();
  }

  pan(share) {
    this.axis.pan(share * this.axis.width);
    this.moved();
  }

  fit() {
    this.axis.fit();
    this.moved();
  }

  // Shows a range as wide as the view.
  zoomTo(begin, end) {
    const room = (end - begin || 1) * 0.15;
    this.axis.show(begin - room, end + room);
    this.moved();
  }

  measure() {
    this.axis.width = Math.max(60, this.frame.clientWidth - this.names - 12);
  }

  drawRuler() {
    const { axis } = this;
    const { list, step } = axis.ticks();
    const marks = list.map((at) => {
      const x = this.names + axis.x(at);
      const end = axis.width - axis.x(at) < 16;
      return [
        svg('line', { x1: x, x2: x, y1: 18, y2: 24 }),
        svg('text', { x: end ? x + 8 : x, y: 14, 'text-anchor': end ? 'end' : 'middle' }, axis.tickText(at, step)),
      ];
    });
    this.ruler.replaceChildren(...marks.flat());
  }
}

// Cells in view, those that would be drawn closer than a few pixels joined, up to a width: cells with their pixels.
function joined(axis, cells, apart = CLOSE, wide = apart * 2) {
  const shown = [];
  let run = null;
  for (const cell of cells) {
    if (!(cell.end >= axis.from && cell.at <= axis.to)) continue;
    const left = axis.x(cell.at);
    const right = axis.x(cell.end);
    const narrow = right - left < apart;
    if (narrow && run && left - run.left < wide && left - run.right < apart) {
      run.cells.push(cell);
      run.right = Math.max(run.right, right);
    } else {
      const one = { cells: [cell], left, right };
      shown.push(one);
      run = narrow ? one : null;
    }
  }
  return shown;
}
