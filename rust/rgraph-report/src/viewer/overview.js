// The whole graph in a corner while a part of it is in view: passes as specks, and a window on the part that can be
// dragged. Who walks with keys sees it move; it is not in the walk itself.

// In pixels: the most that it takes, how wide it is beside a graph of many bands, what such a graph leaves free for it,
// the least that a side has, and rooms too small to have it. Where more than `most` of the graph is in view it would
// cover more than it tells.
const CORNER = { wide: 200, tall: 150, strip: 36, aside: 52, least: 32, room: 230, most: 0.75 };

class Overview {
  constructor(view) {
    this.view = view;
    this.canvas = h('canvas');
    this.part = h('div', { class: 'window' });
    this.area = h('div', { class: 'overview', 'aria-hidden': 'true', title: 'All of it: drag the window' }, this.canvas, this.part);
    this.area.hidden = true;
    this.area.addEventListener('pointerdown', (event) => this.grab(event));
    this.area.addEventListener('click', (event) => event.stopPropagation());
  }

  draw() {
    const { drawing, scale, left, top, width, room } = this.view;
    const seen = (from, extent, size) => clamp((from + extent) / scale, 0, size) - clamp(from / scale, 0, size);
    const share = (seen(left, width, drawing.width) * seen(top, room, drawing.height)) / (drawing.width * drawing.height);
    this.area.hidden = share > CORNER.most || printing() || Math.min(width, room) < CORNER.room;
    if (this.area.hidden) return;
    const fitting = drawing.large ? CORNER.strip / drawing.width : Math.min(CORNER.wide / drawing.width, CORNER.tall / drawing.height);
    this.width = Math.round(Math.max(CORNER.least, drawing.width * fitting));
    this.height = Math.round(clamp(drawing.height * fitting, CORNER.least, room - 24));
    this.across = this.width / drawing.width;
    this.down = this.height / drawing.height;
    const { width: wide, height: tall } = this;
    const key = `${wide} ${tall} ${state.pin} ${theme.get()} ${matchMedia('(prefers-color-scheme: dark)').matches}`;
    if (this.drawn !== drawing || this.key !== key) this.picture(drawing);
    Object.assign(this, { drawn: drawing, key });
    place(this.area, width - wide - 14, room - tall - 14, wide, tall);
    const [x, y] = [clamp((left / scale) * this.across, 0, wide - 6), clamp((top / scale) * this.down, 0, tall - 6)];
    const [end, low] = [((left + width) / scale) * this.across, ((top + room) / scale) * this.down];
    place(this.part, x, y, clamp(end, x + 6, wide) - x, clamp(low, y + 6, tall) - y);
  }

  picture(drawing) {
    const density = devicePixelRatio || 1;
    Object.assign(this.canvas, { width: Math.round(this.width * density), height: Math.round(this.height * density) });
    const brush = this.canvas.getContext('2d');
    brush.scale(density, density);
    const colours = paints();
    const wide = Math.max(1.5, NODE.width * this.across - 1);
    const tall = Math.max(1, NODE.height * this.down - 1);
    const pinned = state.pin && this.view.nodeOf.get(state.pin);
    for (const node of drawing.nodes) {
      const queue = plan.passes.queue[node.pass];
      const of = node.culled ? colours.off : colours.hues[queue < 0 ? 3 : Number(hue(queue).slice(4))];
      brush.fillStyle = node === pinned ? colours.inks.accent : of.edge;
      const grown = node === pinned ? 2 : 0;
      brush.fillRect(node.x * this.across - grown, node.y * this.down - tall / 2 - grown, wide + 2 * grown, tall + 2 * grown);
    }
  }

  grab(event) {
    event.stopPropagation();
    if (event.button !== 0) return;
    const { view } = this;
    const frame = this.area.getBoundingClientRect();
    const move = (at) => {
      view.left = ((at.clientX - frame.left) / this.across) * view.scale - view.width / 2;
      view.top = ((at.clientY - frame.top) / this.down) * view.scale - view.room / 2;
      view.redraw();
    };
    move(event);
    drag(event, move);
  }
}
