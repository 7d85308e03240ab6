// Opens reports in headless Chromium over its debugging pipe; a line for each visit, and what is wrong below it.
//   node browser.mjs [--shots FOLDER] FILE..
// For each file, width and medium: errors on the console, requests that leave the file, what does not fit, and whether
// charts answer to mouse and keys. With axe-core beside this file (npm ci), also its serious and critical findings.
// Ends with 1 where anything is wrong. CHROMIUM names another browser of that family.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const words = process.argv.slice(2);
const shots = words[0] === '--shots' ? words.splice(0, 2)[1] : null;
const axePath = join(dirname(fileURLToPath(import.meta.url)), 'node_modules/axe-core/axe.min.js');
const axe = existsSync(axePath) ? readFileSync(axePath, 'utf8') : null;
const profile = mkdtempSync(join(tmpdir(), 'iosonde-browser-'));
const names = [process.env.CHROMIUM, 'chromium', 'chromium-browser', 'google-chrome'].filter(Boolean);
const found = names.find((name) => spawnSync(name, ['--version']).status === 0);
const browser = spawn(found ?? 'chromium', [
  '--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-quic', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--hide-scrollbars', '--host-resolver-rules=MAP * ~NOTFOUND',
  `--user-data-dir=${profile}`, '--remote-debugging-pipe', 'about:blank',
], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });

const waiting = new Map();
const listeners = new Set();
let last = 0;
let unread = '';
browser.stdio[4].on('data', (chunk) => {
  unread += chunk;
  const messages = unread.split('\0');
  unread = messages.pop();
  for (const message of messages.map((text) => JSON.parse(text))) {
    if (message.id) {
      const { done, failed } = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.error) failed(new Error(message.error.message)); else done(message.result);
    } else listeners.forEach((listener) => listener(message));
  }
});
const call = (method, params = {}, sessionId = undefined) => new Promise((done, failed) => {
  last += 1;
  waiting.set(last, { done, failed });
  browser.stdio[3].write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
});

const MEDIA = {
  light: { media: 'screen', features: [{ name: 'prefers-color-scheme', value: 'light' }] },
  dark: { media: 'screen', features: [{ name: 'prefers-color-scheme', value: 'dark' }] },
  print: { media: 'print', features: [{ name: 'prefers-color-scheme', value: 'light' }] },
};

// Runs in the page: what of it does not fit, and whether charts answer.
const inspect = async () => {
  const out = { problems: [], charts: 0, tips: 0, numbers: [] };
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide > 0) {
    const widest = [...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.scroll'));
    out.problems.push(`the page is ${wide} px wider than the window: ${widest.slice(0, 3).map((e) => e.className || e.tagName)}`);
  }
  const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
  const twice = ids.filter((id, i) => ids.indexOf(id) !== i);
  if (twice.length) out.problems.push(`ids used twice: ${twice}`);
  for (const button of document.querySelectorAll('button')) {
    if (!(button.getAttribute('aria-label') ?? button.textContent).trim()) out.problems.push('a button without a name');
  }
  for (const figure of document.querySelectorAll('figure.chart')) {
    for (let fold = figure.closest('details'); fold; fold = fold.parentElement.closest('details')) fold.open = true;
    figure.scrollIntoView({ behavior: 'instant', block: 'center' });
    // It becomes live when it comes near: wait for that, a second at the most.
    for (let i = 0; i < 50 && !figure.querySelector('.tools'); i += 1) await new Promise((done) => setTimeout(done, 20));
    out.charts += 1;
    const area = figure.querySelector('.area');
    const shape = figure.querySelector('.d, .c');
    if (!shape) { out.problems.push(`${figure.id}: nothing to point at`); continue; }
    const box = shape.getBoundingClientRect();
    area.dispatchEvent(new PointerEvent('pointermove', { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, bubbles: true }));
    const tip = figure.querySelector('.tip');
    if (!tip || tip.hidden) { out.problems.push(`${figure.id}: says nothing when pointed at`); continue; }
    out.tips += 1;
    out.numbers.push([figure.id, tip.textContent]);
    const edge = tip.getBoundingClientRect();
    if (edge.left < -1 || edge.right > innerWidth + 1) out.problems.push(`${figure.id}: its tip leaves the window`);
    area.focus();
    area.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
    if (!document.getElementById('said').textContent) out.problems.push(`${figure.id}: says nothing aloud`);
    area.dispatchEvent(new KeyboardEvent('keydown', { key: '+', bubbles: true }));
    if (!figure.querySelector('.plot.zoomed')) out.problems.push(`${figure.id}: does not zoom`);
    area.dispatchEvent(new KeyboardEvent('keydown', { key: '0', bubbles: true }));
    if (figure.querySelector('.plot.zoomed')) out.problems.push(`${figure.id}: does not zoom back`);
    const key = figure.querySelector('.legend button[data-s]');
    if (key) {
      key.click();
      const group = figure.querySelector(`g[data-s="${key.dataset.s}"]`);
      if (!group.hasAttribute('hidden') || key.getAttribute('aria-pressed') !== 'false') out.problems.push(`${figure.id}: hides nothing`);
      key.click();
    }
    area.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    area.blur();
  }
  const sorter = document.querySelector('th button');
  if (sorter) {
    sorter.click();
    if (sorter.closest('th').getAttribute('aria-sort') !== 'ascending') out.problems.push('a table does not sort');
  }
  scrollTo(0, 0);
  return out;
};

