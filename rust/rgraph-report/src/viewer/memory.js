// Each heap as a map: bytes upwards, the order of passes to the right, a box for each resource while it is alive.

// Boxes that are elements: at least this many pixels wide and high, and at most this many.
const SPECK = 6;
const MOST_BLOCKS = 300;

class MemoryMap extends Pane {
  constructor() {
    super('memory', 'Memory', 'Memory: placements by heap');
    this.aliasing = true;
    this.even = false;
  }

  start() {
    this.tools.append(choice('Placement', [['yes', 'As planned'], ['no', 'Without aliasing']], 'yes', (value) => {
      this.aliasing = value === 'yes';
      this.cached = null;
      this.draw();
    }), choice('Bytes', [['scale', 'To scale'], ['even', 'Even heights']], 'scale', (value) => {
      this.even = value === 'even';
      this.cached = null;
      this.draw();
    }), folder(['r']), legend([['line peak', 'needed'], ['line bound', 'bound']], 'Lines'));
    on('folds', () => {
      this.cached = null;
      this.draw();
    });
    this.frame.append(this.over);
    this.canvas = h('canvas', { class: 'specks', 'aria-hidden': 'true' });
    this.specks = [];
    this.grid.addEventListener('pointermove', (event) => {
      if (event.pointerType === 'touch' || event.buttons || event.target.closest('[data-cell]')) return;
      const [, key] = split(this.speckAt(event) || ':');
      set('hover', key && key[0] !== 'm' ? key : null);
    });
    this.grid.addEventListener('click', (event) => {
      const id = !event.target.closest('[data-cell]') && !this.dragged && this.speckAt(event);
      if (id) this.open(id);
    });
  }

  // Heaps with their boxes; without aliasing every resource has bytes of its own.
  get heaps() {
    if (this.cached) return this.cached;
    const { resources, data } = plan;
    const heaps = data.heaps.map(([name, size], heap) => ({ name, size, heap, cells: [], used: 0 }));
    const placed = [...resources.placed.keys()].filter((at) => resources.placed[at] >= 0 && resources.first[at] >= 0);
    const lives = plan.livesOn(this.axis.scale);
    for (const resource of placed) {
      const heap = heaps[resources.heap[resource]];
      if (!heap) continue;
      const size = resources.placed[resource];
      const offset = this.aliasing ? resources.offset[resource] : heap.used;
      heap.used = Math.max(heap.used, offset + size);
      const end = resources.root[resource] ? this.axis.scale.extent : lives.end[resource];
      const group = foldedOf('r', resource);
      heap.cells.push({ key: `${group ? 'mf' : 'r'}${resource}`, at: lives.begin[resource], end, resource, offset, size, group });
    }
    const filled = heaps.filter((heap) => heap.cells.length > 0);
    for (const heap of filled) nameGroups(heap.cells);
    for (const heap of filled) heap.cells.sort((a, b) => a.offset - b.offset || a.at - b.at);
    this.rows = filled.length;
    this.cached = filled;
    this.stand();
    return filled;
  }

  // Heights: heaps share the room by their bytes.
  stand() {
    const heaps = this.cached;
    const total = heaps.reduce((sum, heap) => sum + heap.used, 0) || 1;
    const gap = this.alone ? 40 : 26;
    const room = Math.max(this.alone ? 260 : 60, this.room - gap * heaps.length - 8);
    let top = gap - 6;
    for (const heap of heaps) {
      heap.top = top;
      heap.height = Math.max(this.alone ? 60 : 44, (room * heap.used) / total);
      heap.y = this.even ? evenly(heap) : (size) => heap.height * (1 - size / (heap.used || 1));
      top += heap.height + gap;
    }
    this.height = top - gap + 8;
    this.stood = this.room;
  }

  natural() {
    return this.alone ? 600 : 240;
  }

  get keepsCells() {
    return true;
  }

  cells(row) {
    return this.heaps[row].cells;
  }

