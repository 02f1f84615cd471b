// What is shown, pinned and looked for. It stands in the page's fragment, so that a link or a reload brings it back.

// `along`: the resources of the line under the pointer.
const state = { view: 'frame', pin: null, hover: null, along: [], query: '', culled: true, paper: false };
const listeners = new Map();

function on(what, listener) {
  if (!listeners.has(what)) listeners.set(what, []);
  listeners.get(what).push(listener);
}

function tell(what) {
  for (const listener of listeners.get(what) || []) listener();
}

function set(what, value) {
  if (state[what] === value) return;
  state[what] = value;
  tell(what);
  if (what !== 'hover') remember();
}

// Keys by name, so that a link survives another bake of the same frame: `p:gbuffer`, else the key itself.
function nameKey(plan, key) {
  const at = Number(key.slice(1));
  if (key[0] === 'p') return `p:${plan.passes.name[at]}`;
  if (key[0] === 'r') return `r:${plan.resources.name[at]}`;
  return key;
}

function findKey(plan, text) {
  const at = text[1] === ':' ? { p: plan.passNamed, r: plan.resourceNamed }[text[0]]?.get(text.slice(2)) : undefined;
  if (at !== undefined) return text[0] + at;
  const lengths = {
    a: plan.accesses.pass.length,
    b: plan.barriers.of.length,
    c: plan.calls.batch.length,
    s: plan.batches.queue.length,
    w: plan.waits.batch.length,
  };
  return /^[abcsw]\d+$/.test(text) && Number(text.slice(1)) < lengths[text[0]] ? text : null;
}

const remember = soon(() => {
  const values = new URLSearchParams();
  if (state.view !== 'frame') values.set('view', state.view);
  if (state.pin) values.set('pin', nameKey(plan, state.pin));
  if (state.query) values.set('q', state.query);
  if (!state.culled) values.set('culled', 'no');
  try {
    history.replaceState(null, '', values.size ? `#${values}` : location.pathname + location.search);
  } catch {
    // A page inside another has no address of its own: there is nothing to remember it in.
  }
});

function recall() {
  const values = new URLSearchParams(location.hash.slice(1));
  const view = values.get('view');
  if (views.some((known) => known.id === view)) set('view', view);
  set('culled', values.get('culled') !== 'no');
  set('query', values.get('q') || '');
  const pin = values.get('pin');
  set('pin', pin ? findKey(plan, pin) : null);
  if (state.pin) current().reveal(state.pin);
}

// Light, dark, or what the system says; kept where pages may keep anything.
const theme = {
  names: ['system', 'light', 'dark'],
  get() {
    return document.documentElement.dataset.theme || 'system';
  },
  set(name) {
    if (name === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    try {
      localStorage.setItem('rgraph-theme', name);
    } catch {
      // Sandboxed pages may keep nothing.
    }
    tell('theme');
  },
  next() {
    theme.set(theme.names[(theme.names.indexOf(theme.get()) + 1) % theme.names.length]);
  },
  recall() {
    try {
      const name = localStorage.getItem('rgraph-theme');
      if (theme.names.includes(name)) theme.set(name);
    } catch {
      // As above.
    }
  },
};
