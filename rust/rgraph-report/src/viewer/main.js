// Puts the page together.

const plan = readPlan(payload.plan);
if (payload.frames) payload.measured ||= timesOf(payload.frames, payload.frames.median);
if (payload.measured) plan.scales.measured = measuredScale(plan, payload.measured);
const other = payload.against && readPlan(payload.against);
const changes = readChanges(payload.diff);
const say = words(plan, payload.hazards);
const images = new Map(payload.images);
// Those that only the run of the later plan left.
const laterImages = new Map(payload.later);

// Findings of the checker by their subject.
const findings = { byPass: new Map(), byResource: new Map() };
payload.findings.forEach(({ pass, resource }, at) => {
  const note = (map, key) => key !== undefined && (map.has(key) ? map.get(key).push(at) : map.set(key, [at]));
  note(findings.byPass, plan.passNamed.get(pass));
  note(findings.byResource, plan.resourceNamed.get(resource));
});
findings.keyOf = (at) => {
  const { pass, resource } = payload.findings[at];
  if (plan.passNamed.has(pass)) return `p${plan.passNamed.get(pass)}`;
  return plan.resourceNamed.has(resource) ? `r${plan.resourceNamed.get(resource)}` : '';
};

const views = [
  new Stack('frame', 'Frame', [new Timeline(), new Resources(), new MemoryMap()]), new Stack('timeline', 'Timeline', [new Timeline()]),
  new Stack('resources', 'Resources', [new Resources()]), new Stack('memory', 'Memory', [new MemoryMap()]),
  new GraphView(), new Matrix(), new Costs(), new Tables(),
];
if (payload.frames) views.push(new Frames());
if (images.size + laterImages.size) views.push(new Images());
if (payload.diff) views.push(new Differences());
const viewNamed = (id) => views.find((view) => view.id === id);
const current = () => views.find((view) => view.id === state.view);

function announce(text) {
  document.getElementById('announcement').textContent = text;
}

// Shows where a thing is: in this view, else in the first that has it.
function reveal(key) {
  if (current().reveal(key)) return;
  if (current().id === 'tables') return;
  const other = viewNamed('frame');
  if (other !== current()) {
    set('view', other.id);
    other.reveal(key);
  }
}

function tabs() {
  const list = h('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Views' });
  views.forEach((view, at) => {
    const tab = h('button', {
      role: 'tab', id: `tab-${view.id}`, type: 'button', 'aria-controls': `view-${view.id}`, 'aria-keyshortcuts': at < 9 && String(at + 1),
      onclick: () => set('view', view.id),
    }, at < 9 && h('kbd', { 'aria-hidden': 'true', text: String(at + 1) }), view.title);
    list.append(tab);
  });
  list.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const at = views.indexOf(current());
    set('view', views[(at + step + views.length) % views.length].id);
    document.getElementById(`tab-${state.view}`).focus();
    event.preventDefault();
  });
  return list;
}

// Scrolls the tabs, and nothing around them, until one is in sight.
function showTab(tab) {
  const list = tab.parentElement;
  list.scrollLeft = clamp(list.scrollLeft, tab.offsetLeft + tab.offsetWidth - list.clientWidth + 24, Math.max(0, tab.offsetLeft - 24));
}

function header() {
  const { meta } = plan;
  const culled = plan.passCount - plan.live;
  // The first matter most: those that do not fit are out of sight.
  const figures = [
    payload.findings.length > 0 && [count(payload.findings.length, 'finding'), 'bad'],
    [count(plan.live, 'pass', 'passes'), ''],
    payload.frames ? [framesText(), 'frames']
      : plan.scales.measured ? [`${micros(plan.scales.measured.took)} measured`, ''] : meta.frame_us > 0 && [micros(meta.frame_us), ''],
    [bytes(meta.memory), ''], culled && [`${number(culled)} culled`, 'off'],
    [queueText(), ''], [`${count(meta.barrier_calls, 'barrier call')}`, ''],
  ].filter(Boolean);
  const field = h('input', {
    type: 'search', id: 'search', placeholder: 'Search  /', 'aria-label': 'Search passes, resources and barriers', autocomplete: 'off', spellcheck: 'false',
    oninput: (event) => set('query', event.target.value),
  });
  return h('div', { class: 'top' },
    h('h1', { title: `${shown(meta.graph)} for ${shown(meta.profile)}` }, h('span', { text: shown(meta.graph) }), h('span', { class: 'note', text: `for ${shown(meta.profile)}` })),
    h('ul', { class: 'figures', 'aria-label': 'Figures' }, figures.map(([text, kind]) => h('li', { class: kind, text }))),
    h('div', { class: 'seek', role: 'search' }, field, h('output', { id: 'found', for: 'search', role: 'status' })),
    h('div', { class: 'buttons' },
      h('button', { type: 'button', id: 'live', hidden: true, title: 'Follow the running program' }),
      h('button', { type: 'button', class: 'plain toggle', id: 'details', 'aria-pressed': 'true', 'aria-keyshortcuts': 'k', onclick: toggleCard }, 'Details'),
      saveMenu(),
      h('button', { type: 'button', class: 'plain', id: 'theme', onclick: () => theme.next() }, 'Theme: system'),
      h('button', { type: 'button', class: 'plain', onclick: () => help.open(), 'aria-label': 'Help' }, '?')));
}

