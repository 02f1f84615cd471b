// Names as they fit into a drawing: measured without a layout, broken at separators and humps only, shortened in the
// middle so that their end stays, grouped by what they begin with.

// Height of a line by the size of its letters, in pixels.
const lineHeight = (size) => (size > 12 ? 16 : 14);

// Width of a text in pixels, as the sum of its characters (kerning is left out).
const textWidth = (() => {
  let brush = null;
  const known = new Map();
  return (text, size = 13, weight = 400) => {
    const font = `${weight} ${size}px`;
    if (!known.has(font)) known.set(font, new Map());
    const widths = known.get(font);
    let sum = 0;
    for (const c of text) {
      let width = widths.get(c);
      if (width === undefined) {
        if (!brush) {
          brush = document.createElement('canvas').getContext('2d');
          textWidth.family = getComputedStyle(document.body).fontFamily;
        }
        brush.font = `${font} ${textWidth.family}`;
        widths.set(c, width = brush.measureText(c).width);
      }
      sum += width;
    }
    return sum;
  };
})();

// Ends that at least two in five of some names share: last segments, as `.Output` of an engine's attachments, and last
// humps, as `Pass` of its passes. They tell least. Returns how many characters of a text are one.
const ends = (text) => [/[/.][^/.]+$/, /(?<=[\p{Ll}\d])\p{Lu}\p{Ll}+$/u].map((end) => end.exec(text)?.[0]).filter(Boolean);
const dull = (text) => {
  dull.known ||= new Set([plan.passes.name, plan.resources.name].flatMap((names) => {
    const counts = new Map();
    for (const name of names) for (const end of ends(shown(name))) counts.set(end, (counts.get(end) || 0) + 1);
    return [...counts].filter(([, count]) => count > 4 && count >= names.length * 0.4).map(([end]) => end);
  }));
  return ends(text).find((end) => dull.known.has(end))?.length || 0;
};

// A text no wider than so many pixels: its middle left out, its last segment whole where that fits, else more of its end
// kept than of its beginning; a single word keeps its beginning. An end that most names have goes first. Empty
// where not even three characters fit.
function fit(text, room, size = 13, weight = 400) {
  if (textWidth(text, size, weight) <= room) return text;
  const tail = dull(text);
  if (tail) {
    const rest = text.slice(0, -tail);
    return textWidth(`${rest}…`, size, weight) <= room ? `${rest}…` : fit(rest, room, size, weight);
  }
  const own = /[^/.]+$/.exec(text)?.[0] || '';
  // What names begin with is often the same: where the segment itself must be cut, only that is shown.
  if (own && own !== text && textWidth(`…${own}`, size, weight) > room) return fit(own, room, size, weight);
  const chars = [...text];
  const last = own === text ? 0 : [...own].length;
  // A word tells by its beginning and by the number at its end, a path by its last segment.
  const digits = Math.min(/\d*$/.exec(text)[0].length, 4);
  // Where segments and humps of a path begin.
  const starts = [];
  if (last) for (const piece of pieces(text)) starts.push((starts[starts.length - 1] ?? 0) + [...piece].length);
  const cut = (n) => {
    const most = last ? Math.min(Math.floor(n * 0.4), Math.max(0, n - last)) : n - clamp(Math.floor(n * 0.35), Math.min(digits, n - 2), n - 2);
    let head = most > 1 ? most : 0;
    let from = chars.length - Math.max(0, n - head);
    if (last && n >= last) {
      // More of a path than its last segment begins with a whole word; the room that this leaves goes to its beginning.
      from = starts.find((start) => start >= from && start < chars.length) ?? from;
      head = Math.min(n - (chars.length - from), from - 1);
      if (head < 2) head = 0;
      head = starts.filter((start) => start > 2 && start <= head).pop() ?? head;
    }
    const beginning = chars.slice(0, head).join('').replace(last ? /[/._]+$/ : '', '');
    return `${beginning}…${chars.slice(from).join('').replace(/^[/.]/, '')}`;
  };
  let [low, high] = [0, chars.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(cut(middle), size, weight) <= room) low = middle;
    else high = middle - 1;
  }
  return low >= 3 ? cut(low) : '';
}

