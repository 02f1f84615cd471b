// Names that begin alike, up to the first `/` or `.`, as groups that fold: in every view the same ones. Passes fold in
// the timeline, the graph and the matrix, resources among the rows, in the matrix and in the memory map.

const prefixOf = (name) => /^[^/.]+(?=[/.])/.exec(name)?.[0];

// Groups that are folded, by kind and prefix.
const folds = new Set();

function fold(group) {
  if (!folds.delete(group)) folds.add(group);
  tell('folds');
}

// The members of each group, by kind: a prefix that only one name has is no group. Culled passes are in none.
const groupsOf = (kind) => (groupsOf[kind] ||= (() => {
  const all = new Map();
  const names = kind === 'p' ? plan.passes.name : plan.resources.name;
  names.forEach((name, at) => {
    const prefix = prefixOf(name);
    if (!prefix || (kind === 'p' && plan.isCulled(at))) return;
    const group = `${kind}:${prefix}`;
    if (!all.has(group)) all.set(group, []);
    all.get(group).push(at);
  });
  for (const [group, members] of all) if (members.length < 2) all.delete(group);
  return all;
})());

// The group of a pass or a resource, if it is in one.
function groupOf(kind, at) {
  if (kind === 'p' && plan.isCulled(at)) return null;
  const group = `${kind}:${prefixOf(kind === 'p' ? plan.passes.name[at] : plan.resources.name[at])}`;
  return groupsOf(kind).has(group) ? group : null;
}

// The group that stands in the place of a thing. `own` are folded in one view only.
const foldedOf = (kind, at, own) => {
  const group = folds.size > 0 || own?.size > 0 ? groupOf(kind, at) : null;
  return group && (folds.has(group) || own?.has(group)) ? group : null;
};

// What a folded group is called: its prefix, and how many it stands for.
const groupName = (group, members) => `${shown(group.slice(2))} (${number(members)})`;

// A button that folds all groups of some kinds, and brings them back; nothing where there are none. `own` are those that
// its view folded by itself.
function folder(kinds, own) {
  const all = kinds.flatMap((kind) => [...groupsOf(kind).keys()]);
  if (!all.length) return '';
  const folded = () => all.every((group) => folds.has(group) || own?.has(group));
  const button = toggle('Fold names', folded(), (now) => {
    own?.clear();
    for (const group of all) if (now) folds.add(group); else folds.delete(group);
    tell('folds');
  });
  on('folds', () => button.setAttribute('aria-pressed', String(folded())));
  return button;
}

// The group of a thing, for its card: a button that folds it wherever it is shown.
function groupFact(kind, at) {
  const group = groupOf(kind, at);
  if (!group) return null;
  const members = groupsOf(kind).get(group).length;
  return ['Group', h('button', { class: 'link', type: 'button', 'aria-pressed': String(folds.has(group)), onclick: (event) => {
    fold(group);
    event.target.setAttribute('aria-pressed', String(folds.has(group)));
    event.target.textContent = `${folds.has(group) ? 'Unfold' : 'Fold'} ${groupName(group, members)}`;
  } }, `${folds.has(group) ? 'Unfold' : 'Fold'} ${groupName(group, members)}`)];
}

// Passes with those of folded groups joined, in an order in which every flow points forward. A group stays in parts
// where joining them would make a line run backwards: what leads out of it leads into it again. `alone` are groups that
// are folded in one view only.
function clusters(passes, alone) {
  const { from } = plan.flows;
  const own = new Map();
  const open = new Map();
  const all = [];
  for (const pass of passes) {
    const group = foldedOf('p', pass, alone);
    const befores = new Set([...plan.needs(pass)].map((flow) => own.get(from[flow])).filter(Boolean));
    const joined = group && open.get(group);
    let cluster = joined && !leadsTo(joined, befores) ? joined : null;
    if (!cluster) {
      cluster = { group, members: [], feeds: new Set(), needs: 0 };
      all.push(cluster);
      if (group) open.set(group, cluster);
    }
    cluster.members.push(pass);
    own.set(pass, cluster);
    for (const before of befores) {
      if (before === cluster || before.feeds.has(cluster)) continue;
      before.feeds.add(cluster);
      cluster.needs += 1;
    }
  }
  // Those that are ready, the one declared first before the others (Kahn, 1962).
  const order = [];
  const ready = all.filter((cluster) => !cluster.needs);
  while (ready.length) {
    const cluster = ready.shift();
    order.push(cluster);
    for (const next of cluster.feeds) if ((next.needs -= 1) === 0) ready.push(next);
  }
  return order;
}

// A graph that cannot be read whole opens with its groups folded, where that leaves so many places and half of them or
// fewer; above `many` passes none can be read whole.
const FOLDED = { least: 12, share: 0.5, many: 400 };

// How many passes run, and the groups that a graph may fold by itself: none once somebody has folded some.
function foldable() {
  const passes = plan.data.shown.filter((pass) => !plan.isCulled(pass));
  const groups = [...groupsOf('p').keys()];
  const left = groups.length && !folds.size ? clusters(passes, new Set(groups)).length : 0;
  return { passes: passes.length, groups: left >= FOLDED.least && left <= passes.length * FOLDED.share ? groups : [] };
}

// Whether a way leads from a cluster to one of others.
function leadsTo(cluster, ends) {
  const seen = new Set([cluster]);
  const stack = [...cluster.feeds];
  while (stack.length) {
    const next = stack.pop();
    if (seen.has(next)) continue;
    if (ends.has(next)) return true;
    seen.add(next);
    stack.push(...next.feeds);
  }
  return false;
}
