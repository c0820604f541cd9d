// Diagrams: curves against time or iteration, with a cursor that can be dragged.
import { contacts, convergence, links, moving, palette, pointOf, run, tables, times } from './data.js';
import { numberText } from './numbers.js';

// Curves in one diagram, at most: the largest are named.
const CURVES_MAX = 12;

// ---------------------------------------------------------------- what can be plotted

const tableOf = (file) => tables.find((table) => table.file === file);
const column = (table, name) => table?.columns.find((c) => c.name === name);
const curve = (table, c, name) => ({ name: name ?? c.name, x: table.times, y: c.values });

function columnsSource(title, group, file, names, unit, log) {
  const table = tableOf(file);
  const found = names.map((name) => column(table, name)).filter(Boolean);
  return found.length ? { title, group, unit: unit ?? found[0].unit, log, curves: () => found.map((c) => curve(table, c)) } : null;
}

// Rows of each touching pair, the most loaded first.
const pairs = new Map();
for (let i = 0; i < contacts.count; i++) {
  const key = `${contacts.a[i]},${contacts.b[i]}`;
  if (!pairs.has(key)) pairs.set(key, { name: `${links[contacts.a[i]].name}, ${links[contacts.b[i]].name}`, rows: [], largest: 0 });
  const pair = pairs.get(key);
  pair.rows.push(i);
  pair.largest = Math.max(pair.largest, contacts.sizes[i]);
}
const sortedPairs = [...pairs.values()].sort((a, b) => b.largest - a.largest);

// A curve of a pair over all moments, with holes where it does not touch.
function pairCurve(pair, name, value) {
  const y = new Float32Array(times.length).fill(NaN);
  for (const i of pair.rows) y[contacts.moments[i]] = value(i);
  return { name, x: times, y };
}

function pairSource(title, unit, log, value) {
  if (sortedPairs.length === 0) return null;
  const shown = sortedPairs.slice(0, CURVES_MAX);
  const some = shown.length < sortedPairs.length ? ` (${shown.length} of ${sortedPairs.length} pairs, the most loaded)` : '';
  return { title: title + some, group: 'Overview', unit, log, curves: () => shown.map((pair) => pairCurve(pair, pair.name, value)) };
}

function linkCurves(link, point) {
  const out = [0, 1, 2].map(() => new Float64Array(times.length));
  for (let m = 0; m < times.length; m++) {
    const at = pointOf(link, m, point);
    for (let k = 0; k < 3; k++) out[k][m] = at[k];
  }
  return out;
}

function turnCurves(link) {
  return [3, 0, 1, 2].map((k) => Float32Array.from({ length: times.length }, (_, m) => link.turns[4 * m + k]));
}

const named = (names, values) => names.map((name, k) => ({ name, x: times, y: values[k] }));

function trajectorySources(link) {
  const group = 'trajectory.csv';
  const { name } = link;
  return [
    { title: `${name}: position`, group, unit: 'm', curves: () => named(['px', 'py', 'pz'], linkCurves(link, [0, 0, 0])) },
    { title: `${name}: centre of mass`, group, unit: 'm', curves: () => named(['cx', 'cy', 'cz'], linkCurves(link, link.center)) },
    { title: `${name}: rotation (quaternion)`, group, unit: '', curves: () => named(['qw', 'qx', 'qy', 'qz'], turnCurves(link)) },
  ];
}

// Columns by what stands before the last slash.
function columnGroups(table) {
  const groups = new Map();
  for (const c of table?.columns ?? []) {
    const slash = c.name.lastIndexOf('/');
    if (slash < 0) continue;
    const link = c.name.slice(0, slash);
    if (!groups.has(link)) groups.set(link, []);
    groups.get(link).push(c);
  }
  return groups;
}

const isZero = (c) => c.values.every((x) => x === 0);

