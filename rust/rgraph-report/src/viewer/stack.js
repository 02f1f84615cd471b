// A stack of panes on one axis: a map of the whole frame above, one ruler, one cursor line through all panes, one zoom.

// Width of the column of names, in pixels; all stacks with rows of resources share it, others have shorter names.
const column = {
  chosen: 0,
  width(all, rows) {
    if (!this.longest) {
      const widest = (names) => names.reduce((most, name) => Math.max(most, textWidth(shown(name), 13, 600)), 0);
      const lanes = plan.data.queues.reduce((most, queue) => Math.max(most, textWidth(queue.capabilities.join(', '), 11)), widest(plan.data.queues.map((queue) => queue.name)));
      this.least = Math.min(Math.max(widest(plan.data.heaps.map(([name]) => name)) + 84, lanes + 30), 560);
      this.longest = Math.min(Math.max(widest(plan.resources.name) + 90, this.least), 560);
    }
    const longest = rows ? this.longest : this.least;
    if (this.chosen && !printing()) return clamp(this.chosen, 60, Math.max(60, all * 0.6));
    if (printing()) return Math.round(clamp(longest, 160, all * 0.4));
    return all < 480 ? 92 : Math.round(clamp(longest, 120, all * 0.26));
  },
};

// The axis that all stacks share: a view of another name shows the same part of the frame.
const shared = { axis: null };

const HEAD_OF_PANE = 27;
const LEAST_PANE = 84;
// A printed page in pixels: A4 across, without margins and the line of figures.
const PAPER = 1040;
const PAPER_DOWN = 620;

const printing = () => state.paper || matchMedia('print').matches;

class Stack {
  constructor(id, title, panes) {
    Object.assign(this, { id, title, panes, built: false, active: panes[0] });
    this.redraw = soon(() => this.draw());
    shared.axis ||= new Axis(plan.scales.measured || plan.scales.modelled || plan.scales.order);
  }

  get axis() {
    return shared.axis;
  }

  // Whether rows of resources are in it.
  get listed() {
    return this.panes.some((pane) => pane.id === 'resources');
  }

  build() {
    this.tools = h('div', { class: 'tools', role: 'group', 'aria-label': `${this.title}: options` });
    this.ruler = svg('svg', { class: 'ruler', 'aria-hidden': 'true' });
    this.named = this.panes.length > 1 || this.panes[0].id === 'timeline' ? 0 : 76;
    this.ruler.style.height = `${23 + this.named}px`;
    this.map = new Minimap(this);
    this.cursor = h('div', { class: 'cursor', 'aria-hidden': 'true' });
    this.sign = h('div', { class: 'cursor-sign', 'aria-hidden': 'true' });
    this.band = h('div', { class: 'band', 'aria-hidden': 'true' });
    this.range = h('div', { class: 'range', 'aria-hidden': 'true' }, h('span'));
    for (const one of [this.cursor, this.sign, this.band, this.range]) one.hidden = true;
    this.divider = h('div', { class: 'divider', role: 'separator', tabindex: 0, 'aria-orientation': 'vertical', 'aria-label': 'Width of names' });
    this.divider.addEventListener('pointerdown', (event) => this.widen(event));
    this.divider.addEventListener('keydown', (event) => this.nudge(event, 'ArrowLeft', 'ArrowRight', (by) => this.setNames(this.names + by)));
    const alone = this.panes.length === 1;
    const parts = this.panes.flatMap((pane, at) => [at > 0 && this.splitter(at), pane.join(this, alone)]).filter(Boolean);
    this.area = h('div', { class: 'panes' }, this.band, parts, this.cursor, this.range);
    this.window = h('div', { class: 'stack' }, this.map.build(), h('div', { class: 'scale' }, this.ruler, this.sign), this.area, this.divider);
    this.panel = h('section', { class: 'view', id: `view-${this.id}`, role: 'tabpanel', 'aria-labelledby': `tab-${this.id}` }, this.tools, this.window);
    this.panel.hidden = true;
    this.listen();
    return this.panel;
  }

  // A handle between two panes.
  splitter(at) {
    const handle = h('div', { class: 'splitter', role: 'separator', tabindex: 0, 'aria-orientation': 'horizontal', 'aria-label': `Height of ${this.panes[at - 1].title}` });
    handle.addEventListener('pointerdown', (event) => {
      let y = event.clientY;
      drag(event, (next) => {
        this.stretch(at - 1, next.clientY - y);
        y = next.clientY;
      });
    });
    handle.addEventListener('keydown', (event) => this.nudge(event, 'ArrowUp', 'ArrowDown', (by) => this.stretch(at - 1, by)));
    this.panes[at - 1].handle = handle;
    return handle;
  }

