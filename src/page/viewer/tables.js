// summary.json as tables: keys and values, a heading for each object.

function valueText(value) {
  if (value === null) return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(7)));
  return String(value);
}

const words = (key) => key.replaceAll('_', ' ');
const isPlain = (value) => value === null || typeof value !== 'object';

// {"value": 1, "derived": true}: one row.
function isParameter(value) {
  return !isPlain(value) && !Array.isArray(value) && 'value' in value && 'derived' in value;
}

function row(table, key, text) {
  const line = table.insertRow();
  line.insertCell().textContent = words(key);
  line.insertCell().textContent = text;
}

function heading(table, text) {
  const cell = document.createElement('th');
  cell.colSpan = 2;
  cell.textContent = words(text);
  table.insertRow().append(cell);
}

function listText(list) {
  if (list.every(isPlain)) return list.map(valueText).join(', ') || '–';
  return list.map((item) => (isPlain(item) ? valueText(item) : Object.values(item).map(valueText).join('\n'))).join('\n');
}

function fill(table, object, path) {
  const later = [];
  for (const [key, value] of Object.entries(object)) {
    if (isPlain(value)) row(table, key, valueText(value));
    else if (Array.isArray(value)) row(table, key, listText(value));
    else if (isParameter(value)) row(table, key, `${valueText(value.value)}${value.derived ? ' (derived)' : ''}`);
    else later.push([key, value]);
  }
  for (const [key, value] of later) {
    heading(table, [...path, key].join(': '));
    fill(table, value, [...path, key]);
  }
}

// What a reader looks for comes first, what was read and with what program last.
const FIRST = ['name', 'task', 'result'];
const LAST = ['inputs', 'overrides', 'working_folder', 'shared_vertices', 'threads', 'seed', 'program'];

function sorted(object) {
  const rank = (key) => (FIRST.includes(key) ? FIRST.indexOf(key) - FIRST.length : 1 + LAST.indexOf(key));
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => rank(a) - rank(b)));
}

export function fillTables(element, parts) {
  for (const [name, object] of Object.entries(parts)) {
    if (!object) continue;
    const title = document.createElement('h2');
    title.textContent = name === 'optimization' ? 'Optimization' : parts.optimization ? 'Run of the best design' : 'Run';
    const table = document.createElement('table');
    fill(table, sorted(object), []);
    element.append(title, table);
  }
}
