// Elements, numbers and small collections. Text enters the page as text nodes only: no name is ever read as markup.

const SVG = 'http://www.w3.org/2000/svg';

// Sets what an element says of itself: class, text, dataset, listeners (`on…`), properties and attributes.
function dress(element, props) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'text') element.textContent = value;
    else if (name === 'data') Object.assign(element.dataset, value);
    else if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  return element;
}

function h(tag, props, ...children) {
  const element = dress(document.createElement(tag), props);
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

function svg(tag, props, ...children) {
  const element = dress(document.createElementNS(SVG, tag), props);
  element.append(...children.flat(9).filter(Boolean));
  return element;
}

// Positions an element in pixels, through the object model: the policy allows no style attributes. Only what changed
// is written, so that an element that stays where it is costs nothing.
function place(element, left, top, width, height) {
  const { style } = element;
  const at = (element.spot ||= {});
  if (at.left !== left) style.left = `${at.left = left}px`;
  if (top !== null && top !== undefined && at.top !== top) style.top = `${at.top = top}px`;
  if (width !== null && width !== undefined && at.width !== width) style.width = `${at.width = width}px`;
  if (height !== null && height !== undefined && at.height !== height) style.height = `${at.height = height}px`;
  return element;
}

// Gives an element these children in this order. Children that stay do not change.
function arrange(parent, wanted) {
  const kept = new Set(wanted);
  for (let child = parent.firstChild; child;) {
    const next = child.nextSibling;
    if (!kept.has(child)) child.remove();
    child = next;
  }
  let at = parent.firstChild;
  for (const child of wanted) {
    if (child === at) at = at.nextSibling;
    else parent.insertBefore(child, at);
  }
}

const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
const count = (n, one, many) => `${number(n)} ${n === 1 ? one : many || `${one}s`}`;
// `toLocaleString` looks the language up each time; labels of thousands of marks need numbers.
const digits = new Intl.NumberFormat('en-US');
const number = (n) => (n < 1000 && Number.isInteger(n) ? String(n) : digits.format(n));

function bytes(n) {
  for (const [unit, size] of [['TiB', 2 ** 40], ['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10]]) {
    if (n >= size) return `${(n / size).toFixed(1)} ${unit}`;
  }
  return `${n} B`;
}

function micros(us) {
  if (us >= 1e6) return `${(us / 1e6).toFixed(2)} s`;
  if (us >= 100000) return `${(us / 1000).toFixed(1)} ms`;
  if (us >= 1000) return `${(us / 1000).toFixed(2)} ms`;
  return `${us.toFixed(1)} µs`;
}

const hex = (n) => `0x${n.toString(16)}`;

// A name as people read it: characters that control lines, or the direction of what follows them, shown as such; never
// empty.
function shown(name) {
  if (!name) return '(no name)';
  return name.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

// Items by key, as flat arrays: `rows.of(key)` are the items of one key, in order.
function grouped(keys, groups) {
  const start = new Int32Array(groups + 1);
  for (const key of keys) if (key >= 0) start[key + 1] += 1;
  for (let at = 0; at < groups; at += 1) start[at + 1] += start[at];
  const next = start.slice(0, groups);
  const items = new Int32Array(start[groups]);
  keys.forEach((key, item) => {
    if (key >= 0) items[next[key]++] = item;
  });
  return { of: (key) => items.subarray(start[key], start[key + 1]) };
}

// Calls `work` once before the next picture, however often it is asked to.
function soon(work) {
  let asked = 0;
  return () => {
    asked ||= requestAnimationFrame(() => {
      asked = 0;
      work();
    });
  };
}
