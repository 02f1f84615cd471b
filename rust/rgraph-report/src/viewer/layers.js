// The layout of the graph: passes in layers, each behind the last that it needs (Sugiyama, Tagawa and Toda, 1981). A pass
// has one line to all that it feeds; in every layer that the line crosses it has a place of its own, so no line crosses a
// pass. Layers wrap into bands like lines of a text, as many as fill the window best.

// `gap`: between layers, where names of resources stand: at least, with names, with names of several, and at most.
const NODE = { width: 156, height: 40, gap: [48, 64, 90, 160], across: 212, down: 57, wire: 12, track: 7 };
// Above this many passes, implied arrows are left in: finding them takes passes times passes bits.
const REDUCED = 3000;
// In a window of fewer pixels across, columns come before names on lines.
const NARROW = 900;
// Lines over more layers than this are drawn only while one of their ends is lit, in graphs of more passes than `many`.
const LONG = { layers: 12, many: 600 };

// A drawing that would be smaller than `least` when all of it is in view is as wide as the window at the scale `opens`.
// None opens larger than `most`. From `easy` on most names are whole.
const LEGIBLE = { least: 0.5, easy: 0.6, opens: 0.8, most: 1.5 };

// A drawing of this share of the largest scale is as good if it can be read easily, and better with fewer lines that wrap.
const NEARLY = 0.85;

// Lays passes out. `passes` are in an order in which every flow points forward; each stands for its `members`.
function layOut(passes, window, members = passes.map((pass) => [pass])) {
  const turn = new Map(members.flatMap((all, at) => all.map((pass) => [pass, at])));
  const { into, carried } = arrows(passes, turn);
  const all = into.map((befores) => befores.slice());
  if (passes.length <= REDUCED) reduce(into);
  const layer = layersOf(into);
  const items = passes.map((pass, at) => ({ pass, members: members[at], layer: layer[at], y: 0, tall: NODE.down, before: [], behind: [], source: at }));
  const wires = wire(items, into, passes.length > LONG.many ? LONG.layers : Infinity);
  const part = partsOf(into);
  const parts = [];
  for (const item of items) ((parts[part[item.source]] ||= [])[item.layer] ||= []).push(item);
  for (const layers of parts) orderLayers(layers);
  for (const item of items) if (item.pass !== undefined) item.key = `${item.members.length > 1 ? 'mf' : 'p'}${item.pass}`;
  const named = [...carried.values()].some((list) => list.length > 1) ? NODE.gap[2] : NODE.gap[1];
  const gap = window.width < NARROW ? NODE.gap[0] : named;
  const drawing = wrapLayers(parts, wires, window, gap);
  const nodes = items.filter((item) => item.pass !== undefined);
  const implied = all.flatMap((befores, at) => befores.filter((before) => !into[at].includes(before)).map((before) => [nodes[before], nodes[at]]));
  return { ...drawing, nodes, wires, implied, carried: (from, to) => carried.get(turn.get(from) * passes.length + turn.get(to)) || [] };
}

// The passes before each pass, and the resources of each arrow.
function arrows(passes, turn) {
  const { from, to, resource } = plan.flows;
  const into = passes.map(() => []);
  const carried = new Map();
  from.forEach((pass, flow) => {
    const [a, b] = [turn.get(pass), turn.get(to[flow])];
    if (a === undefined || b === undefined || a >= b) return;
    const id = a * passes.length + b;
    if (!carried.has(id)) {
      carried.set(id, []);
      into[b].push(a);
    }
    if (resource[flow] >= 0) carried.get(id).push(resource[flow]);
  });
  return { into, carried };
}

// Takes out arrows that others imply (transitive reduction: Aho, Garey and Ullman, 1972).
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

// Numbers of the parts that share nothing, in the order of their first passes.
function partsOf(into) {
  const part = new Int32Array(into.length).fill(-1);
  const behind = into.map(() => []);
  into.forEach((befores, at) => befores.forEach((before) => behind[before].push(at)));
  let count = 0;
  into.forEach((_, first) => {
    if (part[first] >= 0) return;
    const stack = [first];
    part[first] = count;
    while (stack.length) {
      const at = stack.pop();
      for (const next of [...into[at], ...behind[at]]) {
        if (part[next] < 0) {
          part[next] = count;
          stack.push(next);
        }
      }
    }
    count += 1;
  });
  return part;
}

function layersOf(into) {
  const layer = new Int32Array(into.length);
  const first = new Float64Array(into.length).fill(Infinity);
  into.forEach((befores, at) => {
    for (const before of befores) layer[at] = Math.max(layer[at], layer[before] + 1);
  });
  into.forEach((befores, at) => {
    for (const before of befores) first[before] = Math.min(first[before], layer[at]);
  });
  // Passes that need nothing stand just before the first that needs them.
  into.forEach((befores, at) => {
    if (!befores.length && first[at] < Infinity) layer[at] = Math.max(0, first[at] - 1);
  });
  return layer;
}

