// What the page carries: a JSON text, and one block of numbers that it points into by [offset, count, bytes of each].

function json(id) {
  const element = document.getElementById(id);
  return element ? JSON.parse(element.textContent) : null;
}

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes.buffer;
}

const block = bytesOf(document.getElementById('block').textContent);

export const run = json('run');
export const summary = json('summary');
export const optimization = json('optimization');

export const floats = ([offset, count]) => new Float32Array(block, offset, count);
export const integers = ([offset, count, bytes]) =>
  bytes === 2 ? new Uint16Array(block, offset, count) : new Uint32Array(block, offset, count);

export let times = Float64Array.from(run.time);

// The moment nearest to a time.
export function momentAt(time) {
  let low = 0;
  let high = times.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle;
    else high = middle;
  }
  return time - times[low] <= times[high] - time ? low : high;
}

// Linear light to the style sheet's colours, as in the pictures.
const srgb = (x) => Math.round(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * Math.pow(x, 1 / 2.4) - 0.055));
export const cssColor = (linear) => `rgb(${linear.map(srgb).join(' ')})`;
export const palette = run.palette.map(cssColor);

export const links = run.links.map((link, index) => ({
  ...link,
  index,
  places: floats(link.places),
  turns: floats(link.turns),
  vertices: link.vertices ? floats(link.vertices) : null,
  triangles: link.triangles ? integers(link.triangles) : null,
  initial: link.initial ? { places: floats(link.initial.places), turns: floats(link.initial.turns) } : null,
}));
export const moving = links.filter((link) => !link.fixed);

// World position of a point of a link at a moment.
export function pointOf(link, moment, point) {
  const i = link.fixed ? 0 : moment;
  const [x, y, z] = point;
  const [qx, qy, qz, qw] = link.turns.subarray(4 * i, 4 * i + 4);
  const tx = 2 * (qy * z - qz * y);
  const ty = 2 * (qz * x - qx * z);
  const tz = 2 * (qx * y - qy * x);
  const p = link.places;
  return [
    p[3 * i] + x + qw * tx + qy * tz - qz * ty,
    p[3 * i + 1] + y + qw * ty + qz * tx - qx * tz,
    p[3 * i + 2] + z + qw * tz + qx * ty - qy * tx,
  ];
}

// Centre of mass of a link, or (null) of all that can move.
export function centerOf(link, moment) {
  if (link) return pointOf(link, moment, link.center);
  const sum = [0, 0, 0];
  let mass = 0;
  for (const one of moving) {
    const at = pointOf(one, moment, one.center);
    for (let k = 0; k < 3; k++) sum[k] += one.mass * at[k];
    mass += one.mass;
  }
  return mass > 0 ? sum.map((x) => x / mass) : sum;
}

// Rows of contacts.csv, those of moment m from[m] to from[m + 1]; contact points, those of moment m first[m] to first[m + 1].
function readContacts() {
  const c = run.contacts;
  const contacts = {
    color: c.color,
    moments: integers(c.moments),
    a: integers(c.a),
    b: integers(c.b),
    gaps: floats(c.gaps),
    forces: floats(c.forces),
    torques: c.torques ? floats(c.torques) : null, // where simulation.output has contact_points
    onA: integers(c.on_a), // the force on a is shown: the opposite
    centers: floats(c.centers),
    points: floats(c.points),
    first: integers(c.first),
    from: new Uint32Array(times.length + 1),
  };
  contacts.count = contacts.moments.length;
  contacts.sizes = Float32Array.from({ length: contacts.count }, (_, i) => Math.hypot(...contacts.forces.subarray(3 * i, 3 * i + 3)));
  for (let i = 0; i < contacts.count; i++) contacts.from[contacts.moments[i] + 1]++;
  for (let m = 0; m < times.length; m++) contacts.from[m + 1] += contacts.from[m];
  return contacts;
}
export const contacts = readContacts();

export const tables = run.tables.map((table) => ({
  file: table.file,
  times: Float64Array.from(integers(table.moments), (m) => times[m]),
  columns: table.columns.map((column) => ({ ...column, values: floats(column.values) })),
}));
// Of a run that goes on: its columns grow with the moments.
const growing = run.live?.columns.length
  ? { file: 'solver.csv', times: new Float64Array(0), columns: run.live.columns.map((c) => ({ ...c, values: new Float32Array(0) })) }
  : null;
if (growing) tables.push(growing);

const extended = (Kind, old, more) => {
  const all = new Kind(old.length + more.length);
  all.set(old);
  all.set(more, old.length);
  return all;
};

// More moments of a run that goes on: lists of a time, place and turn of every link that moves, and a number a column.
export function grow(moments) {
  const part = (from, count) => moments.flatMap((row) => row.slice(from, from + count));
  const late = part(0, 1);
  let at = 1;
  for (const link of moving) {
    link.places = extended(Float32Array, link.places, part(at, 3));
    link.turns = extended(Float32Array, link.turns, part(at + 3, 4));
    at += 7;
  }
  times = extended(Float64Array, times, late);
  contacts.from = extended(Uint32Array, contacts.from, late.map(() => contacts.count));
  contacts.first = extended(Uint32Array, contacts.first, late.map(() => contacts.first[contacts.first.length - 1]));
  if (!growing) return;
  growing.times = extended(Float64Array, growing.times, late);
  for (const column of growing.columns) column.values = extended(Float32Array, column.values, part(at++, 1));
}

export const convergence = run.convergence
  ? run.convergence.columns.map((column) => ({ ...column, values: floats(column.values) }))
  : null;

// Stops of the design slider: the kept iterations, then the best design, whose shapes are those of the links.
export const design = run.design
  ? {
      links: run.design.links,
      stops: [
        ...run.design.iterations.map((iteration, k) => ({
          iteration,
          best: false,
          shapes: run.design.shapes[k].map((s) => ({ vertices: floats(s.vertices), triangles: integers(s.triangles) })),
        })),
        {
          iteration: optimization ? optimization.best_iteration : null,
          best: true,
          shapes: run.design.links.map((i) => ({ vertices: links[i].vertices, triangles: links[i].triangles })),
        },
      ],
    }
  : null;
