// Saves what is in sight as a picture: SVG for papers, PNG for messages. Boxes become shapes and names stay text; colours
// are those of the theme. Nothing leaves the page: the picture is made here and handed to the browser as a download.

// What steers the page and is no part of a picture.
const CONTROLS = '.choice, .buttons, .plain, .checks, .splitter, .divider, .cursor, .cursor-sign, .window, .slide, input, select, .handle';
// Height of the title, in pixels.
const TITLE = 40;
// Pixels of a PNG per pixel of the page.
const DENSITY = 2;

// Colours as every reader of SVG knows them: hexadecimal, and how opaque.
const inkOf = (() => {
  const known = new Map();
  let brush = null;
  return (text) => {
    if (!known.has(text)) {
      brush ||= dress(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true });
      brush.clearRect(0, 0, 1, 1);
      brush.fillStyle = text;
      brush.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = brush.getImageData(0, 0, 1, 1).data;
      known.set(text, { hex: `#${[r, g, b].map((one) => one.toString(16).padStart(2, '0')).join('')}`, alpha: a / 255 });
    }
    return known.get(text);
  };
})();

// Attributes of a fill or a stroke; null where nothing would be seen.
function inked(what, text) {
  const { hex, alpha } = inkOf(text);
  if (alpha === 0) return null;
  return { [what]: hex, [`${what}-opacity`]: alpha < 1 ? alpha.toFixed(2) : null };
}

// Splits a list of CSS at the commas that stand in no brackets.
function listed(text) {
  const parts = [''];
  let depth = 0;
  for (const c of text) {
    if (c === '(') depth += 1;
    if (c === ')') depth -= 1;
    if (c === ',' && !depth) parts.push('');
    else parts[parts.length - 1] += c;
  }
  return parts.map((part) => part.trim());
}

const coloursIn = (text) => text.match(/(?:rgba?|color|oklab|oklch)\([^()]*\)|transparent/g) || [];

class Sketch {
  // `left` and `top` of the page come to lie at (0, TITLE).
  constructor({ left, top, width, height }) {
    Object.assign(this, { left, top: top - TITLE, width, height: height + TITLE });
    this.defs = svg('defs');
    this.clips = 0;
    this.hatches = new Map();
    this.root = svg('svg', {
      xmlns: SVG, viewBox: `0 0 ${Math.round(this.width)} ${Math.round(this.height)}`, width: Math.round(this.width), height: Math.round(this.height),
      'font-family': getComputedStyle(document.body).fontFamily,
    }, this.defs);
    this.into = this.root;
  }

  put(tag, props, ...children) {
    const made = svg(tag, props, ...children);
    this.into.append(made);
    return made;
  }

  rect([x, y, width, height], props) {
    return this.put('rect', { x: x.toFixed(1), y: y.toFixed(1), width: Math.max(0, width).toFixed(1), height: Math.max(0, height).toFixed(1), ...props });
  }

  // The place of an element in the picture.
  placeOf(box) {
    return [box.left - this.left, box.top - this.top, box.width, box.height];
  }

  meets([x, y, width, height]) {
    return x < this.width && y < this.height && x + width > 0 && y + height > TITLE - 1;
  }

  // Draws inside of a group, and goes on behind it.
  inside(group, work) {
    const { into } = this;
    into.append(group);
    this.into = group;
    work();
    this.into = into;
  }

  node(node) {
    if (node.nodeType === Node.TEXT_NODE) this.words(node);
    else if (node.nodeType === Node.ELEMENT_NODE && !node.matches(CONTROLS)) this.element(node);
  }

