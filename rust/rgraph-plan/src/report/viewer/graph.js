// Passes as a graph: what feeds what, from left to right. A pass stands one column behind the last that it needs;
// arrows that others imply are left out (transitive reduction: Aho, Garey and Ullman, 1972). Within a column passes
// stand near what they need (barycentres: Sugiyama, Tagawa and Toda, 1981).

const NODE = { width: 150, height: 32, across: 190, down: 46 };
// Above this many passes, implied arrows are left in: finding them takes passes times passes bits.
const REDUCED = 3000;

class GraphView extends GridView {
  constructor() {
    super('graph', 'Graph', 'Passes by what they need');
    this.scale = 1;
  }

  start() {
    this.over = svg('svg', { class: 'over edges', 'aria-hidden': 'true' });
    this.frame.append(this.over);
    this.tools.append(
      h('button', { type: 'button', class: 'plain', onclick: () => this.zoom(1 / 1.25) }, 'Larger'),
      h('button', { type: 'button', class: 'plain', onclick: () => this.zoom(1.25) }, 'Smaller'),
      h('button', { type: 'button', class: 'plain', onclick: () => this.fit() }, 'Fit'),
      h('span', { class: 'note', text: 'Arrows point from the pass that writes to the pass that reads.' }),
    );
    this.lay();
    this.fit();
    this.scale = Math.max(this.scale, 0.8);
  }

  // Columns, rows and arrows.
  lay() {
    const { from, to, resource } = plan.flows;
    const use = (pass) => state.culled || !plan.isCulled(pass);
    const passes = plan.data.shown.filter(use);
    const turn = new Map(passes.map((pass, at) => [pass, at]));
    const into = passes.map(() => []);
    const named = new Map();
    from.forEach((pass, flow) => {
      const [a, b] = [turn.get(pass), turn.get(to[flow])];
      if (a === undefined || b === undefined || a >= b) return;
      const id = a * passes.length + b;
      if (!named.has(id)) {
        named.set(id, []);
        into[b].push(a);
      }
      named.get(id).push(resource[flow]);
    });
    if (passes.length <= REDUCED) reduce(into);
    const column = new Int32Array(passes.length);
    into.forEach((befores, at) => { for (const before of befores) column[at] = Math.max(column[at], column[before] + 1); });
    const out = passes.map(() => []);
    into.forEach((befores, at) => befores.forEach((before) => out[before].push(at)));
    // Passes that need nothing stand just before the first that needs them.
    passes.forEach((_, at) => {
      if (!into[at].length && out[at].length) column[at] = Math.max(0, Math.min(...out[at].map((next) => column[next])) - 1);
    });
    const row = rowsOf(column, into, out);
    this.nodes = passes.map((pass, at) => ({ pass, key: `p${pass}`, column: column[at], line: row[at], at: column[at], end: column[at] }));
    this.edges = into.flatMap((befores, at) => befores.map((before) => ({
      from: this.nodes[before], to: this.nodes[at], resources: named.get(before * passes.length + at),
    })));
    const lines = Math.max(0, ...row) + 1;
    this.byLine = Array.from({ length: lines }, () => []);
    for (const node of this.nodes) this.byLine[node.line].push(node);
    for (const list of this.byLine) list.sort((a, b) => a.column - b.column);
    this.columns = Math.max(0, ...column) + 1;
  }

  get rows() {
    return this.byLine.length;
  }

  cells(row) {
    return this.byLine[row];
  }

  locate(key) {
    if (!this.nodes) return null;
    const sought = userOf(key) || key;
    const node = this.nodes.find((one) => one.key === sought);
    return node ? [node.line, node] : null;
  }

  spot(node) {
    return [(20 + node.column * NODE.across) * this.scale, (20 + node.line * NODE.down) * this.scale];
  }

  bring(row, node) {
    const [left, top] = this.spot(node);
    this.scrollTo(top - 12, NODE.height * this.scale + 24);
    const { scrollLeft, clientWidth } = this.frame;
    if (left - 20 < scrollLeft) this.frame.scrollLeft = left - 20;
    else if (left + NODE.width + 20 > scrollLeft + clientWidth) this.frame.scrollLeft = left + NODE.width + 20 - clientWidth;
  }

  zoom(factor) {
    this.scale = clamp(this.scale / factor, 0.15, 2);
    this.redraw();
  }

  pan(share) {
    this.frame.scrollLeft += share * this.frame.clientWidth;
  }

  fit() {
    const { clientWidth, clientHeight } = this.frame;
    this.scale = clamp(Math.min(clientWidth / (this.columns * NODE.across + 30), clientHeight / (this.rows * NODE.down + 40)), 0.15, 1.4);
    this.redraw();
  }