// Files that a run has when it was asked for them: what never was anything but zero is left out.
function askedSources(file, what) {
  const table = tableOf(file);
  return [...columnGroups(table)].flatMap(([name, columns]) => [...new Set(columns.map((c) => c.unit))].map((unit, k, units) => {
    const shown = columns.filter((c) => c.unit === unit && !isZero(c));
    return shown.length && { title: units.length > 1 ? `${name}: ${what} [${unit}]` : `${name}: ${what}`, group: file, unit, curves: () => shown.map((c) => curve(table, c, c.name.slice(name.length + 1))) };
  })).filter(Boolean);
}

// Columns of one link stand together: <link>/<coordinate>.
function jointSources() {
  const table = tableOf('joints.csv');
  const groups = columnGroups(table);
  return [...groups].map(([link, columns]) => ({
    title: `${link}: joint`,
    group: 'joints.csv',
    unit: columns.every((c) => c.unit === columns[0].unit) ? columns[0].unit : 'm, rad',
    curves: () => columns.map((c) => curve(table, c, c.name.slice(link.length + 1))),
  }));
}

function hingeSource() {
  const table = tableOf('joints.csv');
  const angles = (table?.columns ?? []).filter((c) => c.unit === 'rad');
  if (angles.length < 2) return null;
  const shown = angles.slice(0, CURVES_MAX);
  const some = shown.length < angles.length ? ` (${shown.length} of ${angles.length})` : '';
  return { title: `Joint angles${some}`, group: 'Overview', unit: 'rad', curves: () => shown.map((c) => curve(table, c)) };
}

function heightSource() {
  const shown = moving.slice(0, CURVES_MAX);
  if (shown.length === 0) return null;
  const some = shown.length < moving.length ? ` (${shown.length} of ${moving.length})` : '';
  return { title: `Heights of centres of mass${some}`, group: 'Overview', unit: 'm', curves: () => shown.map((link) => ({ name: link.name, x: times, y: linkCurves(link, link.center)[2] })) };
}

function solverSources() {
  const table = tableOf('solver.csv');
  return (table?.columns ?? [])
    .filter((c) => c.name !== 'time' && c.name !== 'step')
    .map((c) => ({ title: c.name, group: 'solver.csv', unit: c.unit, curves: () => [curve(table, c)] }));
}

function contactSources() {
  return sortedPairs.slice(0, 50).flatMap((pair) => [{
    title: `${pair.name}: force`,
    group: 'contacts.csv',
    unit: 'N',
    curves: () => ['fx', 'fy', 'fz'].map((name, k) => pairCurve(pair, name, (i) => contacts.forces[3 * i + k])),
  }, contacts.torques && {
    title: `${pair.name}: moment`,
    group: 'contacts.csv',
    unit: 'N m',
    curves: () => ['mx', 'my', 'mz'].map((name, k) => pairCurve(pair, name, (i) => contacts.torques[3 * i + k])),
  }].filter(Boolean));
}

export const sources = times.length < 2 && !run.live?.columns.length ? [] : [
  columnsSource('Energy', 'Overview', 'solver.csv', ['kinetic', 'potential', 'total'], 'J'),
  pairSource('Contact forces', 'N', false, (i) => contacts.sizes[i]),
  hingeSource(),
  heightSource(),
  pairSource('Gaps of touching pairs', 'm', true, (i) => contacts.gaps[i]),
  columnsSource('Newton iterations, pairs in contact', 'Overview', 'solver.csv', ['iterations', 'active_pairs'], ''),
  columnsSource('Objective of a step', 'Overview', 'solver.csv', ['inertia', 'gravity', 'controller', 'limit', 'damping', 'contact', 'friction'], 'J'),
  ...moving.flatMap(trajectorySources),
  ...jointSources(),
  ...askedSources('velocities.csv', 'velocity'),
  ...askedSources('forces.csv', 'forces'),
  ...askedSources('closures.csv', 'closures'),
  ...askedSources('pressure.csv', 'pressure'),
  ...solverSources(),
  ...contactSources(),
].filter(Boolean);

