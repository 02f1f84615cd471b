// Many frames of one plan: a strip with a bar for each, spikes marked; what each pass took in all of them; any two
// compared, one above the other on one axis. The frame shown is the one of the measured axis in all views.

const STRIP = 92;
// Room under the bars for the marks of the two frames chosen, and above the longest bar.
const STRIP_FOOT = 16;
const STRIP_HEAD = 6;

// The times of one frame, as `measured` has those of a page with one.
function timesOf(frames, at) {
  const passes = frames.passes.filter((pass) => pass.us[at] !== null)
    .map(({ name, queue, group, begin, us }) => ({ name, queue, group, begin_us: begin[at], end_us: begin[at] + us[at] }));
  return { passes, host: [], calibrated: false };
}

// Bars as one line: at most one for each pixel, the longest of those that share one.
function bars(values, chosen, width, base, height, top) {
  const step = Math.max(width / values.length, 1);
  const longest = new Map();
  for (const at of chosen) {
    const x = Math.floor(((at + 0.5) * width) / values.length / step) * step + step / 2;
    longest.set(x, Math.max(longest.get(x) || 0, values[at] || 0));
  }
  const line = [...longest].map(([x, value]) => `M${x.toFixed(1)} ${base}V${(base - Math.min(1, value / top) * height).toFixed(1)}`).join('');
  return svg('path', { d: line, 'stroke-width': Math.max(1, step > 3 ? step - 1 : step) });
}

class Frames extends Differences {
  constructor() {
    super('frames', 'Frames', 'Passes in all frames');
    const { gpu_us: times, median } = payload.frames;
    const slowest = times.reduce((most, us, at) => (us > times[most] ? at : most), 0);
    Object.assign(this, { slowest, shows: median, against: slowest, sort: [3, -1] });
  }

  start() {
    const { spikes, gpu_us: times } = payload.frames;
    this.figures = h('ul', { class: 'figures compared', 'aria-label': 'All frames' }, this.figured());
    this.chosen = ['shows', 'against'].map((which, at) => this.slider(which, ['Shown', 'Compared with'][at]));
    const press = (text, act) => h('button', { type: 'button', class: 'plain', onclick: act }, text);
    this.tools.append(...this.chosen.map((one) => one.label), h('div', { class: 'buttons' }, press('Slowest', () => this.choose('shows', this.slowest)),
      press('Median', () => this.choose('shows', payload.frames.median)), (payload.live || spikes.length > 0) && press('Next spike', () => this.nextSpike()), press('Swap', () => this.swap()),
      h('button', { type: 'button', class: 'plain', onclick: (event) => this.copy(event.target) }, 'Copy')));
    this.strip_ = svg('svg', { class: 'frames-strip', role: 'img', 'aria-label': `GPU time of ${count(times.length, 'frame')}` });
    this.under = h('p', { class: 'note frames-note', 'aria-hidden': 'true' });
    this.strip_.addEventListener('pointermove', (event) => this.showNumbers(this.frameAt(event)));
    this.strip_.addEventListener('pointerleave', () => this.showNumbers(-1));
    this.strip_.addEventListener('click', (event) => this.choose(event.shiftKey ? 'against' : 'shows', this.frameAt(event)));
    this.pair = h('div', { class: 'pair', 'aria-hidden': 'true' });
    this.frame.before(this.figures, this.strip_, this.under, this.pair);
    this.grid.classList.add('table');
    this.showNumbers(-1);
  }

  figured() {
    const { run, spikes, spread } = payload.frames;
    const figure = (name, value) => h('li', { text: `${name} ${micros(value)}` });
    return [h('li', { text: count(run.length, 'frame') }), figure('least', spread.min), figure('median', spread.median), figure('99th percentile', spread.p99), figure('most', spread.max),
      h('li', { class: spikes.length ? 'more' : '', text: count(spikes.length, 'spike'), title: 'Longer than the median by a tenth and by six median absolute deviations' })];
  }

  // A slider of one of the two frames chosen: keys move it by a frame.
  slider(which, text) {
    const last = payload.frames.run.length - 1;
    const input = h('input', { type: 'range', name: which, min: 0, max: last, step: 1, oninput: () => this.choose(which, Number(input.value)) });
    const output = h('output', { class: 'note value' });
    return { input, output, label: h('label', { class: 'slide' }, text, input, output) };
  }

  frameAt(event) {
    const { left, width } = this.strip_.getBoundingClientRect();
    const { length } = payload.frames.run;
    return clamp(Math.floor(((event.clientX - left) / width) * length), 0, length - 1);
  }

  // What the pointer is over.
  showNumbers(at) {
    const { run, gpu_us: times, spikes } = payload.frames;
    this.under.textContent = at < 0 ? 'A bar per frame, spikes in red. Click shows a frame in all views, Shift and click compares with it.'
      : `Run ${run[at]}: ${micros(times[at])}${spikes.includes(at) ? ', a spike' : ''}`;
  }

  choose(which, at) {
    const { median } = payload.frames;
    const other_ = which === 'shows' ? 'against' : 'shows';
    this[which] = at;
    if (which === 'shows') this.held = payload.frames.run[at];
    if (this[other_] === at && payload.frames.run.length > 1) this[other_] = at === median ? this.slowest : median;
    showFrame(this.shows);
    this.sorted = null;
    this.draw();
  }

