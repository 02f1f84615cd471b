// Two lines beside the pointer: what is under it, at once; the card tells the rest. With pictures where there are some.

const tip = {
  build() {
    this.box = h('div', { class: 'tip', 'aria-hidden': 'true' });
    this.box.hidden = true;
    addEventListener('pointermove', (event) => {
      this.pointed = true;
      [this.x, this.y] = [event.clientX, event.clientY];
      if (event.buttons || event.pointerType === 'touch') this.show(null);
      else if (!this.box.hidden) this.place();
    }, { passive: true, signal: ended });
    for (const kind of ['keydown', 'pointerdown', 'wheel']) {
      addEventListener(kind, () => {
        this.pointed = false;
        this.show(null);
      }, { passive: true, signal: ended });
    }
    return this.box;
  },

  // Only what the pointer came to has a tip: who walks by keys reads the card.
  show(key) {
    const shows = key && !state.dragging && this.pointed && say.tip[key[0]];
    this.box.hidden = !shows;
    if (!shows) return;
    const at = Number(key.slice(1));
    const pictures = picturesOf(key).slice(0, 3);
    // A line may carry several resources.
    const along = key[0] === 'r' && state.along.length > 1 ? state.along : null;
    const title = key[0] === 'h' ? '' : along ? count(along.length, 'resource') : say.title(key);
    const text = along ? along.slice(0, 8).map((one) => shown(plan.resources.name[one])).join(', ') + (along.length > 8 ? `, and ${along.length - 8} more` : '') : say.tip[key[0]](at);
    this.box.replaceChildren(h('p', { class: 'strong', text: title }), h('p', { text }),
      ...(pictures.length ? [h('p', { class: 'shots' }, pictures.map((resource) => h('img', { src: images.get(plan.resources.name[resource]), alt: '' })))] : []));
    this.size = [this.box.offsetWidth, this.box.offsetHeight];
    this.place();
  },

  place() {
    const [width, height] = this.size;
    const left = this.x + 16 + width > innerWidth ? Math.max(4, this.x - width - 12) : this.x + 16;
    const top = this.y + 20 + height > innerHeight ? Math.max(4, this.y - height - 12) : this.y + 20;
    this.box.style.transform = `translate(${left}px, ${top}px)`;
  },
};

// Images of a thing: the resource's own, or those that a pass writes.
function picturesOf(key) {
  const at = Number(key.slice(1));
  const { accesses, resources } = plan;
  const has = (resource) => images.has(resources.name[resource]);
  if (key[0] === 'r') return has(at) ? [at] : [];
  if (key[0] === 'a') return has(accesses.resource[at]) ? [accesses.resource[at]] : [];
  if (key[0] !== 'p') return [];
  return [...new Set([...plan.accessesOf(at)].filter((access) => accesses.mode[access] & WRITES).map((access) => accesses.resource[access]))].filter(has);
}
