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
  }

  start() {
    const { resources, accesses } = plan;
    const writer = (resource) => [...plan.accessesTo(resource)].filter((access) => accesses.mode[access] & WRITES && !plan.isCulled(accesses.pass[access])).map((access) => accesses.pass[access]);
    this.all = [...images.keys()].map((name) => plan.resourceNamed.get(name)).filter((at) => at !== undefined)
      .map((resource) => ({ resource, passes: writer(resource) }))
      .sort((a, b) => (a.passes[0] ?? 1e9) - (b.passes[0] ?? 1e9) || a.resource - b.resource);
    const input = (label, props) => h('label', { class: 'slide' }, label, h('input', { type: 'range', ...props, oninput: (event) => {
      this[props.name] = Number(event.target.value);
      this.develop();
    } }));
    Object.assign(this, { exposure: 0, black: 0, white: 1 });
    this.back = h('button', { type: 'button', class: 'plain', onclick: () => this.close() }, 'All images');
    this.controls = h('div', { class: 'pane-tools' }, this.back,
      choice('Channels', [['rgb', 'RGB'], ['r', 'R'], ['g', 'G'], ['b', 'B'], ['a', 'A'], ['heat', 'False colours']], 'rgb', (value) => {
        this.channel = value;
        this.develop();
      }),
      input('Exposure', { name: 'exposure', min: -6, max: 6, step: 0.25, value: 0 }), input('Black', { name: 'black', min: 0, max: 1, step: 0.01, value: 0 }),
      input('White', { name: 'white', min: 0, max: 1, step: 0.01, value: 1 }),
      h('button', { type: 'button', class: 'plain', onclick: () => this.stretch() }, 'Fit range'),
      this.value = h('output', { class: 'note value' }));
    this.controls.hidden = true;
    this.note = h('span', { class: 'note', text: `${count(this.all.length, 'image')} after the run, in order of the passes that first write them.` });
    this.tools.append(this.note, this.controls);
    this.channel = 'rgb';
    this.list.append(...this.all.map((one) => this.card(one)));
    this.canvas = h('canvas', { role: 'img' });
    this.canvas.addEventListener('pointermove', (event) => this.under(event));
    this.canvas.addEventListener('pointerleave', () => { this.value.textContent = this.size; });
    this.stage.addEventListener('wheel', (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      this.zoom(1.0015 ** event.deltaY);
      event.preventDefault();
    }, { passive: false });
    this.stage.append(this.canvas);
  }

  card({ resource, passes }) {
    const { resources } = plan;
    const name = shown(resources.name[resource]);
    const button = h('button', { type: 'button', 'aria-label': `${name}: look closer`, onclick: () => this.open(resource) },
      h('img', { src: images.get(resources.name[resource]), alt: '', loading: 'lazy', data: { image: resources.name[resource] } }));
    const by = passes.length ? [shown(plan.passes.name[passes[0]]), passes.length > 1 && ` and ${count(passes.length - 1, 'more', 'more')}`] : ['not written here'];
    return h('li', { data: { key: `r${resource}` } }, button, h('p', { class: 'strong', text: name, title: name }),
      h('p', { class: 'note' }, by.filter(Boolean).join('')), h('p', { class: 'note', text: `${plan.text(resources.format[resource])}, ${plan.text(resources.shape[resource])}` }));
  }

  // Shows one image large.
  open(resource) {
    set('pin', `r${resource}`);
    this.list.hidden = true;
    this.note.hidden = true;
    this.stage.hidden = false;
    this.controls.hidden = false;
    this.shows = resource;
    const name = plan.resources.name[resource];
    this.canvas.setAttribute('aria-label', `${shown(name)} after the run`);
    const picture = new Image();
    picture.onload = () => {
      const { naturalWidth: width, naturalHeight: height } = picture;
      Object.assign(this.canvas, { width, height });
      const brush = this.canvas.getContext('2d', { willReadFrequently: true });
      brush.drawImage(picture, 0, 0);
      this.pixels = brush.getImageData(0, 0, width, height);
      this.size = `${width}×${height} shown`;
      this.value.textContent = this.size;
      const { clientWidth, clientHeight } = this.panel.querySelector('.frame');
      this.zoomed = Math.max(0.1, Math.min((clientWidth - 40) / width, (clientHeight - 40) / height, 12));
      this.zoom(1);
      this.develop();
    };
    picture.src = images.get(name);
    this.back.focus();
  }

  close() {
    const { shows } = this;
    this.shows = undefined;
    this.list.hidden = false;
    this.note.hidden = false;
    this.stage.hidden = true;
    this.controls.hidden = true;
    this.list.querySelector(`[data-key="r${shows}"] button`)?.focus();
  }

  // Applies channel, range and exposure.
  develop() {
    if (!this.pixels) return;
    const { width, height, data } = this.pixels;
    const out = new ImageData(width, height);
    const gain = 2 ** this.exposure / Math.max(0.004, this.white - this.black);
    const table = Uint8ClampedArray.from({ length: 256 }, (_, value) => (value / 255 - this.black) * gain * 255);
    const single = { r: 0, g: 1, b: 2, a: 3 }[this.channel];
    for (let at = 0; at < data.length; at += 4) {
      if (single !== undefined) out.data.fill(table[data[at + single]], at, at + 3);
      else if (this.channel === 'heat') falseColour(out.data, at, table[Math.round(data[at] * 0.2126 + data[at + 1] * 0.7152 + data[at + 2] * 0.0722)]);
      else for (let n = 0; n < 3; n += 1) out.data[at + n] = table[data[at + n]];
      out.data[at + 3] = this.channel === 'rgb' ? data[at + 3] : 255;
    }
    this.canvas.getContext('2d').putImageData(out, 0, 0);
  }

  // Black and white where the picture has its darkest and brightest value.
  stretch() {
    const single = { r: 0, g: 1, b: 2, a: 3 }[this.channel];
    let [low, high] = [255, 0];
    const { data } = this.pixels;
    for (let at = 0; at < data.length; at += 1) {
      if (single === undefined ? at % 4 === 3 : at % 4 !== single) continue;
      low = Math.min(low, data[at]);
      high = Math.max(high, data[at]);
    }
    this.black = low / 255;
    this.white = Math.max(high, low + 1) / 255;
    this.controls.querySelector('[name=black]').value = this.black;
    this.controls.querySelector('[name=white]').value = this.white;
    this.develop();
  }

  under(event) {
    const { left, top } = this.canvas.getBoundingClientRect();
    const [x, y] = [Math.floor((event.clientX - left) / this.zoomed), Math.floor((event.clientY - top) / this.zoomed)];
    const { width, height, data } = this.pixels;
    if (x < 0 || y < 0 || x >= width || y >= height) return;
    const at = (y * width + x) * 4;
    const values = [...data.slice(at, at + 4)];
    this.value.textContent = `(${x}, ${y})  ${values.join(' ')}  ·  ${values.map((value) => (value / 255).toFixed(3)).join(' ')}`;
  }

  zoom(factor) {
    if (this.shows === undefined) return;
    this.zoomed = clamp(this.zoomed / factor, 0.1, 40);
    this.canvas.style.width = `${this.canvas.width * this.zoomed}px`;
    this.canvas.style.height = `${this.canvas.height * this.zoomed}px`;
  }

  draw() {}

  paint() {
    for (const item of this.list.children) item.classList.toggle('lit', item.dataset.key === state.pin);
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

// From black over violet, red and yellow to white, as values grow.
function falseColour(data, at, value) {
  const share = value / 255;
  data[at] = 255 * clamp(share * 2.4, 0, 1);
  data[at + 1] = 255 * clamp(share * 2.4 - 1, 0, 1);
  data[at + 2] = 255 * (share < 0.35 ? share * 1.6 : clamp(share * 4 - 3, 0.56 * (1 - (share - 0.35) * 2), 1));
}
