// Opens reports in Chromium and checks what a reader would notice. Prints a line for each check; fails at the end.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const [, , nine, many] = process.argv;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const faults = [];
let passed = 0;
const check = (name, good, detail = '') => {
  if (good) {
    passed += 1;
  } else {
    faults.push(name);
    console.log(`FAILED ${name} ${detail}`);
  }
};

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
});

// A page without a network that remembers what went wrong in it.
const open = async (file, options = {}) => {
  const context = await browser.newContext({ offline: true, viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.troubles = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) page.troubles.push(message.text());
  });
  page.on('pageerror', (error) => page.troubles.push(error.message));
  page.on('dialog', (dialog) => { page.troubles.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', (request) => {
    if (!request.url().startsWith('file://')) page.troubles.push(`request: ${request.url()}`);
  });
  await page.goto(`file://${file}`);
  return page;
};

const scrollThrough = async (page) => {
  const height = await page.evaluate(() => document.body.scrollHeight);
  for (let y = 0; y < height; y += 500) {
    await page.evaluate((top) => scrollTo(0, top), y);
    await page.waitForTimeout(40);
  }
  await page.evaluate(() => scrollTo(0, 0));
};

for (const width of [390, 1280, 1920]) {
  for (const colorScheme of ['light', 'dark']) {
    const name = `${width} px, ${colorScheme}`;
    const page = await open(nine, { viewport: { width, height: 900 }, colorScheme });
    await scrollThrough(page);
    const seen = await page.evaluate(() => ({
      charts: document.querySelectorAll('.chart').length,
      live: document.querySelectorAll('.chart.is-live .live svg').length,
      wide: document.scrollingElement.scrollWidth - innerWidth,
      alert: Boolean(document.querySelector('script[src], link[href], img')),
    }));
    check(`${name}: every chart is live`, seen.charts >= 7 && seen.live === seen.charts, JSON.stringify(seen));
    check(`${name}: nothing sticks out sideways`, seen.wide <= 0, `${seen.wide} px`);
    check(`${name}: nothing is loaded`, !seen.alert);
    await page.evaluate(() => document.querySelectorAll('details').forEach((d) => { d.open = true; }));
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    const grave = violations.filter((v) => ['serious', 'critical'].includes(v.impact));
    const told = violations.map((v) => `${v.impact} ${v.id}: ${v.nodes.map((n) => n.target).join(', ')}`).join('\n  ');
    check(`${name}: axe finds nothing serious`, grave.length === 0, told);
    if (violations.length > grave.length) console.log(`axe, ${name}: ${told}`);
    check(`${name}: no error, dialog or request`, page.troubles.length === 0, page.troubles.join('; '));
    if (process.env.SCREENSHOTS) {
      await page.evaluate(() => document.querySelectorAll('details').forEach((d) => { d.open = false; }));
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/report-${width}-${colorScheme}.png`, fullPage: true });
    }
    await page.context().close();
  }
}

{
  const page = await open(nine);
  const chart = page.locator('.chart').first();
  await chart.scrollIntoViewIfNeeded();
  // The dots of the first series are circles drawn as paths; pointing at each label's dot is what a reader does.
  const box = await chart.boundingBox();
  let told = '';
  for (let x = 0.1; x < 0.95 && !told; x += 0.01) {
    for (let y = 0.3; y < 0.9 && !told; y += 0.02) {
      await page.mouse.move(box.x + box.width * x, box.y + box.height * y);
      told = await page.evaluate(() => document.querySelector('.tip-head')?.textContent ?? '');
    }
  }
  const lines = await page.locator('.tip-line').allTextContents();
  check('pointing at a dot tells its workload', /4 KiB random (reads|writes)/.test(told), told);
  check('with its interval and trials', lines.some((l) => /\[.*\]/.test(l)) && lines.some((l) => /trial/.test(l)), lines.join('|'));
  const drawn = () => page.evaluate(() => document.querySelector('.chart .live svg').querySelectorAll('path').length);
  const before = await drawn();
  await page.locator('.chart .live').first().locator('svg text', { hasText: '4 KiB random writes' }).click();
  await page.waitForTimeout(100);
  check('a click on the legend hides a series', (await drawn()) < before, `${before} paths before`);

  await page.locator('#trials summary').click();
  const column = async (index) => page.evaluate((i) =>
    [...document.querySelectorAll('#trials tbody tr')].map((row) => row.cells[i].textContent), index);
  const factor = { IOPS: 1, 'k IOPS': 1e3, 'M IOPS': 1e6 };
  const number = (text) => { const [, n, unit] = /^([\d.,]+) (.*)$/.exec(text); return Number(n.replace(',', '')) * factor[unit]; };
  const rising = (values) => values.every((value, i) => i === 0 || values[i - 1] <= value);
  const head = page.locator('#trials th button', { hasText: 'IOPS' });
  await head.click();
  check('a click sorts by number and unit', rising((await column(4)).map(number)));
  await head.press('Enter');
  check('the keyboard sorts the other way', rising((await column(4)).map(number).reverse()));
  const sorted = await page.evaluate(() => [...document.querySelectorAll('#trials th[aria-sort]')].map((th) => th.ariaSort));
  check('aria-sort says so', sorted.length === 1 && sorted[0] === 'descending', sorted.join());
  check('nothing went wrong meanwhile', page.troubles.length === 0, page.troubles.join('; '));

  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  const paper = await page.evaluate(() => ({
    still: getComputedStyle(document.querySelector('.still')).display,
    live: getComputedStyle(document.querySelector('.live')).display,
    ground: getComputedStyle(document.body).backgroundColor,
  }));
  check('paper gets the still charts on white',
    paper.still !== 'none' && paper.live === 'none' && paper.ground === 'rgb(255, 255, 255)', JSON.stringify(paper));
  if (process.env.SCREENSHOTS) await page.pdf({ path: `${process.env.SCREENSHOTS}/report.pdf`, format: 'A4', margin: { top: '15mm', bottom: '15mm', left: '15mm', right: '15mm' } });
  await page.context().close();
}

{
  const page = await open(nine, { javaScriptEnabled: false });
  const stills = page.locator('.still svg');
  check('without scripts every chart is there', (await stills.count()) >= 7 && await stills.first().isVisible());
  await page.context().close();
}

{
  const page = await open(many);
  const ms = await page.evaluate(() => performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd);
  console.log(`1,065 trials: loaded and interactive after ${Math.round(ms)} ms`);
  check('a thousand trials: the first chart is live', await page.locator('.chart.is-live').first().isVisible());
  check('a thousand trials: no error', page.troubles.length === 0, page.troubles.join('; '));
  await page.context().close();
}

await browser.close();
console.log(`browser: ${passed} checks passed, ${faults.length} failed`);
process.exit(faults.length === 0 ? 0 : 1);
