// Passes as a graph: what feeds what, in layers that wrap to the window. Passes are elements while they can be read;
// lines, frames around render passes and passes too small to read are one picture behind them.

// Passes are elements from this scale on, and up to this many.
const READABLE = 0.3;
const MOST_NODES = 500;
// Pixels of a picture that browsers still draw, and of a graph on paper: some twenty pages.
const TALLEST = 15_000;
// Up to this many culled passes are shown at once.
const FEW_CULLED = 12;
// Names of areas at once, at most.
const MOST_TITLES = 60;
const ONLY = 'Only what the pinned needs and feeds';

class GraphView extends GridView {
  constructor() {
    super('graph', 'Graph', 'Passes by what they need');
    Object.assign(this, { scale: 1, left: 0, top: 0, whole: false, own: new Set() });
  }

  start() {
    this.canvas = h('canvas', { class: 'specks', 'aria-hidden': 'true' });
    this.frame.prepend(this.canvas);
    this.pills = h('div', { class: 'pills', 'aria-hidden': 'true' });
    this.overview = new Overview(this);
    this.frame.append(this.overview.area);
    this.focusOn = -1;
    const culled = plan.passCount - plan.live;
    this.culled = culled > 0 && culled <= FEW_CULLED;
    this.tools.append(
      h('div', { class: 'buttons' },
        h('button', { type: 'button', class: 'plain', 'aria-label': 'Zoom in', onclick: () => this.zoom(1 / 1.25) }, '+'),
        h('button', { type: 'button', class: 'plain', 'aria-label': 'Zoom out', onclick: () => this.zoom(1.25) }, '−'),
        h('button', { type: 'button', class: 'plain', onclick: () => this.fit() }, 'Fit')),
      this.only = toggle(ONLY, false, (on) => this.look(on)),
      toggle('Critical path', false, (on) => set('query', on ? 'critical' : '')),
      folder(['p'], this.own),
      culled ? toggle(`Culled (${number(culled)})`, this.culled, (on) => {
        this.culled = on;
        this.anew();
      }) : '',
      h('span', { class: 'note', text: 'Lines run from the pass that writes to the pass that reads; dotted: implied by others.' }),
    );
    on('folds', () => this.anew());
    // Without a pinned pass, the next one that is pinned is looked at alone.
    on('pin', () => {
      if (state.pin && this.focusOn < 0 && this.only.getAttribute('aria-pressed') === 'true') this.look(true);
    });
    this.frame.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    this.frame.addEventListener('pointerdown', (event) => this.grab(event));
    this.grid.addEventListener('pointerover', (event) => { state.along = event.target.closest('.carried')?.list || []; }, true);
    this.frame.addEventListener('pointermove', (event) => {
      if (event.pointerType === 'touch' || event.buttons || event.target.closest('[data-key], .overview')) return;
      const small = this.small(event);
      state.along = small ? [] : this.lineAt(event);
      set('hover', small?.key || (state.along.length ? this.keyAlong(state.along) : null));
    });
    this.frame.addEventListener('click', (event) => {
      if (this.dragged || event.target.closest('[data-cell]')) return;
      const node = this.small(event);
      if (node) this.open(`${node.row}:${node.key}`);
      else if (event.target.closest('.carried, .specks, .grid, .frame')) this.pinNext(event.target.closest('.carried')?.list || this.lineAt(event));
    });
    this.measure();
    this.foldByItself();
    this.anew();
  }

  // Folds groups, in this view only, where all of the passes cannot be read at once.
  foldByItself() {
    const { passes, groups } = foldable();
    if (!groups.length) return;
    if (passes <= FOLDED.many) this.lay();
    if (passes <= FOLDED.many && !this.drawing.large) return;
    for (const group of groups) this.own.add(group);
    tell('folds');
  }

  // Lays passes out and shows all of them. What cannot be read then opens at its beginning, unless all was asked for.
  anew(keep = false) {
    this.whole &&= keep;
    this.lay();
    this.centre();
    if (!this.whole && this.scale < LEGIBLE.least) {
      this.scale = LEGIBLE.opens;
      this.left = Math.min(0, (this.drawing.width * this.scale - this.width + (this.drawing.large ? CORNER.aside : 0)) / 2);
      this.top = Math.max(0, this.drawing.nodes.reduce((top, node) => Math.min(top, node.y), Infinity) - NODE.down) * this.scale;
    }
    this.redraw();
  }