  element(element) {
    const style = getComputedStyle(element);
    if (style.display === 'none' || style.visibility === 'hidden') return;
    const box = this.placeOf(element.getBoundingClientRect());
    const cuts = style.overflowX !== 'visible' || style.overflowY !== 'visible';
    if (!this.meets(box) && (cuts || !element.childElementCount)) return;
    const opacity = Number(style.opacity);
    if (opacity === 0) return;
    const overflows = cuts && (element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight);
    const draw = () => {
      if (element instanceof SVGSVGElement) this.vector(element);
      else if (element instanceof HTMLCanvasElement) this.image(element.width ? element.toDataURL() : '', box);
      else if (element instanceof HTMLImageElement) this.image(element.src, box);
      else {
        this.box(element, style, box);
        const children = [...element.childNodes];
        const level = (child) => (child.nodeType === Node.ELEMENT_NODE ? Number(getComputedStyle(child).zIndex) || 0 : 0);
        if (cuts || element.matches('.row, .area, .panes')) children.sort((a, b) => level(a) - level(b));
        for (const child of children) this.node(child);
      }
    };
    if (!overflows && opacity === 1) draw();
    else this.inside(svg('g', { opacity: opacity < 1 ? opacity : null, 'clip-path': overflows ? this.clip(box) : null }), draw);
  }

  clip([x, y, width, height]) {
    const id = `c${this.clips += 1}`;
    this.defs.append(svg('clipPath', { id }, svg('rect', { x, y, width, height })));
    return `url(#${id})`;
  }

  image(href, [x, y, width, height]) {
    if (href) this.put('image', { href, x, y, width, height, preserveAspectRatio: 'none' });
  }

  // Background, border and signs of an element.
  box(element, style, box) {
    if (element.matches('.diamond')) {
      this.diamond(style, box);
      return;
    }
    const [x, y, width, height] = box;
    const sides = ['Top', 'Right', 'Bottom', 'Left'].map((side) => ({
      width: style[`border${side}Style`] === 'none' ? 0 : parseFloat(style[`border${side}Width`]), line: style[`border${side}Style`],
      ink: inked('stroke', style[`border${side}Color`]),
    }));
    if (element.matches('.arrowhead')) {
      const down = inkOf(style.borderTopColor).alpha > 0;
      const points = down ? [[x, y], [x + width, y], [x + width / 2, y + height]] : [[x, y], [x + width, y + height / 2], [x, y + height]];
      this.put('polygon', { points: points.join(' '), ...inked('fill', down ? style.borderTopColor : style.borderLeftColor) });
      return;
    }
    const alike = sides.every((side) => side.width === sides[0].width && side.line === sides[0].line && side.ink?.stroke === sides[0].ink?.stroke);
    const round = style.borderTopLeftRadius.endsWith('%') ? Math.min(width, height) / 2 : parseFloat(style.borderTopLeftRadius) || 0;
    const rx = round ? Math.min(round, width / 2, height / 2) : null;
    const fill = inked('fill', style.backgroundColor);
    const edge = alike && sides[0].width && sides[0].ink;
    const dash = { dashed: '4 3', dotted: '1.5 2.5' };
    if (fill) this.rect(box, { rx, ...fill });
    if (style.backgroundImage !== 'none') this.gradients(style, box, rx);
    this.stripes(style, box);
    if (edge) {
      const half = sides[0].width / 2;
      this.rect([x + half, y + half, width - 2 * half, height - 2 * half], { rx, fill: 'none', ...edge, 'stroke-width': sides[0].width, 'stroke-dasharray': dash[sides[0].line] });
    } else if (!alike) {
      const ends = [[x, y, x + width, y], [x + width, y, x + width, y + height], [x, y + height, x + width, y + height], [x, y, x, y + height]];
      sides.forEach((side, at) => {
        const [x1, y1, x2, y2] = ends[at];
        if (side.width && side.ink) this.put('line', { x1, y1, x2, y2, ...side.ink, 'stroke-width': side.width, 'stroke-dasharray': dash[side.line] });
      });
    }
    if (element.matches('.glyph')) this.glyph(element, box);
  }

  diamond(style, [x, y, width, height]) {
    const points = [[x + width / 2, y], [x + width, y + height / 2], [x + width / 2, y + height], [x, y + height / 2]];
    const fill = inked('fill', style.backgroundColor) || inked('fill', coloursIn(style.backgroundImage)[0] || 'transparent');
    this.put('polygon', { points: points.join(' '), fill: 'none', ...fill, ...inked('stroke', style.borderTopColor), 'stroke-width': 1.5 });
  }