// Of an optimization, against the iteration.
export function convergenceSources() {
  if (!convergence) return [];
  const find = (name) => convergence.findIndex((c) => c.name === name);
  const iteration = convergence[find('iteration')]?.values;
  const end = find('grad_design');
  if (!iteration || end < 2) return [];
  const all = (indices) => () => indices.map((k) => ({ name: convergence[k].name, x: iteration, y: convergence[k].values }));
  const terms = convergence.slice(1, end === 3 ? 2 : end).map((_, k) => k + 1).slice(0, CURVES_MAX);
  const positive = terms.some((k) => convergence[k].values.some((v) => v > 0)) && convergence[1].values.every((v) => v > 0);
  return [
    { title: 'Loss and its terms', unit: '', log: positive, curves: all(terms) },
    { title: 'Gradient norms', unit: '', log: true, curves: all([end, end + 1]) },
    { title: 'Largest change of a variable', unit: 'm, rad, …', log: true, curves: all([find('step_design'), find('step_control')]) },
  ];
}

// ---------------------------------------------------------------- axes

function niceTicks(low, high, count) {
  const rough = (high - low) / Math.max(count, 1);
  const decade = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * decade).find((s) => s >= rough) ?? 10 * decade;
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) ticks.push(k * step);
  return ticks.map((v) => (Math.abs(v) < 1e-9 * step ? 0 : v));
}

function logTicks(low, high, count) {
  const from = Math.ceil(low - 1e-9);
  const to = Math.floor(high + 1e-9);
  const every = Math.max(1, Math.ceil((to - from + 1) / count));
  const ticks = [];
  for (let k = from; k <= to; k += every) ticks.push(k);
  return ticks;
}

const powerText = (k) => `10${String(k).replace(/./g, (c) => '⁰¹²³⁴⁵⁶⁷⁸⁹⁻'['0123456789-'.indexOf(c)])}`;

function range(curves, pick, usable) {
  let low = Infinity;
  let high = -Infinity;
  for (const c of curves) {
    for (let i = 0; i < c.x.length; i++) {
      const v = pick(c, i);
      if (!Number.isFinite(v) || !usable(c, i)) continue;
      if (v < low) low = v;
      if (v > high) high = v;
    }
  }
  if (low > high) return null;
  if (low === high) return [low - (Math.abs(low) || 1) * 0.1, high + (Math.abs(high) || 1) * 0.1];
  return [low, high];
}

// ---------------------------------------------------------------- one diagram

const MARGIN = { left: 58, right: 12, top: 10, bottom: 30 };
const DASHES = [[], [6, 3], [2, 3]];

export class Plot {
  // options: xLabel, range() (else that of the curves), pick(x) when the cursor is dragged
  constructor(element, source, options) {
    this.options = options;
    this.hidden = new Set();
    this.canvas = document.createElement('canvas');
    this.canvas.setAttribute('role', 'img');
    this.legend = document.createElement('div');
    this.legend.className = 'legend';
    element.append(this.canvas, this.legend);
    this.cursor = 0;
    this.setSource(source);
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    const drag = (event) => {
      const x = this.fromPixel(event.clientX - this.canvas.getBoundingClientRect().left);
      options.pick(Math.min(Math.max(x, this.x[0]), this.x[1]));
    };
    this.canvas.addEventListener('pointerdown', (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      drag(event);
    });
    this.canvas.addEventListener('pointermove', (event) => {
      if (this.canvas.hasPointerCapture(event.pointerId)) drag(event);
    });
  }

  setSource(source) {
    this.source = source;
    this.log = Boolean(source.log);
    this.hidden.clear();
    this.readCurves();
  }

