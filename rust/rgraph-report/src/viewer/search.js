// What is looked for: words that names hold, and filters. All of them must hold.

const search = { hits: null, list: [], index: -1, text: '' };

// `p: r: b: q: fmt: life: stage:` name where to look; `size>1M`, `us>100` compare; `culled`, `unmerged`, `merged`,
// `root`, `found`, `host` are words of their own. In quotes it is a plain name.
function parse(query) {
  const terms = [];
  for (const [, field, quotedText, bare] of query.matchAll(/(?:(\w+):)?(?:"([^"]*)"|(\S+))/g)) {
    const text = (quotedText ?? bare).toLowerCase();
    const compared = !field && quotedText === undefined && /^(size|us|barriers)(<=|>=|<|>|=)([\d.]+)([kmgt]?i?b?|[um]?s|µs)$/.exec(text);
    if (compared) {
      const [, what, sign, digits, unit] = compared;
      terms.push({ kind: 'compare', what, sign, value: Number(digits) * scaleOf(what, unit) });
    } else if (!field && quotedText === undefined && /^(size|us|barriers)[<>=]/.test(text)) {
      terms.push({ kind: 'unknown', text });
    } else if (!field && quotedText === undefined && WORDS_OF_PASSES[text]) {
      terms.push({ kind: 'word', text });
    } else {
      terms.push({ kind: 'name', field: field?.toLowerCase() || '', text });
    }
  }
  return terms;
}

// Bytes go by 1,024, times by 1,000: `us>1ms`, `us>2k`.
function scaleOf(what, unit) {
  if (what === 'size') return 1024 ** Math.max(0, ' kmgt'.indexOf(unit[0] || ' '));
  return { ms: 1000, s: 1e6, k: 1000, m: 1e6 }[unit] || 1;
}

const WORDS_OF_PASSES = {
  culled: (pass) => plan.isCulled(pass),
  unmerged: (pass) => plan.unmergedOf.has(pass),
  merged: (pass) => plan.passes.physical[pass] >= 0 && plan.passesOfRender(plan.passes.physical[pass]).length > 1,
  inserted: (pass) => plan.passes.declared[pass] < 0,
  host: (pass) => plan.passes.queue[pass] < 0 && !plan.isCulled(pass),
  found: (pass) => findings.byPass.has(pass),
  critical: (pass) => plan.critical.has(pass),
  root: () => false,
  alias: () => false,
};

const WORDS_OF_RESOURCES = {
  root: (resource) => plan.resources.root[resource] > 0,
  alias: (resource) => plan.group[resource] >= 0,
  found: (resource) => findings.byResource.has(resource),
  inserted: (resource) => plan.resources.inserted[resource] > 0,
};

const COMPARE = {
  '<': (a, b) => a < b,
  '>': (a, b) => a > b,
  '<=': (a, b) => a <= b,
  '>=': (a, b) => a >= b,
  '=': (a, b) => a === b,
};

const holds = (name, text) => name.toLowerCase().includes(text);

function passMatches(pass, term) {
  if (term.kind === 'unknown') return false;
  if (term.kind === 'word') return WORDS_OF_PASSES[term.text](pass);
  if (term.kind === 'compare') {
    const { scale } = shared.axis;
    const took = scale.id === 'measured' ? (scale.timed[pass] ? scale.end[pass] - scale.begin[pass] : undefined) : plan.passes.us[pass];
    const of = { us: took, barriers: plan.barriersTo(pass).length }[term.what];
    return of !== undefined && COMPARE[term.sign](of, term.value);
  }
  const { field, text } = term;
  if (field === '' || field === 'p') return holds(plan.passes.name[pass], text);
  if (field === 'q') return !plan.isCulled(pass) && holds(plan.queueName(plan.passes.queue[pass]), text);
  if (field === 'stage') return plan.accessesOf(pass).some((at) => holds(plan.text(plan.accesses.stages[at]), text));
  return false;
}

function resourceMatches(resource, term) {
  if (term.kind === 'unknown') return false;
  const { resources } = plan;
  if (term.kind === 'word') return Boolean(WORDS_OF_RESOURCES[term.text]?.(resource));
  if (term.kind === 'compare') return term.what === 'size' && COMPARE[term.sign](resources.bytes[resource], term.value);
  const { field, text } = term;
  if (field === '' || field === 'r') return holds(resources.name[resource], text);
  if (field === 'fmt') return holds(plan.text(resources.format[resource]), text);
  if (field === 'life') return holds(plan.text(resources.life[resource]), text);
  return false;
}

function barrierMatches(barrier, term) {
  if (term.kind !== 'name' || term.field !== 'b') return false;
  const of = [plan.text(plan.barriers.hazard[barrier]), plan.barrierKind(barrier), say.subject(barrier), say.change(barrier)];
  return of.some((text) => holds(text, term.text));
}

function find(query) {
  const terms = parse(query);
  search.text = query;
  search.index = -1;
  search.list = [];
  search.hits = null;
  if (!terms.length) return;
  const all = (length, matches, letter) => {
    for (let at = 0; at < length; at += 1) if (terms.every((term) => matches(at, term))) search.list.push(letter + at);
  };
  all(plan.passCount, passMatches, 'p');
  all(plan.resourceCount, resourceMatches, 'r');
  all(plan.barriers.of.length, barrierMatches, 'b');
  search.hits = new Set(search.list);
}

// The next thing found, or the one before.
function cycle(step) {
  if (!search.list.length) return;
  search.index = (search.index + step + search.list.length) % search.list.length;
  set('pin', search.list[search.index]);
  reveal(state.pin);
}

function foundText() {
  if (!search.hits) return '';
  const unknown = parse(search.text).find((term) => term.kind === 'unknown');
  if (unknown) return `unknown filter ${unknown.text}`;
  const kinds = [['p', 'pass', 'passes'], ['r', 'resource'], ['b', 'barrier']];
  const parts = kinds.map(([letter, one, many]) => [search.list.filter((key) => key[0] === letter).length, one, many]);
  const texts = parts.filter(([n]) => n).map(([n, one, many]) => count(n, one, many));
  return texts.length ? texts.join(', ') : 'nothing found';
}
