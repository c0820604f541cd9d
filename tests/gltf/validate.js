// Checks glTF files with the Khronos validator: node validate.js FILE.glb...
// Prints one line a file and exits 1 when one has an error or a warning.
const fs = require('fs');
const validator = require('gltf-validator');

async function main() {
  let failed = 0;
  for (const file of process.argv.slice(2)) {
    const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)));
    const { numErrors, numWarnings, messages } = report.issues;
    const bad = numErrors + numWarnings > 0;
    console.log(`${bad ? 'FAIL' : 'ok  '} ${file}: ${numErrors} errors, ${numWarnings} warnings, ` +
      `${report.info.totalTriangleCount} triangles, ${report.info.animationCount} animations`);
    if (bad) {
      failed++;
      messages.slice(0, 10).forEach((m) => console.log(`     ${m.code} ${m.pointer}: ${m.message}`));
    }
  }
  console.log(`${process.argv.length - 2 - failed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}

main();
