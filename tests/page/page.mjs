// Looks at pages in a browser: node page.mjs BROWSER PACKAGES FOLDER PICTURES
// FOLDER has the runs names, spider, stack, machine (with all that is written when asked for), pinch (optimized), throw (the same, control only) and their pages.
// Numbers are compared with the run's own files, read here; pictures of the pages go to PICTURES.
import fs from 'node:fs';
import path from 'node:path';

import { check, count, finishTests, openBrowser } from './browser.mjs';

const [browserPath, packages, folder, pictures] = process.argv.slice(2);

// Positions are single floats: 6e-8 of the way that the spider goes, 5 m.
const NEAR = 1e-6;
// A browser without a graphics card draws a picture in tenths of a second; more are waited for than that.
const PATIENCE = 180000;
// Pixels of a picture per pixel of the page. The processor draws, so its time follows the number of pixels.
const SCALE = process.env.SDRS_LONG ? 1 : 0.5;

const browser = await openBrowser(browserPath, packages);
const near = (found, wanted, tolerance, text) =>
  check(Math.abs(found - wanted) <= tolerance, `${text}: found ${found}, wanted ${wanted}`);
const same = (found, wanted, text) => check(found === wanted, `${text}: found ${found}, wanted ${wanted}`);

// ---------------------------------------------------------------- files of a run

function readCsv(...names) {
  const [head, ...lines] = fs.readFileSync(path.join(folder, ...names), 'utf8').trim().split('\n').map((l) => l.split(','));
  return { head, rows: lines.map((cells) => Object.fromEntries(cells.map((cell, k) => [head[k], cell]))) };
}

function readVertices(...names) {
  const lines = fs.readFileSync(path.join(folder, ...names), 'utf8').split('\n');
  return lines.filter((line) => line.startsWith('v ')).flatMap((line) => line.split(' ').slice(1).map(Number));
}

// ---------------------------------------------------------------- a page

// Opens a page with everything but the file itself forbidden; problems and what it asked for are kept.
async function open(name, width = 1280, height = 800) {
  const page = await browser.newPage();
  page.problems = [];
  page.asked = [];
  page.on('console', (message) => { if (['error', 'warn'].includes(message.type())) page.problems.push(message.text()); });
  page.on('pageerror', (error) => page.problems.push(error.message));
  page.on('dialog', (dialog) => { page.problems.push(dialog.message()); dialog.dismiss(); });
  await page.setViewport({ width, height, deviceScaleFactor: SCALE, isMobile: width < 500, hasTouch: width < 500 });
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url())) page.asked.push(request.url());
    if (/^(file|data|blob):/.test(request.url())) request.continue();
    else request.abort();
  });
  await page.goto(`file://${path.resolve(folder, `${name}.html`)}`, { timeout: PATIENCE });
  await page.waitForFunction('window.sdrs', { timeout: PATIENCE });
  await page.evaluate(() => window.sdrs.complete);
  return page;
}

const settle = (page) => page.evaluate(() => new Promise((done) => {
  let left = 4;
  const next = () => (left-- > 0 ? requestAnimationFrame(next) : done());
  next();
}));

const picture = async (page, name) => {
  await settle(page);
  await page.screenshot({ path: path.join(pictures, `${name}.png`) });
};

// What the canvas shows; it has to be read in the task that has drawn it.
const seen = (page) => page.evaluate(() => {
  const { stage } = window.sdrs;
  while (stage.draw());
  return stage.canvas.toDataURL();
});

const scrub = (page, moment) => page.$eval('#time', (slider, m) => {
  slider.value = m;
  slider.dispatchEvent(new Event('input'));
}, moment);

const timeShown = (page) => page.$eval('#clock', (element) => Number(element.textContent.match(/[\d.]+/)[0]));

// What stands in the scene's own matrices: place and turn of each link.
const poses = (page) => page.evaluate(() => {
  const { stage, links } = window.sdrs;
  stage.scene.updateMatrixWorld();
  return [...stage.bodies].map(([index, body]) => {
    const { elements: m } = body.group.matrixWorld;
    return { name: links[index].name, matrix: [...m] };
  });
});

