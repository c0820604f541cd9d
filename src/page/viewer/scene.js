// The scene in three dimensions: links, ground with a metric grid, and what is laid over them.
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { Line2 } from 'three/addons/lines/Line2.js';
import { LineGeometry } from 'three/addons/lines/LineGeometry.js';
import { LineMaterial } from 'three/addons/lines/LineMaterial.js';
import { centerOf, contacts, design, links, moving, run, times } from './data.js';

// Edges between faces that meet at a sharper angle are drawn, as in the pictures: cos(34 degrees).
const EDGE_COSINE = 0.829;
const DARK = 0x1b1f24;
// A force arrow as long as a usual link stands for a usual force; of larger forces it grows to this many times that.
const ARROW_LONGEST = 3;
// Shorter than this many sizes of the bodies, the path of the centre of mass leaves the camera where it is.
const FAR = 1.5;
// The share of the picture that bodies may fill, and moments looked at to find how far they go.
const FIT_SHARE = 0.76;
const FIT_MOMENTS = 100;
// A contact point's disc, in sizes of a link, and its least and largest size [px].
const DISC = { share: 0.16, least: 4, most: 10 };
const vec = (a) => new THREE.Vector3(a[0], a[1], a[2]);

const up = vec(run.up);
const low = vec(run.low);
const high = vec(run.high);
const size = high.clone().sub(low).length();

// ---------------------------------------------------------------- stage

const canvas = document.getElementById('scene');
const ratio = Math.min(window.devicePixelRatio, 2);
// The first buffer has its size at once: to be given another is what costs most at the start.
canvas.width = Math.floor(canvas.parentElement.clientWidth * ratio);
canvas.height = Math.floor(canvas.parentElement.clientHeight * ratio);
// Draws nothing: without WebGL plots, tables and time go on, and a line says why the scene is not to be seen.
const blank = {
  debug: {}, shadowMap: {}, extensions: { has: () => false }, setSize() {}, render() {},
};
let renderer;
try {
  renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true });
} catch {
  document.getElementById('no-webgl').hidden = false;
  renderer = blank;
}
renderer.debug.checkShaderErrors = false; // asking for them is waiting for them
renderer.shadowMap.enabled = true;
renderer.shadowMap.type = THREE.PCFShadowMap;

const scene = new THREE.Scene();
const camera = new THREE.PerspectiveCamera(26, 1, size / 500, size * 50);
camera.up.copy(up);
const controls = new OrbitControls(camera, canvas);
controls.enableDamping = true;
controls.dampingFactor = 0.15;
controls.zoomToCursor = true;

scene.add(new THREE.HemisphereLight(0xffffff, 0xc6cad0, 2.5));
const sun = new THREE.DirectionalLight(0xffffff, 1.9);
sun.castShadow = false; // the first picture comes without, see prepare
sun.shadow.mapSize.set(2048, 2048);
sun.shadow.radius = 3;
scene.add(sun, sun.target);

// Two horizontal axes; x and y themselves where z is up.
const ahead = Math.abs(up.y) < 0.9 ? new THREE.Vector3(0, 1, 0) : new THREE.Vector3(0, 0, -1);
const axisX = ahead.clone().cross(up).normalize();
const axisY = up.clone().cross(axisX);
const direction = (azimuth, elevation) => {
  const a = (azimuth * Math.PI) / 180;
  const e = (elevation * Math.PI) / 180;
  return axisX.clone().multiplyScalar(Math.cos(a) * Math.cos(e))
    .addScaledVector(axisY, Math.sin(a) * Math.cos(e))
    .addScaledVector(up, Math.sin(e));
};

function placeSun() {
  const center = low.clone().add(high).multiplyScalar(0.5);
  const reach = 0.55 * size;
  sun.target.position.copy(center);
  sun.position.copy(center).addScaledVector(direction(-100, 58), 2 * reach);
  Object.assign(sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1 * reach, far: 4 * reach });
  sun.shadow.bias = -1e-4;
  sun.shadow.normalBias = (2 * reach) / 2048;
}
placeSun();