  // Signs are cut out of a coloured square in front of the element's content.
  glyph(element, [x, y, width, height]) {
    const style = getComputedStyle(element, '::before');
    const [top, right, bottom, left] = ['top', 'right', 'bottom', 'left'].map((side) => parseFloat(style[side]) || 0);
    const [w, h] = [width - left - right, height - top - bottom];
    const shape = /polygon\(([^)]*)\)/.exec(style.clipPath);
    if (!shape) {
      this.gradients(style, [x + left, y + top, w, h], null);
      return;
    }
    const points = shape[1].split(',').map((pair) => pair.trim().split(/\s+/).map((share) => parseFloat(share) / 100))
      .map(([across, down]) => [(x + left + across * w).toFixed(1), (y + top + down * h).toFixed(1)]);
    this.put('polygon', { points: points.join(' '), 'fill-rule': 'evenodd', ...inked('fill', style.backgroundColor) });
  }

  // Layers of a background: strips, rows of dashes, hatching.
  gradients(style, [x, y, width, height], rx) {
    const [sizes, places] = [listed(style.backgroundSize), listed(style.backgroundPosition)];
    const layers = listed(style.backgroundImage);
    for (let at = layers.length - 1; at >= 0; at -= 1) {
      const colours = coloursIn(layers[at]);
      const strip = parseFloat(sizes[at % sizes.length]);
      const stops = [...layers[at].matchAll(/([\d.]+)px/g)].map(([, px]) => parseFloat(px));
      const narrow = sizes[at % sizes.length].split(' ')[0].endsWith('px') && strip < width;
      const place = places[at % places.length].split(' ')[0];
      const left = x + (place.endsWith('%') ? ((width - strip) * parseFloat(place)) / 100 : parseFloat(place) || 0);
      if (narrow && layers[at].startsWith('repeating')) {
        const middle = left + strip / 2;
        this.put('line', { x1: middle, x2: middle, y1: y, y2: y + height, ...inked('stroke', colours[0]), 'stroke-width': strip, 'stroke-dasharray': `${stops[1]} ${stops[3] - stops[1]}` });
      } else if (narrow) this.rect([left, y, strip, height], inked('fill', colours[0]) || { fill: 'none' });
      else if (layers[at].startsWith('repeating-linear')) this.rect([x, y, width, height], { rx, fill: this.hatch(layers[at], colours, stops) });
      else if (colours.length) this.rect([x, y, width, height], { rx, fill: 'none', ...inked('fill', colours[0]) });
    }
  }

  hatch(layer, colours, stops) {
    if (!this.hatches.has(layer)) {
      const [first, period] = [stops[1] || 4, Math.max(...stops, 2)];
      const id = `h${this.hatches.size + 1}`;
      this.hatches.set(layer, id);
      const bar = (x, width, text) => inkOf(text).alpha > 0 && svg('rect', { x, y: 0, width, height: period, ...inked('fill', text) });
      this.defs.append(svg('pattern', {
        id, width: period, height: period, patternUnits: 'userSpaceOnUse', patternTransform: layer.includes('135deg') ? 'rotate(45)' : null,
      }, bar(0, first, colours[0]), bar(first, period - first, colours[colours.length - 1])));
    }
    return `url(#${this.hatches.get(layer)})`;
  }

  // Inner shadows without blur are stripes at an edge.
  stripes(style, [x, y, width, height]) {
    if (!style.boxShadow.includes('inset')) return;
    for (const shadow of listed(style.boxShadow).reverse()) {
      const [colour] = coloursIn(shadow);
      const [, down] = shadow.replace(colour, '').match(/-?[\d.]+px/g).map(parseFloat);
      const thick = Math.min(Math.abs(down), height);
      if (down && shadow.includes('inset')) this.rect([x, down < 0 ? y + height - thick : y, width, thick], inked('fill', colour) || { fill: 'none' });
    }
  }

  // Drawings of the page are copied with the looks that the style sheet gives them.
  vector(element) {
    const at = element.getScreenCTM();
    if (!at) return;
    const copy = svg('g', { transform: `matrix(${at.a} ${at.b} ${at.c} ${at.d} ${at.e - this.left} ${at.f - this.top})` });
    const take = (from, into) => {
      for (const child of from.childNodes) {
        if (child.nodeType === Node.TEXT_NODE) into.append(child.textContent);
        if (child.nodeType !== Node.ELEMENT_NODE) continue;
        const style = getComputedStyle(child);
        if (style.display === 'none') continue;
        const made = svg(child.tagName);
        for (const { name, value } of child.attributes) {
          if (!/^(class|id|style|role|tabindex|data-|aria-|on)/.test(name)) made.setAttribute(name, value);
        }
        this.looks(child, style, made);
        into.append(made);
        take(child, made);
      }
    };
    take(element, copy);
    this.into.append(copy);
  }

  looks(child, style, made) {
    if (child.tagName === 'g') {
      if (Number(style.opacity) < 1) made.setAttribute('opacity', style.opacity);
      return;
    }
    for (const what of ['fill', 'stroke']) {
      const ink = style[what] === 'none' ? null : inked(what, style[what]);
      dress(made, ink || { [what]: 'none' });
    }
    if (style.stroke !== 'none') dress(made, { 'stroke-width': style.strokeWidth, 'stroke-dasharray': style.strokeDasharray === 'none' ? null : style.strokeDasharray });
    if (Number(style.opacity) < 1) made.setAttribute('opacity', style.opacity);
    if (child.tagName === 'text') dress(made, { 'font-size': style.fontSize, 'font-weight': style.fontWeight, 'text-anchor': style.textAnchor, 'paint-order': style.paintOrder });
  }

  // Text of an element, line by line.
  words(node) {
    if (!node.textContent.trim()) return;
    const element = node.parentElement;
    const style = getComputedStyle(element);
    const range = document.createRange();
    range.selectNodeContents(node);
    const rects = [...range.getClientRects()];
    if (!rects.length) return;
    const lines = rects.length === 1 && !/^\s/.test(node.textContent) ? [[node.textContent, rects[0]]] : this.lines(node, range);
    for (const [text, rect] of lines) {
      const box = this.placeOf(rect);
      if (this.meets(box)) this.line(text.replace(/\s+/g, ' ').trim(), box, element, style);
    }
  }

  // A word that is broken between its letters counts letter by letter.
  lines(node, range) {
    const lines = [];
    const take = (text, from, to) => {
      range.setStart(node, from);
      range.setEnd(node, to);
      const rect = range.getBoundingClientRect();
      const last = lines[lines.length - 1];
      if (to - from > 1 && range.getClientRects().length > 1) [...text].forEach((letter, at) => take(letter, from + at, from + at + 1));
      else if (last && Math.abs(last[1].top - rect.top) < 3) last[0] += text;
      else lines.push([text, rect]);
    };
    for (const { 0: word, index } of node.textContent.matchAll(/\S+\s*/g)) take(word, index, index + word.trimEnd().length);
    return lines;
  }

  line(text, [x, y, width, height], element, style) {
    const upright = style.writingMode.startsWith('vertical');
    const { scale, angle } = this.turnOf(element);
    const size = parseFloat(style.fontSize) * scale;
    const weight = Number(style.fontWeight);
    const cut = style.textOverflow === 'ellipsis' && style.overflowX !== 'visible' && !upright && element.scrollWidth > element.clientWidth;
    const written = cut ? fit(text, element.clientWidth * scale, size, weight) : text;
    const props = { 'font-size': size.toFixed(1), 'font-weight': weight === 400 ? null : weight, ...inked('fill', style.color) };
    const line = style.textDecorationLine;
    if (line !== 'none') props['text-decoration'] = line;
    if (style.fontFamily.includes('mono')) props['font-family'] = style.fontFamily;
    if (upright) props.transform = `translate(${(x + width / 2 - size * 0.35).toFixed(1)} ${y.toFixed(1)}) rotate(90)`;
    else if (angle) {
      Object.assign(props, { transform: `translate(${(x + width / 2).toFixed(1)} ${(y + height / 2).toFixed(1)}) rotate(${angle.toFixed(1)})`, y: (size * 0.35).toFixed(1), 'text-anchor': 'middle' });
    } else Object.assign(props, { x: x.toFixed(1), y: (y + height / 2 + size * 0.35).toFixed(1) });
    this.put('text', props, written);
  }

  // How an element is turned and scaled by itself and by what holds it.
  turnOf(element) {
    let [scale, angle] = [1, 0];
    for (let at = element; at && !at.matches('.view'); at = at.parentElement) {
      const { transform } = getComputedStyle(at);
      if (transform === 'none') continue;
      const { a, b } = new DOMMatrix(transform);
      scale *= Math.hypot(a, b);
      angle += (Math.atan2(b, a) * 180) / Math.PI;
    }
    return { scale, angle: Math.abs(angle) < 0.1 ? 0 : angle };
  }
}

