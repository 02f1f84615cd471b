// The right-hand card: everything that is known of what is pointed at or pinned, and why it is so.

// Everything that belongs to a thing, itself included.
function related(key) {
  if (related.key === key) return related.set;
  const lit = new Set([key]);
  const at = Number(key.slice(1));
  const { accesses, flows, barriers, calls, batches, waits, passes } = plan;
  const addPass = (pass) => pass >= 0 && lit.add(`p${pass}`);
  if (key[0] === 'p') {
    for (const access of plan.accessesOf(at)) lit.add(`a${access}`).add(`r${accesses.resource[access]}`);
    for (const flow of plan.needs(at)) addPass(flows.from[flow]);
    for (const flow of plan.feeds(at)) addPass(flows.to[flow]);
    for (const barrier of plan.barriersTo(at)) lit.add(`b${barrier}`).add(`c${plan.callOf(barrier)}`);
    if (passes.batch[at] >= 0) {
      lit.add(`s${passes.batch[at]}`);
      for (const wait of plan.waitsOf(passes.batch[at])) if (batches.first[passes.batch[at]] === at) lit.add(`w${wait}`);
    }
  } else if (key[0] === 'r') {
    for (const access of plan.accessesTo(at)) lit.add(`a${access}`).add(`p${accesses.pass[access]}`);
    for (const barrier of plan.barriersOn(at)) lit.add(`b${barrier}`).add(`c${plan.callOf(barrier)}`);
    for (const other of plan.sharers(at)) lit.add(`r${other}`);
  } else if (key[0] === 'a') {
    lit.add(`p${accesses.pass[at]}`).add(`r${accesses.resource[at]}`);
    for (const other of plan.accessesTo(accesses.resource[at])) if (accesses.pass[other] === accesses.pass[at]) lit.add(`a${other}`);
  } else if (key[0] === 'b') {
    lit.add(`r${barriers.resource[at] < 0 ? barriers.of[at] : barriers.resource[at]}`).add(`r${barriers.of[at]}`);
    lit.add(`c${plan.callOf(at)}`).add(`c${plan.endOf(at)}`);
    for (const pass of [barriers.from[at], barriers.to[at]].filter((one) => one >= 0)) {
      addPass(pass);
      for (const access of plan.accessesOf(pass)) if (accesses.resource[access] === barriers.of[at]) lit.add(`a${access}`);
    }
  } else if (key[0] === 'c') {
    for (let n = 0; n < calls.count[at]; n += 1) {
      const barrier = calls.first[at] + n;
      lit.add(`b${barrier}`).add(`r${barriers.resource[barrier] < 0 ? barriers.of[barrier] : barriers.resource[barrier]}`);
      addPass(barriers.from[barrier]);
      addPass(barriers.to[barrier]);
    }
    addPass(calls.before[at]);
  } else if (key[0] === 's') {
    for (const pass of plan.passesIn(at)) addPass(pass);
    for (const call of plan.callsIn(at)) lit.add(`c${call}`);
    for (const wait of plan.waitsOf(at)) lit.add(`w${wait}`);
  } else if (key[0] === 'w') {
    lit.add(`s${waits.batch[at]}`);
    addPass(batches.first[waits.batch[at]]);
    if (waits.source[at] >= 0) {
      lit.add(`s${waits.source[at]}`);
      addPass(batches.last[waits.source[at]]);
    }
  }
  Object.assign(related, { key, set: lit });
  return lit;
}

// Characters of a name to press, at most: its card has the whole.
const LONGEST = 120;

// A name to press: pins what it names.
function link(key, text) {
  const name = text ?? say.title(key);
  const chars = name.length > LONGEST ? [...name] : [];
  const brief = chars.length > LONGEST ? `${chars.slice(0, LONGEST / 2).join('')}…${chars.slice(-LONGEST / 2).join('')}` : name;
  return h('button', { class: 'link', type: 'button', title: brief === name ? null : name, onclick: () => { set('pin', key); reveal(key); } }, broken(brief));
}

// The style sheet puts commas into the box of the name before them.
const links = (keys) => keys.map((key, at) => [at > 0 && ' ', h('span', { class: 'listed' }, link(key))]);

// Where something was declared; a place on this machine opens in an editor.
function declaredAt(place) {
  const found = /^(\/.+|[A-Za-z]:[\\/].+):(\d+)$/.exec(place);
  if (!found) return place && h('span', null, broken(place));
  const path = found[1].replaceAll('\\', '/');
  return h('a', { class: 'link', href: `vscode://file${path.startsWith('/') ? '' : '/'}${encodeURI(path)}:${found[2]}` }, broken(place));
}