// ---------------------------------------------------------------- ground

const GRID_VERTEX = `
  varying vec2 place;
  attribute vec2 metres;
  void main() {
    place = metres;
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  }`;
// Lines one pixel wide at any distance; they and the ground fade out beyond what the run covers.
const GRID_FRAGMENT = `
  varying vec2 place;
  uniform float spacing, major, fade, lines;
  uniform vec2 low, high;
  float line(float step, float width) {
    vec2 cell = place / step;
    vec2 pixel = fwidth(cell);
    vec2 away = abs(fract(cell - 0.5) - 0.5) / pixel;
    vec2 shown = clamp(width - away, 0.0, 1.0) * clamp(1.6 - 4.0 * pixel, 0.0, 1.0);
    return max(shown.x, shown.y);
  }
  void main() {
    vec2 beyond = max(max(low - place, place - high), 0.0);
    float seen = 1.0 - smoothstep(0.0, fade, length(beyond));
    float ink = lines * max(0.30 * line(spacing, 1.0), 0.55 * line(major, 1.2));
    gl_FragColor = vec4(mix(vec3(0.925, 0.93, 0.94), vec3(0.42, 0.45, 0.50), ink), seen);
  }`;

const gridLines = { value: 1 };

function corners(ground, margin) {
  const at = (u, v) => vec(ground.origin).addScaledVector(vec(ground.u), u).addScaledVector(vec(ground.v), v);
  const flat = [
    [ground.low[0] - margin, ground.low[1] - margin],
    [ground.high[0] + margin, ground.low[1] - margin],
    [ground.high[0] + margin, ground.high[1] + margin],
    [ground.low[0] - margin, ground.high[1] + margin],
  ];
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(flat.flatMap((p) => at(...p).toArray()), 3));
  geometry.setAttribute('metres', new THREE.Float32BufferAttribute(flat.flat(), 2));
  const normal = vec(ground.u).cross(vec(ground.v));
  geometry.setAttribute('normal', new THREE.Float32BufferAttribute(flat.flatMap(() => normal.toArray()), 3));
  geometry.setIndex([0, 1, 2, 0, 2, 3]);
  return geometry;
}

// Unbounded ground is drawn a good way beyond the run; a floor that is a hull is drawn by itself and gets lines only.
let shade; // of shadows on unbounded ground
function addGround() {
  const { ground } = run;
  if (!ground) return;
  const unbounded = links.some((link) => link.half_spaces.length > 0);
  const fade = unbounded ? 0.6 * size : 1e-3 * size;
  const geometry = corners(ground, fade);
  const grid = new THREE.Mesh(geometry, new THREE.ShaderMaterial({
    vertexShader: GRID_VERTEX,
    fragmentShader: GRID_FRAGMENT,
    transparent: true,
    depthWrite: unbounded,
    side: THREE.DoubleSide,
    polygonOffset: true,
    polygonOffsetFactor: unbounded ? 1 : -1,
    polygonOffsetUnits: unbounded ? 4 : -4,
    uniforms: {
      spacing: { value: ground.spacing },
      major: { value: ground.major },
      fade: { value: fade },
      lines: gridLines,
      low: { value: new THREE.Vector2(...ground.low) },
      high: { value: new THREE.Vector2(...ground.high) },
    },
  }));
  grid.renderOrder = -2;
  scene.add(grid);
  if (!unbounded) return;
  shade = new THREE.Mesh(geometry, new THREE.ShadowMaterial({ opacity: 0.22, depthWrite: false }));
  shade.receiveShadow = true;
  shade.renderOrder = -1;
  shade.visible = false;
  scene.add(shade);
}
addGround();

// ---------------------------------------------------------------- links

function surface(shape) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.BufferAttribute(shape.vertices, 3));
  geometry.setIndex(new THREE.BufferAttribute(shape.triangles, 1));
  geometry.computeBoundingSphere();
  return geometry;
}

