// The page of `sdrs render -o x.html`: what the buttons, sliders and keys do.
import { showFacts } from './words.js'; // before the scene: they decide how much room it has
import { cssColor, design, links, momentAt, moving, optimization, run, summary, times } from './data.js';
import { follow } from './live.js';
import { numberText } from './numbers.js';
import { convergenceSources, Plot, sources } from './plots.js';
import { stage } from './scene.js';
import { fillTables } from './tables.js';

const $ = (id) => document.getElementById(id);
const PLAY = 'M5 3l12 7-12 7z';
const PAUSE = 'M5 3h4v14H5zM11 3h4v14h-4z';
const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];
// From design to design while they are played [s].
const DESIGN_SECONDS = 0.5;
const LEGEND_MAX = 12;

const state = { time: times[0], playing: false, speed: 1, stop: design ? design.stops.length - 1 : 0, evolving: false, evolved: 0 };
let before = 0; // the clock of the last frame, 0 = begins anew
const plots = [];
const designPlots = [];

// ---------------------------------------------------------------- time

let last = times.length - 1;
// As many decimals as tell one moment from the next.
const usualDecimals = () => (last > 0 ? Math.min(6, Math.max(2, Math.ceil(-Math.log10((times[last] - times[0]) / last) - 1e-9))) : 2);
let decimals = usualDecimals();
const timeText = (t) => t.toFixed(decimals);

function showMoment(moment) {
  $('time').value = moment;
  $('time-text').textContent = `${timeText(times[moment])} / ${timeText(times[last])} s`;
  $('clock').textContent = `t = ${timeText(times[moment])} s`;
  $('time').setAttribute('aria-valuetext', `${timeText(times[moment])} seconds`);
  for (const plot of plots) plot.setCursor(times[moment]);
}

// A recorded moment.
function goTo(moment) {
  const m = Math.min(Math.max(moment, 0), last);
  state.time = times[m];
  stage.show(m, m, 0);
  showMoment(m);
  wake();
}

// Any time, between two moments.
function goToTime(time) {
  state.time = Math.min(Math.max(time, times[0]), times[last]);
  let from = momentAt(state.time);
  if (times[from] > state.time) from--;
  const to = Math.min(from + 1, last);
  stage.show(from, to, to > from ? (state.time - times[from]) / (times[to] - times[from]) : 0);
  showMoment(stage.now.moment);
}

function setPlaying(on) {
  state.playing = on && last > 0;
  before = 0;
  if (state.playing && state.time >= times[last]) state.time = times[0];
  $('play').querySelector('path').setAttribute('d', state.playing ? PAUSE : PLAY);
  $('play').setAttribute('aria-label', state.playing ? 'Pause' : 'Play');
  if (!state.playing) goTo(stage.now.moment);
  wake();
}

function setSpeed(speed) {
  state.speed = speed;
  $('speed').value = String(speed);
}

// A run that goes on has more moments: who was at the end stays there.
function grown() {
  const atEnd = state.time >= times[last];
  last = times.length - 1;
  decimals = usualDecimals();
  $('time').max = last;
  showFacts();
  for (const plot of plots) plot.readCurves();
  if (stage.strays() && chooseFollow) chooseFollow(CENTER_OF_ALL);
  else stage.fit();
  if (atEnd && !state.playing) goTo(last);
  else showMoment(stage.now.moment);
}

// What has been chosen goes over to the page that takes the place of this one.
function leave() {
  const tab = [...$('tabs').children].find((button) => button.getAttribute('aria-selected') === 'true');
  const time = last > 0 && state.time >= times[last] ? Infinity : state.time;
  window.kept = { eye: stage.eye(), tab: tab?.dataset.tab, time, playing: state.playing, speed: state.speed };
  stage.leave();
}

