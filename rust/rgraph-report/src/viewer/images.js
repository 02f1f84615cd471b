// Pictures of images in the order of the passes that first write them; one at a time large, with values under the
// pointer, channels, exposure and range.

class Images {
  constructor() {
    Object.assign(this, { id: 'images', title: 'Images', built: false, zoomed: 1 });
  }

  build() {
    this.tools = h('div', { class: 'tools', role: 'group', 'aria-label': 'Images: options' });
    this.list = h('ul', { class: 'gallery', 'aria-label': 'Images in order of passes' });
    this.stage = h('div', { class: 'stage' });
    this.stage.hidden = true;
    this.panel = h('section', { class: 'view', id: 'view-images', role: 'tabpanel', 'aria-labelledby': 'tab-images' }, this.tools,
      h('div', { class: 'frame', tabindex: 0, 'aria-label': 'Images' }, this.list, this.stage));
    this.panel.hidden = true;
    return this.panel;
  }

  show() {
    if (!this.built) {
      this.built = true;
      this.start();
    }
    this.paint();
    this.renewed([this.name]);
  }

  start() {
    this.all = [...[...images.keys()].map((name) => pictured(name, plan)), ...[...laterImages.keys()].map((name) => pictured(name, other || plan))]
      .filter(Boolean).sort((a, b) => a.place - b.place || a.at - b.at);
    const slide = (name, label, props) => {
      const output = h('output', { class: 'value' });
      const input = h('input', { type: 'range', name, ...props, oninput: () => {
        this[name] = Number(input.value);
        this.develop();
      } });
      this.slides[name] = { input, output };
      return h('label', { class: 'slide' }, label, input, output);
    };
    this.slides = {};
    this.parts = h('div', { class: 'parts' });
    this.back = h('button', { type: 'button', class: 'plain', onclick: () => this.close() }, 'All images');
    this.controls = h('div', { class: 'pane-tools' }, this.back, this.parts,
      choice('Channels', [['rgb', 'RGB'], ['r', 'R'], ['g', 'G'], ['b', 'B'], ['a', 'A'], ['heat', 'False colors']], 'rgb', (value) => {
        this.channel = value;
        this.develop();
      }),
      slide('exposure', 'Exposure', { min: -6, max: 6, step: 0.25 }), slide('black', 'Black', { step: 'any' }), slide('white', 'White', { step: 'any' }),
      h('button', { type: 'button', class: 'plain', onclick: () => this.stretch() }, 'Fit range'),
      this.value = h('output', { class: 'note value' }));
    this.controls.hidden = true;
    this.note = h('span', { class: 'note', text: `${count(this.all.length, 'image')} after the run, in order of the passes that first write them.` });
    this.tools.append(this.note, this.controls);
    this.channel = 'rgb';
    this.list.append(...this.all.map((one) => this.card(one)));
    this.canvas = h('canvas', { role: 'img' });
    this.canvas.addEventListener('pointermove', (event) => this.under(event));
    this.canvas.addEventListener('pointerleave', () => {
      this.pointed = null;
      this.value.textContent = this.sized();
    });
    this.stage.addEventListener('wheel', (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      this.zoom(1.0015 ** event.deltaY);
      event.preventDefault();
    }, { passive: false });
    this.stage.append(this.canvas);
  }

  card(one) {
    const { name, of, at, passes, key } = one;
    const text = shown(name);
    const button = h('button', { type: 'button', 'aria-label': `${text}: look closer`, onclick: () => this.open(one) },
      h('img', { src: pictureOf(name), alt: '', loading: 'lazy', data: { image: name } }));
    const by = passes.length ? [shown(of.passes.name[passes[0]]), passes.length > 1 && ` and ${count(passes.length - 1, 'more', 'more')}`] : ['not written here'];
    return h('li', { data: key ? { name, key } : { name } }, button, h('p', { class: 'strong', text, title: text }),
      h('p', { class: 'note' }, by.filter(Boolean).join('')), h('p', { class: 'note', text: `${of.text(of.resources.format[at])}, ${of.text(of.resources.shape[at])}` }),
      ...compared(one));
  }

  // The image that is shown large.
  get name() {
    return this.shows?.name;
  }

  // How an image is looked at, for the page that takes the place of this one; and the same image looked at as before.
  look() {
    const { name, exposure, black, white, channel, zoomed } = this;
    return this.pixels && { name, kept: { exposure, black, white, channel, zoomed } };
  }

  async resume({ name, kept }) {
    const one = this.built && this.all.find((known) => known.name === name);
    if (!one) return;
    await this.open(one);
    Object.assign(this, kept);
    this.controls.querySelector(`input[value="${kept.channel}"]`).checked = true;
    this.load(true);
  }