// All edges of the triangles once, and those of them that are sharp.
function edgesOf({ vertices, triangles }) {
  const count = triangles.length / 3;
  const normals = [];
  const corner = (i) => new THREE.Vector3().fromArray(vertices, 3 * i);
  const sides = new Map();
  const all = [];
  const sharp = [];
  for (let t = 0; t < count; t++) {
    const [a, b, c] = triangles.subarray(3 * t, 3 * t + 3);
    normals.push(corner(b).sub(corner(a)).cross(corner(c).sub(corner(a))).normalize());
    for (const [i, k] of [[a, b], [b, c], [c, a]]) {
      const key = i < k ? i * 0x100000000 + k : k * 0x100000000 + i;
      const other = sides.get(key);
      if (other === undefined) {
        sides.set(key, t);
        all.push(i, k);
      } else if (normals[other].dot(normals[t]) <= EDGE_COSINE) sharp.push(i, k);
    }
  }
  return { all, sharp };
}

const edgeMaterial = new THREE.LineBasicMaterial({ color: DARK, transparent: true, opacity: 0.6 });
const wireMaterial = new THREE.LineBasicMaterial({ color: DARK, transparent: true, opacity: 0.28 });
const ghostMaterial = new THREE.LineBasicMaterial({ color: DARK, transparent: true, opacity: 0.45, depthTest: false });

function lineGeometry(vertices, indices) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.BufferAttribute(vertices, 3));
  geometry.setIndex(indices);
  return geometry;
}

// Between two moments, share 0..1 of the way: straight, and along a great circle.
function move(group, { places, turns }, from, to, share) {
  group.position.fromArray(places, 3 * from);
  group.quaternion.fromArray(turns, 4 * from);
  if (share > 0) {
    group.position.lerp(new THREE.Vector3().fromArray(places, 3 * to), share);
    group.quaternion.slerp(new THREE.Quaternion().fromArray(turns, 4 * to), share);
  }
}

class Body {
  constructor(link) {
    this.link = link;
    this.group = new THREE.Group();
    const color = new THREE.Color().setRGB(...link.color, THREE.LinearSRGBColorSpace);
    this.mesh = new THREE.Mesh(undefined, new THREE.MeshLambertMaterial({
      color, flatShading: true, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1,
    }));
    this.mesh.castShadow = true;
    this.mesh.receiveShadow = true;
    this.mesh.userData.body = this;
    this.edges = new THREE.LineSegments(undefined, edgeMaterial);
    this.wire = new THREE.LineSegments(undefined, wireMaterial);
    this.group.add(this.mesh, this.edges, this.wire);
    this.setShape(link);
    scene.add(this.group);
  }

  setShape(shape) {
    for (const part of [this.mesh, this.edges, this.wire]) part.geometry?.dispose();
    const { all, sharp } = edgesOf(shape);
    this.mesh.geometry = surface(shape);
    this.mesh.geometry.computeBoundingBox();
    this.box = this.mesh.geometry.boundingBox;
    this.edges.geometry = lineGeometry(shape.vertices, sharp);
    this.wire.geometry = lineGeometry(shape.vertices, all);
  }

  place(from, to, share) {
    if (this.link.fixed) move(this.group, this.link, 0, 0, 0);
    else move(this.group, this.link, from, to, share);
  }
}

const bodies = new Map();
for (const link of links) if (link.vertices) bodies.set(link.index, new Body(link));

// ---------------------------------------------------------------- initial design, seen through

const GHOSTS = { none: 'none', best: 'best', own: 'own' };
const ghosts = { mode: GHOSTS.none, list: [] };

// A link as the optimization began: where the best design has it, or in the run of its own.
function addGhost(link, shape, changed) {
  const group = new THREE.Group();
  const skin = new THREE.Mesh(surface(shape), new THREE.MeshLambertMaterial({
    color: 0xffffff, flatShading: true, transparent: true, opacity: 0.45, depthWrite: false,
  }));
  const lines = new THREE.LineSegments(lineGeometry(shape.vertices, edgesOf(shape).sharp), ghostMaterial);
  skin.renderOrder = 2;
  lines.renderOrder = 3;
  group.add(skin, lines);
  group.visible = false;
  scene.add(group);
  ghosts.list.push({ link, group, changed });
}