function facts(...pairs) {
  const list = h('dl');
  for (const [name, ...values] of pairs.filter(Boolean)) {
    if (values.length && values[0] !== '' && values[0] !== null) list.append(h('dt', { text: name }), h('dd', null, values));
  }
  return list;
}

function part(title, ...content) {
  const inside = content.flat().filter(Boolean);
  return inside.length ? h('section', { class: 'part' }, h('h3', { text: title }), inside) : null;
}

const tag = (text, kind = '') => h('span', { class: `tag ${kind}`, text });

const card = {
  p(pass) {
    const { passes, accesses, flows, data } = plan;
    const text = (column) => plan.text(column[pass]);
    if (plan.isCulled(pass)) {
      return [
        h('p', { class: 'tags' }, tag('culled', 'off')),
        part('Why it does not run', h('p', { class: 'why' }, broken(text(passes.culled)))),
        facts(['Declared', declaredAt(text(passes.place)) || `as pass ${passes.declared[pass]}`], ['Switched by', text(passes.flag)]),
        accessTable(plan.accessesOf(pass), 'resource'), foundList(findings.byPass.get(pass)),
      ];
    }
    const batch = passes.batch[pass];
    const physical = passes.physical[pass];
    const others = physical < 0 ? [] : [...plan.passesOfRender(physical)].filter((other) => other !== pass);
    const uniq = (flowsOf, end) => [...new Set([...flowsOf].map((flow) => flows[end][flow]))].map((other) => `p${other}`);
    const needs = uniq(plan.needs(pass), 'from');
    const feeds = uniq(plan.feeds(pass), 'to');
    const measured = plan.scales.measured;
    const took = measured?.timed[pass]
      ? `${micros(measured.end[pass] - measured.begin[pass])} from ${micros(measured.begin[pass])}${
        measured.group[pass] > 1 ? `, its share of ${measured.group[pass]} passes timed as one` : ''}` : '';
    const waits = batch < 0 ? [] : [...plan.waitsOf(batch)];
    const apart = (plan.unmergedOf.get(pass) || []).map((at) => {
      const [first, second, why] = data.unmerged[at];
      return h('p', { class: 'why' }, 'with ', link(`p${first === pass ? second : first}`), `: ${why}`);
    });
    return [
      h('p', { class: 'tags' }, tag(plan.queueName(passes.queue[pass]), hue(passes.queue[pass])),
        passes.declared[pass] < 0 && tag('inserted by the planner'), others.length > 0 && tag('merged'),
        text(passes.flag) && tag(`if ${text(passes.flag)}`),
        data.parts.length > 1 && passes.part[pass] >= 0 && tag(`part ${passes.part[pass] + 1} of ${data.parts.length}`)),
      facts(
        ['Measured', took], ['In all frames', framesOf(passes.name[pass])],
        ['Modelled', passes.us[pass] > 0 ? `${micros(passes.us[pass])} from ${micros(passes.start[pass])}` : ''],
        ['Submission', batch < 0 ? '' : link(`s${batch}`, `${batch} on ${plan.queueName(passes.queue[pass])}`)],
        ['Declared', declaredAt(text(passes.place)) || (passes.declared[pass] >= 0 ? `as pass ${passes.declared[pass]}` : '')],
        groupFact('p', pass), needs.length && ['Needs', ...links(needs)], feeds.length && ['Feeds', ...links(feeds)],
      ),
      foundList(findings.byPass.get(pass)),
      part('Why here and now',
        h('p', { class: 'why', text: `Queue: ${text(passes.why_queue)}.` }),
        passes.after[pass] >= 0
          ? h('p', { class: 'why' }, 'Time: the last thing that it needs is ', link(`p${passes.after[pass]}`))
          : h('p', { class: 'why', text: 'Time: it needs no other pass of the frame.' }),
        waits.map((wait) => h('p', { class: 'why' }, link(`w${wait}`, say.wait(wait))))),
      accessTable(plan.accessesOf(pass), 'resource'),
      barrierList('Barriers for it', [...plan.barriersTo(pass)]),
      physical >= 0 && part(`Render pass ${physical}`,
        h('p', { class: 'why' }, others.length ? ['Together with ', ...links(others.map((other) => `p${other}`)), '.'] : 'Alone.'),
        (plan.attachments.get(physical) || []).map((line) => h('p', { class: 'line', text: line }))),
      apart.length > 0 && part('Not merged', apart),
    ];
  },

  r(resource) {
    const { resources, accesses, data } = plan;
    const text = (column) => plan.text(column[resource]);
    const picture = images.get(resources.name[resource]);
    const placed = resources.heap[resource] >= 0;
    const sharers = plan.sharers(resource);
    const edges = data.edges.filter(([of]) => of === resource);
    const lasts = resources.first[resource] < 0 ? 'unused' : null;
    return [
      h('p', { class: 'tags' }, tag(text(resources.format)), tag(text(resources.life)), resources.root[resource] && text(resources.life) !== 'root' ? tag('root') : null,
        resources.inserted[resource] ? tag('inserted by the planner') : null),
      picture && h('img', { class: 'picture', src: picture, alt: `${shown(resources.name[resource])} after the run` }),
      facts(
        ['Shape', text(resources.shape)], ['Bytes', `${bytes(resources.bytes[resource])} (${number(resources.bytes[resource])})`],
        lasts ? ['Lives', lasts] : ['Lives', link(`p${resources.first[resource]}`), ' to ', link(`p${resources.last[resource]}`)],
        placed && ['Memory', `${hex(resources.offset[resource])} of heap ${resources.heap[resource]} (${shown(data.heaps[resources.heap[resource]][0])})`],
        groupFact('r', resource), ['Queues', `${text(resources.sharing)}`], ['Declared', declaredAt(text(resources.place))], ['It is', text(resources.relation)],
      ),
      foundList(findings.byResource.get(resource)),
      part(sharers.length ? 'Shares its bytes' : 'Why it shares no bytes', sharers.length
        ? neighbours(resource, sharers) : h('p', { class: 'why', text: `${text(resources.why_alone) || 'it has no memory of its own'}.` })),
      accessTable(plan.accessesTo(resource), 'pass'),
      barrierList('Barriers', [...plan.barriersOn(resource)]),
      edges.length > 0 && part('From and to outside the frame',
        edges.map(([, entry, exit]) => h('p', { class: 'line', text: `${entry}; ${exit}` }))),
    ];
  },

  a(access) {
    const { accesses } = plan;
    return [
      h('p', { class: 'why' }, broken(`${say.access(access)}.`)),
      facts(['Pass', link(`p${accesses.pass[access]}`)], ['Resource', link(`r${accesses.resource[access]}`)],
        ['Part', plan.text(accesses.part[access]) || 'all of it'], ['Usage', spread(plan.text(accesses.usage[access]))],
        ['Stages', spread(plan.text(accesses.stages[access]))], ['Layout', spread(plan.text(accesses.layout[access]))]),
    ];
  },

  b(barrier) {
    const { barriers, calls, resources } = plan;
    const text = (column) => spread(plan.text(column[barrier]));
    const own = barriers.resource[barrier];
    const [from, to] = [barriers.from[barrier], barriers.to[barrier]];
    const side = (name, pass, none, stages, access, layout) => h('td', null,
      h('p', null, pass >= 0 ? link(`p${pass}`) : none), h('p', { class: 'line', text: stages }), h('p', { class: 'line', text: access }),
      layout && h('p', { class: 'line', text: layout }));
    return [
      h('p', { class: 'tags' }, h('span', { class: `sample diamond ${plan.barrierKind(barrier)}`, 'aria-hidden': 'true' }),
        tag(text(barriers.hazard)), tag(KIND_WORDS[plan.barrierKind(barrier)])),
      part('Why it is there', h('p', { class: 'why' }, broken(`${say.why(barrier)}.`))),
      h('table', { class: 'sides' }, h('caption', { class: 'hidden', text: 'Both sides of the barrier' }),
        h('thead', null, h('tr', null, h('th', { scope: 'col', text: 'Before' }), h('th', { scope: 'col', text: 'After' }))),
        h('tbody', null, h('tr', null,
          side('before', from, 'the run before', text(barriers.src_stages), text(barriers.src_access), text(barriers.old)),
          side('after', to, 'what comes after', text(barriers.dst_stages), text(barriers.dst_access), text(barriers.new))))),
      facts(
        ['On', own < 0 ? 'all memory' : link(`r${own}`, say.subject(barrier))],
        own !== barriers.of[barrier] && ['Waits for', link(`r${barriers.of[barrier]}`)],
        own >= 0 && ['Bytes', `${plan.text(barriers.part[barrier]) ? 'part of ' : ''}${bytes(resources.bytes[own])}`],
        ['Family', plan.text(barriers.families[barrier])],
        ['Call', link(`c${plan.callOf(barrier)}`, `${count(calls.count[plan.callOf(barrier)], 'barrier')} in one call`)],
        ['Split', splitText(barrier, from, to)],
      ),
    ];
  },

  c(call) {
    const { calls } = plan;
    const inside = Array.from({ length: calls.count[call] }, (_, n) => calls.first[call] + n);
    return [
      h('p', { class: 'why' }, broken(`${say.call(call)}.`)),
      facts(calls.after[call] >= 0 && ['After', link(`p${calls.after[call]}`)], calls.before[call] >= 0 && ['Before', link(`p${calls.before[call]}`)],
        ['Submission', link(`s${calls.batch[call]}`, String(calls.batch[call]))],
        calls.region[call] > 0 && ['Scope', 'by region, inside its render pass']),
      barrierList('Barriers of this call', inside),
    ];
  },

  s(batch) {
    const { batches } = plan;
    const calls = [...plan.callsIn(batch)];
    const waits = [...plan.waitsOf(batch)];
    return [
      h('p', { class: 'tags' }, tag(plan.queueName(batches.queue[batch]), hue(batches.queue[batch]))),
      facts(['Passes', ...links([...plan.passesIn(batch)].map((pass) => `p${pass}`))],
        ['Signals', batches.signal[batch] ? `${plan.queueName(batches.queue[batch])} ${batches.signal[batch]}` : 'nothing: nobody waits for it'],
        ['Barrier calls', String(calls.length)]),
      part('Waits', waits.map((wait) => h('p', { class: 'why' }, link(`w${wait}`, say.wait(wait))))),
      part('Barrier calls', calls.map((call) => h('p', { class: 'why' }, link(`c${call}`, say.call(call))))),
    ];
  },

  w(wait) {
    const { waits } = plan;
    const source = waits.source[wait];
    return [
      h('p', { class: 'why' }, broken(`${say.wait(wait)}.`)),
      facts(['Waiting', link(`s${waits.batch[wait]}`)], source >= 0 && ['Signalled by', link(`s${source}`)],
        source >= 0 && plan.batches.last[source] >= 0 && ['Which ends with', link(`p${plan.batches.last[source]}`)],
        ['Stages', spread(plan.text(waits.stages[wait]))], ['Value', String(waits.value[wait])]),
      waits.previous[wait] > 0 && h('p', { class: 'why', text: 'The wait is for the run before: it keeps this run from '
        + 'overwriting what that one still uses.' }),
    ];
  },

  h(at) {
    const span = payload.measured.host[at];
    return [facts(['Took', micros(span.end_us - span.begin_us)], ['From', micros(span.begin_us)])];
  },
};

