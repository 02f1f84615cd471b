// A pane: a drawing along the axis that it shares with the panes above and below it. Names stand at its left.

class Pane extends GridView {
  // A stack of panes gives axis, width of names and the heading's tools.
  join(stack, alone) {
    Object.assign(this, { stack, alone });
    this.tools = h('div', { class: 'pane-tools', role: 'group', 'aria-label': `${this.title}: options` });
    this.grid = h('div', { class: 'grid', role: 'grid', 'aria-label': this.label, 'aria-readonly': 'true' });
    this.frame = h('div', { class: 'frame' }, this.grid);
    this.over = svg('svg', { class: 'over', 'aria-hidden': 'true' });
    this.listen();
    const arrow = h('span', { class: 'arrowhead', 'aria-hidden': 'true' });
    this.folder = alone ? null : h('button', {
      type: 'button', class: 'folder', 'aria-expanded': 'true', onclick: () => stack.fold(this),
    }, arrow, this.title);
    this.panel = h('section', { class: `pane ${this.id}`, 'aria-label': this.title },
      h('div', { class: alone ? 'pane-head alone' : 'pane-head' }, this.folder, this.tools), this.frame);
    return this.panel;
  }

  get axis() {
    return this.stack.axis;
  }

  get names() {
    return this.stack.names;
  }

  get hidden() {
    return this.folded;
  }

  // Reads the sizes of its window, once for each drawing: a layout asked for after a change costs more than the change.
  measure() {
    const { clientWidth, clientHeight, scrollTop } = this.frame;
    Object.assign(this, { width: clientWidth, room: clientHeight, top: scrollTop });
  }

  // Draws all panes: they show one part of one axis.
  draw() {
    this.stack.draw();
  }

  setHeight(height) {
    if (this.tall !== height) this.grid.style.height = `${this.tall = height}px`;
  }

  zoomTo(begin, end) {
    this.stack.zoomTo(begin, end);
  }

  // The axis shows another scale, other passes are shown: what was kept of cells is wrong.
  forget() {
    this.cached = null;
  }

  // Height that its content would fill.
  natural() {
    return 200;
  }

  // Height below which it would not show what it is for.
  least() {
    return LEAST_PANE;
  }
}

// Cells in view, those that would be drawn closer than a few pixels joined, up to a width: cells with their pixels. Runs
// end at multiples of a power of two of the scale, so that most of them stay the same from one zoom step to the next.
function joined(axis, cells, apart = CLOSE, wide = apart * 2) {
  const shown = [];
  const step = 2 ** Math.floor(Math.log2((wide * (axis.to - axis.from)) / axis.width));
  let run = null;
  for (const cell of cells) {
    if (!(cell.end >= axis.from && cell.at <= axis.to)) continue;
    const left = axis.x(cell.at);
    const right = axis.x(cell.end);
    const narrow = right - left < apart;
    const bucket = Math.floor(cell.at / step);
    if (narrow && run?.bucket === bucket && left - run.right < apart) {
      run.cells.push(cell);
      run.right = Math.max(run.right, right);
    } else {
      const one = { cells: [cell], left, right, bucket };
      shown.push(one);
      run = narrow ? one : null;
    }
  }
  return shown;
}

// Magnifies until the marks nearest to a cell are drawn apart from it.
function apart(axis, cells, cell, pixels) {
  const gap = cells.reduce((least, other) => (other.at !== cell.at ? Math.min(least, Math.abs(other.at - cell.at)) : least), Infinity);
  const wanted = (gap * axis.width) / pixels;
  if (gap < Infinity && gap > 0 && axis.to - axis.from > wanted) axis.show(cell.at - wanted / 2, cell.at + wanted / 2);
}

// A group of radio buttons that looks like one switch.
function choice(label, options, chosen, act) {
  const name = `choice-${label.toLowerCase().replace(/\W+/g, '-')}-${choice.made = (choice.made || 0) + 1}`;
  const set = h('fieldset', { class: 'choice' }, h('legend', { text: label }));
  for (const [value, text] of options) {
    const input = h('input', { type: 'radio', name, value, onchange: () => act(value) });
    input.checked = value === chosen;
    set.append(h('label', null, input, h('span', { text })));
  }
  return set;
}

// A button that stays pressed.
function toggle(text, pressed, act) {
  const button = h('button', { type: 'button', class: 'plain toggle', 'aria-pressed': String(pressed), onclick: () => {
    const now = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', String(now));
    act(now);
  } }, text);
  return button;
}

function legend(entries, title) {
  return h('div', { class: 'legend', role: 'note', 'aria-label': `${title}: what the marks mean` },
    h('span', { class: 'note', text: title }),
    entries.map(([mark, text]) => h('span', { class: 'entry' }, h('span', { class: `sample ${mark}`, 'aria-hidden': 'true' }), text)));
}