for (const link of moving) {
  const k = design ? design.links.indexOf(link.index) : -1;
  const shape = k >= 0 ? design.stops[0].shapes[k] : link;
  if (shape.vertices && (k >= 0 || link.initial)) addGhost(link, shape, k >= 0);
}

function placeGhosts({ from, to, share }) {
  for (const { link, group, changed } of ghosts.list) {
    const motion = ghosts.mode === GHOSTS.own ? link.initial : link;
    group.visible = ghosts.mode === GHOSTS.own ? Boolean(motion) : ghosts.mode === GHOSTS.best && changed;
    if (group.visible) move(group, motion, from, to, share);
  }
}

// ---------------------------------------------------------------- contacts

const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];

// Geometric mean of the sides of its box, of the link in the middle [m].
function linkSize() {
  const sizes = [...bodies.values()].filter((body) => !body.link.fixed).map((body) => {
    const sides = body.box.getSize(new THREE.Vector3());
    return Math.cbrt(sides.x * sides.y * sides.z);
  });
  return sizes.length ? median(sizes) : 0.1 * size;
}

// A round number of newtons near the median of all forces: impacts do not make the rest invisible.
function usualForce() {
  const force = median([...contacts.sizes].filter((x) => x > 0)) || 1;
  const decade = 10 ** Math.floor(Math.log10(force));
  return [1, 2, 5, 10].map((k) => k * decade).find((x) => x >= 0.999 * force);
}

const arrows = {
  force: usualForce(), length: linkSize(), factor: 1,
  shafts: null, heads: null, points: null, most: 0, mostPoints: 0,
};

function disc() {
  const image = document.createElement('canvas');
  image.width = image.height = 64;
  const pen = image.getContext('2d');
  pen.beginPath();
  pen.arc(32, 32, 25, 0, 7);
  pen.fillStyle = '#1b1f24';
  pen.fill();
  pen.lineWidth = 9;
  pen.strokeStyle = '#fff';
  pen.stroke();
  return new THREE.CanvasTexture(image);
}

function addContacts() {
  for (let m = 0; m < times.length; m++) {
    arrows.most = Math.max(arrows.most, contacts.from[m + 1] - contacts.from[m]);
    arrows.mostPoints = Math.max(arrows.mostPoints, contacts.first[m + 1] - contacts.first[m]);
  }
  const color = new THREE.Color().setRGB(...contacts.color.map((x) => x / 255), THREE.SRGBColorSpace);
  const material = new THREE.MeshBasicMaterial({ color, depthTest: false, transparent: true });
  const shaft = new THREE.CylinderGeometry(1, 1, 1, 10).translate(0, 0.5, 0);
  const head = new THREE.ConeGeometry(1, 1, 14).translate(0, 0.5, 0);
  arrows.shafts = new THREE.InstancedMesh(shaft, material, Math.max(arrows.most, 1));
  arrows.heads = new THREE.InstancedMesh(head, material, Math.max(arrows.most, 1));
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(3 * Math.max(arrows.mostPoints, 1)), 3));
  arrows.points = new THREE.Points(geometry, new THREE.PointsMaterial({
    size: 9 * ratio, sizeAttenuation: false, map: disc(), alphaTest: 0.3, transparent: true, depthTest: false,
  }));
  for (const part of [arrows.shafts, arrows.heads, arrows.points]) {
    part.frustumCulled = false;
    part.renderOrder = 5;
    scene.add(part);
  }
  arrows.points.renderOrder = 6;
}
addContacts();

const Y = new THREE.Vector3(0, 1, 0);

