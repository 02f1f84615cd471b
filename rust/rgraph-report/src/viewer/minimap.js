// The map of the whole frame above the panes, on the scale of the axis: passes by queue over the bytes that are alive,
// and a window on the part in view that can be dragged and stretched. What the host did before and after the frame is in
// it once the axis has shown that.

class Minimap {
  constructor(stack) {
    this.stack = stack;
  }

  build() {
    this.canvas = h('canvas', { 'aria-hidden': 'true' });
    this.window = h('div', { class: 'window', 'aria-hidden': 'true' }, h('i'), h('i'));
    this.area = h('div', { class: 'area' }, this.canvas, this.window);
    this.area.addEventListener('pointerdown', (event) => this.grab(event));
    this.text = h('p', { class: 'note' });
    const { alive, peak } = frameMemory();
    this.text.append(...(plan.live && alive[peak] > 0
      ? [h('span', { class: 'strong', text: `${bytes(alive[peak])} at most` }), h('span', { text: `at ${shown(plan.passes.name[peak])}` })]
      : [h('span', { text: 'No memory of its own' })]));
    return h('div', { class: 'minimap' }, this.text, this.area);
  }

  // Where the map begins and ends.
  get range() {
    const { wide, scale: { start = 0, extent, shown } } = this.stack.axis;
    return shown && !wide ? shown : [start, extent];
  }

  draw() {
    const { axis, names } = this.stack;
    const [start, extent] = this.range;
    const [from, to] = [(axis.from - start) / (extent - start), (axis.to - start) / (extent - start)];
    place(this.text, 12, null, names - 20);
    place(this.area, names, null, axis.width);
    this.window.style.left = `${from * 100}%`;
    this.window.style.width = `${(to - from) * 100}%`;
    const key = `${axis.scale.id} ${start} ${extent} ${axis.width} ${theme.get()} ${matchMedia('(prefers-color-scheme: dark)').matches} ${document.documentElement.className}`;
    if (this.drawn === key) return;
    this.drawn = key;
    this.picture(axis);
  }

  picture({ scale, width }) {
    const [start, extent] = this.range;
    const density = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * density);
    this.canvas.height = 40 * density;
    const brush = this.canvas.getContext('2d');
    brush.scale(density, density);
    const { begin, end } = scale;
    const x = (value) => ((value - start) / (extent - start)) * width;
    const colours = paints();
    const { alive, peak } = frameMemory();
    brush.fillStyle = colours.off.edge;
    for (let pass = 0; pass < plan.live; pass += 1) {
      const height = (alive[pass] / (alive[peak] || 1)) * 36;
      const next = pass + 1 < plan.live ? begin[pass + 1] : end[pass];
      brush.fillRect(x(begin[pass]), 40 - height, Math.max(0.5, x(Math.max(next, end[pass])) - x(begin[pass])), height);
    }
    const lanes = plan.lanes.filter((queue) => plan.passes.queue.some((of, pass) => of === queue && !plan.isCulled(pass)));
    const tall = Math.min(9, 30 / Math.max(1, lanes.length));
    for (let pass = 0; pass < plan.live; pass += 1) {
      const row = lanes.indexOf(plan.passes.queue[pass]);
      const left = x(begin[pass]);
      brush.fillStyle = colours.hues[Number(hue(plan.passes.queue[pass]).slice(4)) || (plan.passes.queue[pass] < 0 ? 3 : 0)].edge;
      brush.fillRect(left, 5 + row * tall, Math.max(0.6, x(end[pass]) - left - (x(end[pass]) - left > 3 ? 1 : 0)), tall - 2);
    }
  }

  grab(event) {
    if (event.button !== 0) return;
    const { axis } = this.stack;
    const { left, width } = this.area.getBoundingClientRect();
    const [start, extent] = this.range;
    const value = (x) => start + ((x - left) / width) * (extent - start);
    const near = (side) => Math.abs(value(event.clientX) - side) < (6 / width) * (extent - start);
    const whole = axis.to - axis.from > (extent - start) * 0.999;
    const { from, to } = axis;
    const grip = value(event.clientX);
    const inside = grip > from && grip < to && !whole;
    const move = (at) => {
      const now = value(at.clientX);
      if (near(from) && !inside) axis.show(Math.min(now, to), to);
      else if (near(from)) axis.show(Math.min(now, to), to);
      else if (near(to)) axis.show(from, Math.max(now, from));
      else if (inside) axis.show(from + now - grip, to + now - grip);
      else if (whole) axis.show(Math.min(grip, now), Math.max(grip, now));
      else axis.show(now - (to - from) / 2, now + (to - from) / 2);
      this.stack.moved();
    };
    if (!inside && !near(from) && !near(to) && !whole) move(event);
    drag(event, move);
  }
}

const frameMemory = () => (frameMemory.made ||= memoryCurve(plan));
