// Names of resources on the lines of the graph, where a line has room for one: a name covers no pass and no other name.
// Names are placed anew at scales a sixth of an octave apart. What is apart at one scale is apart at all larger ones, so
// between them names move with their lines and cost nothing.

// Pixels: height, and what a name has at most, and around its text.
const TAG = { size: 11, tall: 14, most: 170, around: 8 };
const RUNGS = 6;
// From this scale on lines have names, and up to this many.
const NAMED_FROM = 0.5;
const MOST_NAMES = 240;
// A line tells the same name again after so many pixels.
const AGAIN = 460;
// Side of a cell of the index of boxes, in units of the drawing.
const CELL = 64;

// Boxes by place: those that meet another box are found in a few cells.
class Boxes {
  constructor() {
    this.cells = new Map();
  }

  add(box) {
    this.each(box, (id) => {
      if (!this.cells.has(id)) this.cells.set(id, []);
      this.cells.get(id).push(box);
    });
  }

  each({ left, right, top, bottom }, visit) {
    for (let x = Math.floor(left / CELL); x <= right / CELL; x += 1) {
      for (let y = Math.floor(top / CELL); y <= bottom / CELL; y += 1) visit(x * 0x100000 + y);
    }
  }

  meeting(box) {
    const found = [];
    this.each(box, (id) => {
      for (const one of this.cells.get(id) || []) {
        if (one.left < box.right && one.right > box.left && one.top < box.bottom && one.bottom > box.top) found.push(one);
      }
    });
    return found;
  }
}

// Points along a piece of a line, from its source on, as the graph draws it.
function trace({ from, to, around, via }) {
  if (via) return via;
  const [x1, x2] = [from.x + NODE.width, to.x];
  const start = from.pass === undefined ? [[from.x, from.y], [from.x + NODE.width / 2, from.y]] : [];
  if (around) {
    const { right, below, left } = around;
    const along = (x, end, y, steps) => Array.from({ length: steps + 1 }, (_, at) => [x + ((end - x) * at) / steps, y]);
    return [...start, [x1, from.y], [right, from.y], ...along(right, left, below, Math.ceil((right - left) / 200)), [left, to.y], [x2, to.y]];
  }
  const bend = (x2 - x1) / 2;
  const at = (t, a, b, c, d) => (1 - t) ** 3 * a + 3 * t * (1 - t) ** 2 * b + 3 * t * t * (1 - t) * c + t ** 3 * d;
  const steps = from.y === to.y ? 1 : 8;
  return [...start, ...Array.from({ length: steps + 1 }, (_, n) => [at(n / steps, x1, x1 + bend, x2 - bend, x2), at(n / steps, from.y, from.y, to.y, to.y)])];
}

class EdgeNames {
  constructor({ nodes, carried, width, height }, regions) {
    Object.assign(this, { all: nodes, carried, width, height, titles: regions.filter(({ title }) => title), known: new Set(), nodes: new Boxes(), lines: new Boxes(), rungs: new Map() });
  }

  // Adds what is in view to the index.
  know(nodes, wires) {
    for (const node of nodes) {
      if (this.known.has(node)) continue;
      this.known.add(node);
      this.nodes.add({ node, left: node.x - 2, right: node.x + NODE.width + 2, top: node.y - NODE.height / 2 - 1, bottom: node.y + NODE.height / 2 + 1 });
    }
    for (const piece of wires) {
      if (piece.long || this.known.has(piece)) continue;
      this.known.add(piece);
      const points = trace(piece);
      for (let at = 1; at < points.length; at += 1) {
        const [[x1, y1], [x2, y2]] = [points[at - 1], points[at]];
        this.lines.add({ piece, x1, y1, x2, y2, left: Math.min(x1, x2), right: Math.max(x1, x2) + 0.01, top: Math.min(y1, y2), bottom: Math.max(y1, y2) + 0.01 });
      }
    }
  }

  // The resources of a piece; of one that ends at `at` those that it brings there.
  carries(piece, at) {
    const source = this.all[piece.source];
    if (at && source !== at) return this.carried(source.pass, at.pass);
    piece.carries ||= [...new Set(piece.leads.flatMap((target) => this.carried(source.pass, this.all[target].pass)))];
    return piece.carries;
  }

  // What a piece can say, the most first. Beside its source a name leaves out that of the source.
  texts(list, piece) {
    const source = piece.from.pass === undefined || piece.around || piece.via ? '' : shown(plan.passes.name[piece.from.pass]);
    this.labels ||= new Map();
    const key = `${source} ${list}`;
    if (this.labels.has(key)) return this.labels.get(key);
    const name = (resource) => shown(plan.resources.name[resource]);
    const names = list.map((resource) => (source && /^[/.]./.test(name(resource).slice(source.length)) && name(resource).startsWith(source) ? name(resource).slice(source.length + 1) : name(resource)));
    const cut = (room) => fit(names[0], room, TAG.size);
    const whole = names.join(', ');
    const texts = names.length > 1 ? [textWidth(whole, TAG.size) <= TAG.most ? whole : '', `${names.length} resources`]
      : [cut(TAG.most), cut(110), cut(72)].filter((text) => text === names[0] || text.length > 6);
    const made = [...new Set(texts)].filter(Boolean).map((text) => ({ text, wide: textWidth(text, TAG.size) + TAG.around }));
    this.labels.set(key, made);
    return made;
  }