  nudge(event, less, more, act) {
    const by = { [less]: -16, [more]: 16 }[event.key];
    if (!by) return;
    act(by);
    event.preventDefault();
    event.stopPropagation();
  }

  listen() {
    for (const element of [this.area, this.ruler]) {
      element.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
      element.addEventListener('pointerdown', (event) => this.grab(event));
    }
    this.area.addEventListener('pointermove', (event) => this.follow(event));
    this.area.addEventListener('pointerleave', () => this.follow(null));
    this.area.addEventListener('focusin', (event) => { this.active = this.paneOf(event.target) || this.active; });
  }

  start() {
    const names = { order: 'Order', modelled: 'Modelled time', measured: 'Measured time' };
    const known = Object.keys(names).filter((id) => plan.scales[id]);
    this.choices = choice('Axis', known.map((id) => [id, names[id]]), this.axis.scale.id, (id) => this.use(id));
    this.tools.append(this.choices);
    const fitted = h('button', { type: 'button', class: 'plain', 'aria-keyshortcuts': 'f', onclick: () => this.fit() }, 'Fit');
    this.tools.append(h('div', { class: 'buttons' }, h('button', { type: 'button', class: 'plain', 'aria-label': 'Zoom in', onclick: () => this.zoom(1 / 1.5) }, '+'),
      h('button', { type: 'button', class: 'plain', 'aria-label': 'Zoom out', onclick: () => this.zoom(1.5) }, '−'), fitted));
    this.measure();
    for (const pane of this.panes) pane.start();
    // In a low window what comes first is shown whole, and the rest waits folded.
    if (this.panes.length > 1 && this.height < 470) this.fold(this.panes[2], true);
  }

  show() {
    if (!this.built) {
      this.built = true;
      this.start();
    }
    this.choices.querySelectorAll('input').forEach((input) => { input.checked = input.value === this.axis.scale.id; });
    if (this.scaleId !== this.axis.scale.id) for (const pane of this.panes) pane.forget();
    this.scaleId = this.axis.scale.id;
    this.draw();
    if (state.pin) this.reveal(state.pin);
  }

  use(id) {
    const { axis } = this;
    // The passes in view stay in view on the other scale.
    const whole = axis.to - axis.from >= (axis.scale.extent - (axis.scale.start || 0)) * 0.98 || axis.scale.shown;
    const seen = whole ? null : plan.passesWithin(axis.scale, axis.from, axis.to);
    axis.use(plan.scales[id]);
    if (seen) axis.show(plan.scales[id].begin[seen[0]], plan.scales[id].end[seen[1]]);
    this.scaleId = id;
    for (const pane of this.panes) pane.forget();
    this.moved();
  }

  paneOf(element) {
    return this.panes.find((pane) => element && pane.panel.contains(element));
  }

  // Sizes are read here and by each pane's `measure`, before anything is written.
  measure() {
    const { clientWidth, clientHeight } = this.area;
    this.width = clientWidth;
    this.height = clientHeight;
    this.names = column.width(clientWidth, this.listed);
    for (const pane of this.panes) pane.measure();
    const [pane] = this.panes;
    this.axis.width = Math.max(60, (pane.width || clientWidth) - this.names - 12);
  }

  draw() {
    if (this.panel.hidden) return;
    if (printing()) {
      this.print();
      return;
    }
    for (const pane of this.panes) if (pane.onPaper) this.fold(pane, true);
    this.measure();
    this.heights();
    this.drawRuler();
    this.map.draw();
    place(this.divider, this.names - 4, null, 7);
    this.divider.setAttribute('aria-valuenow', String(this.names));
    for (const pane of this.panes) if (!pane.folded) pane.paintRows();
    this.mark();
  }