// The view in sight as an SVG element, under a line that says what it is.
function sketchOf(view) {
  const { panel } = view;
  const box = panel.getBoundingClientRect();
  const tools = panel.querySelector(':scope > .tools');
  const bare = tools && !tools.querySelector('.legend');
  const top = bare ? tools.getBoundingClientRect().bottom : box.top;
  const sketch = new Sketch({ left: box.left, top, width: box.width, height: Math.min(box.bottom, innerHeight) - top });
  sketch.rect([0, 0, sketch.width, sketch.height], inked('fill', getComputedStyle(document.body).backgroundColor));
  if (bare) for (const child of panel.children) child !== tools && sketch.node(child);
  else sketch.node(panel);
  const head = getComputedStyle(document.querySelector('h1'));
  sketch.rect([0, 0, sketch.width, TITLE], inked('fill', getComputedStyle(document.body).backgroundColor));
  sketch.put('text', { x: 12, y: 26, 'font-size': 16, 'font-weight': 650, ...inked('fill', head.color) }, shown(plan.meta.graph));
  const left = 24 + textWidth(shown(plan.meta.graph), 16, 650);
  const figures = [view.title, `for ${shown(plan.meta.profile)}`, ...[...document.querySelectorAll('.top .figures li')].map((item) => item.textContent)];
  sketch.put('text', { x: left, y: 26, 'font-size': 12, ...inked('fill', getComputedStyle(document.querySelector('h1 .note')).color) },
    fit(figures.join(' · '), sketch.width - left - 12, 12));
  return sketch.root;
}