function takeKept() {
  const { kept } = window;
  if (!kept) return;
  delete window.kept;
  if (kept.tab && [...$('tabs').children].some((button) => button.dataset.tab === kept.tab)) selectTab(kept.tab);
  setSpeed(kept.speed);
  goToTime(kept.time);
  if (kept.eye) stage.setEye(kept.eye);
  if (kept.playing) setPlaying(true);
}

// ---------------------------------------------------------------- designs

function stopText(stop) {
  const losses = run.convergence ? convergenceLoss(stop.iteration) : '';
  if (run.live && stop.best) return 'as shown';
  return `${stop.best ? 'best, ' : ''}iteration ${stop.iteration ?? '?'}${losses}`;
}

function convergenceLoss(iteration) {
  const source = convergence[0];
  const c = source?.curves()[0];
  const row = c ? c.x.indexOf(iteration) : -1;
  return row >= 0 ? `, loss ${numberText(c.y[row])}` : '';
}

function setStop(index) {
  if (!design) return;
  state.stop = Math.min(Math.max(index, 0), design.stops.length - 1);
  const stop = design.stops[state.stop];
  stage.setDesign(state.stop);
  $('stop').value = state.stop;
  $('stop-text').textContent = stopText(stop);
  $('stop').setAttribute('aria-valuetext', stopText(stop));
  for (const plot of designPlots) plot.setCursor(stop.iteration);
  wake();
}

function nearestStop(iteration) {
  let best = 0;
  design.stops.forEach((stop, k) => {
    if (Math.abs(stop.iteration - iteration) < Math.abs(design.stops[best].iteration - iteration)) best = k;
  });
  return best;
}

function setEvolving(on) {
  state.evolving = on;
  state.evolved = 0;
  before = 0;
  $('evolve').querySelector('path').setAttribute('d', on ? PAUSE : PLAY);
  $('evolve').setAttribute('aria-label', on ? 'Stop the designs' : 'Play the designs');
  setStop(on && state.stop === design.stops.length - 1 ? 0 : state.stop);
}

// From design to design; a pause leaves the one that was reached.
function evolve(seconds) {
  state.evolved += seconds / DESIGN_SECONDS;
  while (state.evolved >= 1 && state.stop < design.stops.length - 1) {
    state.evolved--;
    setStop(state.stop + 1);
  }
  if (state.stop === design.stops.length - 1) setEvolving(false);
  else stage.setDesign(state.stop, state.evolved);
}

// ---------------------------------------------------------------- frames

let prepared = false; // shaders
let asked = false;

function frame(clock) {
  asked = false;
  const seconds = Math.min(clock - before, 100) / 1000;
  before = clock;
  if (state.playing) {
    goToTime(state.time + seconds * state.speed);
    if (state.time >= times[last]) setPlaying(false);
  }
  if (state.evolving) evolve(seconds);
  const moved = stage.draw();
  if (moved || state.playing || state.evolving) wake();
}

// Pictures are drawn only while something changes.
function wake() {
  if (asked || !prepared) return;
  asked = true;
  requestAnimationFrame((clock) => {
    if (before === 0) before = clock;
    frame(clock);
  });
}

// ---------------------------------------------------------------- what is shown

// The letter of the key is underlined.
function marked(text, key) {
  const span = document.createElement('span');
  const at = key ? text.toLowerCase().indexOf(key) : -1;
  if (at < 0) return text;
  const mark = document.createElement('u');
  mark.textContent = text[at];
  span.append(text.slice(0, at), mark, text.slice(at + 1));
  return span;
}

function toggleRow(id, text, key, on) {
  const label = document.createElement('label');
  const box = document.createElement('input');
  box.type = 'checkbox';
  box.checked = on;
  box.dataset.toggle = id;
  box.addEventListener('change', () => {
    stage.toggles[id](box.checked);
    wake();
  });
  label.append(box, marked(text, key));
  $('toggles').append(label);
  stage.toggles[id](on);
  keys.set(key, () => box.click());
}