  // Shows one image large.
  async open(one) {
    if (one.key) set('pin', one.key);
    this.list.hidden = true;
    this.note.hidden = true;
    this.stage.hidden = false;
    this.controls.hidden = false;
    Object.assign(this, { shows: one, pixels: null, pointed: null });
    this.canvas.setAttribute('aria-label', `${shown(this.name)} after the run`);
    this.back.focus();
    this.sources = payload.live ? await valuesNow(this.name) : (payload.values || []).filter((value) => value.name === one.name);
    if (this.shows !== one) return;
    const mips = [...new Set(this.sources.map((value) => value.mip))].sort((x, y) => x - y);
    const [before, after] = [false, true].map((side) => this.sources.some((value) => value.after === side));
    const both = before && after;
    Object.assign(this, { mip: mips[0] ?? 0, layer: 0, side: after && !before ? 'after' : 'before' });
    const again = (what) => (value) => {
      this[what] = what === 'side' ? value : Number(value);
      this.load();
    };
    const layers = this.sources[0]?.layers || [0];
    this.parts.replaceChildren(...[
      both && choice('Plan', [['before', 'Before'], ['after', 'After'], ['difference', 'Difference']], 'before', again('side')),
      mips.length > 1 && choice('Mip', mips.map((mip) => [String(mip), String(mip)]), String(this.mip), again('mip')),
      layers.length > 1 && choice('Layer', layers.map((layer, at) => [String(at), String(layer)]), '0', again('layer')),
    ].filter(Boolean));
    this.zoomed = 0;
    await this.load();
  }

  // A server has newer pictures of these: what is shown large gets newer values in the range that was chosen.
  async renewed(names) {
    const { shows } = this;
    if (!payload.live || shows === undefined || state.view !== 'images' || !names.includes(this.name)) return;
    const sources = await valuesNow(this.name);
    if (this.shows !== shows || !sources.length) return;
    this.sources = sources;
    this.load(true);
  }

  // Reads the values that are chosen and shows them in the range that suits their kind, or in the one that was `kept`.
  async load(kept = false) {
    const { shows, side, mip } = this;
    const turn = this.turn = (this.turn || 0) + 1;
    this.stage.setAttribute('aria-busy', 'true');
    const of = (after) => this.sources.find((one) => one.after === after && one.mip === mip);
    let pixels = null;
    if (!this.sources.length) pixels = await pictureValues(pictureOf(this.name));
    else if (side === 'difference') pixels = difference(await valuesOf(of(false), this.layer), await valuesOf(of(true), this.layer));
    else pixels = await valuesOf(of(side === 'after'), this.layer);
    // Another one was chosen meanwhile.
    if (this.shows !== shows || this.turn !== turn) return;
    this.stage.removeAttribute('aria-busy');
    this.pixels = pixels;
    if (!pixels) {
      this.value.textContent = side === 'difference' ? 'the sizes differ' : 'that mip was not given';
      return;
    }
    Object.assign(this.canvas, { width: pixels.width, height: pixels.height });
    const { clientWidth, clientHeight } = this.panel.querySelector('.frame');
    const [least, most] = pixels.range;
    const [black, white] = pixels.usual;
    for (const name of ['black', 'white']) dress(this.slides[name].input, { min: Math.min(least, black), max: Math.max(most, white) });
    if (!kept) Object.assign(this, { exposure: 0, black, white });
    if (!this.zoomed) this.zoomed = Math.max(0.1, Math.min((clientWidth - 40) / pixels.width, (clientHeight - 40) / pixels.height, 12));
    this.zoom(1);
    this.develop();
    if (this.pointed) this.under(this.pointed);
    else this.value.textContent = this.sized();
  }

  sized() {
    if (!this.pixels) return '';
    const { width, height, of: [whole, high] } = this.pixels;
    return width === whole && height === high ? `${whole}×${high}` : `${whole}×${high}, shown as means in ${width}×${height}`;
  }

  close() {
    const { shows } = this;
    this.shows = undefined;
    this.list.hidden = false;
    this.note.hidden = false;
    this.stage.hidden = true;
    this.controls.hidden = true;
    [...this.list.children].find((item) => item.dataset.name === shows?.name)?.querySelector('button').focus();
  }