  // The curves of the source as they are now; what was hidden stays so.
  readCurves() {
    const { source } = this;
    this.curves = source.curves().map((c, k) => ({ ...c, color: palette[k % palette.length], dash: DASHES[Math.floor(k / 7) % 3] }));
    this.canvas.setAttribute('aria-label', `Diagram: ${source.title}`);
    this.makeLegend();
    this.draw();
  }

  setLog(on) {
    this.log = on;
    this.draw();
  }

  makeLegend() {
    this.legend.replaceChildren(...this.curves.map((c, k) => {
      const item = document.createElement('button');
      item.type = 'button';
      item.className = 'curve';
      item.setAttribute('aria-pressed', String(!this.hidden.has(k)));
      item.title = 'show or hide this curve';
      const swatch = document.createElement('i');
      swatch.style.background = c.color;
      const name = document.createElement('span');
      name.textContent = c.name;
      c.reading = document.createElement('b');
      item.append(swatch, name, c.reading);
      item.addEventListener('click', () => {
        if (!this.hidden.delete(k)) this.hidden.add(k);
        item.setAttribute('aria-pressed', String(!this.hidden.has(k)));
        this.draw();
      });
      return item;
    }));
  }

  get shown() {
    return this.curves.filter((_, k) => !this.hidden.has(k));
  }

  yOf(v) {
    return this.log ? Math.log10(v) : v;
  }

  usable = (c, i) => Number.isFinite(c.y[i]) && (!this.log || c.y[i] > 0);

  measure() {
    this.x = this.options.range?.() ?? range(this.curves, (c, i) => c.x[i], () => true) ?? [0, 1];
    const y = range(this.shown, (c, i) => this.yOf(c.y[i]), this.usable) ?? [0, 1];
    const margin = 0.06 * (y[1] - y[0]);
    this.y = [y[0] - margin, y[1] + margin];
    if (this.log && this.y[1] - this.y[0] < 1) this.y = [this.y[0] - 0.5, this.y[1] + 0.5];
  }

  toPixel(x) {
    return MARGIN.left + ((x - this.x[0]) / (this.x[1] - this.x[0])) * (this.width - MARGIN.left - MARGIN.right);
  }

  fromPixel(px) {
    return this.x[0] + ((px - MARGIN.left) / (this.width - MARGIN.left - MARGIN.right)) * (this.x[1] - this.x[0]);
  }

  rowOf(y) {
    return this.height - MARGIN.bottom - ((y - this.y[0]) / (this.y[1] - this.y[0])) * (this.height - MARGIN.top - MARGIN.bottom);
  }

  draw() {
    const ratio = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    if (!this.width || !this.height) return; // on a tab that is not seen
    this.measure();
    this.image = document.createElement('canvas');
    for (const c of [this.canvas, this.image]) {
      c.width = Math.round(this.width * ratio);
      c.height = Math.round(this.height * ratio);
    }
    const pen = this.image.getContext('2d');
    pen.scale(ratio, ratio);
    pen.font = '11px system-ui, sans-serif';
    this.drawAxes(pen);
    this.drawCurves(pen);
    this.drawCursor();
  }

  drawAxes(pen) {
    const right = this.width - MARGIN.right;
    const bottom = this.height - MARGIN.bottom;
    pen.strokeStyle = '#e3e6ea';
    pen.fillStyle = '#3b424b';
    pen.textAlign = 'right';
    pen.textBaseline = 'middle';
    const rows = Math.max(2, Math.floor(this.height / 38));
    for (const v of this.log ? logTicks(...this.y, rows) : niceTicks(...this.y, rows)) {
      const y = Math.round(this.rowOf(v)) + 0.5;
      pen.beginPath();
      pen.moveTo(MARGIN.left, y);
      pen.lineTo(right, y);
      pen.stroke();
      pen.fillText(this.log ? powerText(v) : numberText(v), MARGIN.left - 6, y);
    }
    pen.textAlign = 'center';
    pen.textBaseline = 'top';
    for (const v of niceTicks(...this.x, Math.max(2, Math.floor(this.width / 70)))) {
      const x = Math.round(this.toPixel(v)) + 0.5;
      pen.beginPath();
      pen.moveTo(x, MARGIN.top);
      pen.lineTo(x, bottom);
      pen.stroke();
      pen.fillText(numberText(v), x, bottom + 4);
    }
    pen.strokeStyle = '#9aa2ad';
    pen.strokeRect(MARGIN.left + 0.5, MARGIN.top + 0.5, right - MARGIN.left, bottom - MARGIN.top);
    pen.textAlign = 'right';
    pen.textBaseline = 'bottom';
    pen.fillText(this.options.xLabel, right, this.height - 1);
    if (this.source.unit) {
      pen.save();
      pen.translate(11, MARGIN.top);
      pen.rotate(-Math.PI / 2);
      pen.textBaseline = 'middle';
      pen.fillText(`[${this.source.unit}]`, 0, 0);
      pen.restore();
    }
  }

