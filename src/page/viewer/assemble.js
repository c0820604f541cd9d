// Puts style and program into the page: node assemble.js PAGE.html BUNDLE.js BUNDLE.css THREE_FOLDER OUT
// Places are named @style@, @program@, @three@ (its version) and @license@ (its text) in the page.
const fs = require('fs');
const path = require('path');

const [page, program, style, three, out] = process.argv.slice(2);
const read = (file) => fs.readFileSync(file, 'utf8');
const escape = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

const parts = {
  style: read(style).trim(),
  program: read(program).trim(),
  three: JSON.parse(read(path.join(three, 'package.json'))).version,
  license: escape(read(path.join(three, 'LICENSE')).trim()),
};
if (/<\/script/i.test(parts.program) || /<!--/.test(parts.program)) throw new Error(`${program}: ends its own element`);
if (/<\/style/i.test(parts.style)) throw new Error(`${style}: ends its own element`);

let used = 0;
const text = read(page).replace(/@(style|program|three|license)@/g, (_, name) => {
  used++;
  return parts[name];
});
if (used < 4) throw new Error(`${page}: a place is missing`);
fs.writeFileSync(out, text);