  // Applies channel, range and exposure; light is encoded for the eye (IEC 61966-2-1), all else is shown as it is.
  develop() {
    for (const [name, { input, output }] of Object.entries(this.slides)) {
      input.value = this[name];
      output.textContent = name === 'exposure' ? `${this.exposure > 0 ? '+' : ''}${this.exposure}` : figure(this[name]);
    }
    if (!this.pixels) return;
    const { width, height, data, light } = this.pixels;
    const out = new ImageData(width, height);
    const gain = 2 ** this.exposure / (this.white - this.black || 1e-9);
    const byte = (value) => {
      const share = clamp((value - this.black) * gain, 0, 1);
      return 255 * (light ? (share <= 0.0031308 ? 12.92 * share : 1.055 * share ** (1 / 2.4) - 0.055) : share);
    };
    const single = { r: 0, g: 1, b: 2, a: 3 }[this.channel];
    for (let at = 0; at < data.length; at += 4) {
      const texel = [data[at], data[at + 1], data[at + 2]];
      if (!texel.every(Number.isFinite)) out.data.set([255, 0, 255], at);
      else if (single !== undefined) out.data.fill(byte(data[at + single]), at, at + 3);
      else if (this.channel === 'heat') falseColour(out.data, at, byte(texel[0] * 0.2126 + texel[1] * 0.7152 + texel[2] * 0.0722));
      else out.data.set(texel.map(byte), at);
      out.data[at + 3] = 255;
    }
    this.canvas.getContext('2d', { willReadFrequently: true }).putImageData(out, 0, 0);
  }

  // Black and white where the picture has its least and its largest value.
  stretch() {
    if (!this.pixels) return;
    const single = { r: 0, g: 1, b: 2, a: 3 }[this.channel];
    const [low, high] = extremes(this.pixels.data, single === undefined ? [0, 1, 2] : [single]);
    Object.assign(this, { black: low, white: Math.max(high, low + 1e-6), exposure: 0 });
    this.develop();
  }

  under(event) {
    this.pointed = event;
    if (!this.pixels) return;
    const { left, top } = this.canvas.getBoundingClientRect();
    const [x, y] = [Math.floor((event.clientX - left) / this.zoomed), Math.floor((event.clientY - top) / this.zoomed)];
    const { width, height, data, channels, of: [whole, high], full } = this.pixels;
    if (x < 0 || y < 0 || x >= width || y >= height) return;
    const values = [...data.slice((y * width + x) * 4, (y * width + x) * 4 + 4)].slice(0, channels);
    const place = [Math.floor((x * whole) / width), Math.floor((y * high) / height)].join(', ');
    const normal = full > 1 ? `  ·  ${values.map((value) => (value / full).toFixed(3)).join(' ')}` : '';
    this.value.textContent = `(${place})  ${values.map(figure).join(' ')}${normal}`;
  }

  zoom(factor) {
    if (this.shows === undefined) return;
    this.zoomed = clamp(this.zoomed / factor, 0.1, 40);
    this.canvas.style.width = `${this.canvas.width * this.zoomed}px`;
    this.canvas.style.height = `${this.canvas.height * this.zoomed}px`;
  }

  draw() {}

  paint() {
    for (const item of this.list.children) item.classList.toggle('lit', Boolean(state.pin) && item.dataset.key === state.pin);
  }

  locate(key) {
    return key[0] === 'r' && images.has(plan.resources.name[Number(key.slice(1))]) ? [0, { key }] : null;
  }

  reveal(key) {
    const item = this.built && this.list.querySelector(`[data-key="${key}"]`);
    item?.scrollIntoView({ block: 'nearest' });
    return Boolean(item);
  }

  move() {}
}

// An image that has a picture, as a plan tells of it: its number there, the passes that write it and where it stands among
// the others, and its key, where the plan of the page has it too. Null where the plan has none of that name.
function pictured(name, of) {
  const at = of.resourceNamed.get(name);
  if (at === undefined) return null;
  const passes = [...of.accessesTo(at)].filter((access) => of.accesses.mode[access] & WRITES && !of.isCulled(of.accesses.pass[access])).map((access) => of.accesses.pass[access]);
  const first = passes.length ? plan.passNamed.get(of.passes.name[passes[0]]) ?? passes[0] : 1e9;
  const own = plan.resourceNamed.get(name);
  return { name, of, at, passes, place: first, key: own === undefined ? null : `r${own}` };
}

const pictureOf = (name) => images.get(name) || laterImages.get(name);

// How an image of two plans compares: whether it is the same in both, as far as its values are in the page, or which of
// them has it; nothing where there is one plan.
function compared({ name }) {
  if (other) {
    for (const [one, which] of [[other, 'earlier'], [plan, 'later']]) {
      if (!one.resourceNamed.has(name)) return [h('p', { class: 'note differs', text: `only in the ${which} plan` })];
    }
  }
  const of = (after) => (payload.values || []).filter((one) => one.name === name && one.after === after);
  const [before, after] = [of(false), of(true)];
  if (!before.length || !after.length) return [];
  const equal = before.length === after.length && before.every((one, at) => one.png === after[at].png && String(one.of) === String(after[at].of));
  return [h('p', { class: equal ? 'note' : 'note differs', text: equal ? 'equal' : 'differs' })];
}

