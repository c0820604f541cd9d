// Files of MuJoCo through the current MuJoCo (npm: mujoco-js): node current.mjs FOLDER NAME.xml..., all below FOLDER. Prints JSON: of
// each file an error, or its centres of mass at the start (of its first keyframe) and the damping of its actuators.
import fs from "fs";
import path from "path";
import {createRequire} from "module";
import {pathToFileURL} from "url";

const [folder, ...names] = process.argv.slice(2);
const load = (await import(pathToFileURL(createRequire(import.meta.url).resolve(path.join(process.env.MODULES, "mujoco-js/dist/mujoco_wasm.js"))))).default;
const mujoco = await load({print: () => {}, printErr: () => {}});

function put(from, to) {
  try {
    mujoco.FS.mkdir(to);
  } catch { /* it is there */
  }
  for (const name of fs.readdirSync(from)) {
    const file = path.join(from, name);
    if (fs.statSync(file).isDirectory()) put(file, `${to}/${name}`);
    else mujoco.FS.writeFile(`${to}/${name}`, new Uint8Array(fs.readFileSync(file)));
  }
}

function look(name) {
  const model = mujoco.MjModel.loadFromXML(`/files/${name}`), data = new mujoco.MjData(model);
  if (model.nkey > 0) mujoco.mj_resetDataKeyframe(model, data, 0);
  mujoco.mj_forward(model, data);
  const called = (kind, index) => mujoco.mj_id2name(model, kind.value ?? kind, index);
  const centers = {}, damping = {};
  for (let i = 1; i < model.nbody; i++) centers[called(mujoco.mjtObj.mjOBJ_BODY, i)] = [...data.xipos.slice(3 * i, 3 * i + 3)];
  for (let i = 0; i < model.nu; i++) damping[called(mujoco.mjtObj.mjOBJ_ACTUATOR, i)] = -model.actuator_biasprm[10 * i + 2] * model.actuator_gear[6 * i] ** 2;
  for (let i = 0; i < 3; i++) mujoco.mj_step(model, data);
  return {version: mujoco.mj_version(), bodies: model.nbody - 1, centers, damping, finite: [...data.qpos].every(Number.isFinite)};
}

put(folder, "/files");
const found = {};
for (const name of names) {
  try {
    found[name] = look(name);
  } catch (error) {
    found[name] = {error: String(error.message ?? error)};
  }
}
console.log(JSON.stringify(found));