  // On paper the axis is as wide as the page, and every row of every pane is drawn, also of those that only wait for room.
  print() {
    for (const pane of this.panes) {
      if (!pane.waits) continue;
      this.fold(pane, true);
      pane.onPaper = true;
    }
    this.measure();
    this.names = column.width(PAPER, this.listed);
    this.width = PAPER;
    this.axis.width = PAPER - this.names - 12;
    this.drawRuler();
    this.map.draw();
    for (const pane of this.panes) {
      Object.assign(pane, { width: PAPER, top: 0, room: pane.natural() });
      pane.panel.style.height = '';
      if (pane.id === 'resources') pane.room = Math.min(pane.visible.length, MOST_PRINTED) * pane.line;
      if (!pane.folded) pane.paintRows();
    }
    this.mark();
    this.shared = '';
  }

  // Heights of panes: what was chosen by hand, else shares of the room by what each could fill.
  heights() {
    if (this.panes.length === 1) return;
    const open = this.panes.filter((pane) => !pane.folded);
    const room = this.height - HEAD_OF_PANE * this.panes.length - 5 * (this.panes.length - 1) - 1;
    const key = `${room} ${open.map((pane) => `${pane.id}${pane.share || ''}`)} ${this.scaleId} ${state.culled}`;
    if (this.shared === key) return;
    this.shared = key;
    const wanted = open.map((pane) => pane.share ?? Math.max(LEAST_PANE, pane.natural()));
    const sum = wanted.reduce((total, one) => total + one, 0);
    // Panes keep what they fill while there is room, and shrink alike where there is none.
    let heights = wanted;
    if (sum > room) {
      // The first one, the timeline, shows all of its lanes unless nothing is left for the others.
      const first = Math.min(wanted[0], Math.max(LEAST_PANE, room * 0.52, Math.min(open[0].least(), room * 0.68, room - LEAST_PANE * (open.length - 1))));
      const rest = sum - wanted[0];
      heights = wanted.map((one, at) => (open.some((pane) => pane.share) ? (one / sum) * room : at === 0 ? first : (one / rest) * (room - first)));
      const last = heights.length - 1;
      const lacks = last > 1 ? clamp(LEAST_PANE - heights[last], 0, Math.max(0, heights[last - 1] - LEAST_PANE)) : 0;
      if (lacks) [heights[last - 1], heights[last]] = [heights[last - 1] - lacks, heights[last] + lacks];
    } else if (open.length) heights = wanted.map((one, at) => (at === open.length - 1 ? one + room - sum : one));
    open.forEach((pane, at) => {
      pane.room = Math.max(40, Math.floor(heights[at]));
      pane.panel.style.height = `${pane.room + HEAD_OF_PANE}px`;
      pane.cached = pane.keepsCells ? pane.cached : null;
    });
    for (const pane of this.panes) {
      if (pane.folded) pane.panel.style.height = `${HEAD_OF_PANE}px`;
      pane.handle?.setAttribute('aria-valuenow', String(pane.room));
    }
  }

  // Makes a pane higher at the cost of the next one that is open.
  stretch(at, by) {
    const open = this.panes.filter((pane) => !pane.folded);
    const above = this.panes.slice(0, at + 1).filter((pane) => !pane.folded).pop();
    const below = this.panes.slice(at + 1).find((pane) => !pane.folded);
    if (!above || !below) return;
    for (const pane of open) pane.share ??= pane.room;
    const step = clamp(by, 40 - above.share, below.share - 40);
    above.share += step;
    below.share -= step;
    this.shared = '';
    this.redraw();
  }

  fold(pane, quiet) {
    pane.folded = !pane.folded;
    pane.frame.hidden = pane.folded;
    pane.tools.hidden = pane.folded;
    pane.folder.setAttribute('aria-expanded', String(!pane.folded));
    pane.waits = Boolean(quiet && pane.folded);
    pane.onPaper = false;
    this.shared = '';
    if (!quiet) this.draw();
  }

  widen(event) {
    const start = this.names - event.clientX;
    drag(event, (next) => this.setNames(start + next.clientX));
  }

  setNames(width) {
    column.chosen = Math.round(width);
    this.redraw();
  }

  // Numbers and names of the ruler are moved from step to step, not made anew.
  drawRuler() {
    const { axis, names } = this;
    const { list, step } = axis.ticks();
    const known = (this.marked ||= new Map());
    const shows = new Map();
    const mark = (id, tag, text, place) => {
      const made = known.get(id) || svg(tag, null, text);
      if (text && made.textContent !== text) made.textContent = text;
      for (const [name, value] of Object.entries(place)) if (made.getAttribute(name) !== String(value)) made.setAttribute(name, value);
      shows.set(id, made);
    };
    list.forEach((at, n) => {
      const x = names + axis.x(at);
      const end = axis.width - axis.x(at) < 16;
      mark(`line${n}`, 'line', '', { x1: x, x2: x, y1: 17, y2: 22 });
      mark(`text${n}`, 'text', axis.tickText(at, step), { x: end ? x + 8 : x, y: 13, 'text-anchor': end ? 'end' : 'middle' });
    });
    this.passNames(mark);
    this.marked = shows;
    arrange(this.ruler, [...shows.values()]);
  }