  drawCurves(pen) {
    pen.save();
    pen.beginPath();
    pen.rect(MARGIN.left, MARGIN.top, this.width - MARGIN.left - MARGIN.right, this.height - MARGIN.top - MARGIN.bottom);
    pen.clip();
    pen.lineWidth = 1.7;
    pen.lineJoin = 'round';
    for (const c of this.shown) {
      pen.strokeStyle = pen.fillStyle = c.color;
      pen.setLineDash(c.dash);
      let down = false;
      pen.beginPath();
      for (let i = 0; i < c.x.length; i++) {
        const seen = this.usable(c, i);
        const x = this.toPixel(c.x[i]);
        const y = seen ? this.rowOf(this.yOf(c.y[i])) : 0;
        if (seen && down) pen.lineTo(x, y);
        else if (seen) pen.moveTo(x, y);
        // a point between two holes would not be seen
        if (seen && !down && !(i + 1 < c.x.length && this.usable(c, i + 1))) pen.lineTo(x + 1.5, y);
        down = seen;
      }
      pen.stroke();
    }
    pen.restore();
  }

  // The picture stays; only the line over it and the numbers move.
  drawCursor() {
    if (!this.image || !this.image.width) return;
    const ratio = window.devicePixelRatio || 1;
    const pen = this.canvas.getContext('2d');
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.drawImage(this.image, 0, 0);
    pen.scale(ratio, ratio);
    const x = this.toPixel(this.cursor);
    pen.strokeStyle = '#1b1f24';
    pen.lineWidth = 1.2;
    pen.beginPath();
    pen.moveTo(x, MARGIN.top);
    pen.lineTo(x, this.height - MARGIN.bottom);
    pen.stroke();
    for (const c of this.curves) {
      const i = this.rowAt(c);
      c.reading.textContent = i >= 0 && Number.isFinite(c.y[i]) ? numberText(c.y[i]) : '–';
      if (i < 0 || !this.usable(c, i) || !this.shown.includes(c)) continue;
      pen.fillStyle = c.color;
      pen.beginPath();
      pen.arc(this.toPixel(c.x[i]), this.rowOf(this.yOf(c.y[i])), 3.2, 0, 7);
      pen.fill();
    }
  }

  // The row of a curve that the cursor stands on, -1 where it has none; x rises.
  rowAt(c) {
    let low = 0;
    let high = c.x.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (c.x[middle] < this.cursor - 1e-12) low = middle + 1;
      else high = middle;
    }
    if (low > 0 && Math.abs(c.x[low - 1] - this.cursor) < Math.abs(c.x[low] - this.cursor)) low--;
    const spacing = c.x.length > 1 ? (c.x[c.x.length - 1] - c.x[0]) / (c.x.length - 1) : Infinity;
    return c.x.length && Math.abs(c.x[low] - this.cursor) <= 0.51 * spacing ? low : -1;
  }

  setCursor(x) {
    this.cursor = x;
    if (this.canvas.offsetParent) this.drawCursor();
  }
}