// Folds the card away, or brings it back.
function toggleCard() {
  const shut = document.body.classList.toggle('shut');
  document.getElementById('details').setAttribute('aria-pressed', String(!shut));
  dispatchEvent(new Event('resize'));
}

// How many queues are used, of those that there are.
function queueText() {
  const used = new Set(plan.batches.queue.filter((queue) => queue >= 0)).size;
  const all = plan.data.queues.length;
  return used < all ? `${used} of ${count(all, 'queue')}` : count(all, 'queue');
}

function start() {
  // In the frame of a notebook the page never scrolls itself: two scrollbars beside each other are one too many.
  document.documentElement.classList.toggle('embedded', parent !== window);
  const aside = h('aside', { class: 'card', 'aria-label': 'Details', tabindex: '0' });
  const stage = h('main', null, h('div', { class: 'views' }, views.map((view) => view.build())), aside);
  document.body.append(h('header', null, header(), tabs()), stage, help.build(), tip.build(), h('div', { id: 'announcement', class: 'hidden', role: 'status' }));

  on('view', () => {
    for (const view of views) {
      view.panel.hidden = view.id !== state.view;
      const tab = document.getElementById(`tab-${view.id}`);
      tab.setAttribute('aria-selected', String(view.id === state.view));
      tab.tabIndex = view.id === state.view ? 0 : -1;
    }
    document.body.dataset.view = state.view;
    if (innerWidth < 900) showTab(document.getElementById(`tab-${state.view}`));
    current().show();
  });
  const paint = () => {
    document.body.classList.toggle('pinned', Boolean(state.pin));
    current().paint();
    drawCard(aside);
  };
  on('hover', soon(() => {
    paint();
    tip.show(state.hover);
  }));
  on('pin', paint);
  on('query', () => {
    document.getElementById('search').value = state.query;
    find(state.query);
    document.getElementById('found').textContent = foundText();
    current().changed?.();
    current().paint();
  });
  on('culled', () => {
    for (const view of views) view.changed?.();
    announce(state.culled ? 'culled passes are shown' : 'culled passes are hidden');
  });
  on('theme', () => {
    document.getElementById('theme').textContent = `Theme: ${theme.get()}`;
  });
  addEventListener('keydown', onKey, { signal: ended });
  addEventListener('resize', soon(() => (current().resized ? current().resized() : current().draw())), { signal: ended });
  addEventListener('hashchange', recall, { signal: ended });
  // Browsers count pages before they tell of the other medium: what stands on paper must be drawn before that.
  const paper = (is) => {
    state.paper = is;
    document.documentElement.classList.toggle('printing', is);
    if (current().resized) current().resized();
    else current().draw();
  };
  addEventListener('beforeprint', () => paper(true), { signal: ended });
  addEventListener('afterprint', () => paper(false), { signal: ended });
  matchMedia('print').addEventListener('change', (media) => paper(media.matches), { signal: ended });

  theme.recall();
  drawCard(aside);
  state.view = '';
  const asked = new URLSearchParams(location.hash.slice(1)).get('view');
  set('view', views.some((view) => view.id === asked) ? asked : 'frame');
  recall();
  if (kept) restore(kept);
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

start();

// State that a reloaded page keeps from the one before: the part of the axis, the card, the focus, the image that
// is looked at.
function restore({ scale, from, to, shut, cell, image }) {
  if (plan.scales[scale]) {
    if (shared.axis.scale.id !== scale) shared.axis.use(plan.scales[scale]);
    shared.axis.show(from, to);
  }
  if (shut !== document.body.classList.contains('shut')) toggleCard();
  current().show();
  if (image) viewNamed('images')?.resume(image);
  if (cell) current().panel.querySelector(`[data-cell="${CSS.escape(cell)}"]`)?.focus({ preventScroll: true });
}

// What a server may do with the page.
return {
  version: payload.live,
  kept() {
    const { scale, from, to } = shared.axis;
    return { scale: scale.id, from, to, shut: document.body.classList.contains('shut'), cell: document.activeElement?.dataset.cell, image: viewNamed('images')?.look() };
  },
  // The last frames of the same plan: the newest is shown, unless one was chosen by hand.
  renew(frames, pictures) {
    payload.frames = frames;
    for (const [name, picture] of pictures || []) images.set(name, picture);
    viewNamed('frames').renewed();
    for (const picture of document.querySelectorAll('img[data-image]')) picture.src = images.get(picture.dataset.image);
    viewNamed('images')?.renewed((pictures || []).map(([name]) => name));
  },
  // Whether the page follows, in words; pressing it pauses and goes on.
  showState(what, act) {
    const button = document.getElementById('live');
    button.hidden = false;
    button.onclick = act;
    button.className = `plain toggle ${what}`;
    button.setAttribute('aria-pressed', String(what === 'live'));
    button.textContent = { live: 'Live', paused: 'Paused', lost: 'Program ended' }[what];
  },
};
