// Runs a file of MJCF or URDF in the current MuJoCo (npm: mujoco-js) from the keyframe named by the environment's KEY ('home'; 'none' for none; the first where that is missing), and prints what tests/mujoco/mujoco_run.c prints with
// CONTACTS=1: run.mjs PACKAGE ROOT MODEL DURATION INTERVAL. PACKAGE: folder of mujoco-js. ROOT: the folder with all files that MODEL (a path below
// it) names. DURATION, INTERVAL in s. Centres of mass [m] in the columns of trajectory.csv on stdout; on stderr, after each row, a line
// "contact,time,body,body,vertical force [N],force [N]" for every pair of bodies; before them a line "joint,body" for every body with a joint. Exit code 1 if MuJoCo cannot read the file.
import fs from "fs";
import path from "path";
import {pathToFileURL} from "url";

const [folder, root, file, duration, interval] = process.argv.slice(2);
const load = (await import(pathToFileURL(path.join(path.resolve(folder), "dist/mujoco_wasm.js")))).default;
const said = [];
const mujoco = await load({print: (text) => said.push(text), printErr: (text) => said.push(text)});

function put(from, to) {
  try {
    mujoco.FS.mkdir(to);
  } catch { /* it is there */
  }
  for (const name of fs.readdirSync(from)) {
    const place = path.join(from, name);
    if (!fs.existsSync(place)) continue;
    if (fs.statSync(place).isDirectory()) put(place, `${to}/${name}`);
    else mujoco.FS.writeFile(`${to}/${name}`, new Uint8Array(fs.readFileSync(place)));
  }
}

function forces(model, data) {
  const sums = new Map(), six = new mujoco.DoubleBuffer(6);
  for (let c = 0; c < data.ncon; c++) {
    const contact = data.contact.get(c), frame = contact.frame;
    if (contact.geom1 < 0 || contact.geom2 < 0) continue; // of flexes
    const pair = [model.geom_bodyid[contact.geom1], model.geom_bodyid[contact.geom2]].sort((a, b) => a - b);
    mujoco.mj_contactForce(model, data, c, six);
    const force = six.GetView(); // frame rows: normal, tangents
    const up = Math.abs([0, 1, 2].reduce((sum, k) => sum + frame[3 * k + 2] * force[k], 0));
    const [before, all] = sums.get(pair.join()) ?? [0, 0];
    sums.set(pair.join(), [before + up, all + Math.hypot(force[0], force[1], force[2])]);
  }
  six.delete();
  return sums;
}

/* MuJoCo throws structures that begin with their text, which the package does not pass on. */
function message(error) {
  if (!error.excPtr) return String(error.message ?? error);
  const bytes = new Uint8Array(new mujoco.DoubleBuffer(1).GetView().buffer, error.excPtr, 500);
  return error.name + ": " + Buffer.from(bytes.slice(0, bytes.indexOf(0))).toString();
}

/* Are two bodies welded to each other, or is one welded to the parent of the body that the other is welded to? */
function linked(model, a, b) {
  const weld = model.body_weldid, above = (body) => weld[model.body_parentid[weld[body]]];
  return weld[a] === weld[b] || weld[a] === above(b) || weld[b] === above(a);
}

/* URDF has no softness: limits and contacts with MuJoCo's shortest time constant, two steps, in place of 20 ms. */
function stiffen(model) {
  for (const references of [model.jnt_solref, model.geom_solref]) {
    for (let k = 0; k < references.length; k += 2) references[k] = 2 * model.opt.timestep;
  }
}

/* Links of a URDF file that share a joint never touch (MuJoCo's filter of parents leaves out those at the fixed base, which is its world), nor, as in sdrs import, those that
 * touch at the start: the model again, with them excluded. */
