// A browser, and the count of what was looked at.
import { createRequire } from 'node:module';
import path from 'node:path';

const SOFTWARE = ['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'];

// graphics: what draws; by itself the processor.
export async function openBrowser(browserPath, packages, graphics = SOFTWARE) {
  const { default: puppeteer } = await import(createRequire(`${path.resolve(packages)}/`).resolve('puppeteer-core'));
  return puppeteer.launch({ executablePath: browserPath, headless: true, args: ['--no-sandbox', ...graphics] });
}

export const count = { passed: 0, failed: 0 };
export function check(good, text) {
  if (good) count.passed++;
  else count.failed++;
  if (!good) console.log(`FAIL ${text}`);
  return good;
}

// The last line, and the exit code.
export async function finishTests(browser) {
  await browser.close();
  console.log(`${count.passed} passed, ${count.failed} failed`);
  process.exit(count.failed ? 1 : 0);
}