// Puts a place for a pass's line into every layer between it and the farthest pass that it feeds. Returns the pieces of
// lines between neighbouring layers, each with the passes that it leads to.
function wire(items, into, longest) {
  const wires = [];
  const feeds = items.map(() => []);
  into.forEach((befores, at) => befores.forEach((before) => feeds[before].push(at)));
  const count = items.length;
  for (let source = 0; source < count; source += 1) {
    const targets = feeds[source].sort((a, b) => items[a].layer - items[b].layer);
    let item = items[source];
    const join = (from, to, leads) => {
      const piece = { from, to, source, leads };
      from.behind.push(to);
      to.before.push(from);
      wires.push(piece);
    };
    const far = targets.filter((target) => items[target].layer - items[source].layer > longest);
    for (const target of far) wires.push({ from: items[source], to: items[target], source, leads: [target], long: true });
    const near = targets.slice(0, targets.length - far.length);
    near.forEach((target, at) => {
      while (item.layer < items[target].layer - 1) {
        const next = { layer: item.layer + 1, y: 0, tall: NODE.wire, before: [], behind: [], source };
        items.push(next);
        join(item, next, near.slice(at));
        item = next;
      }
      join(item, items[target], [target]);
    });
  }
  return wires;
}

// Orders each layer by the middles of its neighbours, then gives heights that stay near the neighbours' without overlap.
function orderLayers(layers) {
  for (const layer of layers) layer?.forEach((item, at) => { item.y = at * NODE.down; });
  const list = layers.filter(Boolean);
  const middle = (item, near) => (near.length ? near.reduce((sum, other) => sum + other.y, 0) / near.length : item.y);
  const sweep = (all, side) => {
    for (const layer of all) {
      const wanted = new Map(layer.map((item) => [item, middle(item, item[side])]));
      layer.sort((a, b) => wanted.get(a) - wanted.get(b) || a.source - b.source);
      settle(layer, (item) => wanted.get(item));
    }
  };
  const back = list.slice().reverse();
  const turns = list.length > 300 ? 2 : 8;
  for (let turn = 0; turn < turns; turn += 1) {
    sweep(list, 'before');
    sweep(back, 'behind');
  }
  for (const layer of list) settle(layer, (item) => middle(item, [...item.before, ...item.behind]));
}

// Heights for a layer in its order, as near as can be to those wanted and without overlap: the least squares under an
// order, by pooling neighbours that violate it (Ayer and others, 1955).
function settle(layer, wanted) {
  const pools = [];
  let above = 0;
  for (const item of layer) {
    const offset = above + item.tall / 2;
    above += item.tall;
    pools.push({ sum: wanted(item) - offset, count: 1 });
    while (pools.length > 1) {
      const [last, before] = [pools[pools.length - 1], pools[pools.length - 2]];
      if (before.sum / before.count <= last.sum / last.count) break;
      pools.pop();
      before.sum += last.sum;
      before.count += last.count;
    }
  }
  let at = 0;
  above = 0;
  for (const pool of pools) {
    for (let n = 0; n < pool.count; n += 1, at += 1) {
      layer[at].y = pool.sum / pool.count + above + layer[at].tall / 2;
      above += layer[at].tall;
    }
  }
}