// The force from where the pair presses on each other.
function placeArrow(slot, i) {
  const force = new THREE.Vector3().fromArray(contacts.forces, 3 * i);
  if (contacts.onA[i]) force.negate();
  const start = new THREE.Vector3().fromArray(contacts.centers, 3 * i);
  const shown = Number.isFinite(start.x) && force.length() > 0 ? 1 : 0;
  const length = shown * arrows.length * arrows.factor * Math.min(force.length() / arrows.force, ARROW_LONGEST);
  const width = shown * 0.03 * arrows.length * Math.sqrt(arrows.factor);
  const headLength = Math.min(0.6 * length, 8 * width);
  const along = shown ? force.normalize() : Y;
  const turn = new THREE.Quaternion().setFromUnitVectors(Y, along);
  const matrix = new THREE.Matrix4();
  if (!shown) start.set(0, 0, 0);
  arrows.shafts.setMatrixAt(slot, matrix.compose(start, turn, new THREE.Vector3(width, length - headLength, width)));
  start.addScaledVector(along, length - headLength);
  arrows.heads.setMatrixAt(slot, matrix.compose(start, turn, new THREE.Vector3(2.6 * width, headLength, 2.6 * width)));
}

function showContacts(moment) {
  const [from, to] = [contacts.from[moment], contacts.from[moment + 1]];
  for (let i = from; i < to; i++) placeArrow(i - from, i);
  arrows.shafts.count = arrows.heads.count = to - from;
  arrows.shafts.instanceMatrix.needsUpdate = arrows.heads.instanceMatrix.needsUpdate = true;
  const [first, end] = [contacts.first[moment], contacts.first[moment + 1]];
  const position = arrows.points.geometry.getAttribute('position');
  position.array.set(contacts.points.subarray(3 * first, 3 * end));
  position.needsUpdate = true;
  arrows.points.geometry.setDrawRange(0, end - first);
}

// ---------------------------------------------------------------- path of a centre of mass

const way = { link: undefined, all: null, past: null, end: null };

function lineOf(points, color, width, opacity) {
  const geometry = new LineGeometry();
  geometry.setPositions(points);
  const line = new Line2(geometry, new LineMaterial({ color, linewidth: width, transparent: true, opacity, depthTest: false }));
  line.renderOrder = 3;
  scene.add(line);
  return line;
}

// link: null = all that can move, undefined = none.
function setWay(link) {
  for (const part of [way.all, way.past, way.end]) {
    if (part) scene.remove(part);
    part?.geometry.dispose();
  }
  way.all = way.past = way.end = null;
  way.link = link;
  if (link === undefined || times.length < 2) return;
  const points = [];
  for (let m = 0; m < times.length; m++) points.push(...centerOf(link, m));
  way.all = lineOf(points, DARK, 1.5, 0.25);
  way.past = lineOf(points, DARK, 2.5, 0.9);
  way.end = new THREE.Points(new THREE.BufferGeometry().setAttribute('position', new THREE.Float32BufferAttribute([0, 0, 0], 3)),
    new THREE.PointsMaterial({ size: 12 * ratio, sizeAttenuation: false, map: disc(), alphaTest: 0.3, transparent: true, depthTest: false }));
  way.end.frustumCulled = false;
  way.end.renderOrder = 6;
  scene.add(way.end);
}

function showWay(from, to, share) {
  if (!way.all) return;
  way.past.geometry.instanceCount = from;
  way.past.visible = from > 0;
  const a = vec(centerOf(way.link, from));
  way.end.position.copy(share > 0 ? a.lerp(vec(centerOf(way.link, to)), share) : a);
}

// ---------------------------------------------------------------- camera

let follow; // a link, null = the centre of all, undefined = the camera stands
let followed = new THREE.Vector3();
const VIEWS = { iso: [-58, 24], front: [-90, 7], side: [0, 7], top: [-90, 89.9] };

// Corners of a body's box, at the moments given.
function cornersOf(body, moments) {
  const { min, max } = body.box;
  const { places, turns, fixed } = body.link;
  const points = [];
  for (const m of fixed ? [0] : moments) {
    const place = new THREE.Vector3().fromArray(places, 3 * m);
    const turn = new THREE.Quaternion().fromArray(turns, 4 * m);
    for (let k = 0; k < 8; k++) {
      const corner = new THREE.Vector3(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z);
      points.push(corner.applyQuaternion(turn).add(place));
    }
  }
  return points;
}