  // Names of passes under the ruler's numbers: across where they fit, turned where there is room for a line.
  passNames(mark) {
    const { axis, names } = this;
    const tall = this.named;
    const height = 23 + tall;
    if (!tall) return;
    let free = -1;
    const [first, last] = plan.passesWithin(axis.scale, axis.from, axis.to) || [0, -1];
    if (last - first > 400) return;
    for (let pass = first; pass <= last; pass += 1) {
      const [left, right] = [Math.max(0, axis.x(axis.scale.begin[pass])), Math.min(axis.width, axis.x(axis.scale.end[pass]))];
      const middle = (left + right) / 2;
      if (right - left < 12 || middle - 6 < free) continue;
      const name = shown(plan.passes.name[pass]);
      const across = right - left > 40 && textWidth(name, 11) < right - left - 4;
      free = middle + 6;
      if (across) mark(`across${pass}`, 'text', name, { x: names + middle, y: height - 5, 'text-anchor': 'middle' });
      else mark(`turned${pass}`, 'text', fit(name, tall - 4, 11), { transform: `translate(${names + middle + 4} ${height - 4}) rotate(-90)` });
    }
  }

  wheel(event) {
    const x = event.clientX - this.area.getBoundingClientRect().left - this.names;
    if (event.ctrlKey || event.metaKey) this.axis.zoom(1.0015 ** event.deltaY, Math.max(0, x));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.axis.pan(event.deltaX || event.deltaY);
    else return;
    event.preventDefault();
    this.moved();
  }

  // Drags the axis; with Shift measures a range; two fingers zoom.
  grab(event) {
    for (const pane of this.panes) pane.dragged = false;
    if (event.target.closest('.splitter, .pane-head')) return;
    if (event.pointerType === 'touch') {
      this.pinch(event);
      return;
    }
    if (event.button !== 0) return;
    let { clientX } = event;
    const startX = clientX;
    const measured = event.shiftKey;
    drag(event, (next) => {
      if (Math.abs(next.clientX - startX) > 4) for (const pane of this.panes) pane.dragged = true;
      if (!this.panes[0].dragged) return;
      if (measured) {
        this.span(startX, next.clientX);
        return;
      }
      this.axis.pan(clientX - next.clientX);
      clientX = next.clientX;
      this.moved();
    });
    if (!measured) this.range.hidden = true;
  }

  pinch(event) {
    this.fingers ||= new Map();
    this.fingers.set(event.pointerId, event.clientX);
    if (this.fingers.size > 1) return;
    drag(event, (next) => {
      if (!this.fingers.has(next.pointerId)) return;
      const before = [...this.fingers.values()];
      this.fingers.set(next.pointerId, next.clientX);
      const now = [...this.fingers.values()];
      const middle = (list) => list.reduce((sum, x) => sum + x, 0) / list.length;
      const spread = (list) => Math.max(20, Math.max(...list) - Math.min(...list));
      if (now.length > 1) this.axis.zoom(spread(before) / spread(now), middle(now) - this.area.getBoundingClientRect().left - this.names);
      this.axis.pan(middle(before) - middle(now));
      this.moved();
    }, () => this.fingers.clear());
  }

  // Shows how long a range is.
  span(fromX, toX) {
    const { left } = this.area.getBoundingClientRect();
    const [a, b] = [fromX, toX].map((x) => clamp(this.axis.value(x - left - this.names), this.axis.from, this.axis.to)).sort((x, y) => x - y);
    const [first, last] = plan.passesWithin(this.axis.scale, a, b) || [0, -1];
    const passes = count(last - first + 1, 'pass', 'passes');
    this.range.firstChild.textContent = this.axis.scale.id === 'order' ? passes : `${micros(b - a)}, ${passes}`;
    this.range.hidden = false;
    place(this.range, this.names + this.axis.x(a), null, this.axis.x(b) - this.axis.x(a));
    this.measured = [a, b];
  }