// Who has the same bytes, in the order of time.
function neighbours(resource, sharers) {
  const { resources } = plan;
  const list = sharers.slice().sort((a, b) => resources.first[a] - resources.first[b]);
  return list.map((other) => {
    const when = resources.last[other] < resources.first[resource] ? 'before it'
      : resources.first[other] > resources.last[resource] ? 'after it' : 'beside it';
    return h('p', { class: 'why' }, `${when} `, link(`r${other}`), ` (${bytes(resources.bytes[other])})`);
  });
}

function splitText(barrier, from, to) {
  if (plan.endOf(barrier) >= 0) return 'it is split: signalled after its producer, waited for here';
  const { passes } = plan;
  if (from < 0 || to < 0 || passes.batch[from] !== passes.batch[to]) return '';
  const between = [...plan.passesIn(passes.batch[from])].filter((pass) => pass > from && pass < to).length;
  return between ? `could be split: ${count(between, 'pass runs', 'passes run')} between its sides` : 'no: its sides are neighbours';
}

function accessTable(list, other) {
  const { accesses } = plan;
  if (!list.length) return null;
  const rows = [...list].map((access) => {
    const key = `${other[0]}${accesses[other][access]}`;
    const stages = spread(plan.text(accesses.stages[access]));
    const what = [spread(plan.text(accesses.usage[access])), stages === 'nothing' ? '' : stages];
    return h('tr', null,
      h('td', null, h('span', { class: `mark ${MODE_CLASS[accesses.mode[access]]}`, 'aria-hidden': 'true', text: MARKS[accesses.mode[access]] }),
        h('span', { class: 'hidden', text: MODES[accesses.mode[access]] })),
      h('td', null, link(key), h('span', { class: 'note', text: plan.text(accesses.part[access]) })),
      h('td', null, h('p', { class: 'line', text: what.filter(Boolean).join(' at ') }),
        h('p', { class: 'line', text: spread(plan.text(accesses.layout[access])) })));
  });
  return part(`${count(list.length, 'access', 'accesses')}`, h('table', { class: 'uses' }, h('tbody', null, rows.slice(0, 200))),
    rows.length > 200 && h('p', { class: 'note', text: `and ${rows.length - 200} more: see the tables` }));
}

