// What differs from another plan: figures, both plans one above the other, and every change as a row. The planner
// compared them (`Plan.diff`); here it is only drawn.

const SIGNS = { added: '+', removed: '−', moved: '↔', changed: '~' };

// What changed of each pass and resource, as one sign each.
function readChanges(diff) {
  const changes = { pass: new Map(), resource: new Map() };
  for (const { kind, what, name, aspect } of diff?.changes || []) {
    if (!changes[what]) continue;
    const sign = aspect ? (kind === 'moved' ? SIGNS.moved : SIGNS.changed) : SIGNS[kind];
    const before = changes[what].get(name);
    changes[what].set(name, before && before !== sign ? SIGNS.changed : sign);
  }
  return changes;
}

// Changes of one pass or resource follow each other, what matters most first; the plan as a whole leads, and pairs that
// merge or do not, of which there may be hundreds, come last.
function ranked(changes) {
  const groups = new Map();
  const pair = (change) => change.what === 'plan' && change.aspect === 'not merged';
  for (const change of changes) {
    const key = pair(change) ? 'pairs' : `${change.what} ${change.name}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(change);
  }
  const weight = (list) => (pair(list[0]) ? -1 : list[0].what === 'plan' ? Infinity : list.reduce((sum, { weight: one }) => sum + one, 0));
  return [...groups.values()].sort((a, b) => (weight(b) > weight(a) ? 1 : weight(b) < weight(a) ? -1 : 0))
    .flatMap((list) => list.sort((a, b) => b.weight - a.weight));
}

class Differences extends Tables {
  constructor(id = 'diff', title = 'Differences', label = 'Changes') {
    super(id, title, label);
    this.kinds = new Set(Object.keys(SIGNS));
    this.axisOf = 'order';
  }

  start() {
    const { figures } = payload.diff;
    const changes = payload.diff.changes = ranked(payload.diff.changes);
    const boxes = Object.entries(SIGNS).map(([kind, sign]) => {
      const n = changes.filter((change) => change.kind === kind).length;
      const input = h('input', { type: 'checkbox', onchange: () => this.toggle(kind) });
      input.checked = true;
      return h('label', { class: `check ${kind}` }, input, h('span', null, `${sign} ${kind} ${number(n)}`));
    });
    this.tools.append(h('fieldset', { class: 'checks' }, h('legend', { text: 'Changes' }), boxes));
    if (plan.modelled && other.modelled) {
      this.tools.append(choice('Axis', [['order', 'Order'], ['modelled', 'Modelled time']], this.axisOf, (id) => {
        this.axisOf = id;
        this.redraw();
      }));
    }
    this.tools.append(h('button', { type: 'button', class: 'plain', onclick: (event) => this.copy(event.target) }, 'Copy'));
    const list = h('ul', { class: 'figures compared', 'aria-label': 'Figures of both plans' }, figures.filter(differs).map(figureItem));
    if (!changes.length) list.append(h('li', { text: 'The plans are equal.' }));
    else if (!list.childElementCount) list.append(h('li', { text: 'No figure differs.' }));
    this.pair = h('div', { class: 'pair', 'aria-hidden': 'true' });
    this.frame.before(list, this.pair);
    this.grid.classList.add('table');
  }

  toggle(kind) {
    if (!this.kinds.delete(kind)) this.kinds.add(kind);
    this.sorted = null;
    this.draw();
  }

  get table() {
    const { changes } = payload.diff;
    return {
      title: 'Changes',
      columns: ['#', 'What', 'Change', 'Of it', 'Before', 'After'],
      length: () => changes.length,
      hides: (at) => !this.kinds.has(changes[at].kind),
      kind: (at) => changes[at].kind,
      key(at) {
        const { what, name } = changes[at];
        const found = { pass: plan.passNamed, resource: plan.resourceNamed }[what]?.get(name);
        return found === undefined ? '' : what[0] + found;
      },
      row(at) {
        const { kind, what, name, aspect, before, after } = changes[at];
        return [at, name ? `${what} ${shown(name)}` : what, `${SIGNS[kind]} ${kind}`, aspect, before ?? '', after ?? ''];
      },
    };
  }

  draw() {
    super.draw();
    this.drawPair();
  }

  // What is compared: a plan on a scale, with a name, above another.
  get sides() {
    return [{ plan, scale: plan.scales[this.axisOf], name: 'before' }, { plan: other, scale: other.scales[this.axisOf], name: 'after' }];
  }

  // How passes differ, by name.
  get signs() {
    return changes.pass;
  }

  // Both sides, one pass after the other, with lines between passes of one name.
  drawPair() {
    const width = this.pair.clientWidth - 100;
    const { sides, signs } = this;
    const [before, after] = sides;
    const extent = Math.max(before.scale.extent, after.scale.extent);
    const x = (value) => 90 + (value / extent) * width;
    const parts = sides.flatMap((side, at) => this.strip(side, at, x, signs));
    const lines = svg('svg', { class: 'over' });
    place(lines, 0, 0, this.pair.clientWidth, 110);
    const crowded = plan.live > 400;
    for (let pass = 0; pass < plan.live; pass += 1) {
      const name = plan.passes.name[pass];
      const there = after.plan.passNamed.get(name);
      const sign = signs.get(name);
      if (there === undefined || after.plan.isCulled(there) || (crowded && !sign)) continue;
      const from = x((before.scale.begin[pass] + before.scale.end[pass]) / 2);
      const to = x((after.scale.begin[there] + after.scale.end[there]) / 2);
      lines.append(svg('line', { x1: from, x2: to, y1: 42, y2: 72, class: sign === SIGNS.moved ? 'tie moved' : 'tie' }));
    }
    this.pair.replaceChildren(lines, ...parts);
  }

  strip({ plan: one, scale, name }, at, x, signs) {
    const top = at ? 72 : 14;
    const parts = [place(h('span', { class: 'note', text: name }), 12, top + 5)];
    let free = -1;
    for (let pass = 0; pass < one.live; pass += 1) {
      const left = x(scale.begin[pass]);
      const right = x(scale.end[pass]);
      const sign = signs.get(one.passes.name[pass]);
      if (right - left < 2 && right < free + 2 && !sign) continue;
      free = right;
      const of = { '+': 'added', '−': 'removed', '~': 'changed', '↔': 'moved' }[sign] || '';
      const name = right - left > 40 ? fit(shown(one.passes.name[pass]), right - left - (sign ? 26 : 12), 12, 600) : '';
      const text = right - left > 18 ? [sign, name].filter(Boolean).join(' ') : '';
      const box = h('div', { class: `box ${text ? '' : 'slim '}${hueOf(one, one.passes.queue[pass])} ${of}` }, h('span', { class: 'label', text }));
      parts.push(place(box, left, top, Math.max(2, right - left - 1), 28));
    }
    return parts;
  }
}

// Modelled times round in their last digits.
function differs({ what, before, after }) {
  return what.startsWith('frame') ? Math.abs(before - after) > 1e-3 * Math.max(before, after) : before !== after;
}

function figureItem({ what, before, after }) {
  const text = (value) => (what.startsWith('memory') ? bytes(value) : what.startsWith('frame') ? micros(value) : number(value));
  const [first, second] = [text(before), text(after)];
  // Numbers that are equal when rounded are shown in full.
  const whole = first === second ? ` (${after > before ? '+' : '−'}${number(Math.abs(after - before))}${what.startsWith('memory') ? ' B' : ''})` : '';
  return h('li', { class: after < before ? 'less' : 'more' }, `${what} ${first} → ${second}${whole}`);
}