// Where a name may be broken: behind `/ . _ -` and before humps, never inside a word.
const pieces = (text) => text.split(/(?<=\S[/._\-: ])|(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u);

// A text as two lines that hold it, broken behind a separator rather than before a hump; else its last segment below what
// fits of the segments before it, else as many words from its end on as two lines hold. Null where a word is wider than a
// line.
function fitTwo(text, room, size = 13, weight = 400) {
  const words = pieces(text);
  const fits = (line) => textWidth(line, size, weight) <= room;
  const [, before, mark, own] = /^(.*)([/.])([^/.]+)$/.exec(text) || [];
  for (let from = 0; from < words.length; from += 1) {
    const ways = [];
    for (let at = from + 1; at < words.length; at += 1) {
      const lines = [(from ? '…' : '') + words.slice(from, at).join(''), words.slice(at).join('')];
      if (lines.every(fits)) ways.push(lines);
    }
    if (ways.length) return ways.findLast(([first]) => /[/.: ]$/.test(first)) || ways[ways.length - 1];
    if (from === 0 && own && fits(own)) return [`${fit(before, room - textWidth(mark, size, weight), size, weight)}${mark}`, own];
  }
  return null;
}

// A text with places to break it, for the browser to choose from.
const broken = (text) => pieces(text).flatMap((piece, at) => (at > 0 ? [h('wbr'), piece] : [piece]));

// Lines of a text, as few as possible; null where a word is wider than a line or the lines are too many.
function wrap(text, room, most, size = 13, weight = 600) {
  if (most < 1) return null;
  const lines = [''];
  let used = 0;
  for (const piece of pieces(text)) {
    const width = textWidth(piece, size, weight);
    if (width > room) return null;
    if (used + width > room) {
      lines.push('');
      used = 0;
    }
    lines[lines.length - 1] += piece;
    used += width;
  }
  return lines.length <= most ? lines : null;
}

// The label of a box: lines across it in the first of some sizes that fits, or turned where it is narrow, else shortened. `key` is the same
// for the same label.
function labelIn(text, width, height, sizes = [13, 11]) {
  const across = width - 14;
  for (const size of sizes) {
    const lines = width >= 24 ? wrap(text, across, Math.floor((height - 3) / lineHeight(size)), size) : null;
    if (lines) return { lines, size, turned: false, key: `${size} ${lines.join('\n')}` };
  }
  const room = height - 8;
  const down = (size) => {
    const lines = Math.max(1, Math.floor((width - 3) / lineHeight(size)));
    return wrap(text, room, lines, size) || [fit(text, room, size, 600)];
  };
  // Letters of the small size are as high as a box of this width is inside.
  if (width >= 12.5 && room >= 34 && room > across * 0.8) {
    const size = wrap(text, room, Math.floor((width - 3) / lineHeight(13)), 13) ? 13 : 11;
    const lines = down(size);
    if (lines[0]) return { lines, size, turned: true, key: `|${size}${lines.join('\n')}` };
  }
  const short = width >= 44 ? fit(text, across, 11, 600) : '';
  return { lines: short ? [short] : [], size: 11, turned: false, key: short };
}

// The class of a box without a label: nothing in it asks for room, so it is as narrow as it must be.
const slim = ({ lines }) => (lines.length ? '' : 'slim ');

const labelOf = ({ lines, turned, size }) => lines.length > 0 && h('span', { class: `label${turned ? ' turned' : ''}${size < 13 ? ' little' : ''}` },
  lines.map((line) => h('span', { class: 'text', text: line })));

// Groups of names that begin alike, up to `/` or `.`: rows of groups and items in the order of the items, where a group
// stands where its first item stands. What only one name begins with is no group.
function prefixRows(items, nameOf, folded, kind) {
  const rows = [];
  const visit = (list, skip, depth, path) => {
    const groups = new Map();
    for (const item of list) {
      const segment = /^[^/.]*/.exec(nameOf(item).slice(skip))[0];
      if (!groups.has(segment)) groups.set(segment, []);
      groups.get(segment).push(item);
    }
    for (const [segment, members] of groups) {
      if (members.length < 2 || !segment) {
        for (const item of members) rows.push({ item, depth, label: shown(nameOf(item).slice(skip)) });
        continue;
      }
      // A name that is the prefix itself is a member of its own group.
      const inner = path + segment;
      const next = skip + segment.length + 1;
      const group = { group: `${kind}:${inner}`, name: shown(segment), depth, members };
      rows.push(group);
      if (folded(group.group)) continue;
      const exact = members.filter((item) => nameOf(item).length < next);
      for (const item of exact) rows.push({ item, depth: depth + 1, label: shown(nameOf(item).slice(skip)) });
      visit(members.filter((item) => nameOf(item).length >= next), next, depth + 1, `${inner}/`);
    }
  };
  visit(items, 0, 0, '');
  return rows;
}