function barrierList(title, list) {
  if (!list.length) return title === 'Barriers for it' ? part(title, h('p', { class: 'note', text: 'None is for it.' })) : null;
  const lines = list.slice(0, 60).map((barrier) => h('li', null,
    h('span', { class: `sample diamond ${plan.barrierKind(barrier)}`, 'aria-hidden': 'true' }),
    h('div', null, link(`b${barrier}`), h('span', { class: 'note', text: ` ${spread(say.change(barrier))}` }), h('p', { class: 'why' }, broken(`${say.why(barrier)}.`)))));
  return part(`${title} (${list.length})`, h('ul', { class: 'barriers' }, lines),
    list.length > 60 && h('p', { class: 'note', text: `and ${list.length - 60} more: see the tables` }));
}

function foundList(list) {
  return list?.length ? part('Findings', list.map((at) => {
    const { rule, message } = payload.findings[at];
    return h('p', { class: 'finding' }, h('strong', { text: rule }), ': ', broken(message));
  })) : null;
}

const KINDS = { p: 'Pass', r: 'Resource', a: 'Access', b: 'Barrier', c: 'Barrier call', s: 'Submission', w: 'Wait', h: 'Host' };

// What stands in the card when nothing is pointed at: the whole plan.
function wholeCard() {
  const { meta, data } = plan;
  const culled = plan.passCount - plan.live;
  return [
    h('p', { class: 'kind', text: 'Plan' }), h('h2', { text: shown(meta.graph) }),
    facts(
      ['For', shown(meta.profile)], ['Passes', `${number(plan.live)} run${culled ? `, ${number(culled)} culled` : ''}`],
      ['Schedule', meta.policy + (meta.optimal ? ', proven optimal' : '')],
      meta.frame_us > 0 && ['Frame', `${micros(meta.frame_us)} (modelled)${meta.bound_us > 0 ? `; bound ${micros(meta.bound_us)}` : ''}`],
      plan.scales.measured && ['Measured', micros(plan.scales.measured.took)],
      ['Submits', number(meta.submits)], ['Barriers', `${number(plan.barriers.of.length)} in ${count(meta.barrier_calls, 'call')}`],
      ['Memory', `${bytes(meta.memory)}; bound ${bytes(meta.memory_bound)}; ${bytes(meta.memory_plain)} without aliasing`],
      data.parts.length > 1 && ['Parts', `${data.parts.length} that share nothing`],
      meta.bake_us.length > 0 && ['Baked in', `${micros(meta.bake_us.reduce((sum, [, us]) => sum + us, 0))}: ${meta.bake_us.map(([name, us]) => `${name} ${us.toFixed(1)}`).join(', ')}`],
    ),
    !meta.declared && h('p', { class: 'note', text: 'The plan was read without its graph: accesses are those that its layouts and barriers tell.' }),
    foundList(payload.findings.map((_, at) => at)),
    payload.diff && part('Compared', h('p', { class: 'why', text: payload.diff.changes.length ? `${count(payload.diff.changes.length, 'change')}: press x` : 'The plans are equal.' })),
    data.notes.length > 0 && part('Notes', data.notes.map((note) => h('p', { class: 'why' }, broken(note)))),
    h('p', { class: 'note', text: 'Point at anything to see why it is there; press it to keep it here. ? lists the keys.' }),
  ];
}

function drawCard(aside) {
  const key = state.hover || state.pin;
  const shows = `${key} ${key === state.pin}`;
  if (aside.drawn === shows) return;
  aside.drawn = shows;
  const content = key
    ? [h('p', { class: 'kind', text: KINDS[key[0]] }),
      h('h2', null, broken(key[0] === 'h' ? shown(payload.measured.host[Number(key.slice(1))].name) : say.title(key))),
      ...card[key[0]](Number(key.slice(1)))]
    : wholeCard();
  const close = key && key === state.pin
    ? h('button', { class: 'close', type: 'button', 'aria-label': 'Unpin', onclick: () => { set('pin', null); current().panel.querySelector('[tabindex="0"]')?.focus(); } }, '×') : null;
  aside.replaceChildren(...[close, ...content].filter(Boolean));
  aside.scrollTop = 0;
}