function links_excluded(model, place) {
  const name = (b) => mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY.value, b), pairs = [];
  for (let b = 1; b < model.nbody; b++) {
    for (let a = 0; a < b; a++) if (linked(model, a, b)) pairs.push(`<exclude body1="${name(a)}" body2="${name(b)}"/>`);
  }
  const data = new mujoco.MjData(model);
  start_within_limits(model, data);
  mujoco.mj_forward(model, data);
  for (let c = 0; c < data.ncon; c++) {
    const [a, b] = [data.contact.get(c).geom1, data.contact.get(c).geom2].map((geom) => model.geom_bodyid[geom]);
    if (!linked(model, a, b)) pairs.push(`<exclude body1="${name(a)}" body2="${name(b)}"/>`);
  }
  mujoco.mj_saveLastXML(place + ".xml", model);
  const text = mujoco.FS.readFile(place + ".xml", {encoding: "utf8"});
  mujoco.FS.writeFile(place + ".xml", text.replace("</mujoco>", `<contact>${[...new Set(pairs)].join("")}</contact></mujoco>`));
  return mujoco.MjModel.loadFromXML(place + ".xml");
}

/* Joints of a URDF file start at zero or, where limits are in the way, within 1 % of the range (at most 0.05 m or rad) of them, as in a scene. */
function start_within_limits(model, data) {
  for (let j = 0; j < model.njnt; j++) {
    if (!model.jnt_limited[j]) continue;
    const [low, high] = model.jnt_range.slice(2 * j, 2 * j + 2), margin = Math.min(0.01 * (high - low), 0.05);
    data.qpos[model.jnt_qposadr[j]] = Math.min(Math.max(0, low + margin), high - margin);
  }
}

/* A URDF file names its meshes, relative to its folder; the folder of a collection may have hundreds of megabytes. */
function put_urdf(place) {
  const text = fs.readFileSync(file, "utf8");
  mujoco.FS.mkdirTree(path.posix.dirname(place));
  mujoco.FS.writeFile(place, text);
  for (const [, name] of text.matchAll(/filename="([^"]*)"/g)) {
    const from = path.join(path.dirname(file), name), to = path.posix.join(path.posix.dirname(place), name);
    if (!fs.existsSync(from) || fs.statSync(from).isDirectory()) continue;
    mujoco.FS.mkdirTree(path.posix.dirname(to));
    mujoco.FS.writeFile(to, new Uint8Array(fs.readFileSync(from)));
  }
}

let model;
try {
  const place = `/files/${path.relative(root, file)}`;
  if (file.endsWith(".urdf")) put_urdf(place);
  else put(root, "/files");
  model = mujoco.MjModel.loadFromXML(place);
  if (file.endsWith(".urdf")) {
    model = links_excluded(model, place);
    stiffen(model);
  }
} catch (error) {
  console.error("run.mjs:", said.concat(message(error)).join(" ").replace(/\s+/g, " "));
  process.exit(1);
}
const data = new mujoco.MjData(model), names = [];
for (let b = 0; b < model.nbody; b++) {
  const unnamed = model.names[model.name_bodyadr[b]] === 0; // mj_id2name gives "emsc" then; sdrs import numbers these bodies
  names.push(unnamed ? `body${b}` : mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY.value, b));
}
const key = process.env.KEY ?? "home";
if (model.nkey > 0 && key !== "none") mujoco.mj_resetDataKeyframe(model, data, Math.max(0, mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_KEY.value, key)));
if (file.endsWith(".urdf")) start_within_limits(model, data);
for (let b = 1; b < model.nbody; b++) {
  if (model.body_jntnum[b] > 0) console.error("joint," + names[b]);
}
mujoco.mj_forward(model, data);
const heavy = [...names.keys()].filter((b) => b > 0 && model.body_mass[b] > 0); // others have no centre of mass
const row = () => console.log([data.time.toPrecision(9), ...heavy.flatMap((b) => [...data.xipos.slice(3 * b, 3 * b + 3)])].join(","));
console.log(["time", ...heavy.flatMap((b) => ["x", "y", "z"].map((axis) => `${names[b]}/c${axis}`))].join(","));
row();
const steps = Math.round(duration / model.opt.timestep);
for (let step = 1, rows = 1; step <= steps; step++) {
  mujoco.mj_step(model, data);
  if (step !== Math.round(rows * interval / model.opt.timestep)) continue; // the step nearest to a multiple of the interval
  rows++;
  mujoco.mj_kinematics(model, data);
  mujoco.mj_comPos(model, data);
  row();
  for (const [pair, [up, all]] of forces(model, data)) {
    if (all > 0) console.error(["contact", data.time.toPrecision(9), ...pair.split(",").map((b) => names[b]), up, all].join(","));
  }
}