// What has to be seen: all that moves, over the run, or as it is now when the camera follows; and what stands within its
// box, which leaves out wide terrain.
function seenPoints() {
  const following = follow !== undefined;
  const every = Math.max(1, Math.ceil(times.length / FIT_MOMENTS));
  const moments = following ? [now.moment] : [...times.keys()].filter((m) => m % every === 0 || m === times.length - 1);
  const margin = 1e-3 * size;
  const within = (p) => p.clone().clamp(low, high).distanceTo(p) <= margin;
  const points = [];
  for (const body of bodies.values()) {
    const corners = !body.link.fixed || !following ? cornersOf(body, moments) : [];
    if (!body.link.fixed || corners.every(within)) points.push(...corners);
  }
  if (points.length === 0) points.push(low, high);
  return points;
}

// The nearest eye in the view's direction from which all points lie inside the pyramid, as in the pictures: with the eye at
// a right + b above + c back, each side of the pyramid bounds a -+ h c or b -+ h c.
function setView(name) {
  const back = direction(...VIEWS[name]);
  const right = camera.up.clone().cross(back).normalize();
  const above = back.clone().cross(right);
  const tall = Math.tan((camera.fov * Math.PI) / 360) * FIT_SHARE;
  const wide = tall * camera.aspect;
  const side = [-Infinity, -Infinity, -Infinity, -Infinity];
  let [near, far] = [-Infinity, Infinity];
  for (const p of seenPoints()) {
    const [x, y, z] = [p.dot(right), p.dot(above), p.dot(back)];
    side[0] = Math.max(side[0], x + wide * z);
    side[1] = Math.max(side[1], -x + wide * z);
    side[2] = Math.max(side[2], y + tall * z);
    side[3] = Math.max(side[3], -y + tall * z);
    near = Math.max(near, z);
    far = Math.min(far, z);
  }
  const c = Math.max((side[0] + side[1]) / (2 * wide), (side[2] + side[3]) / (2 * tall), near + 1e-3 * size);
  const eye = right.clone().multiplyScalar((side[0] - side[1]) / 2)
    .addScaledVector(above, (side[2] - side[3]) / 2).addScaledVector(back, c);
  camera.position.copy(eye);
  controls.target.copy(eye).addScaledVector(back, (near + far) / 2 - c);
  controls.update();
  viewName = name;
  touched = false;
}

let viewName = 'iso';
let touched = false; // by the user: a new size of the window then keeps the camera
controls.addEventListener('start', () => { touched = true; });

// The run has grown: all of it is to be seen, unless somebody has chosen a view.
function fit() {
  if (!touched && follow === undefined) setView(viewName);
}

// Does the run go so far that it is small when seen whole?
function goesFar() {
  if (moving.length === 0) return false;
  const [a, b] = [0, times.length - 1].map((m) => vec(centerOf(null, m)));
  const box = new THREE.Box3().setFromPoints(moving.flatMap((link) => (bodies.has(link.index) ? cornersOf(bodies.get(link.index), [0]) : [])));
  return a.distanceTo(b) > FAR * box.getSize(new THREE.Vector3()).length();
}

// Does a run that goes on leave a camera that nobody has put anywhere?
const strays = () => !touched && follow === undefined && goesFar();

function setFollow(link) {
  follow = link;
  if (follow !== undefined) followed = vec(followPoint());
  setView(viewName);
}

const followPoint = () => {
  const at = follow ? bodies.get(follow.index)?.group : null;
  return at ? vec(follow.center).applyQuaternion(at.quaternion).add(at.position).toArray() : centerOf(null, now.from);
};

function followNow() {
  if (follow === undefined) return;
  const at = follow ? vec(followPoint()) : vec(centerOf(null, now.from)).lerp(vec(centerOf(null, now.to)), now.share);
  const shift = at.clone().sub(followed);
  camera.position.add(shift);
  controls.target.add(shift);
  followed = at;
}