function download(blob, name) {
  const link = h('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  announce(`saved ${name}`);
}

// Saves the view in sight; `kind`: svg or png.
async function savePicture(kind) {
  const drawn = sketchOf(current());
  const text = new XMLSerializer().serializeToString(drawn);
  const name = `${plan.meta.graph.replace(/[^\p{L}\p{N}._-]+/gu, '_').slice(0, 80) || 'plan'}-${state.view}.${kind}`;
  if (kind === 'svg') {
    download(new Blob([text], { type: 'image/svg+xml' }), name);
    return;
  }
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = h('canvas', { width: drawn.getAttribute('width') * DENSITY, height: drawn.getAttribute('height') * DENSITY });
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => download(blob, name), 'image/png');
}

// The button and the two kinds behind it.
function saveMenu() {
  const show = (shows) => {
    kinds.hidden = !shows;
    opener.setAttribute('aria-expanded', String(shows));
  };
  const kinds = h('div', { class: 'kinds', role: 'group', 'aria-label': 'Save what is in sight as' },
    [['svg', 'e'], ['png', 'E']].map(([kind, key]) => h('button', { type: 'button', class: 'plain', 'aria-keyshortcuts': key, onclick: () => {
      show(false);
      opener.focus();
      savePicture(kind);
    } }, kind.toUpperCase())));
  const opener = h('button', { type: 'button', class: 'plain', id: 'save', onclick: () => show(kinds.hidden) }, 'Save');
  show(false);
  return h('div', { class: 'save', onkeydown: (event) => event.key === 'Escape' && show(false) }, opener, kinds);
}