// The values of one layer of a source: its PNG has the three upper bytes of each single one below the other.
async function valuesOf(source, layer) {
  if (!source) return null;
  const { size: [width, height], layers, channels, kind, full, of } = source;
  const { data: bytes } = await pixelsOf(source.png);
  const data = new Float32Array(width * height * 4);
  const view = new DataView(new ArrayBuffer(4));
  const across = width * layers.length;
  const single = (high, middle, low) => {
    view.setUint32(0, (high << 24) | (middle << 16) | (low << 8));
    return view.getFloat32(0);
  };
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = (part) => ((part * height + y) * across + layer * width + x) * 4;
      const to = (y * width + x) * 4;
      for (let n = 0; n < 3; n += 1) data[to + n] = single(bytes[at(0) + n], bytes[at(1) + n], bytes[at(2) + n]);
      if (channels === 4) data[to + 3] = single(bytes[at(3)], bytes[at(3) + 1], bytes[at(3) + 2]);
    }
  }
  const range = extremes(data, [0, 1, 2]);
  const normal = kind === 'unorm' || kind === 'snorm';
  return { width, height, data, channels, of, range, usual: usualRange(kind, range, full, data), light: kind === 'float' && range[0] >= 0, full: normal ? full : 1 };
}

// What is shown where nothing else is chosen: all that the format can hold, or all but the brightest.
function usualRange(kind, [low, high], full, data) {
  if (kind === 'unorm') return [0, full];
  if (kind === 'snorm') return [-full, full];
  if (kind === 'depth') return low < high ? [low, high] : [0, 1];
  if (kind === 'integer') return [Math.min(0, low), Math.max(high, low + 1)];
  if (low < 0) return [-Math.max(-low, high), Math.max(-low, high)];
  const sorted = data.filter((value, at) => at % 4 < 3 && Number.isFinite(value)).sort();
  return [0, Math.max(1, sorted[Math.floor(sorted.length * 0.995)] || 1)];
}

// The values of an image as the running program left it last; none where the program has ended.
async function valuesNow(name) {
  try {
    const answer = await fetch(`values/${encodeURIComponent(name)}`);
    return answer.ok ? await answer.json() : [];
  } catch {
    return [];
  }
}

// The bytes of a picture, where no values are known.
async function pictureValues(picture) {
  const { width, height, data } = await pixelsOf(picture);
  return { width, height, data: Float32Array.from(data), channels: 3, of: [width, height, 1], range: [0, 255], usual: [0, 255], light: false, full: 255 };
}

// After without before; null where they have not the same size.
function difference(before, after) {
  if (!before || !after || before.width !== after.width || before.height !== after.height) return null;
  const data = after.data.map((value, at) => value - before.data[at]);
  const range = extremes(data, [0, 1, 2]);
  const most = Math.max(-range[0], range[1]) || 1;
  return { ...after, data, range, usual: [-most, most], light: false, full: 1 };
}

function pixelsOf(picture) {
  return new Promise((done, failed) => {
    const image = new Image();
    image.onerror = failed;
    image.onload = () => {
      const { naturalWidth: width, naturalHeight: height } = image;
      const brush = dress(document.createElement('canvas'), { width, height }).getContext('2d', { willReadFrequently: true });
      brush.drawImage(image, 0, 0);
      done({ width, height, data: brush.getImageData(0, 0, width, height).data });
    };
    image.src = picture;
  });
}

// The least and the largest finite value of some channels.
function extremes(data, channels) {
  let [low, high] = [Infinity, -Infinity];
  for (let at = 0; at < data.length; at += 4) {
    for (const channel of channels) {
      const value = data[at + channel];
      if (!Number.isFinite(value)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return low <= high ? [low, high] : [0, 1];
}

// A value with the digits that it has.
const figure = (value) => (Number.isInteger(value) ? String(value) : Number.isFinite(value) ? String(Number(value.toPrecision(4))) : String(value));

// From black over violet, red and yellow to white, as values grow.
function falseColour(data, at, value) {
  const share = value / 255;
  data[at] = 255 * clamp(share * 2.4, 0, 1);
  data[at + 1] = 255 * clamp(share * 2.4 - 1, 0, 1);
  data[at + 2] = 255 * (share < 0.35 ? share * 1.6 : clamp(share * 4 - 3, 0.56 * (1 - (share - 0.35) * 2), 1));
}