  // Shows only what the pinned pass needs and feeds, or all again.
  look(on) {
    this.focusOn = on && state.pin ? passOf(state.pin) : -1;
    this.only.textContent = this.focusOn < 0 ? ONLY : `Only what ${fit(shown(plan.passes.name[this.focusOn]), 170)} needs and feeds`;
    if (on && this.focusOn < 0) announce('pin a pass first');
    this.anew();
  }

  // Rows of culled passes below the others, as far as they are known before these are laid out.
  get culledRows() {
    return state.culled && this.culled && this.focusOn < 0 ? Math.min(2, Math.ceil((plan.passCount - plan.live) / 6)) : 0;
  }

  measure() {
    const { clientWidth, clientHeight } = this.frame;
    Object.assign(this, { width: clientWidth, room: clientHeight });
  }

  lay() {
    const use = (pass) => !plan.isCulled(pass) && (this.focusOn < 0 || this.near.has(pass));
    if (this.focusOn >= 0) this.near = kin(this.focusOn);
    // Passes are as wide as most of their names ask for at the size that they are mostly seen in.
    const all = clusters(plan.data.shown.filter(use), this.focusOn < 0 ? this.own : null);
    const inArea = (pass) => (groupOf('p', pass) ? plan.passes.name[pass].slice(prefixOf(plan.passes.name[pass]).length + 1) : plan.passes.name[pass]);
    const wide = all.map(({ group, members }) => textWidth(members.length > 1 ? groupName(group, members.length) : shown(inArea(members[0])), 11, 600)).sort((a, b) => a - b);
    const [share, most] = this.width < NARROW ? [0.75, 190] : [0.9, 236];
    NODE.width = Math.round(clamp((wide[Math.floor(wide.length * share)] || 0) * 1.5 + 24, 132, most));
    this.drawing = layOut(all.map(({ members }) => members[0]), { width: this.width || 1000, height: (this.room || 600) - this.culledRows * NODE.down, aside: printing() ? 0 : CORNER.aside, overview: this.summed || this.whole }, all.map(({ members }) => members));
    const { nodes } = this.drawing;
    if (this.culledRows) this.placeCulled();
    // The walk: a row for the passes of a band that stand at one height.
    const heights = [...new Set(nodes.map((node) => Math.round(node.y / NODE.down)))].sort((a, b) => a - b);
    const rowOf = new Map(heights.map((height, at) => [height, at]));
    this.lines = heights.map(() => []);
    for (const node of nodes) {
      node.row = rowOf.get(Math.round(node.y / NODE.down));
      node.at = node.x;
      node.end = node.x + NODE.width;
      this.lines[node.row].push(node);
    }
    for (const line of this.lines) line.sort((a, b) => a.x - b.x);
    this.nodeOf = new Map(nodes.flatMap((node) => [[node.key, node], ...node.members.map((pass) => [`p${pass}`, node])]));
    this.frames = this.framesOf(nodes);
    this.regions = regionsOf(nodes.filter((node) => !node.culled));
    this.areaOf = new Map(this.regions.filter(({ title }) => title).flatMap(({ name, passes }) => passes.map((pass) => [pass, name])));
    this.tags = new EdgeNames(this.drawing, this.regions);
    this.laid = `${this.width} ${this.room}`;
  }

  // Culled passes stand in rows below all others.
  placeCulled() {
    const { drawing } = this;
    drawing.width = Math.max(drawing.width, Math.min(this.width || 1000, 40 + (plan.passCount - plan.live) * (NODE.width + 16)));
    const across = Math.max(1, Math.floor((drawing.width - 40) / (NODE.width + 16)));
    const culled = plan.data.shown.filter((pass) => plan.isCulled(pass));
    culled.forEach((pass, at) => {
      const y = drawing.height + NODE.down / 2 + Math.floor(at / across) * NODE.down;
      drawing.nodes.push({ pass, members: [pass], key: `p${pass}`, x: 20 + (at % across) * (NODE.width + 16), y, culled: true });
    });
    drawing.height += Math.ceil(culled.length / across) * NODE.down + 10;
  }