  locate(key) {
    if (key[0] !== 'r') return null;
    for (let row = 0; row < this.heaps.length; row += 1) {
      const cell = this.heaps[row].cells.find((one) => `r${one.resource}` === key);
      if (cell) return [row, cell];
    }
    return null;
  }

  bring(row, cell) {
    const heap = this.heaps[row];
    this.axis.reveal(cell.at, cell.end, 6);
    const top = heap.y(cell.offset + cell.size);
    this.scrollTo(heap.top + top, Math.max(14, heap.y(cell.offset) - top), 40);
  }

  // A folded group unfolds.
  magnify(row, key) {
    fold(groupOf('r', Number(key.slice(2))));
  }

  covers(id, lit) {
    return groupsOf('r').get(groupOf('r', Number(split(id)[1].slice(2)))).some((resource) => lit.has(`r${resource}`));
  }

  paintRows() {
    const { heaps, names } = this;
    if (this.stood !== this.room) this.stand();
    this.begin(heaps.length);
    this.setHeight(this.height);
    this.specks = [];
    const chosen = this.chosen(heaps);
    heaps.forEach((heap, row) => {
      heap.header ||= h('div', { role: 'rowheader', class: 'name heap' },
        h('span', { class: 'strong', text: shown(heap.name) }), h('span', { class: 'note', text: bytes(heap.used) }));
      place(heap.header, 0, 0, names - 60, heap.height + 4);
      this.row(row, heap.top, heap.height + 26, [heap.header, ...chosen[row].map((one) => this.block(row, one))]);
    });
    if (!heaps.length) this.row(0, 0, 40, [this.nothing('Nothing of this plan needs memory of its own.')]);
    place(this.over, 0, 0, this.width, this.height);
    // They depend on the room, not on the part of the frame that is in view.
    const key = `${names} ${this.axis.width} ${this.even} ${this.aliasing} ${heaps.map((heap) => `${heap.top} ${heap.height} ${heap.used}`)}`;
    if (this.lined !== key) this.over.replaceChildren(...heaps.flatMap((heap) => this.lines(heap, heaps.length)));
    this.lined = key;
    this.end(this.canvas);
  }

  // The boxes that are elements, largest first up to a number; the rest are specks of the picture behind them. What is
  // pinned or walked to is always an element.
  chosen(heaps) {
    const { axis } = this;
    const [high, low] = [this.top - 40, this.top + this.room];
    const shown = heaps.map(() => []);
    const large = [];
    heaps.forEach((heap, row) => {
      for (const cell of heap.cells) {
        if (cell.end < axis.from || cell.at > axis.to) continue;
        const left = Math.max(-4, axis.x(cell.at));
        const width = Math.max(1.5, Math.min(axis.width + 4, axis.x(cell.end)) - left);
        const top = heap.y(cell.offset + cell.size);
        const height = Math.max(1.5, heap.y(cell.offset) - top);
        if (heap.top + top > low || heap.top + top + height < high) continue;
        const one = { cell, row, left, width, top, height };
        if (`r${cell.resource}` === state.pin || `${row}:${cell.key}` === this.at) shown[row].push(one);
        else if (width >= SPECK && height >= SPECK) large.push(one);
        else this.specks.push(one);
      }
    });
    if (large.length > MOST_BLOCKS) large.sort((a, b) => b.width * b.height - a.width * a.height);
    for (const one of large.slice(0, MOST_BLOCKS)) shown[one.row].push(one);
    this.specks.push(...large.slice(MOST_BLOCKS));
    for (const list of shown) list.sort((a, b) => a.cell.offset - b.cell.offset || a.cell.at - b.cell.at);
    return shown;
  }