const rotation = ([w, x, y, z]) => [
  [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
  [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
  [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
];

async function finish(page, name) {
  same(page.problems.join('; '), '', `${name}: errors and warnings of the browser`);
  same(page.asked.length, 1, `${name}: files and addresses asked for (${page.asked.join(', ')})`);
  await page.close();
}

// ---------------------------------------------------------------- tests

async function checkPoses(page, run, moments) {
  const { rows } = readCsv(...run, 'trajectory.csv');
  for (const moment of moments) {
    await scrub(page, moment);
    const row = rows[moment];
    near(await timeShown(page), Number(row.time), 0.006, `time of moment ${moment}`);
    let worst = 0;
    const found = await poses(page);
    for (const { name, matrix } of found) {
      const r = rotation(['qw', 'qx', 'qy', 'qz'].map((k) => Number(row[`${name}/${k}`])));
      ['px', 'py', 'pz'].forEach((k, i) => { worst = Math.max(worst, Math.abs(matrix[12 + i] - Number(row[`${name}/${k}`]))); });
      for (let i = 0; i < 3; i++) for (let k = 0; k < 3; k++) worst = Math.max(worst, Math.abs(matrix[4 * k + i] - r[i][k]));
    }
    check(found.length > 3 && worst <= NEAR, `moment ${moment}: poses differ by ${worst} from trajectory.csv`);
  }
}

async function checkPlaying(page) {
  await scrub(page, 0);
  await page.keyboard.press('Space');
  await page.waitForFunction(() => Number(document.querySelector('#time').value) > 20, { timeout: PATIENCE });
  await page.keyboard.press('Space');
  const stopped = await timeShown(page);
  check(stopped > 0.1, `playing reaches ${stopped} s`);
  await settle(page);
  same(await timeShown(page), stopped, 'time after a pause');
}

async function checkKeys(page, last) {
  await scrub(page, 100);
  const moment = () => page.$eval('#time', (slider) => Number(slider.value));
  await page.keyboard.press('ArrowRight');
  same(await moment(), 101, 'right');
  await page.keyboard.down('Shift');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.up('Shift');
  same(await moment(), 91, 'shift and left');
  await page.keyboard.press('End');
  same(await moment(), last, 'end');
  await page.keyboard.press('Home');
  same(await moment(), 0, 'home');
  await page.keyboard.press('ArrowDown');
  same(await page.$eval('#speed', (select) => select.value), '0.5', 'speed after down');
  await page.keyboard.press('ArrowUp');
  // a switch that has the focus takes the space, a button that was clicked leaves it to the motion
  const edges = () => page.$eval('[data-toggle=edges]', (box) => box.checked);
  await page.focus('[data-toggle=edges]');
  await page.keyboard.press('Space');
  same(await edges(), false, 'a switch after the space key');
  await page.keyboard.press('e');
  same(await edges(), true, 'a switch after its letter');
  await page.click('[data-view=top]');
  await page.keyboard.press('Space');
  await page.waitForFunction(() => Number(document.querySelector('#time').value) > 2, { timeout: PATIENCE });
  await page.keyboard.press('Space');
  await page.click('[data-view=iso]');
}

// Every switch changes the picture, and back again.
async function checkToggles(page, moment, wanted) {
  await scrub(page, moment);
  const before = await seen(page);
  const ids = await page.$$eval('[data-toggle]', (boxes) => boxes.map((box) => box.dataset.toggle));
  same(ids.join(' '), wanted, 'switches');
  for (const id of ids) {
    await page.click(`[data-toggle=${id}]`);
    check((await seen(page)) !== before, `switch ${id}: the picture stays as it was`);
    await page.click(`[data-toggle=${id}]`);
  }
  check((await seen(page)) === before, 'all switches back: another picture');
  const ways = await page.$$('#toggles select');
  await ways[0].select('1');
  check((await seen(page)) !== before, 'path of the centre of mass: the picture stays as it was');
  await ways[0].select('0');
}

// Arrows at a moment: as many as contacts.csv has rows, along its forces, or against them where onA says so.
async function checkArrows(page, run, moment, onA = () => false) {
  const { rows } = readCsv(...run, 'contacts.csv');
  await scrub(page, moment);
  const time = await page.evaluate((m) => window.sdrs.times[m], moment);
  const touching = rows.filter((row) => Number(row.time) === time);
  const arrows = await page.evaluate(() => {
    const { heads, shafts } = window.sdrs.stage.arrows;
    return Array.from({ length: heads.count }, (_, i) => {
      const from = [...shafts.instanceMatrix.array.slice(16 * i + 12, 16 * i + 15)];
      const to = [...heads.instanceMatrix.array.slice(16 * i + 12, 16 * i + 15)];
      return to.map((x, k) => x - from[k]);
    });
  });
  same(arrows.length, touching.length, `arrows at moment ${moment}`);
  touching.forEach((row, i) => {
    const force = ['fx', 'fy', 'fz'].map((k) => Number(row[k]) * (onA(row) ? -1 : 1));
    const length = Math.hypot(...force);
    const arrow = Math.hypot(...arrows[i]);
    if (arrow === 0) return; // shorter than its head
    const cosine = force.reduce((sum, f, k) => sum + (f * arrows[i][k]) / (length * arrow), 0);
    near(cosine, 1, 1e-5, `cosine between arrow ${i} and its force`);
  });
  return touching.length;
}

// A click in the middle of a diagram goes to the middle of the time; numbers below are those of the file.
async function checkPlot(page, run) {
  const box = await (await page.$('.plot canvas')).boundingBox();
  const [left, right] = [58, 12]; // margins of a diagram
  await page.mouse.click(box.x + left + 0.5 * (box.width - left - right), box.y + 0.5 * box.height);
  const { rows } = readCsv(...run, 'trajectory.csv');
  const time = await timeShown(page);
  near(time, 0.5 * Number(rows.at(-1).time), 0.02, 'time after a click in a diagram');
  const solver = readCsv(...run, 'solver.csv').rows.find((row) => Math.abs(Number(row.time) - time) < 1e-9);
  const readings = await page.$$eval('.plot:first-child .curve', (items) =>
    items.map((item) => [item.querySelector('span').textContent, Number(item.querySelector('b').textContent)]));
  same(readings.map(([name]) => name).join(), 'kinetic,potential,total', 'curves of the first diagram');
  for (const [name, value] of readings) near(value, Number(solver[name]), 5e-4 * Math.abs(Number(solver[name])), `${name} energy`);
}

async function spider() {
  const page = await open('spider');
  const [answering, pictured] = await page.evaluate(() => [window.sdrs.answering, window.sdrs.pictured].map(Math.round));
  const size = fs.statSync(path.join(folder, 'spider.html')).size;
  console.log(`spider, 500 steps: ${size} bytes, answers after ${answering} ms, first picture after ${pictured} ms`);
  check(size < 5e6, `spider.html has ${size} bytes`);
  await checkPoses(page, ['spider'], [0, 1, 137, 250, 499, 500]);
  await checkPlaying(page);
  await checkKeys(page, 500);
  await checkArrows(page, ['spider'], 300);
  await checkPlot(page, ['spider']);
  await page.click('[data-tab=summary-panel]');
  const text = await page.$eval('#tables', (element) => element.textContent);
  const summary = JSON.parse(fs.readFileSync(path.join(folder, 'spider', 'summary.json'), 'utf8'));
  check(text.includes('all steps done') && text.includes(summary.inputs[0].sha256), 'the summary is in its table');
  await page.click('[data-tab=plots]');
  await picture(page, 'spider');
  await finish(page, 'spider');
}

async function stack() {
  const page = await open('stack');
  same(await checkArrows(page, ['stack'], 4), 20, 'pairs of the stack');
  await checkToggles(page, 4, 'points forces grid edges wire');
  await picture(page, 'stack');
  await finish(page, 'stack');
}

async function setStop(page, stop) {
  await page.$eval('#stop', (slider, k) => {
    slider.value = k;
    slider.dispatchEvent(new Event('input'));
  }, stop);
  return page.$eval('#stop-text', (element) => element.textContent);
}

// The vertices that are drawn, stop by stop of the slider.
async function checkDesigns(page) {
  const stops = ['0', '10', '20', '30', 'final'];
  same(await page.$eval('#stop', (slider) => Number(slider.max)), stops.length - 1, 'last stop of the design slider');
  for (const [k, stop] of stops.entries()) {
    const text = await setStop(page, k);
    if (stop === 'final') check(text.startsWith('best'), `stop ${k} says '${text}'`);
    else check(text.startsWith(`iteration ${stop},`), `stop ${k} says '${text}'`);
    for (const link of ['left', 'right']) {
      const wanted = readVertices('pinch', 'design', stop, `${link}.obj`);
      const found = await page.evaluate((name) => {
        const { links, stage } = window.sdrs;
        const body = stage.bodies.get(links.find((l) => l.name === name).index);
        return [...body.mesh.geometry.getAttribute('position').array];
      }, link);
      const worst = Math.max(...wanted.map((x, i) => Math.abs(x - found[i])));
      check(found.length === wanted.length && worst <= NEAR, `design ${stop}, ${link}: vertices differ by ${worst}`);
    }
  }
}

// Half-way between two designs every vertex is half-way; played to the end, the best one stands there.
async function checkMorph(page) {
  const positions = () => page.evaluate(() => {
    const { links, stage } = window.sdrs;
    return [...stage.bodies.get(links.find((l) => l.name === 'left').index).mesh.geometry.getAttribute('position').array];
  });
  await setStop(page, 0);
  await page.evaluate(() => window.sdrs.stage.setDesign(0, 0.5));
  const [from, to] = ['0', '10'].map((stop) => readVertices('pinch', 'design', stop, 'left.obj'));
  const middle = await positions();
  check(from.every((x, i) => Math.abs(0.5 * (x + to[i]) - middle[i]) <= NEAR) && from.some((x, i) => Math.abs(x - to[i]) > 1e-3), 'half-way between two designs');
  await page.keyboard.press('d');
  await page.waitForFunction(() => document.querySelector('#stop').value === document.querySelector('#stop').max && !window.sdrs.state.evolving, { timeout: PATIENCE });
  const best = readVertices('pinch', 'design', 'final', 'left.obj');
  const found = await positions();
  check(best.every((x, i) => Math.abs(x - found[i]) <= NEAR), 'the designs played to the end');
}

// The initial design: in the best run it moves with the links, in its own as RUN/initial has it.
async function checkGhost(page) {
  const choice = (await page.$$('#toggles select'))[0];
  await scrub(page, 100);
  const before = await seen(page);
  for (const [value, run] of [['1', 'best'], ['2', 'initial']]) {
    await choice.select(value);
    check((await seen(page)) !== before, `initial design, choice ${value}: the picture stays as it was`);
    const ghosts = await page.evaluate(() => window.sdrs.stage.ghosts.list.filter((g) => g.group.visible)
      .map((g) => [g.link.name, g.group.position.toArray()]));
    same(ghosts.length, run === 'best' ? 2 : 4, `links of the initial design in the run ${run}`);
    const row = readCsv('pinch', run, 'trajectory.csv').rows[100];
    for (const [name, place] of ghosts)
      ['px', 'py', 'pz'].forEach((k, i) => near(place[i], Number(row[`${name}/${k}`]), NEAR, `${name}/${k} of the initial design in ${run}`));
  }
  await choice.select('0');
  check((await seen(page)) === before, 'initial design hidden again: another picture');
}

async function pinch() {
  const page = await open('pinch');
  await checkPoses(page, ['pinch', 'best'], [0, 77, 140]);
  // the fingers press on the ball
  check((await checkArrows(page, ['pinch', 'best'], 60, (row) => row.a === 'ball')) >= 2, 'pairs of the ball');
  await checkDesigns(page);
  await checkMorph(page);
  await checkGhost(page);
  // a click at the left edge of the convergence goes to the first design
  const box = await (await page.$('#design canvas')).boundingBox();
  await page.mouse.click(box.x + 59, box.y + 60);
  check((await page.$eval('#stop-text', (e) => e.textContent)).startsWith('iteration 0'), 'a click in the convergence');
  await page.keyboard.press(']');
  check((await page.$eval('#stop-text', (e) => e.textContent)).startsWith('iteration 10'), 'the key ]');
  await setStop(page, 4);
  await picture(page, 'pinch');
  await finish(page, 'pinch');
}

// Only control changes: no shapes, but the convergence and the initial design's own run.
async function controlOnly() {
  const page = await open('throw');
  same(await page.$eval('#design-row', (row) => row.hidden), true, 'throw: design slider hidden');
  check((await page.$$('#design .plot')).length > 0, 'throw: no convergence');
  await finish(page, 'throw');
}

// What a run has only when it is asked for: every file has its diagrams, under titles of their own, with the file's numbers.
async function machine() {
  const page = await open('machine');
  const options = await page.$$eval('.plot:first-child select option', (items) =>
    items.map((item) => [item.parentElement.label, item.textContent, item.value]));
  same(new Set(options.map(([file, title]) => `${file}/${title}`)).size, options.length, 'machine: titles of diagrams');
  const time = Number(readCsv('machine', 'trajectory.csv').rows[60].time);
  for (const file of ['velocities.csv', 'forces.csv', 'closures.csv', 'pressure.csv']) {
    const row = readCsv('machine', file).rows.find((one) => Math.abs(Number(one.time) - time) < 1e-9);
    const own = options.filter(([group]) => group === file);
    check(own.length > 0, `machine: no diagram of ${file}`);
    for (const [, title, value] of own) {
      await page.select('.plot:first-child select', value);
      await page.$eval('#time', (slider) => { slider.value = 60; slider.dispatchEvent(new Event('input')); });
      const readings = await page.$$eval('.plot:first-child .curve', (items) =>
        items.map((item) => [item.querySelector('span').textContent, Number(item.querySelector('b').textContent)]));
      check(readings.length > 0, `machine: ${title} has no curves`);
      for (const [name, found] of readings) { // three or four digits are shown; below 1e-12 is rounding
        const wanted = Number(row[`${title.split(': ')[0]}/${name}`]);
        if (!Number.isNaN(wanted)) near(found, wanted, 5e-3 * Math.abs(wanted) + 1e-12, `machine: ${title}, ${name}`);
      }
    }
  }
  check(options.some(([file, title]) => file === 'contacts.csv' && title.endsWith('moment')), 'machine: no contact moments');
  await finish(page, 'machine');
}

async function still() {
  const page = await open('still');
  same(await page.$eval('#time-row', (row) => row.hidden), true, 'a scene: time slider hidden');
  await finish(page, 'still');
}

async function names() {
  const page = await open('names');
  const name = '<script>window.broken = 1<!-- <img src=x onerror=\'window.broken = 1\'> " \' &';
  same(await page.title(), name, 'title');
  same(await page.$eval('#name', (element) => element.textContent), name, 'heading');
  check((await page.$eval('#names', (element) => element.textContent)).includes('<b> & <!-- x'), 'name of the link');
  check((await page.$eval('#tables', (element) => element.textContent)).includes('</script><img'), 'name of the file');
  same(await page.evaluate(() => window.broken), undefined, 'what a name would have run');
  same(await page.evaluate(() => document.querySelectorAll('img').length), 0, 'elements from names');
  await finish(page, 'names');
}

async function phone() {
  for (const name of ['spider', 'pinch']) {
    const page = await open(name, 390, 844);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    same(width, 390, `${name} on a telephone: width of the page`);
    await page.tap('#play');
    await page.waitForFunction(() => Number(document.querySelector('#time').value) > 5, { timeout: PATIENCE });
    await page.tap('#play');
    await picture(page, `${name}-phone`);
    await finish(page, `${name} on a telephone`);
  }
}

// A browser without WebGL: a line says so, and plots and time go on.
async function withoutGraphics() {
  const bare = await openBrowser(browserPath, packages, ['--disable-3d-apis']);
  const page = await bare.newPage();
  const problems = [];
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(`file://${path.resolve(folder)}/spider.html`, { timeout: PATIENCE });
  await page.waitForSelector('.plot', { timeout: PATIENCE });
  check(await page.evaluate(() => !document.querySelector('#no-webgl').hidden), 'without WebGL: a line says so');
  check(await page.evaluate(() => document.querySelectorAll('.plot').length > 1), 'without WebGL: plots are there');
  await page.evaluate(() => { const t = document.querySelector('#time'); t.value = 5; t.dispatchEvent(new Event('input')); });
  check(await page.evaluate(() => document.querySelector('#clock').textContent !== 't = 0.00 s'), 'without WebGL: time goes on');
  same(problems.join('; '), '', 'without WebGL: problems');
  await bare.close();
}

function license() {
  const text = fs.readFileSync(path.join(folder, 'spider.html'), 'utf8');
  const wanted = fs.readFileSync(path.join(packages, '..', 'page', 'node_modules', 'three', 'LICENSE'), 'utf8').trim();
  check(text.includes(wanted), 'the licence of three.js stands in the page');
}

// Each page costs seconds, because the processor draws. The short form opens pages of a run, of a design, of all files and of names.
const tests = process.env.SDRS_LONG ? [spider, stack, pinch, controlOnly, machine, still, names, phone, withoutGraphics, license] : [spider, pinch, machine, names, license];
for (const test of tests) {
  const start = performance.now();
  const before = count.failed;
  await Promise.resolve().then(test).catch((error) => check(false, `${test.name}: ${error.stack}`));
  console.log(`${count.failed === before ? 'ok  ' : 'FAIL'} ${test.name} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
}
await finishTests(browser);