// key: takes the next choice.
function choiceRow(text, choices, change, chosen = 0, key = '') {
  const label = document.createElement('label');
  label.className = 'choice';
  const select = document.createElement('select');
  select.replaceChildren(...choices.map(([name], k) => new Option(name, String(k), k === chosen, k === chosen)));
  if (chosen > 0) change(choices[chosen][1]);
  select.addEventListener('change', () => {
    change(choices[Number(select.value)][1]);
    goToTime(state.time);
    wake();
    select.blur();
  });
  label.append(marked(text, key), select);
  $('toggles').append(label);
  const choose = (k) => {
    select.selectedIndex = k;
    select.dispatchEvent(new Event('change'));
  };
  if (key) keys.set(key, () => choose((select.selectedIndex + 1) % choices.length));
  return choose;
}

function arrowRow() {
  const label = document.createElement('label');
  label.className = 'choice';
  const slider = Object.assign(document.createElement('input'), { type: 'range', min: -2, max: 2, step: 0.1, value: 0 });
  slider.addEventListener('input', () => {
    stage.arrows.factor = 2 ** Number(slider.value);
    showScale();
    goToTime(state.time);
    wake();
  });
  label.append('Arrow length', slider);
  $('toggles').append(label);
}

const keys = new Map();
let chooseFollow; // (index), where there is something to follow
const CENTER_OF_ALL = 1;

function fillShow() {
  const { ghosts, GHOSTS } = stage;
  if (stage.arrows.mostPoints > 0) toggleRow('points', 'Contact points', 'c', true);
  if (stage.arrows.most > 0) toggleRow('forces', 'Contact forces', 'f', true);
  if (stage.arrows.most > 0) arrowRow();
  if (run.ground) toggleRow('grid', 'Ground grid', 'g', true);
  toggleRow('edges', 'Edges of hulls', 'e', true);
  toggleRow('wire', 'All facets (wireframe)', 'w', false);
  if (ghosts.list.length > 0) {
    const own = moving.some((link) => link.initial) ? [['in its own run', GHOSTS.own]] : [];
    const same = design ? [['in the best run', GHOSTS.best]] : [];
    choiceRow('Initial design', [['hidden', GHOSTS.none], ...same, ...own], stage.setGhosts, 0, 'i');
  }
  const named = moving.map((link) => [link.name, link]);
  if ((last > 0 || run.live) && moving.length > 0) {
    choiceRow('Centre of mass', [['none', undefined], ['of all', null], ...named], stage.setWay);
    chooseFollow = choiceRow('Follow', [['nothing', undefined], ['centre of all', null], ...named], stage.setFollow, stage.goesFar() ? 1 : 0);
  }
  $('toggle-keys').replaceChildren(...[...keys.keys()].flatMap((key) => {
    const kbd = document.createElement('kbd');
    kbd.textContent = key;
    return [kbd, ' '];
  }));
  $('show').open = window.innerWidth > 900;
}

// ---------------------------------------------------------------- plots

function sourceOptions(select, chosen) {
  const groups = new Map();
  sources.forEach((source, k) => {
    if (!groups.has(source.group)) {
      const group = document.createElement('optgroup');
      group.label = source.group;
      groups.set(source.group, group);
      select.append(group);
    }
    groups.get(source.group).append(new Option(source.title, String(k), k === chosen, k === chosen));
  });
}

function logBox(plot) {
  const label = document.createElement('label');
  const box = document.createElement('input');
  box.type = 'checkbox';
  box.checked = plot.log;
  box.addEventListener('change', () => plot.setLog(box.checked));
  label.append(box, 'log');
  label.title = 'logarithmic axis';
  return { label, box };
}