  block(row, { cell, left, width, top, height }) {
    const group = plan.group[cell.resource];
    const name = cell.name ?? shown(plan.resources.name[cell.resource]);
    const label = height >= 14 && name ? labelIn(name, width, Math.min(height, height < 30 ? 16 : height - (width > 60 && height > 34 ? 15 : 0))) : { lines: [], key: '' };
    const sized = width > 60 && height > 34;
    const look = `block ${slim(label)}${cell.group ? 'folded ' : ''}${group >= 0 ? `group-${group % 8}` : 'alone'}${plan.resources.root[cell.resource] ? ' kept' : ''}${height < 18 ? ' small' : ''}${
      height < 4 ? ' thin' : ''}|${label.key}${sized}${cell.offset}`;
    const words = () => {
      const sharers = plan.sharers(cell.resource).length;
      if (cell.group) return `${groupName(cell.group, cell.many)}, ${bytes(cell.size)} at ${hex(cell.offset)}: unfold`;
      return `${name}, ${bytes(cell.size)} at ${hex(cell.offset)}${sharers ? `, shares bytes with ${sharers}` : ''}`;
    };
    const box = this.cell(row, cell.key, look, words, () => [labelOf(label), sized && h('span', { class: 'time', text: bytes(cell.size) })]);
    return place(box, this.names + left, top, width, height);
  }

  // Paints the boxes that are no elements, those that are not lit without their colour.
  decorate() {
    const { canvas, names, heaps } = this;
    const density = devicePixelRatio || 1;
    const [width, height] = [Math.round(this.width * density), Math.round(this.room * density)];
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    place(canvas, 0, this.top, this.width, this.room);
    const brush = canvas.getContext('2d');
    brush.setTransform(density, 0, 0, density, 0, 0);
    brush.clearRect(0, 0, this.width, this.room);
    brush.translate(names, -this.top);
    const focus = state.hover || state.pin;
    const lit = focus ? related(focus) : search.hits;
    const colours = paints();
    for (const { cell, row, left, width: wide, top, height: tall } of this.specks) {
      const group = plan.group[cell.resource];
      const colour = lit && !lit.has(`r${cell.resource}`) ? colours.off : colours.groups[group < 0 ? 8 : group % 8];
      const y = heaps[row].top + top;
      // Thin ones have an edge at their left only: edges all around would leave nothing of the colour.
      brush.fillStyle = colour.edge;
      brush.fillRect(left, y, wide, tall);
      brush.fillStyle = colour.fill;
      if (wide >= 3 && tall >= 4) brush.fillRect(left + 1, y + 1, wide - 2, tall - 2);
      else if (wide >= 3) brush.fillRect(left + 1, y, wide - 1, Math.max(0.8, tall - 0.6));
    }
  }

  // The box of the picture at a place of the window: the row and key of a cell.
  speckAt(event) {
    const { left, top } = this.frame.getBoundingClientRect();
    const [x, y] = [event.clientX - left - this.names, event.clientY - top + this.top];
    const near = this.specks.find((one) => x >= one.left - 1 && x <= one.left + one.width + 1
      && y >= this.heaps[one.row].top + one.top - 1 && y <= this.heaps[one.row].top + one.top + one.height + 1);
    return near ? `${near.row}:${near.cell.key}` : null;
  }

  // What the heap needs, and what no placement could do without.
  lines(heap, heapCount) {
    const { names, axis } = this;
    const y = (size) => heap.top + heap.y(size);
    const line = (size, kind, text, below) => [
      svg('line', { x1: names, x2: names + axis.width, y1: y(size), y2: y(size), class: kind }),
      svg('text', { x: names + axis.width - 4, y: y(size) + (below ? 12 : -4), 'text-anchor': 'end', class: kind }, text),
    ];
    const base = svg('line', { x1: names, x2: names + axis.width, y1: y(0), y2: y(0), class: 'base' });
    const lines = [base, ...line(heap.used, 'peak', `${bytes(heap.used)}${this.aliasing ? ' needed' : ' without aliasing'}`)];
    const bound = this.even ? Infinity : heapCount === 1 ? plan.meta.memory_bound : mostAlive(heap.cells);
    if (bound < heap.used * 0.97) {
      // The name of a line that is close below another stands below its own.
      lines.push(...line(bound, 'bound', `${bytes(bound)} bound`, y(bound) - y(heap.used) < 17));
    }
    if (this.even || !heap.used) return lines;
    // The axis of bytes, in steps of a power of two.
    const step = 2 ** Math.ceil(Math.log2((heap.used / heap.height) * 28));
    for (let size = step; size < heap.used - step / 3; size += step) {
      lines.push(svg('line', { x1: names - 5, x2: names, y1: y(size), y2: y(size), class: 'base' }),
        svg('text', { x: names - 8, y: y(size) + 4, 'text-anchor': 'end', class: 'byte' }, bytes(size).replace('.0', '')));
    }
    return lines;
  }
}