// Wraps the layers of each part into bands, as many layers to a band as make the drawing as large as the window allows.
// A part that is no wider than what is left of a band stands beside those before it.
function wrapLayers(parts, wires, window, gap) {
  const count = parts.reduce((sum, layers) => sum + layers.length, 0);
  NODE.across = NODE.width + gap;
  const reach = (pick, start, of) => parts.map((layers) => Array.from(layers, (layer) => (layer || []).reduce((most, item) => pick(most, of(item)), start)));
  const low = reach(Math.min, Infinity, (item) => item.y - item.tall / 2);
  const high = reach(Math.max, -Infinity, (item) => item.y + item.tall / 2);
  const partOf = new Map(parts.flatMap((layers, at) => layers.flat().map((item) => [item, at])));
  // Lines that go on in the next band, by the layer that they leave.
  const leaving = parts.map((layers) => Array.from(layers, () => new Set()));
  for (const { from, source, long } of wires) if (!long) leaving[partOf.get(from)][from.layer].add(source);
  const measure = (most) => {
    const bands = [];
    let used = most;
    let columns = 0;
    parts.forEach((layers, part) => {
      for (let first = 0; first < layers.length; first += most) {
        const last = Math.min(layers.length, first + most) - 1;
        if (first > 0 || used + layers.length > most) {
          bands.push({ segments: [], tall: 0, tracks: 0 });
          used = 0;
        }
        const band = bands[bands.length - 1];
        const top = Math.min(...low[part].slice(first, last + 1), Infinity);
        const bottom = Math.max(...high[part].slice(first, last + 1), -Infinity);
        band.segments.push({ part, first, last, column: used, low: Number.isFinite(top) ? top : 0 });
        band.tall = Math.max(band.tall, Number.isFinite(bottom) ? bottom - top : 0);
        band.tracks = last + 1 < layers.length ? leaving[part][last].size : 0;
        used += last + 1 - first;
        columns = Math.max(columns, used);
      }
    });
    const tracks = bands.reduce((sum, band) => Math.max(sum, band.tracks), 0) * NODE.track;
    const width = columns * NODE.across + 2 * tracks + 40;
    const height = bands.reduce((sum, band) => sum + band.tall + band.tracks * NODE.track + 26, 30);
    const turns = bands.reduce((sum, band) => sum + band.tracks, 0);
    return { bands, columns, width, height, turns, margin: tracks + 20, scale: Math.min(window.width / width, window.height / height) };
  };
  const search = () => {
    let [best, widest] = [measure(count || 1), null];
    const all = [best];
    for (let most = 1; most < Math.min(count, 120); most += 1) {
      const one = measure(most);
      if (one.scale > best.scale * 1.02) best = one;
      all.push(one);
      if (one.width * LEGIBLE.opens <= window.width - (window.aside || 0)) widest = one;
    }
    // Of those that are nearly as large, the one with the fewest lines around the ends of bands.
    const near = all.filter((one) => one === best || one.scale > Math.max(best.scale * NEARLY, LEGIBLE.easy));
    best = near.reduce((least, one) => (one.turns < least.turns ? one : least), best);
    return [best, widest];
  };
  let [best, widest] = search();
  // Names come second: narrower gaps where only so all of it can be read at once.
  if (best.scale < LEGIBLE.least) {
    NODE.across = NODE.width + NODE.gap[0];
    const narrow = search();
    if (narrow[0].scale >= LEGIBLE.least) [best, widest] = narrow;
    else NODE.across = NODE.width + gap;
  }
  const large = best.scale < LEGIBLE.least && widest && !window.overview;
  if (large) best = widest;
  // Room that is left at the sides goes to the gaps.
  const gaps = best.columns - 1;
  const free = (large ? (window.width - 8 - (window.aside || 0)) / LEGIBLE.opens : (window.width - 8) / Math.min(best.scale, LEGIBLE.most)) - best.width;
  if (gaps > 0 && free > 0) {
    const more = Math.min(free / gaps, NODE.gap[3] - NODE.across + NODE.width);
    NODE.across += more;
    best.width += more * gaps;
  }
  let top = 20;
  best.bands.forEach((band, at) => {
    band.top = top;
    top += band.tall + band.tracks * NODE.track + 26;
    for (const { part, first, last, column, low: least } of band.segments) {
      for (let layer = first; layer <= last; layer += 1) {
        for (const item of parts[part][layer] || []) {
          item.band = at;
          item.x = best.margin + (column + layer - first) * NODE.across;
          item.y = band.top + item.y - least;
        }
      }
    }
  });
  // Each line that leaves a band has a track of its own around its end: the lowest the innermost.
  best.bands.forEach((band, at) => {
    const crossing = wires.filter((piece) => !piece.long && piece.from.band === at && piece.to.band === at + 1);
    const tracks = [...new Set(crossing.sort((a, b) => b.from.y - a.from.y).map((piece) => piece.source))];
    const [{ first, last }] = band.segments;
    const right = best.margin + (last - first) * NODE.across + NODE.width;
    for (const piece of crossing) {
      const track = tracks.indexOf(piece.source);
      piece.around = { right: right + 14 + track * NODE.track, below: band.top + band.tall + 12 + track * NODE.track, left: best.margin - 14 - track * NODE.track };
    }
  });
  for (const piece of wires) if (piece.long) piece.via = detour(piece, best.bands);
  return { bands: best.bands, width: best.width, height: best.height, large };
}

// The corners of a line that leaves the layers: down or up in the gap behind its pass, above the band of the other, and in
// the gap before that. Gaps of all bands lie below each other, so it crosses no pass.
function detour({ from, to, source }, bands) {
  const side = 8 + ((source * 11) % Math.max(1, NODE.across - NODE.width - 20));
  const [x1, x2, y] = [from.x + NODE.width + side, to.x - 8 - (side % 12), bands[to.band].top - 5 - (source % 4) * 3];
  return [[from.x + NODE.width, from.y], [x1, from.y], [x1, y], [x2, y], [x2, to.y], [to.x, to.y]];
}

// All passes that a pass needs, and all that it feeds, however far; itself included.
function kin(pass) {
  const found = new Set([pass]);
  const follow = (start, flowsOf, end) => {
    const stack = [start];
    while (stack.length) {
      for (const flow of flowsOf(stack.pop())) {
        const next = plan.flows[end][flow];
        if (!found.has(next)) {
          found.add(next);
          stack.push(next);
        }
      }
    }
  };
  follow(pass, plan.needs, 'from');
  follow(pass, plan.feeds, 'to');
  return found;
}
