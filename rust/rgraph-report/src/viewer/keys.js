// The keyboard: everything that a pointer can do. Letters work everywhere but in fields that take text.

const KEYS = [
  ['← → ↑ ↓', 'walk from mark to mark'], ['Home End', 'first and last of the row'], ['Shift + ← →', 'width of a column, on its head'], ['Enter', 'pin, or magnify many'],
  ['Esc', 'close, unpin, stop searching'], ['1 … 9', 'views'], ['/', 'search; Enter and Shift+Enter cycle'],
  ['[ ]', 'pass before and after, in plan order'], ['b B', 'next and previous barrier'], ['n N', 'next and previous finding'],
  ['a d', 'pan left and right'], ['w s', 'zoom in and out'], ['f', 'fit all'], ['z', 'zoom to what is pinned'],
  ['c', 'show or hide culled passes'], ['p', 'go to the card, and back'], ['k', 'fold the card'], ['x', 'differences'], ['e E', 'save what is in sight: SVG, PNG'], ['t', 'system, light, dark'], ['?', 'this list'],
];

const FILTERS = [
  ['blur', 'names that hold it'], ['p: r: b: q:', 'passes, resources, barriers, queues'], ['fmt: life: stage:', 'format, life, stage'],
  ['size>1M us>100 barriers>2', 'bytes, microseconds, barriers of a pass'], ['culled merged unmerged inserted host critical', 'passes'], ['root alias found', 'roots, shared bytes, findings'],
];

const help = {
  build() {
    const list = (title, entries, kind) => h('div', { class: 'half' }, h('h2', { text: title }),
      h('dl', { class: kind }, entries.map(([key, what]) => [h('dt', null, h('kbd', { text: key })), h('dd', { text: what })])));
    this.dialog = h('dialog', { 'aria-label': 'Help', class: 'help' }, list('Keys', KEYS, 'keys'),
      list('Search', FILTERS, 'keys stacked'), h('p', { class: 'note', text: 'Control or Command and the wheel, or two fingers, zoom; Shift and the wheel, or dragging, pan; dragging with Shift measures. The map above the panes is dragged and stretched.' }),
      h('form', { method: 'dialog' }, h('button', { class: 'plain' }, 'Close')));
    return this.dialog;
  },
  open() {
    if (!this.dialog.open) this.dialog.showModal();
  },
};

function stepPass(step) {
  const at = state.pin?.[0] === 'p' ? Number(state.pin.slice(1)) : step > 0 ? -1 : plan.live;
  const next = clamp(at + step, 0, plan.live - 1);
  set('pin', `p${next}`);
  reveal(state.pin);
}

function stepBarrier(step) {
  const all = plan.barriers.of.length;
  if (!all) return announce('this plan has no barriers');
  const at = state.pin?.[0] === 'b' ? Number(state.pin.slice(1)) : step > 0 ? -1 : all;
  set('pin', `b${(at + step + all) % all}`);
  reveal(state.pin);
  return announce(say.key(state.pin));
}

function stepFinding(step) {
  const all = payload.findings.length;
  if (!all) return announce('no findings');
  findings.at = ((findings.at ?? (step > 0 ? -1 : 0)) + step + all) % all;
  const key = findings.keyOf(findings.at);
  if (key) {
    set('pin', key);
    reveal(key);
  }
  return announce(`${payload.findings[findings.at].rule}: ${payload.findings[findings.at].message}`);
}

function escape() {
  const field = document.getElementById('search');
  if (document.activeElement === field || state.query) {
    field.value = '';
    set('query', '');
    if (document.activeElement === field) focusView();
  } else if (state.pin) set('pin', null);
}

// From the drawing to the card and back.
function toCard() {
  const aside = document.querySelector('.card');
  if (document.body.classList.contains('shut')) toggleCard();
  if (aside.contains(document.activeElement)) focusView();
  else aside.focus();
}

function focusView() {
  current().panel.querySelector('[data-cell][tabindex="0"]')?.focus({ preventScroll: true });
}

const ACTIONS = {
  '/': () => document.getElementById('search').focus(),
  '?': () => help.open(),
  '[': () => stepPass(-1),
  ']': () => stepPass(1),
  b: () => stepBarrier(1),
  B: () => stepBarrier(-1),
  n: () => stepFinding(1),
  N: () => stepFinding(-1),
  a: () => current().pan?.(-0.2),
  d: () => current().pan?.(0.2),
  w: () => current().zoom?.(1 / 1.5),
  s: () => current().zoom?.(1.5),
  f: () => current().fit?.(),
  z: () => {
    const found = (state.pin || state.hover) && current().locate(state.pin || state.hover);
    if (found && found[1].end >= found[1].at) current().zoomTo?.(found[1].at, found[1].end);
  },
  c: () => set('culled', !state.culled),
  p: toCard,
  k: toggleCard,
  x: () => views.some((view) => view.id === 'diff') && set('view', 'diff'),
  e: () => savePicture('svg'),
  E: () => savePicture('png'),
  t: () => {
    theme.next();
    announce(`colours: ${theme.get()}`);
  },
};

const WALK = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], Home: [-1e9, 0], End: [1e9, 0], PageUp: [0, -10], PageDown: [0, 10] };

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || help.dialog.open) return;
  const { target, key } = event;
  const text = target.matches('input[type=search], textarea');
  if (key === 'Escape') {
    escape();
    return;
  }
  if (text) {
    if (key === 'Enter') cycle(event.shiftKey ? -1 : 1);
    return;
  }
  const cell = target.closest('[data-cell]');
  const control = target.closest('button, input, summary, [role=tab], [role=separator], a, .card');
  if ((key === 'Enter' || key === ' ') && cell) current().open(cell.dataset.cell, cell);
  else if (WALK[key] && !control) current().move(...WALK[key]);
  else if (/^[1-9]$/.test(key) && views[key - 1]) set('view', views[key - 1].id);
  else if (ACTIONS[key]) ACTIONS[key]();
  else return;
  event.preventDefault();
}