// Bytes of a heap that are alive at once, at the pass where they are most: no placement needs fewer, since in whatever
// order the queues come to it, what is alive in one order at once never shares bytes. Names of one memory count once.
function mostAlive(cells) {
  const lives = plan.livesOn(plan.scales.order);
  const events = cells.flatMap((cell) => [[lives.begin[cell.resource], 1, cell], [plan.resources.root[cell.resource] ? Infinity : lives.end[cell.resource], -1, cell]]);
  events.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const names = new Map();
  let [alive, most] = [0, 0];
  for (const [, step, { resource, size }] of events) {
    const memory = `${plan.resources.offset[resource]} ${size}`;
    const before = names.get(memory) || 0;
    names.set(memory, before + step);
    if (step > 0 && before === 0) alive += size;
    if (step < 0 && before === 1) alive -= size;
    most = Math.max(most, alive);
  }
  return most;
}

// The boxes of a folded group stay where their bytes are; the one with the most room has its name.
function nameGroups(cells) {
  const groups = new Map();
  for (const cell of cells) if (cell.group) groups.set(cell.group, [...(groups.get(cell.group) || []), cell]);
  for (const [group, members] of groups) {
    const room = (cell) => cell.size * (cell.end - cell.at);
    const most = members.reduce((best, cell) => (room(cell) > room(best) ? cell : best));
    for (const cell of members) Object.assign(cell, { many: members.length, name: cell === most ? groupName(group, members.length) : '' });
  }
}

// A scale on which every stretch between two boundaries of boxes is equally high: small things can be read there.
function evenly(heap) {
  const bounds = [...new Set(heap.cells.flatMap((cell) => [cell.offset, cell.offset + cell.size]).concat(0))].sort((a, b) => a - b);
  const rank = new Map(bounds.map((bound, at) => [bound, at]));
  heap.height = Math.max(heap.height, bounds.length * 17);
  return (size) => heap.height * (1 - (rank.get(size) ?? bounds.length - 1) / Math.max(1, bounds.length - 1));
}

// Colours for pictures, read from the style sheet once for each theme: of boxes by the bytes that they share, without
// sharing, and dimmed.
function paints() {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const key = `${theme.get()} ${dark} ${document.documentElement.className}`;
  if (paints.key === key) return paints.made;
  const probe = h('div', { class: 'grid lighting hidden', 'aria-hidden': 'true' });
  document.body.append(probe);
  const read = (name) => {
    const one = h('div', { class: name });
    probe.append(one);
    const style = getComputedStyle(one);
    return { fill: style.backgroundColor, edge: style.borderTopColor };
  };
  const groups = Array.from({ length: 9 }, (_, at) => read(at < 8 ? `block on group-${at}` : 'block on alone'));
  const hues = ['hue-0', 'hue-1', 'hue-2', 'hue-host'].map((name) => read(`box on ${name}`));
  const off = read('block');
  const inks = {};
  for (const name of ['line', 'faint', 'accent', 'back', 'region']) {
    const one = h('div', { class: `ink-${name}` });
    probe.append(one);
    inks[name] = getComputedStyle(one).color;
  }
  Object.assign(paints, { key, made: { groups, hues, off, inks } });
  probe.remove();
  return paints.made;
}