  // Boxes around passes of one render pass, where no other pass stands among them.
  framesOf(nodes) {
    const frames = [];
    if (nodes.length > LONG.many) return frames;
    const runs = new Map();
    for (const node of nodes) {
      const physical = plan.passes.physical[node.pass];
      const apart = node.members.some((pass) => plan.passes.physical[pass] !== physical);
      if (node.culled || apart || physical < 0 || plan.passesOfRender(physical).length < 2) continue;
      const id = `${physical} ${node.band}`;
      if (!runs.has(id)) runs.set(id, []);
      runs.get(id).push(node);
    }
    for (const inside of runs.values()) {
      const left = Math.min(...inside.map((node) => node.x)) - 7;
      const right = Math.max(...inside.map((node) => node.x)) + NODE.width + 7;
      const top = Math.min(...inside.map((node) => node.y)) - NODE.height / 2 - 6;
      const bottom = Math.max(...inside.map((node) => node.y)) + NODE.height / 2 + 6;
      const alien = nodes.some((node) => !inside.includes(node) && node.x + NODE.width > left && node.x < right && node.y + NODE.height / 2 > top && node.y - NODE.height / 2 < bottom);
      if (inside.length > 1 && !alien) frames.push({ left, top, width: right - left, height: bottom - top });
    }
    return frames;
  }

  get rows() {
    return this.lines.length;
  }

  cells(row) {
    return this.lines[row];
  }

  locate(key) {
    if (!this.nodeOf) return null;
    const node = this.nodeOf.get(userOf(key) || key);
    return node ? [node.row, node] : null;
  }

  bring(row, node) {
    const { scale } = this;
    if (scale < READABLE) this.scale = 0.8;
    const [x, y] = [node.x * this.scale, node.y * this.scale];
    const room = 30;
    const width = this.width - drawer();
    if (x - room < this.left) this.left = x - room;
    if (x + NODE.width * this.scale + room > this.left + width) this.left = x + NODE.width * this.scale + room - width;
    if (y - room - NODE.height < this.top) this.top = y - room - NODE.height;
    if (y + room + NODE.height > this.top + this.room) this.top = y + room + NODE.height - this.room;
    if (scale < READABLE) {
      this.left = x - width / 2;
      this.top = y - this.room / 2;
    }
  }

  // A folded group unfolds.
  magnify(row, key) {
    const group = groupOf('p', Number(key.slice(2)));
    if (this.own.delete(group)) tell('folds');
    else fold(group);
  }

  covers(id, lit) {
    return this.nodeOf.get(split(id)[1]).members.some((pass) => lit.has(`p${pass}`));
  }

  // Zooms around a place of the window.
  zoom(factor, x = this.width / 2, y = this.room / 2) {
    const scale = clamp(this.scale / factor, 0.02, 2.5);
    this.left = ((this.left + x) / this.scale) * scale - x;
    this.top = ((this.top + y) / this.scale) * scale - y;
    this.scale = scale;
    this.redraw();
  }

  pan(share) {
    this.left += share * this.width;
    this.redraw();
  }

  zoomTo() {
    const node = this.nodeOf.get(state.pin || state.hover);
    if (!node) return;
    this.scale = 1.4;
    this.left = node.x * 1.4 - this.width / 2;
    this.top = node.y * 1.4 - this.room / 2;
    this.redraw();
  }

  // All of it, wrapped so that it is as large as can be.
  fit() {
    if (this.drawing.large) {
      this.whole = true;
      this.lay();
    }
    this.centre();
    this.redraw();
  }

  centre() {
    const { width, height } = this.drawing;
    this.scale = Math.min((this.width - 4) / width, (this.room - 4) / height, LEGIBLE.most);
    this.left = -(this.width - width * this.scale) / 2;
    this.top = -Math.max(0, (this.room - height * this.scale) / 2);
  }