  // The cursor line follows the pointer; at the ruler stands where it is.
  follow(event) {
    const x = event && event.clientX - (this.left ??= this.area.getBoundingClientRect().left);
    const inside = event && x >= this.names && x <= this.names + this.axis.width;
    this.cursor.hidden = !inside;
    this.sign.hidden = !inside;
    if (!inside) {
      this.left = undefined;
      return;
    }
    const value = this.axis.value(x - this.names);
    const pass = plan.passAt(this.axis.scale, value);
    const where = this.axis.scale.id === 'order' ? '' : this.axis.tickText(value, (this.axis.to - this.axis.from) / 200);
    this.cursor.style.transform = `translateX(${x}px)`;
    this.sign.textContent = [where, pass >= 0 && shown(plan.passes.name[pass])].filter(Boolean).join(' · ');
    this.sign.style.transform = x > this.names + this.axis.width * 0.7 ? `translateX(calc(${x}px - 100%))` : `translateX(${x}px)`;
  }

  // The pass that is pinned or pointed at, as a light band through all panes; the measured range.
  mark() {
    const key = state.hover || state.pin;
    const pass = key ? passOf(key) : -1;
    const { scale } = this.axis;
    const shows = pass >= 0 && !plan.isCulled(pass);
    this.band.hidden = !shows;
    if (shows) {
      const left = clamp(this.axis.x(scale.begin[pass]), 0, this.axis.width);
      const right = clamp(this.axis.x(scale.end[pass]), 0, this.axis.width);
      if (right <= left) this.band.hidden = true;
      place(this.band, this.names + left, null, Math.max(1, right - left));
    }
    if (!this.range.hidden && this.measured) {
      const [a, b] = this.measured.map((value) => clamp(this.axis.x(value), 0, this.axis.width));
      place(this.range, this.names + a, null, b - a);
    }
  }

  // The axis shows another part.
  moved() {
    this.redraw();
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

  paint() {
    for (const pane of this.panes) if (!pane.folded) pane.paint();
    this.mark();
  }

  // Brings a thing into view in every pane that shows it; a pass is in view as a band of the axis. False if none does.
  reveal(key) {
    const shows = this.panes.filter((pane) => !pane.folded && pane.reveal(key));
    if (shows.length > 0) return true;
    if (key[0] !== 'p' || plan.isCulled(Number(key.slice(1)))) return false;
    const { begin, end } = this.axis.scale;
    this.axis.reveal(begin[key.slice(1)], end[key.slice(1)], 8);
    this.moved();
    return true;
  }

  locate(key) {
    for (const pane of this.panes) {
      const found = pane.locate(key);
      if (found) return found;
    }
    return null;
  }

  open(id, element) {
    (this.paneOf(element) || this.active).open(id);
  }

  // Walks inside a pane, and over its rim into the next one.
  move(across, down) {
    const here = this.paneOf(document.activeElement) || (this.active.folded ? this.panes.find((pane) => !pane.folded) : this.active);
    if (!here || here.move(across, down) || !down) return;
    const step = Math.sign(down);
    for (let at = this.panes.indexOf(here) + step; this.panes[at]; at += step) {
      if (!this.panes[at].folded && this.panes[at].enter(step)) return;
    }
  }

  changed() {
    for (const pane of this.panes) pane.forget();
    this.shared = '';
    this.draw();
  }

  // The measured times are those of another frame.
  renew() {
    for (const pane of this.panes) pane.forget();
    this.shared = '';
    this.map.drawn = '';
    if (!this.panel.hidden) this.redraw();
  }

  resized() {
    this.left = undefined;
    this.shared = '';
    for (const pane of this.panes) pane.cached = null;
    this.draw();
  }
}

// Calls `move` while the pointer is held, and `end` when it is let go.
function drag(event, move, end) {
  const stop = () => {
    removeEventListener('pointermove', move);
    removeEventListener('pointerup', stop);
    removeEventListener('pointercancel', stop);
    end?.();
  };
  addEventListener('pointermove', move);
  addEventListener('pointerup', stop);
  addEventListener('pointercancel', stop);
}

// The pass of a key: its own, that of an access, the one behind a barrier.
function passOf(key) {
  const at = Number(key.slice(1));
  if (key[0] === 'p') return at;
  if (key[0] === 'a') return plan.accesses.pass[at];
  if (key[0] === 'b') return plan.barriers.to[at];
  if (key[0] === 'c') return plan.calls.before[at];
  return -1;
}
