// What things are called: by sight, and by those who hear the page.

const MARKS = { 1: '△', 2: '▼', 3: '◆' };
const MODES = { 1: 'reads', 2: 'writes', 3: 'reads and writes' };
const KIND_WORDS = {
  memory: 'memory dependency',
  layout: 'layout or first use',
  ownership: 'queue ownership',
  alias: 'memory reused',
};

const quoted = (name) => `'${shown(name)}'`;
const spread = (text) => text.replaceAll('_', ' ');

function words(plan, templates) {
  const { passes, resources, accesses, barriers, calls, batches, waits } = plan;
  const sentences = new Map(templates);
  const passName = (pass, none) => (pass < 0 ? none : quoted(passes.name[pass]));
  const say = {};

  // Why a barrier is there: the planner's sentence with its names.
  say.why = (barrier) => {
    const of = barriers.of[barrier];
    const own = barriers.resource[barrier] === of;
    const blanks = {
      from: passName(barriers.from[barrier], 'the run before'),
      to: passName(barriers.to[barrier], 'what comes after'),
      what: quoted(resources.name[of]),
      of: own ? '' : ` (${quoted(resources.name[of])})`,
    };
    const template = sentences.get(plan.text(barriers.hazard[barrier])) || '';
    return template.replace(/\{(\w+)\}/g, (_, blank) => blanks[blank]);
  };
  // What a barrier does: resource, part, layouts.
  say.change = (barrier) => {
    const old = plan.text(barriers.old[barrier]);
    const now = plan.text(barriers.new[barrier]);
    if (!now) return '';
    return old === now ? `stays ${now}` : `${old} → ${now}`;
  };
  say.subject = (barrier) => {
    const resource = barriers.resource[barrier];
    return resource < 0 ? 'all memory' : shown(resources.name[resource]) + plan.text(barriers.part[barrier]);
  };
  say.barrier = (barrier) => {
    const change = say.change(barrier);
    return `barrier on ${say.subject(barrier)}${change && `: ${change}`}, ${say.why(barrier)}`;
  };
  say.pass = (pass) => {
    const name = `pass ${shown(passes.name[pass])}`;
    if (plan.isCulled(pass)) return `culled ${name}: ${plan.text(passes.culled[pass])}`;
    const counts = [READS, WRITES].map((bit) => plan.accessesOf(pass).filter((at) => accesses.mode[at] & bit).length);
    const time = passes.us[pass] ? `, ${micros(passes.us[pass])} from ${micros(passes.start[pass])}` : '';
    return `${name} on ${plan.queueName(passes.queue[pass])}${time}, reads ${counts[0]}, writes ${counts[1]}`;
  };
  say.resource = (resource) => {
    const format = plan.text(resources.format[resource]);
    const size = bytes(resources.bytes[resource]);
    return `resource ${shown(resources.name[resource])}, ${format} ${plan.text(resources.shape[resource])}, ${size}`;
  };
  say.access = (access) => {
    const pass = shown(passes.name[accesses.pass[access]]);
    const resource = shown(resources.name[accesses.resource[access]]) + plan.text(accesses.part[access]);
    const stages = plan.text(accesses.stages[access]);
    const layout = plan.text(accesses.layout[access]);
    const at = stages && stages !== 'nothing' ? ` at ${spread(stages)}` : '';
    const usage = spread(plan.text(accesses.usage[access]));
    return `${pass} ${MODES[accesses.mode[access]]} ${resource}${at}, ${usage}${layout && `, as ${spread(layout)}`}`;
  };
  say.call = (call) => {
    const kind = ['barrier call', 'set event', 'wait for event'][calls.kind[call]];
    const where = calls.before[call] >= 0
      ? `before ${shown(passes.name[calls.before[call]])}`
      : `after ${calls.after[call] >= 0 ? shown(passes.name[calls.after[call]]) : 'nothing'}`;
    const event = calls.event[call] >= 0 ? ` ${calls.event[call]}` : '';
    const inside = calls.count[call] === 1 ? say.barrier(calls.first[call]) : count(calls.count[call], 'barrier');
    return `${kind}${event} ${where}: ${inside}`;
  };
  say.submission = (batch) => {
    const queue = plan.queueName(batches.queue[batch]);
    const kind = batches.queue[batch] < 0 ? 'host work' : 'submission';
    return `${kind} ${batch} on ${queue}: ${count(plan.passesIn(batch).length, 'pass', 'passes')}`;
  };
  say.wait = (wait) => {
    const by = batches.queue[waits.batch[wait]];
    const on = waits.queue[wait];
    const who = by < 0 ? 'the CPU' : plan.queueName(by);
    const whom = on < 0 ? 'the CPU work' : plan.queueName(on);
    const which = waits.previous[wait] ? ' of the previous frame' : on < 0 ? '' : ` ${waits.value[wait]}`;
    const source = waits.source[wait] >= 0 ? `, signalled by submission ${waits.source[wait]}` : '';
    return `${who} waits for ${whom}${which} at ${spread(plan.text(waits.stages[wait]))}${source}`;
  };
  // A line for the tip at the pointer, by the kind of its key.
  say.tip = {
    p(pass) {
      if (plan.isCulled(pass)) return `culled: ${plan.text(passes.culled[pass])}`;
      const { measured } = plan.scales;
      const took = measured?.timed[pass] ? `${micros(measured.end[pass] - measured.begin[pass])} measured` : passes.us[pass] > 0 ? `${micros(passes.us[pass])} modelled` : '';
      const own = plan.accessesOf(pass);
      const modes = (bit) => own.filter((at) => accesses.mode[at] & bit).length;
      return [plan.queueName(passes.queue[pass]), plan.kindOf(pass), took, `reads ${modes(READS)}, writes ${modes(WRITES)}`].filter(Boolean).join(' · ');
    },
    r: (resource) => [plan.text(resources.format[resource]), plan.text(resources.shape[resource]), bytes(resources.bytes[resource]),
      resources.first[resource] >= 0 && `${shown(passes.name[resources.first[resource]])} to ${shown(passes.name[resources.last[resource]])}`].filter(Boolean).join(' · '),
    a: (access) => say.access(access),
    b: (barrier) => [say.change(barrier), say.why(barrier)].filter(Boolean).join(' · '),
    c: (call) => count(calls.count[call], 'barrier'),
    s: (batch) => `${count(plan.passesIn(batch).length, 'pass', 'passes')}, ${count(plan.callsIn(batch).length, 'barrier call')}`,
    w: () => 'press it for both sides',
  };
  const kinds = { p: 'pass', r: 'resource', a: 'access', b: 'barrier', c: 'call', s: 'submission', w: 'wait' };
  // The label of a key.
  say.key = (key) => say[kinds[key[0]]](Number(key.slice(1)));
  // The short name of a key.
  say.title = (key) => {
    const at = Number(key.slice(1));
    if (key[0] === 'p') return shown(passes.name[at]);
    if (key[0] === 'r') return shown(resources.name[at]);
    if (key[0] === 'b') return say.subject(at);
    return say.key(key);
  };
  return say;
}