function addPlot(index) {
  const card = document.createElement('div');
  card.className = 'plot';
  const head = document.createElement('div');
  head.className = 'head';
  card.append(head);
  $('plot-list').append(card);
  const plot = new Plot(card, sources[index], {
    xLabel: 'time [s]',
    range: () => [times[0], times[last]],
    pick: (t) => {
      setPlaying(false);
      goTo(momentAt(t));
    },
  });
  const select = document.createElement('select');
  select.setAttribute('aria-label', 'What is plotted');
  sourceOptions(select, index);
  const { label, box } = logBox(plot);
  select.addEventListener('change', () => {
    plot.setSource(sources[Number(select.value)]);
    box.checked = plot.log;
    plot.setCursor(times[stage.now.moment]);
  });
  const close = document.createElement('button');
  close.type = 'button';
  close.textContent = '×';
  close.title = 'remove this plot';
  close.setAttribute('aria-label', 'Remove this plot');
  close.addEventListener('click', () => {
    plots.splice(plots.indexOf(plot), 1);
    card.remove();
  });
  head.append(select, label, close);
  plot.setCursor(times[stage.now.moment]);
  plots.push(plot);
}

const convergence = convergenceSources();

function addDesignPlot(source) {
  const card = document.createElement('div');
  card.className = 'plot';
  const head = document.createElement('div');
  head.className = 'head';
  const title = document.createElement('strong');
  title.textContent = source.title;
  card.append(head);
  $('design-plots').append(card);
  const plot = new Plot(card, source, {
    xLabel: 'iteration',
    pick: (iteration) => {
      setEvolving(false);
      if (design) setStop(nearestStop(iteration));
      else plot.setCursor(Math.round(iteration));
    },
  });
  head.append(title, logBox(plot).label);
  plot.setCursor(optimization?.best_iteration ?? 0);
  designPlots.push(plot);
}

function fillPlots() {
  sources.slice(0, 3).forEach((_, k) => addPlot(k));
  $('add-plot').hidden = sources.length === 0;
  $('add-plot').addEventListener('click', () => addPlot(Math.min(plots.length, sources.length - 1)));
  convergence.forEach(addDesignPlot);
}

// ---------------------------------------------------------------- tabs, words

function selectTab(id) {
  for (const button of $('tabs').children) button.setAttribute('aria-selected', String(button.dataset.tab === id));
  for (const panel of document.querySelectorAll('[role="tabpanel"]')) panel.hidden = panel.id !== id;
  for (const plot of [...plots, ...designPlots]) plot.draw();
}

function fillTabs() {
  const wanted = { plots: sources.length > 0, design: convergence.length > 0, 'summary-panel': Boolean(summary || optimization), help: true };
  for (const panel of document.querySelectorAll('[role="tabpanel"]')) {
    panel.hidden = true;
    if (!wanted[panel.id]) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.setAttribute('role', 'tab');
    button.setAttribute('aria-controls', panel.id);
    button.dataset.tab = panel.id;
    button.textContent = panel.dataset.title;
    button.addEventListener('click', () => selectTab(panel.id));
    $('tabs').append(button);
  }
  selectTab(wanted.design ? 'design' : wanted.plots ? 'plots' : 'help');
}

// What a metre of the grid and of an arrow is.
function showScale() {
  const lines = [];
  const { arrows } = stage;
  if (arrows.most > 0) lines.push(`force arrow: ${numberText(arrows.force)} N is ${numberText(Number((arrows.length * arrows.factor).toPrecision(2)))} m`);
  if (run.ground) lines.push(`grid ${numberText(run.ground.spacing)} m, heavy lines ${numberText(run.ground.major)} m`);
  $('scale').textContent = lines.join('\n');
}

// Colours and names, where they are few.
function fillLegend() {
  if (moving.length > LEGEND_MAX) return;
  $('names').replaceChildren(...moving.map((link) => {
    const item = document.createElement('div');
    const swatch = document.createElement('i');
    swatch.style.background = cssColor(link.color);
    item.append(swatch, link.name);
    return item;
  }));
}

// ---------------------------------------------------------------- hands