  // A server has other frames; the newest is shown until one is chosen by hand.
  renewed() {
    const { gpu_us: times, median, run } = payload.frames;
    const last = run.length - 1;
    this.slowest = times.reduce((most, us, at) => (us > times[most] ? at : most), 0);
    const found = this.held === undefined ? -1 : run.indexOf(this.held);
    this.shows = found < 0 ? last : found;
    this.against = median;
    if (found < 0) this.held = undefined;
    showFrame(this.shows);
    document.querySelector('.figures .frames').textContent = framesText();
    if (!this.built) return;
    for (const { input } of this.chosen) input.max = last;
    this.figures.replaceChildren(...this.figured());
    this.sorted = null;
    if (!this.panel.hidden) this.draw();
  }

  swap() {
    [this.shows, this.against] = [this.against, this.shows];
    this.choose('shows', this.shows);
  }

  nextSpike() {
    const { spikes, run } = payload.frames;
    const next = spikes.find((at) => at > this.shows) ?? spikes[0];
    if (next === undefined) return;
    this.choose('shows', next);
    announce(`run ${run[next]}, ${micros(payload.frames.gpu_us[next])}`);
  }

  // Both frames on the axis of measured time.
  get sides() {
    return [this.shows, this.against].map((at) => ({ plan, scale: measuredScale(plan, timesOf(payload.frames, at)), name: `run ${payload.frames.run[at]}` }));
  }

  // Passes that take longer or shorter by a tenth, and by a hundredth of the frame.
  get signs() {
    const signs = new Map();
    for (const { name, us } of payload.frames.passes) {
      const [one, two] = [us[this.shows] ?? 0, us[this.against] ?? 0];
      if (Math.abs(one - two) > Math.max(0.1 * Math.min(one, two), 0.01 * payload.frames.spread.median)) signs.set(name, SIGNS.changed);
    }
    return signs;
  }

  get table() {
    const { passes, run } = payload.frames;
    const { shows, against } = this;
    return {
      title: 'Passes in all frames',
      columns: ['#', 'Pass', 'Min µs', 'Median µs', 'P99 µs', 'Max µs', `Run ${run[shows]} µs`, `Run ${run[against]} µs`, 'Difference µs', 'Max ÷ median', 'Queue'],
      least: { 2: 84, 3: 122, 4: 92, 5: 92, 9: 164 },
      length: () => passes.length,
      key: (at) => (plan.passNamed.has(passes[at].name) ? `p${plan.passNamed.get(passes[at].name)}` : ''),
      row(at) {
        const { name, queue, spread: { min, median, p99, max }, us } = passes[at];
        const of = (frame) => (us[frame] === null ? '' : round(us[frame]));
        const more = us[shows] === null || us[against] === null ? '' : round(us[against] - us[shows]);
        return [at, shown(name), round(min), round(median), round(p99), round(max), of(shows), of(against), more, median > 0 ? round(max / median) : '', queue ?? 'host'];
      },
      inside(at, column, value) {
        if (column !== 9) return null;
        const { us, spread: { max } } = passes[at];
        return h('span', { class: 'over-run' }, svg('svg', { width: 84, height: 18, 'aria-hidden': 'true' }, bars(us, us.keys(), 84, 18, 17, max || 1)), value === '' ? '' : `${number(value)}×`);
      },
    };
  }

  draw() {
    super.draw();
    this.chosen.forEach(({ input, output }, at) => {
      const frame = at ? this.against : this.shows;
      input.value = frame;
      output.textContent = `run ${payload.frames.run[frame]}, ${micros(payload.frames.gpu_us[frame])}`;
    });
    this.drawStrip();
  }

  drawStrip() {
    const { gpu_us: times, spikes, spread } = payload.frames;
    const width = this.strip_.clientWidth;
    const [base, height] = [STRIP - STRIP_FOOT, STRIP - STRIP_FOOT - STRIP_HEAD];
    const dressed = (element, name) => {
      element.classList.add(name);
      return element;
    };
    // One frame that took very long leaves the others their height: its bar ends at the top.
    const top = Math.min(spread.max, Math.max(4 * spread.median, 1.2 * spread.p99)) || 1;
    const y = base - (spread.median / top) * height;
    const level = svg('line', { class: 'level', x1: 0, x2: width, y1: y, y2: y });
    const marks = [this.shows, this.against].map((at, which) => {
      const x = ((at + 0.5) * width) / times.length;
      return svg('g', { class: which ? 'mark against' : 'mark shows' }, svg('line', { x1: x, x2: x, y1: 0, y2: base }), svg('path', { d: `M${x} ${base + 2}l-5 9h10z` }));
    });
    this.strip_.replaceChildren(dressed(bars(times, times.keys(), width, base, height, top), 'frame-bars'),
      dressed(bars(times, spikes, width, base, height, top), 'frame-spikes'), level, ...marks);
  }
}

const framesText = () => `${count(payload.frames.run.length, 'frame')}, median ${micros(payload.frames.spread.median)}`;

// Makes the measured axis of all views that of one frame; what is in view stays in view.
function showFrame(at) {
  const scale = measuredScale(plan, timesOf(payload.frames, at));
  plan.scales.measured = scale;
  const { axis } = shared;
  if (axis.scale.id === 'measured') {
    const { from, to, scale: before } = axis;
    const whole = to - from >= (before.extent - (before.start || 0)) * 0.98;
    axis.use(scale);
    if (!whole) axis.show(from, to);
  }
  for (const view of views) if (view instanceof Stack) view.renew();
  const card = document.querySelector('.card');
  if (!card.contains(document.activeElement)) card.drawn = '';
  tell('pin');
}

// What a pass took in all frames, in words; empty without frames.
function framesOf(name) {
  const found = payload.frames?.passes.find((pass) => pass.name === name);
  if (!found) return '';
  const { min, median, p99, max } = found.spread;
  return `${micros(min)} to ${micros(max)}, median ${micros(median)}, 99th percentile ${micros(p99)}`;
}
