// Looks at live views in a browser: node live.mjs BROWSER PACKAGES FOLDER PICTURES SDRS
import { spawn } from 'node:child_process';
import path from 'node:path';

import { check, finishTests, openBrowser } from './browser.mjs';

const [browserPath, packages, folder, pictures, sdrs] = process.argv.slice(2);
const PATIENCE = 180000;

const browser = await openBrowser(browserPath, packages);

// A command that stays after its end, and a page that looks at it.
async function watch(...words) {
  const command = spawn(sdrs, [...words, '--view', '--stay', '--no-overview'], { stdio: ['ignore', 'ignore', 'pipe'] });
  const address = await new Promise((done) => {
    let said = '';
    command.stderr.on('data', (text) => {
      said += text;
      const found = said.match(/http:\/\/127\.0\.0\.1:\d+\//);
      if (found) done(found[0]);
    });
  });
  const page = await browser.newPage();
  page.problems = [];
  page.on('console', (message) => { if (['error', 'warn'].includes(message.type())) page.problems.push(message.text()); });
  page.on('pageerror', (error) => page.problems.push(error.message));
  await page.setViewport({ width: 1280, height: 800 });
  await page.goto(address, { timeout: PATIENCE });
  await page.waitForFunction('window.sdrs', { timeout: PATIENCE });
  return { command, page };
}

async function finish({ command, page }, name) {
  await page.screenshot({ path: path.join(pictures, `${name}.png`) });
  check(page.problems.length === 0, `${name}: errors and warnings of the browser: ${page.problems.join('; ')}`);
  const end = new Promise((done) => { command.on('exit', done); });
  command.kill('SIGINT');
  check((await end) === 0, `${name}: Ctrl-C ends it`);
  await page.close();
}

async function run() {
  const view = await watch('simulate', 'scenes/spider.yaml', '--steps', '4000', '-o', path.join(folder, 'live-run'));
  const { page } = view;
  // Whatever was seen of it while it ran: the finished page holds all of it, and the end is shown.
  await page.waitForFunction(() => window.sdrs && !window.sdrs.run.live, { timeout: PATIENCE });
  const [moments, time] = await page.evaluate(() => [window.sdrs.times.length, window.sdrs.times.at(-1)]);
  check(moments === 4001, `the finished page has ${moments} moments`);
  check(Math.abs(time - 40) < 1e-9, `it ends at ${time} s`);
  await finish(view, 'live-run');
}

// A run that would take hours: moments come in, the slider goes with them.
async function growth() {
  const view = await watch('simulate', 'scenes/spider.yaml', '--steps', '1000000', '-o', path.join(folder, 'live-growth'));
  const { page, command } = view;
  await page.waitForFunction(() => window.sdrs.times.length >= 3, { timeout: PATIENCE });
  const seen = await page.evaluate(() => ({
    moments: window.sdrs.times.length,
    rising: [...window.sdrs.times].every((t, k, all) => k === 0 || t > all[k - 1]),
    places: window.sdrs.links.filter((link) => !link.fixed).every((link) => link.places.length === 3 * window.sdrs.times.length),
    slider: Number(document.getElementById('time').max) === window.sdrs.times.length - 1,
    line: document.getElementById('live').textContent,
    plots: document.querySelectorAll('.plot').length,
  }));
  check(seen.rising && seen.places && seen.slider, `moments come in: ${JSON.stringify(seen)}`);
  check(seen.line === 'running' && seen.plots === 3, `it says that it runs, with diagrams: ${JSON.stringify(seen)}`);
  await page.screenshot({ path: path.join(pictures, 'live-growth.png') });
  const end = new Promise((done) => { command.on('exit', done); });
  command.kill('SIGINT');
  check((await end) === 130, 'the run is stopped by Ctrl-C');
  await page.close();
}

async function design() {
  const view = await watch('optimize', 'scenes/tasks/pinch.yaml', '--iterations', '30', '--no-converge', '-o', path.join(folder, 'live-design'));
  const { page } = view;
  await page.waitForFunction(() => document.getElementById('live')?.textContent.startsWith('ended'), { timeout: PATIENCE });
  const losses = await page.evaluate(() => window.sdrs.run.convergence?.columns[0].values[1]);
  check(losses === 31, `losses of ${losses} iterations`);
  await finish(view, 'live-design');
}

for (const test of [run, growth, design]) await test();
await finishTests(browser);