  wheel(event) {
    const { left, top } = this.frame.getBoundingClientRect();
    if (event.ctrlKey || event.metaKey) this.zoom(1.0015 ** event.deltaY, event.clientX - left, event.clientY - top);
    else {
      this.left += event.shiftKey ? event.deltaY : event.deltaX;
      this.top += event.shiftKey ? 0 : event.deltaY;
      this.redraw();
    }
    event.preventDefault();
  }

  grab(event) {
    this.dragged = false;
    if (event.button !== 0) return;
    let { clientX, clientY } = event;
    const from = [clientX, clientY];
    drag(event, (next) => {
      if (Math.abs(next.clientX - from[0]) + Math.abs(next.clientY - from[1]) > 5) this.dragged = true;
      if (!this.dragged) return;
      this.left -= next.clientX - clientX;
      this.top -= next.clientY - clientY;
      [clientX, clientY] = [next.clientX, next.clientY];
      this.redraw();
    });
  }

  // The pass at a place where passes are too small to be elements.
  small(event) {
    const { left, top } = this.frame.getBoundingClientRect();
    const [x, y] = [(event.clientX - left + this.left) / this.scale, (event.clientY - top + this.top) / this.scale];
    return this.painted?.find((node) => x >= node.x && x <= node.x + NODE.width && Math.abs(y - node.y) <= NODE.height / 2);
  }

  // The resources of the line at a place of the window.
  lineAt(event) {
    if (this.painted.length) return [];
    const { left, top } = this.frame.getBoundingClientRect();
    const [x, y] = [(event.clientX - left + this.left) / this.scale, (event.clientY - top + this.top) / this.scale];
    const piece = this.tags.near(x, y, 5 / this.scale);
    return piece ? this.tags.carries(piece) : [];
  }

  // What a line of several resources lights: the pinned one, else the first.
  keyAlong(list) {
    return list.some((resource) => state.pin === `r${resource}`) ? state.pin : `r${list[0]}`;
  }

  // Pins a resource of a line, the next one each time.
  pinNext(list) {
    if (!list.length) return;
    const at = list.findIndex((resource) => state.pin === `r${resource}`);
    const key = at === list.length - 1 ? null : `r${list[at + 1]}`;
    // The card shows what is hovered before what is pinned, and a pin paints at once.
    if (key && state.hover) set('hover', key);
    set('pin', key);
  }

  draw() {
    if (this.panel.hidden) return;
    this.measure();
    if (printing()) this.print();
    else if (this.kept) {
      this.summed = false;
      this.lay();
      Object.assign(this, this.kept);
      this.kept = null;
      this.frame.style.minHeight = '';
    }
    const { scale, left, top } = this;
    this.begin(this.rows);
    const inView = (node) => {
      const [x, y] = [node.x * scale - left, node.y * scale - top];
      return x > -NODE.width * scale - 20 && x < this.width + 20 && y > -NODE.height && y < this.room + NODE.height;
    };
    const seen = this.drawing.nodes.filter(inView);
    const readable = scale >= READABLE && (seen.length <= MOST_NODES || (printing() && !this.summed));
    const made = readable ? seen : seen.filter((node) => node.key === state.pin || `${node.row}:${node.key}` === this.at);
    this.painted = readable ? [] : seen;
    const rows = new Map();
    for (const node of made.sort((a, b) => a.row - b.row || a.x - b.x)) {
      if (!rows.has(node.row)) rows.set(node.row, []);
      rows.get(node.row).push(this.node(node));
    }
    for (const [row, cells] of rows) this.row(row, 0, 0, cells);
    if (!this.drawing.nodes.length) this.row(0, 0, 40, [this.nothing(plan.live ? 'Nothing to show.' : 'No pass runs.')]);
    this.end(this.pills, ...this.titles());
  }

  // The areas in view.
  get seen() {
    const { scale, left, top } = this;
    return this.regions.filter((one) => one.right * scale > left && one.left * scale < left + this.width && one.bottom * scale > top && one.top * scale < top + this.room);
  }

