// The strip below: memory alive over the frame, its peak, and the part of the frame that is in view.

const strip = {
  build() {
    this.picture = svg('svg', { class: 'curve', 'aria-hidden': 'true', preserveAspectRatio: 'none' });
    this.window = h('div', { class: 'window', 'aria-hidden': 'true' });
    this.text = h('p', { class: 'note' });
    this.area = h('div', { class: 'area' }, this.picture, this.window);
    this.area.addEventListener('pointerdown', (event) => this.drag(event));
    this.redraw = soon(() => this.draw());
    this.curve = memoryCurve(plan);
    const { alive, peak } = this.curve;
    this.text.textContent = plan.live && alive[peak] > 0
      ? `Memory alive: at most ${bytes(alive[peak])}, at ${shown(plan.passes.name[peak])}` : 'No memory of its own';
    return h('footer', { class: 'strip' }, this.text, this.area);
  },

  redraw() {},

  // The part of the frame that a view shows, as shares of the whole order.
  draw() {
    const { axis } = current();
    const { alive, peak } = this.curve;
    const top = alive[peak] || 1;
    if (!this.drawn) {
      this.drawn = true;
      const step = Math.max(1, Math.floor(plan.live / 1200));
      let path = 'M0 40';
      for (let slot = 0; slot < plan.live; slot += step) {
        let most = 0;
        for (let at = slot; at < Math.min(plan.live, slot + step); at += 1) most = Math.max(most, alive[at]);
        const y = 40 - (most / top) * 36;
        path += ` L${(slot / plan.live) * 1000} ${y.toFixed(2)} L${(Math.min(slot + step, plan.live) / plan.live) * 1000} ${y.toFixed(2)}`;
      }
      this.picture.setAttribute('viewBox', '0 0 1000 40');
      const x = ((peak + 0.5) / Math.max(1, plan.live)) * 1000;
      this.picture.replaceChildren(svg('path', { d: `${path} L1000 40 Z` }), svg('line', { x1: x, x2: x, y1: 0, y2: 40, 'vector-effect': 'non-scaling-stroke' }));
    }
    this.window.hidden = !axis;
    if (!axis) return;
    const { start = 0, extent } = axis.scale;
    const [from, to] = [(axis.from - start) / (extent - start), (axis.to - start) / (extent - start)];
    this.window.style.left = `${from * 100}%`;
    this.window.style.width = `${(to - from) * 100}%`;
  },

  drag(event) {
    const { axis } = current();
    if (!axis || event.button !== 0) return;
    const move = (at) => {
      const { left, width } = this.area.getBoundingClientRect();
      const { start = 0, extent } = axis.scale;
      const middle = start + ((at.clientX - left) / width) * (extent - start);
      const half = (axis.to - axis.from) / 2;
      axis.show(middle - half, middle + half);
      current().moved();
    };
    const stop = () => {
      removeEventListener('pointermove', move);
      removeEventListener('pointerup', stop);
    };
    move(event);
    addEventListener('pointermove', move);
    addEventListener('pointerup', stop);
  },
};