  // Names for the pieces of lines in a part of the drawing, at a scale. Those that are lit have names even where these
  // cover other lines, or passes that are not lit.
  place(pieces, part, scale, focus) {
    const rung = Math.floor(Math.log2(scale) * RUNGS + 1e-6);
    const step = 2 ** (rung / RUNGS);
    if (focus) {
      const set = { taken: new Boxes(), named: new Map() };
      const names = [];
      const known = this.rungs.get(rung);
      for (const { piece, list } of pieces) {
        // A name that is there already stays where it is.
        const kept = known?.tried.get(piece);
        const name = names.length < MOST_NAMES && list.length && this.one(piece, list, part, step, set, focus, kept);
        if (name) names.push(name);
      }
      return names;
    }
    if (!this.rungs.has(rung)) this.rungs.set(rung, { taken: new Boxes(), named: new Map(), tried: new Map() });
    const set = this.rungs.get(rung);
    const names = [];
    for (const { piece, list } of pieces) {
      if (!set.tried.has(piece)) set.tried.set(piece, list.length ? this.one(piece, list, part, step, set) : null);
      const name = set.tried.get(piece);
      if (name && names.length < MOST_NAMES) names.push(name);
    }
    return names;
  }

  // A place for the name of one piece, or null.
  one(piece, list, part, step, set, focus, kept) {
    const points = trace(piece);
    const spots = [];
    for (let at = 1; at < points.length; at += 1) {
      const [[x1, y1], [x2, y2]] = [points[at - 1], points[at]];
      if (y1 === y2 || Math.abs(x2 - x1) > 4) spots.push([(x1 + x2) / 2, (y1 + y2) / 2, Math.abs(x2 - x1)]);
    }
    // Beside its pass the reader can tell a name from the lines that it covers; else level stretches have the most room.
    const beside = piece.from.pass !== undefined && !piece.around && !piece.via;
    if (!beside) spots.sort((a, b) => b[2] - a[2]);
    const most = beside ? 2 : piece.around ? 0 : 1;
    const named = `${piece.source} ${list}`;
    const before = set.named.get(named) || [];
    for (const { text, wide } of this.texts(list, piece)) {
      let best = kept?.text === text && this.check(kept.box, piece, set, focus, step) ? { box: kept.box, crossed: 0, cost: 0 } : null;
      for (const [at, [x, y]] of spots.entries()) {
        const far = beside ? at * 0.2 : 0;
        if (best && best.cost <= far) break;
        if (x < part.left || x > part.right || y < part.top || y > part.bottom) continue;
        if (before.some((other) => Math.hypot(other.x - x, other.y - y) * step < AGAIN)) return null;
        for (const lean of [0.5, 0.12, 0.88]) {
          const left = x - (wide / step) * lean;
          const box = { left, right: left + wide / step, top: y - TAG.tall / step / 2, bottom: y + TAG.tall / step / 2 };
          const found = this.check(box, piece, set, focus, step);
          if (found && (!best || found.crossed + far < best.cost)) best = { box, crossed: found.crossed, cost: found.crossed + far };
          if (best && best.cost <= far) break;
        }
      }
      if (!best || (best.crossed > most && !focus)) continue;
      const { box } = best;
      set.taken.add(box);
      set.named.set(named, [...before, { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 }]);
      return { piece, list, text, box };
    }
    return null;
  }

  // How many other lines a name there would cover; null where it would cover a pass or another name.
  check(box, piece, set, focus, step) {
    if (box.left < 0 || box.right > this.width || box.top < 0 || box.bottom > this.height || set.taken.meeting(box).length) return null;
    for (const { node } of this.nodes.meeting(box)) if (!focus || focus.has(node)) return null;
    const title = ({ title: { left, right, top }, name }) => top - 16 / step < box.bottom && top > box.top && left < box.right
      && Math.min(right, left + (textWidth(name, 11, 600) + 12) / step) > box.left;
    if (!focus && this.titles.some(title)) return null;
    const crossed = new Set(this.lines.meeting(box).map((line) => line.piece.source));
    crossed.delete(piece.source);
    return { crossed: crossed.size };
  }

  // The piece of a line within so many units of a place.
  near(x, y, reach) {
    let [best, least] = [null, reach];
    for (const { piece, x1, y1, x2, y2 } of this.lines.meeting({ left: x - reach, right: x + reach, top: y - reach, bottom: y + reach })) {
      const length = (x2 - x1) ** 2 + (y2 - y1) ** 2;
      const t = length ? clamp(((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length, 0, 1) : 0;
      const far = Math.hypot(x - x1 - t * (x2 - x1), y - y1 - t * (y2 - y1));
      if (far < least) [best, least] = [piece, far];
    }
    return best;
  }
}
