// Areas of the graph behind passes whose names begin alike: in each layer a run of them that no other pass interrupts,
// joined with the runs of the next layer where both stand at one height. Each has its name, which folds the group.

// Room around passes, and above a run for its name, in units of the drawing.
const RIM = 7;
const NAMED = 24;

// Areas of two passes or more.
function regionsOf(nodes) {
  const columns = new Map();
  for (const node of nodes) {
    const id = `${node.band} ${node.x}`;
    if (!columns.has(id)) columns.set(id, []);
    columns.get(id).push(node);
  }
  const runs = new Map();
  for (const [id, column] of columns) {
    column.sort((a, b) => a.y - b.y);
    runs.set(id, runsOf(column));
  }
  const regions = [];
  for (const list of runs.values()) {
    for (const run of list) {
      if (!run.region) regions.push(grown(run, runs));
    }
  }
  // Where all passes are alike an area tells nothing.
  const many = regions.filter(({ passes }) => passes.length > 1);
  return many.length === 1 && many[0].passes.length === nodes.length ? [] : many;
}

// Passes of one group that stand below each other in a layer.
function runsOf(column) {
  const runs = [];
  let bottom = -Infinity;
  for (const node of column) {
    const group = node.culled || node.members.length > 1 ? null : groupOf('p', node.pass);
    const last = runs[runs.length - 1];
    const [top, end] = [node.y - NODE.height / 2 - RIM, node.y + NODE.height / 2 + RIM];
    if (group && last?.group === group && last.end === bottom && top - bottom < NODE.down) Object.assign(last, { bottom: end, end });
    else if (group) runs.push({ group, band: node.band, x: node.x, left: node.x - RIM, right: node.x + NODE.width + RIM, top, bottom: end, end, free: top - bottom, passes: [] });
    if (group) runs[runs.length - 1].passes.push(node.pass);
    bottom = end;
  }
  return runs;
}

// The area of a run: itself and all that are joined with it.
function grown(first, runs) {
  const region = { group: first.group, runs: [], bridges: [], passes: [] };
  const stack = [first];
  first.region = region;
  while (stack.length) {
    const run = stack.pop();
    region.runs.push(run);
    region.passes.push(...run.passes);
    for (const side of [-1, 1]) {
      for (const next of runs.get(`${run.band} ${run.x + side * NODE.across}`) || []) {
        const [top, bottom] = [Math.max(run.top, next.top), Math.min(run.bottom, next.bottom)];
        if (next.group !== run.group || bottom - top < NODE.height / 2) continue;
        if (side > 0) region.bridges.push({ left: run.right - RIM, right: next.left + RIM, top, bottom });
        if (!next.region) {
          next.region = region;
          stack.push(next);
        }
      }
    }
  }
  const all = (pick, of) => region.runs.reduce((best, run) => pick(best, run[of]), region.runs[0][of]);
  Object.assign(region, { left: all(Math.min, 'left'), right: all(Math.max, 'right'), top: all(Math.min, 'top'), bottom: all(Math.max, 'bottom') });
  region.title = region.runs.filter(({ free }) => free > NAMED).sort((a, b) => a.x - b.x || a.top - b.top)[0];
  region.name = common(region.passes.map((pass) => shown(plan.passes.name[pass])));
  return region;
}

// What names begin with, up to a separator.
function common(names) {
  let length = names[0].length;
  for (const name of names) {
    let at = 0;
    while (at < length && name[at] === names[0][at]) at += 1;
    length = at;
  }
  return names[0].slice(0, length).replace(/[/.]?[^/.]*$/, '');
}

// Fills areas: their rims first and wide, so that only the outermost stay.
function paintRegions(brush, regions, inks, thin) {
  for (const { runs, bridges } of regions) {
    brush.beginPath();
    for (const { left, right, top, bottom } of runs) brush.roundRect(left, top, right - left, bottom - top, 9);
    for (const { left, right, top, bottom } of bridges) brush.rect(left, top, right - left, bottom - top);
    brush.lineWidth = 2 * thin;
    brush.strokeStyle = inks.line;
    brush.stroke();
    brush.fillStyle = inks.region;
    brush.fill();
  }
}