// ---------------------------------------------------------------- showing a time

const now = { from: 0, to: 0, share: 0, moment: 0 };

function show(from, to, share) {
  Object.assign(now, { from, to, share, moment: share < 0.5 ? from : to });
  for (const body of bodies.values()) body.place(from, to, share);
  placeGhosts(now);
  showContacts(now.moment);
  showWay(from, to, share);
  followNow();
}

function resize() {
  const { clientWidth, clientHeight } = canvas.parentElement;
  const [width, height] = [Math.floor(clientWidth * ratio), Math.floor(clientHeight * ratio)];
  if (width !== canvas.width || height !== canvas.height) renderer.setSize(width, height, false);
  camera.aspect = clientWidth / Math.max(clientHeight, 1);
  camera.updateProjectionMatrix();
  if (!touched) setView(viewName);
}

// Shaders are made ready beside everything else: the page answers in the meantime, without shadows first.
async function prepare(shadows) {
  sun.castShadow = shadows;
  if (shade) shade.visible = shadows;
  if (renderer.extensions.has('KHR_parallel_shader_compile')) await renderer.compileAsync(scene, camera).catch(() => {});
  else await new Promise((done) => { setTimeout(done); });
}

// Is the picture still on the move? Then another one has to follow.
function draw() {
  const moved = controls.update();
  const pixels = canvas.height / ratio / (2 * Math.tan((camera.fov * Math.PI) / 360) * camera.position.distanceTo(controls.target));
  arrows.points.material.size = ratio * Math.min(Math.max(DISC.share * arrows.length * pixels, DISC.least), DISC.most);
  renderer.render(scene, camera);
  return moved;
}

// Where somebody has put the camera, null = nobody has.
const eye = () => (touched ? { position: camera.position.toArray(), target: controls.target.toArray() } : null);

function setEye({ position, target }) {
  camera.position.fromArray(position);
  controls.target.fromArray(target);
  controls.update();
  touched = true;
}

// Another page takes the place of this one: the graphics card gets back what it has.
function leave() {
  renderer.dispose?.();
  renderer.forceContextLoss?.();
  delete window.__THREE__; // it warns of a second one
}

// ---------------------------------------------------------------- what can be switched

const each = (what) => (on) => bodies.forEach((body) => { body[what].visible = on; });
const toggles = {
  edges: each('edges'),
  wire: each('wire'),
  grid: (on) => { gridLines.value = on ? 1 : 0; },
  points: (on) => { arrows.points.visible = on; },
  forces: (on) => { arrows.shafts.visible = arrows.heads.visible = on; },
};

function setGhosts(mode) {
  ghosts.mode = mode;
  placeGhosts(now);
}

// The link under a place of the canvas, -1..1 in both directions; null = none.
const ray = new THREE.Raycaster();
function linkAt(x, y) {
  ray.setFromCamera(new THREE.Vector2(x, y), camera);
  const hit = ray.intersectObjects([...bodies.values()].map((b) => b.mesh), false)[0];
  return hit ? hit.object.userData.body.link : null;
}

// A stop of the slider, or share 0..1 of the way to the next: its faces, with vertices between both.
function setDesign(stop, share = 0) {
  design.links.forEach((index, k) => {
    const shape = design.stops[stop].shapes[k];
    const next = design.stops[stop + 1]?.shapes[k];
    const between = share > 0 && next?.vertices.length === shape.vertices.length;
    bodies.get(index)?.setShape(between
      ? { vertices: shape.vertices.map((x, i) => x + share * (next.vertices[i] - x)), triangles: next.triangles }
      : shape);
  });
}

export const stage = {
  scene, camera, controls, canvas, bodies, ghosts, GHOSTS, arrows, way, toggles, now,
  show, prepare, draw, resize, setView, setFollow, goesFar, setWay, setDesign, setGhosts, linkAt, fit, strays, eye, setEye, leave,
};