const visit = async (file, width, medium) => {
  const { targetId } = await call('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await call('Target.attachToTarget', { targetId, flatten: true });
  const [errors, requests] = [[], []];
  let loaded;
  const load = new Promise((done) => { loaded = done; });
  const url = pathToFileURL(resolve(file)).href;
  const listener = (message) => {
    if (message.sessionId !== sessionId) return;
    const { method, params } = message;
    if (method === 'Runtime.exceptionThrown') errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === 'Runtime.consoleAPICalled' && params.type === 'error') errors.push(JSON.stringify(params.args));
    if (method === 'Log.entryAdded' && params.entry.level === 'error') errors.push(params.entry.text);
    if (method === 'Network.requestWillBeSent' && !params.request.url.startsWith(url)) requests.push(params.request.url);
    if (method === 'Page.loadEventFired') loaded();
  };
  listeners.add(listener);
  const ask = (method, params) => call(method, params, sessionId);
  await Promise.all([ask('Page.enable'), ask('Runtime.enable'), ask('Log.enable'), ask('Network.enable')]);
  await ask('Emulation.setDeviceMetricsOverride', { width, height: 1000, deviceScaleFactor: 1, mobile: false });
  await ask('Emulation.setEmulatedMedia', MEDIA[medium]);
  const began = performance.now();
  await ask('Page.navigate', { url });
  await load;
  const loaded_ms = performance.now() - began;
  const evaluate = async (expression) => {
    const { result, exceptionDetails } = await ask('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) errors.push(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  const interactive_ms = await evaluate('performance.getEntriesByType("navigation")[0].domInteractive');
  const shoot = async () => {
    const { data } = await ask('Page.captureScreenshot', { format: 'png' });
    writeFileSync(join(shots, `${basename(file, '.html')}-${width}-${medium}.png`), Buffer.from(data, 'base64'));
    if (!process.env.WHOLE) return;
    const { cssContentSize } = await ask('Page.getLayoutMetrics');
    const clip = { x: 0, y: 0, width, height: Math.min(cssContentSize.height, 9000), scale: 0.6 };
    const whole = await ask('Page.captureScreenshot', { format: 'png', clip, captureBeyondViewport: true });
    writeFileSync(join(shots, `${basename(file, '.html')}-${width}-${medium}-whole.png`), Buffer.from(whole.data, 'base64'));
  };
  if (shots) await shoot();
  const seen = medium === 'print' ? { problems: [], numbers: [] } : await evaluate(`(${inspect})()`);
  let rules = null;
  if (axe && medium !== 'print' && width < 1900) {
    await evaluate(axe);
    rules = await evaluate(`(async () => {
      const { violations } = await axe.run({ resultTypes: ['violations'] });
      return violations.map(({ id, impact, nodes }) => ({ id, impact, where: nodes.slice(0, 3).map((n) => n.target.join(' ') + ': ' + n.failureSummary) }));
    })()`);
  }
  listeners.delete(listener);
  await call('Target.closeTarget', { targetId });
  return { file: basename(file), width, medium, errors, requests, loaded_ms, interactive_ms, axe: rules, ...seen };
};

// Whole tries: Node 20's own `maxRetries` deletes the folder again and again, but not what has appeared in it since.
const removed = async (folder) => {
  for (let tries = 1; tries <= 40; tries += 1) {
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (tries === 40) console.log(`left behind: ${folder} (${error.code})`);
      await new Promise((done) => setTimeout(done, 250));
    }
  }
};

let wrong = 0;
const tell = (seen) => {
  const rules = (seen.axe ?? []).filter((rule) => ['serious', 'critical'].includes(rule.impact));
  const faults = [
    ...seen.errors.map((text) => `console: ${text}`),
    ...seen.requests.map((url) => `request: ${url}`),
    ...seen.problems,
    ...rules.map((rule) => `axe: ${rule.impact}: ${rule.id}: ${rule.where.join(' | ')}`),
  ];
  wrong += faults.length;
  const times = `interactive after ${Math.round(seen.interactive_ms)} ms`;
  console.log(`${seen.file} ${seen.width} ${seen.medium}: ${seen.charts ?? 0} charts, ${times}, ${faults.length} faults`);
  faults.forEach((fault) => console.log(`  ${fault}`));
};
try {
  for (const file of words) {
    for (const [width, medium] of [[390, 'light'], [768, 'light'], [1280, 'light'], [1920, 'light'], [1280, 'dark'], [1280, 'print']]) {
      tell(await visit(file, width, medium));
    }
  }
  if (!axe) console.log('skipped: axe-core is not beside this file, so no rule of accessibility was asked');
  process.exitCode = wrong ? 1 : 0;
} finally {
  const ended = new Promise((done) => browser.once('exit', done));
  // Asked to close, it ends its own processes first; killed, it leaves some that write into its folder for seconds.
  call('Browser.close').catch(() => {});
  const kill = setTimeout(() => browser.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(kill);
  await removed(profile);
}
