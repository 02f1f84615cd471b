// The horizontal axis of a drawing: what part of a scale is in view, in pixels. Shared by views of the same scale.

// Pixels of a drawing that the card covers: in windows of these sizes it lies on top (see the style sheet).
const OVERLAID = matchMedia('(min-width: 761px) and (max-width: 1000px)');
const DRAWER = 300;
const drawer = () => (OVERLAID.matches && document.body.classList.contains('pinned') && !document.body.classList.contains('shut') ? DRAWER : 0);

class Axis {
  constructor(scale) {
    this.width = 800;
    this.use(scale);
  }

  use(scale) {
    this.scale = scale;
    // Whether it has shown more than what is shown first.
    this.wide = false;
    this.from = scale.start || 0;
    this.to = scale.extent;
    if (scale.shown) this.show(...scale.shown);
  }

  get smallest() {
    // As far as one can magnify.
    return this.scale.id === 'order' ? Math.min(this.scale.extent, 2) : this.scale.extent / 1e6;
  }

  x(value) {
    return ((value - this.from) / (this.to - this.from)) * this.width;
  }

  value(x) {
    return this.from + (x / this.width) * (this.to - this.from);
  }

  show(from, to) {
    const { extent, start = 0, shown } = this.scale;
    const span = clamp(to - from, this.smallest, extent - start);
    this.from = clamp(from, start, extent - span);
    this.to = this.from + span;
    const slack = span * 1e-9;
    this.wide ||= Boolean(shown && (this.from < shown[0] - slack || this.to > shown[1] + slack));
  }

  fit() {
    this.show(this.scale.start || 0, this.scale.extent);
  }

  zoom(factor, x = this.width / 2) {
    const at = this.value(x);
    const span = clamp((this.to - this.from) * factor, this.smallest, this.scale.extent - (this.scale.start || 0));
    const from = at - (x / this.width) * span;
    this.show(from, from + span);
  }

  pan(pixels) {
    const by = (pixels / this.width) * (this.to - this.from);
    this.show(this.from + by, this.to + by);
  }

  // Moves, and magnifies where needed, until a range is in view and at least `pixels` wide.
  reveal(begin, end, pixels) {
    if (!(begin <= end)) return;
    const wanted = end > begin ? ((end - begin) * this.width) / pixels : this.to - this.from;
    if (this.to - this.from > wanted) this.show((begin + end - wanted) / 2, (begin + end + wanted) / 2);
    const span = this.to - this.from;
    // What lies under the card is not in view.
    const share = clamp(1 - drawer() / this.width, 0.3, 1);
    const last = this.from + span * share;
    if (begin < this.from) this.show(begin - span * share * 0.1, begin + span * (1 - share * 0.1));
    else if (end > last) this.show(end - span * share * 0.9, end + span * (1 - share * 0.9));
  }

  // Where to write numbers: round steps of time, or every so many columns.
  ticks() {
    const wanted = Math.max(2, Math.floor(this.width / 90));
    const rough = (this.to - this.from) / wanted;
    const base = 10 ** Math.floor(Math.log10(rough));
    let step = [1, 2, 5, 10].find((of) => of * base >= rough) * base;
    if (this.scale.id === 'order') step = Math.max(1, Math.round(step));
    const list = [];
    for (let at = Math.ceil(this.from / step) * step; at <= this.to; at += step) list.push(at);
    return { list, step };
  }

  tickText(at, step) {
    if (this.scale.id === 'order') return String(at);
    if (this.to >= 10000 || this.from <= -10000) return `${+(at / 1000).toFixed(step < 10 ? 3 : step < 100 ? 2 : 1)} ms`;
    return `${+at.toFixed(step < 0.1 ? 3 : step < 1 ? 2 : step < 10 ? 1 : 0)} µs`;
  }
}