  // The name of a pass; without that of its area where this stands beside it.
  nameOf(node) {
    const name = shown(plan.passes.name[node.pass]);
    const area = this.areaOf.get(node.pass);
    return area && /^[/.]./.test(name.slice(area.length)) && name.startsWith(area) ? name.slice(area.length + 1) : name;
  }

  // Names of areas, where there is room: pressing one folds its passes into one.
  titles() {
    const { scale, left, top } = this;
    const titles = [];
    for (const { name, title, group, passes } of this.seen) {
      const room = title && (title.right - title.left) * scale - 8;
      const text = room > 30 && titles.length < MOST_TITLES ? fit(name, room, 11, 600) : '';
      if (!text) continue;
      const label = this.decor(`region${passes[0]}`, 'region', text);
      label.title = `${name}: fold ${groupName(group, groupsOf('p').get(group).length)}`;
      label.onclick = () => fold(group);
      titles.push(place(label, title.left * scale - left + 4, title.top * scale - top - 15));
    }
    return titles;
  }

  // On paper all of it is as wide as the page, and on one page where its names stay legible.
  print() {
    if (!this.kept) {
      this.kept = { scale: this.scale, left: this.left, top: this.top };
      Object.assign(this, { width: PAPER, room: PAPER_DOWN });
      this.lay();
      // What would take dozens of pages is printed as an overview.
      this.summed = this.drawing.height * Math.min(1, PAPER / this.drawing.width) > TALLEST;
      if (this.summed) this.lay();
    }
    const { width, height } = this.drawing;
    const one = Math.min(1, PAPER / width, PAPER_DOWN / height);
    const scale = one > 0.85 || this.summed ? one : Math.min(1, PAPER / width);
    Object.assign(this, { scale, left: 0, top: 0, width: PAPER, room: height * scale });
    this.frame.style.minHeight = `${this.room}px`;
  }

  node(node) {
    const { scale } = this;
    const [width, height] = [NODE.width * scale, NODE.height * scale];
    const folded = node.members.length > 1;
    const group = folded && groupOf('p', node.pass);
    const name = folded ? groupName(group, node.members.length) : this.nameOf(node);
    const time = node.members.reduce((sum, pass) => sum + plan.passes.us[pass], 0);
    // Their rims are narrower than those of other boxes: a name more is whole.
    // Smaller than they are laid out, all have small letters: two sizes beside each other would look like two ranks.
    const lettered = (text) => labelIn(text, width + 6, height, scale < 1 ? [11] : [13, 11]);
    const counted = lettered(name);
    // What a group is called tells more than how many passes it has.
    const label = folded && counted.key.includes('…') ? lettered(shown(group.slice(2))) : counted;
    const timed = time > 0 && height >= 37 && label.lines.length === 1 && !label.turned;
    const physical = plan.passes.physical[node.pass];
    const look = `box node ${folded ? 'group-box ' : ''}${node.culled ? 'culled' : `${hue(plan.passes.queue[node.pass])} ${kindClass(node.pass)}`}|${label.key}${timed}${physical}${folded ? node.members.length : ''}`;
    const words = () => (folded ? `${name}, ${micros(time)}: unfold` : say.key(node.key));
    const cell = this.cell(node.row, node.key, look, words, () => [
      findings.byPass.has(node.pass) && h('span', { class: 'badge', text: '!' }), labelOf(label), timed && h('span', { class: 'time', text: micros(time) })],
    { title: folded || label.lines.join('') === shown(plan.passes.name[node.pass]) ? null : shown(plan.passes.name[node.pass]), 'aria-expanded': folded && 'false' });
    return place(cell, node.x * scale - this.left, node.y * scale - this.top - height / 2, width, height);
  }