function listenKeys() {
  keys.set(' ', () => setPlaying(!state.playing));
  const step = (n) => () => {
    setPlaying(false);
    goTo(stage.now.moment + n);
  };
  const speedStep = (n) => () => setSpeed(SPEEDS[Math.min(Math.max(SPEEDS.indexOf(state.speed) + n, 0), SPEEDS.length - 1)]);
  const shifted = new Map([['ArrowLeft', step(-10)], ['ArrowRight', step(10)]]);
  keys.set('ArrowLeft', step(-1)).set('ArrowRight', step(1)).set('Home', step(-Infinity)).set('End', step(Infinity));
  keys.set('ArrowUp', speedStep(1)).set('ArrowDown', speedStep(-1));
  ['iso', 'front', 'side', 'top'].forEach((view, k) => keys.set(String(k + 1), () => setView(view)));
  if (design) {
    keys.set('[', () => setStop(state.stop - 1)).set(']', () => setStop(state.stop + 1));
    keys.set('d', () => setEvolving(!state.evolving));
  }
  window.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const own = event.target.closest?.('input, select, summary, button');
    const letter = event.key.length === 1 && event.key !== ' ';
    if (own && own !== $('time') && !letter) return; // it has a use of its own for the key
    const act = (event.shiftKey && shifted.get(event.key)) || keys.get(event.key.length === 1 ? event.key.toLowerCase() : event.key);
    if (!act) return;
    event.preventDefault();
    act();
  });
}

// What was clicked does not keep the keys: space plays on. Who goes by the tabulator keeps the place.
function leaveClicked() {
  document.addEventListener('click', (event) => {
    if (event.detail > 0) event.target.closest?.('button, summary, input[type="checkbox"]')?.blur();
  });
}

function setView(name) {
  stage.setView(name);
  wake();
}

function listenScene() {
  stage.controls.addEventListener('change', wake);
  stage.controls.addEventListener('start', wake);
  for (const type of ['pointermove', 'pointerdown', 'wheel', 'touchmove']) stage.canvas.addEventListener(type, wake, { passive: true });
  new ResizeObserver(() => {
    stage.resize();
    wake();
  }).observe($('stage'));
  const label = $('label');
  stage.canvas.addEventListener('pointermove', (event) => {
    const box = stage.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const link = event.buttons ? null : stage.linkAt((2 * x) / box.width - 1, 1 - (2 * y) / box.height);
    label.hidden = !link;
    if (link) Object.assign(label.style, { left: `${x}px`, top: `${y}px` });
    if (link) label.textContent = link.name;
  });
  stage.canvas.addEventListener('pointerleave', () => { label.hidden = true; });
}

function listenTransport() {
  $('play').addEventListener('click', () => setPlaying(!state.playing));
  $('time').max = last;
  $('time').addEventListener('input', () => {
    const moment = Number($('time').value); // a pause sets it back to where playing was
    setPlaying(false);
    goTo(moment);
  });
  $('speed').replaceChildren(...SPEEDS.map((s) => new Option(`${s}×`, String(s))));
  $('speed').addEventListener('change', () => setSpeed(Number($('speed').value)));
  $('stop').max = design ? design.stops.length - 1 : 0;
  $('stop').addEventListener('input', () => {
    const stop = Number($('stop').value); // as with the time
    setEvolving(false);
    setStop(stop);
  });
  $('evolve').addEventListener('click', () => setEvolving(!state.evolving));
  for (const button of $('views').children) button.addEventListener('click', () => setView(button.dataset.view));
}

showScale();
fillLegend();
fillShow();
fillPlots();
fillTables($('tables'), { optimization, summary });
fillTabs();
listenTransport();
listenKeys();
leaveClicked();
listenScene();
setSpeed(1);
stage.resize();
goTo(0);
setStop(state.stop);
takeKept();
follow(grown, leave);
const answering = performance.now();

async function start() {
  await stage.prepare(false);
  prepared = true;
  stage.draw();
  const pictured = performance.now();
  const complete = stage.prepare(true).then(wake);
  // For who opens the console, and for the tests: what stands where, and how long it took [ms].
  window.sdrs = { answering, pictured, complete, state, stage, run, get times() { return times; }, links, design };
}
start();
