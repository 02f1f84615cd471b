// Each heap as a map: bytes upwards, the order of passes to the right, a box for each resource while it is alive.

class MemoryMap extends AxisView {
  constructor() {
    super('memory', 'Memory', 'Memory: placements by heap', plan.scales.order);
    this.aliasing = true;
    this.even = false;
  }

  start() {
    this.tools.append(choice('Placement', [['yes', 'As planned'], ['no', 'Without aliasing']], 'yes', (value) => {
      this.aliasing = value === 'yes';
      this.cached = null;
      this.draw();
    }), choice('Bytes', [['scale', 'To scale'], ['even', 'Spread out']], 'scale', (value) => {
      this.even = value === 'even';
      this.cached = null;
      this.draw();
    }), legend([['line peak', 'needed'], ['line bound', 'bound']], 'Lines'));
    this.frame.append(this.over);
  }

  // Heaps with their boxes; without aliasing every resource has bytes of its own.
  get heaps() {
    if (this.cached) return this.cached;
    const { resources, data } = plan;
    const heaps = data.heaps.map(([name, size], heap) => ({ name, size, heap, cells: [], used: 0 }));
    const placed = [...resources.placed.keys()].filter((at) => resources.placed[at] >= 0 && resources.first[at] >= 0);
    for (const resource of placed) {
      const heap = heaps[resources.heap[resource]];
      if (!heap) continue;
      const size = resources.placed[resource];
      const offset = this.aliasing ? resources.offset[resource] : heap.used;
      heap.used = Math.max(heap.used, offset + size);
      const end = resources.root[resource] ? plan.live : resources.last[resource] + 1;
      heap.cells.push({ key: `r${resource}`, at: resources.first[resource], end, resource, offset, size });
    }
    const total = heaps.reduce((sum, heap) => sum + heap.used, 0) || 1;
    const room = Math.max(260, this.frame.clientHeight - 60 - 46 * heaps.length);
    let top = 48;
    for (const heap of heaps) {
      heap.cells.sort((a, b) => a.offset - b.offset || a.at - b.at);
      heap.top = top;
      heap.height = Math.max(60, (room * heap.used) / total);
      heap.y = this.even ? spreadOut(heap) : (size) => heap.height * (1 - size / (heap.used || 1));
      top += heap.height + 46;
    }
    this.height = top;
    this.rows = heaps.length;
    this.cached = heaps;
    return heaps;
  }

  cells(row) {
    return this.heaps[row].cells;
  }

  locate(key) {
    if (key[0] !== 'r') return null;
    for (let row = 0; row < this.heaps.length; row += 1) {
      const cell = this.heaps[row].cells.find((one) => one.key === key);
      if (cell) return [row, cell];
    }
    return null;
  }

  bring(row, cell) {
    const heap = this.heaps[row];
    this.axis.reveal(cell.at, cell.end, 6);
    const top = heap.y(cell.offset + cell.size);
    this.scrollTo(heap.top + top, Math.max(14, heap.y(cell.offset) - top), 40);
    strip.redraw();
  }

  magnify(row, key) {
    const [from, to] = key.slice(2).split('-').map(Number);
    this.zoomTo(from, to);
  }

  draw() {
    if (this.seen !== this.frame.clientHeight) this.cached = null;
    this.seen = this.frame.clientHeight;
    this.measure();
    const { heaps, names } = this;
    this.begin(heaps.length);
    this.drawRuler();
    this.grid.style.height = `${this.height}px`;
    const lines = [];
    heaps.forEach((heap, row) => {
      const header = h('div', { role: 'rowheader', class: 'name heap' },
        h('span', { class: 'strong', text: shown(heap.name) }), h('span', { class: 'note', text: bytes(heap.used) }));
      place(header, 0, 0, names - 8, heap.height + 20);
      this.row(row, heap.top, heap.height + 26, header, ...this.boxes(row, heap));
      lines.push(...this.lines(heap, heaps.length));
    });
    if (!heaps.length) {
      const text = h('p', { class: 'empty', text: 'Nothing of this plan needs memory of its own.' });
      this.row(0, 40, 40, null, h('div', { role: 'gridcell', tabindex: 0 }, text));
    }
    place(this.over, 0, 0, this.frame.clientWidth, this.height);
    this.over.replaceChildren(...lines);
    this.end();
  }

  boxes(row, heap) {
    const { axis, names } = this;
    const cells = [];
    const taken = new Set();
    for (const cell of heap.cells) {
      if (cell.end < axis.from || cell.at > axis.to) continue;
      const left = Math.max(-4, axis.x(cell.at));
      const width = Math.max(1.5, Math.min(axis.width + 4, axis.x(cell.end)) - left);
      const top = heap.y(cell.offset + cell.size);
      const height = Math.max(1.5, heap.y(cell.offset) - top);
      // Specks at one place are drawn once; the walk by keys still finds all of them.
      const speck = width < 4 && `${Math.round(left / 4)},${Math.round(top / 2)},${Math.round(height / 4)}`;
      if (speck && taken.has(speck)) continue;
      if (speck) taken.add(speck);
      const group = plan.group[cell.resource];
      const name = shown(plan.resources.name[cell.resource]);
      const sharers = plan.sharers(cell.resource).length;
      const label = `${name}, ${bytes(cell.size)} at ${hex(cell.offset)}${sharers ? `, shares bytes with ${sharers}` : ''}`;
      const kept = plan.resources.root[cell.resource] ? ' kept' : '';
      const box = this.cell(row, cell.key, label, { class: `block ${group >= 0 ? `group-${group % 8}` : 'alone'}${kept}` },
        width > 30 && height > 13 ? h('span', { class: 'label', text: name }) : null,
        width > 70 && height > 28 ? h('span', { class: 'time', text: bytes(cell.size) }) : null);
      box.classList.toggle('small', height < 18);
      box.classList.toggle('thin', height < 4);
      cells.push(place(box, names + left, top, width, height));
    }
    return cells;
  }

  // What the heap needs, and what no placement could do without (known for all heaps together only).
  lines(heap, heapCount) {
    const { names, axis } = this;
    const y = (size) => heap.top + heap.y(size);
    const line = (size, kind, text) => [
      svg('line', { x1: names, x2: names + axis.width, y1: y(size), y2: y(size), class: kind }),
      svg('text', { x: names + axis.width - 4, y: y(size) - 4, 'text-anchor': 'end', class: kind }, text),
    ];
    const base = svg('line', { x1: names, x2: names + axis.width, y1: y(0), y2: y(0), class: 'base' });
    const lines = [base, ...line(heap.used, 'peak', `${bytes(heap.used)}${this.aliasing ? ' needed' : ' without aliasing'}`)];
    const bound = this.even ? Infinity : plan.meta.memory_bound;
    if (heapCount === 1 && bound < heap.used * 0.97) lines.push(...line(bound, 'bound', `${bytes(bound)} bound`));
    return lines;
  }
}

// A scale on which every stretch between two boundaries of boxes is equally high: small things can be read there.
function spreadOut(heap) {
  const bounds = [...new Set(heap.cells.flatMap((cell) => [cell.offset, cell.offset + cell.size]).concat(0))].sort((a, b) => a - b);
  const rank = new Map(bounds.map((bound, at) => [bound, at]));
  heap.height = Math.max(heap.height, bounds.length * 17);
  return (size) => heap.height * (1 - (rank.get(size) ?? bounds.length - 1) / Math.max(1, bounds.length - 1));
}