  // Paints lines, frames and small passes; what is lit comes last and on top.
  decorate() {
    if (!this.drawing) return;
    const { canvas, scale, left, top } = this;
    const density = Math.min(devicePixelRatio || 1, TALLEST / Math.max(1, this.room));
    const [width, height] = [Math.round(this.width * density), Math.round(this.room * density)];
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    place(canvas, 0, 0, this.width, this.room);
    const brush = canvas.getContext('2d');
    brush.setTransform(density, 0, 0, density, 0, 0);
    brush.clearRect(0, 0, this.width, this.room);
    brush.translate(-left, -top);
    brush.scale(scale, scale);
    const colours = paints();
    paintRegions(brush, this.seen, colours.inks, 0.6 / Math.max(scale, 0.3));
    brush.setLineDash([5, 4]);
    brush.strokeStyle = colours.inks.line;
    brush.fillStyle = colours.off.fill;
    brush.lineWidth = 1;
    for (const frame of this.frames) {
      brush.beginPath();
      brush.roundRect(frame.left, frame.top, frame.width, frame.height, 8);
      brush.fill();
      brush.stroke();
    }
    brush.setLineDash([]);
    this.paintNodes(brush, colours);
    this.paintLines(brush, colours);
    this.overview.draw();
  }

  paintNodes(brush, colours) {
    const focus = state.hover || state.pin;
    const lit = focus ? related(focus) : search.hits;
    for (const node of this.painted || []) {
      const queue = plan.passes.queue[node.pass];
      const of = node.culled || (lit && !lit.has(node.key) && !node.members.some((pass) => lit.has(`p${pass}`))) ? colours.off : colours.hues[queue < 0 ? 3 : Number(hue(queue).slice(4))];
      brush.fillStyle = of.edge;
      brush.fillRect(node.x, node.y - NODE.height / 2, NODE.width, NODE.height);
      brush.fillStyle = of.fill;
      brush.fillRect(node.x + 4, node.y - NODE.height / 2 + 4, NODE.width - 8, NODE.height - 8);
    }
  }

  paintLines(brush, colours) {
    const { nodes, wires, implied } = this.drawing;
    const focus = state.hover || state.pin;
    const at = focus ? this.nodeOf.get(focus) : undefined;
    const passOfItem = (source) => nodes[source].pass;
    const found = (source) => nodes[source].members.some((pass) => search.hits.has(`p${pass}`));
    const carries = (from, to) => this.drawing.carried(from, to);
    const resource = focus?.[0] === 'r' ? Number(focus.slice(1)) : -1;
    const lights = (piece) => {
      const from = passOfItem(piece.source);
      if (at) return nodes[piece.source] === at || piece.leads.some((target) => nodes[target] === at);
      if (resource >= 0) return piece.leads.some((target) => carries(from, passOfItem(target)).includes(resource));
      if (search.hits) return found(piece.source) && piece.leads.some(found);
      return false;
    };
    const low = this.top / this.scale - 60;
    const high = (this.top + this.room) / this.scale + 60;
    const strokes = (pieces, colour, width) => {
      brush.strokeStyle = colour;
      brush.fillStyle = colour;
      brush.lineWidth = width;
      brush.beginPath();
      for (const piece of pieces) this.line(brush, piece);
      brush.stroke();
      for (const piece of pieces) if (piece.to.pass !== undefined) this.tip(brush, piece.to, width);
    };
    const seen = wires.filter((piece) => Math.max(piece.from.y, piece.to.y, piece.around?.below || 0) > low && Math.min(piece.from.y, piece.to.y, piece.via?.[2][1] ?? Infinity) < high);
    const lit = focus || search.hits ? seen.filter(lights) : [];
    const thin = Math.max(1.2, 0.45 / this.scale);
    strokes(seen.filter((piece) => !piece.long && !lit.includes(piece)), lit.length ? colours.inks.faint : colours.inks.line, thin);
    strokes(lit, colours.inks.accent, thin * 1.9);
    const dotted = at ? implied.filter(([from, to]) => from === at || to === at).map(([from, to]) => this.implied(nodes.indexOf(from), nodes.indexOf(to))) : [];
    brush.setLineDash([2, 4]);
    strokes(dotted, colours.inks.accent, thin);
    brush.setLineDash([]);
    this.tag(focus ? [...lit, ...dotted] : search.hits ? lit : seen.filter((piece) => !piece.long), focus, at, resource);
  }

  // The line of an arrow that others imply.
  implied(source, target) {
    const { nodes, bands } = this.drawing;
    const piece = { from: nodes[source], to: nodes[target], long: true, source, leads: [target] };
    return Object.assign(piece, { via: detour(piece, bands) });
  }