  draw() {
    this.begin(this.rows);
    const { scale } = this;
    const [width, height] = [(this.columns * NODE.across + 20) * scale, (this.rows * NODE.down + 40) * scale];
    this.grid.style.width = `${width}px`;
    this.grid.style.height = `${height}px`;
    place(this.over, 0, 0, width, height);
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.frame;
    const near = (left, top, room) => left > scrollLeft - room && left < scrollLeft + clientWidth + room
      && top > scrollTop - room && top < scrollTop + clientHeight + room;
    const size = [NODE.width * scale, NODE.height * scale];
    this.byLine.forEach((list, line) => {
      const inView = list.filter((node) => near(...this.spot(node), 200));
      if (!inView.length) return;
      const top = this.spot(inView[0])[1];
      this.row(line, top, size[1], inView.map((node) => {
        const look = `box node ${plan.isCulled(node.pass) ? 'culled' : hue(plan.passes.queue[node.pass])}|${scale > 0.45}`;
        const box = this.cell(line, node.key, look, () => say.key(node.key), () => [
          findings.byPass.has(node.pass) && h('span', { class: 'badge', text: '!' }),
          scale > 0.45 && h('span', { class: 'label', text: shown(plan.passes.name[node.pass]) })]);
        return place(box, this.spot(node)[0], 0, ...size);
      }));
    });
    const paths = [];
    for (const edge of this.edges) {
      const [x1, y1] = this.spot(edge.from);
      const [x2, y2] = this.spot(edge.to);
      const away = Math.max(x1, x2) < scrollLeft - 60 || Math.min(x1, x2) > scrollLeft + clientWidth + 60
        || Math.max(y1, y2) < scrollTop - 60 || Math.min(y1, y2) > scrollTop + clientHeight + 60;
      if (away) continue;
      if (paths.length > 4000) break;
      paths.push(this.edge(edge, x1 + size[0], y1 + size[1] / 2, x2, y2 + size[1] / 2));
    }
    this.over.replaceChildren(svg('defs', null, svg('marker', { id: 'tip', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' },
      svg('path', { d: 'M0 0 L8 4 L0 8 Z' }))), ...paths);
    this.end();
  }

  edge(edge, x1, y1, x2, y2) {
    const bend = Math.max(18, (x2 - x1) / 2);
    const path = svg('path', { d: `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`, class: 'edge', 'marker-end': 'url(#tip)' });
    path.edge = edge;
    return path;
  }

  decorate() {
    const focus = state.hover || state.pin;
    const lit = focus ? related(focus) : null;
    for (const path of this.over.querySelectorAll('.edge')) {
      const { from, to, resources } = path.edge;
      const near = focus && (focus === from.key || focus === to.key || (focus[0] === 'r' && resources.includes(Number(focus.slice(1)))));
      path.classList.toggle('dim', Boolean(lit) && !near);
      path.classList.toggle('lit', Boolean(near));
    }
  }

  changed() {
    if (!this.built) return;
    this.lay();
    if (!this.panel.hidden) this.draw();
  }
}

// Takes out arrows that others imply. Passes stand in an order in which every arrow points forward.
function reduce(into) {
  const wide = (into.length + 31) >> 5;
  const reach = new Uint32Array(into.length * wide);
  into.forEach((befores, at) => {
    befores.sort((a, b) => b - a);
    const kept = befores.filter((before) => {
      if (reach[at * wide + (before >> 5)] & (1 << (before & 31))) return false;
      for (let word = 0; word < wide; word += 1) reach[at * wide + word] |= reach[before * wide + word];
      reach[at * wide + (before >> 5)] |= 1 << (before & 31);
      return true;
    });
    befores.splice(0, befores.length, ...kept);
  });
}

// A row for each pass: near the middle of its neighbours, one pass a place.
function rowsOf(column, into, out) {
  const layers = [];
  column.forEach((of, at) => { (layers[of] ||= []).push(at); });
  const row = new Float64Array(column.length);
  for (const layer of layers) layer?.forEach((at, index) => { row[at] = index; });
  const sweep = (list, neighbours) => {
    for (const layer of list) {
      if (!layer) continue;
      const middle = new Map(layer.map((at) => {
        const near = neighbours[at];
        return [at, near.length ? near.reduce((sum, other) => sum + row[other], 0) / near.length : row[at]];
      }));
      layer.sort((a, b) => middle.get(a) - middle.get(b) || a - b);
      let free = 0;
      layer.forEach((at) => {
        row[at] = Math.max(free, Math.round(middle.get(at)));
        free = row[at] + 1;
      });
    }
  };
  const back = layers.slice().reverse();
  for (let turn = 0; turn < (column.length > 2000 ? 2 : 6); turn += 1) {
    sweep(layers, into);
    sweep(back, out);
  }
  sweep(layers, into);
  const used = [...new Set(row)].sort((a, b) => a - b);
  const dense = new Map(used.map((value, index) => [value, index]));
  return Array.from(row, (value) => dense.get(value));
}