  // Names resources on lines: where there is room, and of what is lit always.
  tag(pieces, focus, at, resource) {
    const { scale, tags } = this;
    const [left, top] = [this.left / scale, this.top / scale];
    const part = { left: left - 30, right: left + this.width / scale + 30, top, bottom: top + this.room / scale };
    const inPart = ({ from, to, around }) => Math.max(from.x, to.x, around?.right || 0) + NODE.width > part.left && Math.min(from.x, to.x, around?.left ?? Infinity) < part.right;
    const few = focus || (scale >= NAMED_FROM && !this.painted.length) ? pieces.filter(inPart) : [];
    const margin = 300 / scale;
    const near = this.drawing.nodes.filter((node) => node.x + NODE.width > part.left - margin && node.x < part.right + margin && node.y > part.top - margin && node.y < part.bottom + margin);
    if (!this.painted.length) tags.know(near, this.drawing.wires.filter((piece) => !piece.long && inPart(piece) && Math.max(piece.from.y, piece.to.y, piece.around?.below || 0) > part.top && Math.min(piece.from.y, piece.to.y) < part.bottom));
    const carries = (piece) => (resource >= 0 && !state.along.length ? [resource] : tags.carries(piece, at));
    const lit = focus && new Set(near.filter((node) => node === at || node.members.some((pass) => related(focus).has(`p${pass}`))));
    const names = tags.place(few.map((piece) => ({ piece, list: carries(piece) })), part, scale, lit);
    arrange(this.pills, names.map(({ piece, text, box }) => {
      if (piece.pill?.textContent !== text) piece.pill = h('div', { class: 'carried', text });
      const { pill } = piece;
      pill.list = tags.carries(piece);
      pill.dataset.key = this.keyAlong(pill.list);
      pill.classList.toggle('on', Boolean(focus));
      const wide = textWidth(text, TAG.size) + TAG.around;
      return place(pill, Math.round(((box.left + box.right) / 2) * scale - this.left - wide / 2), Math.round(((box.top + box.bottom) / 2) * scale - this.top - TAG.tall / 2), Math.ceil(wide), TAG.tall);
    }));
  }

  // A line from the right side of one place to the left side of the next; around the end of its band where it wraps.
  line(brush, { from, to, around, via }) {
    const x1 = from.x + NODE.width;
    const x2 = to.x;
    const r = 6;
    if (via) {
      brush.moveTo(...via[0]);
      for (let at = 1; at < via.length - 1; at += 1) brush.arcTo(...via[at], ...via[at + 1], Math.min(r, Math.abs(via[at + 1][1] - via[at][1] + via[at + 1][0] - via[at][0]) / 2));
      brush.lineTo(...via[via.length - 1]);
      return;
    }
    if (from.pass === undefined) {
      brush.moveTo(from.x, from.y);
      brush.lineTo(x1, from.y);
    } else brush.moveTo(x1, from.y);
    if (around) {
      const { right, below, left } = around;
      brush.arcTo(right, from.y, right, below, r);
      brush.arcTo(right, below, left, below, r);
      brush.arcTo(left, below, left, to.y, r);
      brush.arcTo(left, to.y, x2, to.y, r);
      brush.lineTo(x2, to.y);
    } else {
      const bend = (x2 - x1) / 2;
      brush.bezierCurveTo(x1 + bend, from.y, x2 - bend, to.y, x2, to.y);
    }
  }

  tip(brush, to, width) {
    const size = 4 + width * 1.6;
    brush.beginPath();
    brush.moveTo(to.x - size, to.y - size * 0.6);
    brush.lineTo(to.x, to.y);
    brush.lineTo(to.x - size, to.y + size * 0.6);
    brush.fill();
  }

  resized() {
    if (printing() || this.kept) {
      this.draw();
      return;
    }
    this.measure();
    this.anew(true);
    this.draw();
  }

  changed() {
    if (!this.built || this.laidCulled === state.culled) return;
    this.laidCulled = state.culled;
    this.lay();
    if (!this.panel.hidden) this.draw();
  }
}
