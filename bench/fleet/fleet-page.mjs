// Measures the page of a fleet in Chromium: how soon it shows the rigs, and what a refresh and scrolling take.
//
//   node bench/fleet/fleet-page.mjs [--rigs 1000,10000] [--refreshes 20] [--frames 300] [--json] [--out FILE]
//     [--screenshots docs/images] [--chromium /usr/bin/chromium]
//
// An operator's HTTP server in this process serves synthetic rigs, each of which reports once in ten seconds. The page
// is refreshed every two seconds, as for everybody. The first paint and the time when rows are shown count from the
// start of the navigation. A refresh is timed from the arrival of its answer until the next frame is painted, so it
// contains a wait of up to a frame. While the table scrolls by three rows a frame, the times between frames are taken:
// 16.7 ms is a frame of 60 Hz. Times by the clock depend on what else the machine does; processor times (CPU) of the
// page's main thread and of the server do not. The heap is the page's after a garbage collection.

import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { chromium } from 'playwright-core';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { serveFleet } from '#pickaxe/fleet/operator/http/fleet-server.js';
import { shrinkPng } from '../../scripts/shrink-png.mjs';
import { median, printHeading, printTable, quantile, save } from '../lib/figures.mjs';
import { SyntheticFleet } from './synthetic-fleet.mjs';

const { values } = parseArgs({
  options: {
    rigs: { type: 'string', default: '1000,10000' },
    refreshes: { type: 'string', default: '20' },
    frames: { type: 'string', default: '300' },
    json: { type: 'boolean', default: false },
    out: { type: 'string' },
    screenshots: { type: 'string' },
    chromium: { type: 'string', default: '/usr/bin/chromium' },
  },
});

const PICTURES = [
  { name: 'fleet-light', colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { name: 'fleet-dark', colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  { name: 'fleet-phone', colorScheme: 'light', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
];
/** The maximum size of a picture, because pictures stay in the repository forever. */
const MOST_BYTES = 250_000;
const STATUSES = 20;

/** Times the page's refreshes: `window.refreshes` gets one entry for each. */
const PROBE = `
  window.refreshes = [];
  const json = Response.prototype.json;
  Response.prototype.json = async function () {
    const began = performance.now();
    const answer = await json.call(this);
    if (this.url.includes('/changes')) {
      const parsed = performance.now();
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        // This message comes after the frame.
        port1.onmessage = () => window.refreshes.push({ parseMs: parsed - began, showMs: performance.now() - parsed });
        port2.postMessage(undefined);
      });
    }
    return answer;
  };
`;

/** @returns times between frames in ms while the table scrolls */
const scroll = (frames) => `new Promise((resolve) => {
  const scroller = document.getElementById('rig-scroller');
  const times = [];
  let before;
  const step = (now) => {
    if (before !== undefined) times.push(now - before);
    before = now;
    if (times.length >= ${frames}) return resolve(times);
    scroller.scrollTop += 3 * 38;
    if (scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 1) scroller.scrollTop = 0;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})`;

/** @returns processor time in ms, which other processes do not change */
function cpuMs(action) {
  const before = process.cpuUsage();
  action();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** @returns the processor time in ms that the page's main thread has used so far */
async function pageCpuMs(session) {
  const { metrics } = await session.send('Performance.getMetrics');
  return 1000 * metrics.find(({ name }) => name === 'TaskDuration').value;
}

/** @returns the value of the expression, once it has one. The page's policy forbids expressions that wait */
async function known(page, expression) {
  for (;;) {
    const value = await page.evaluate(expression);
    if (value !== undefined) return value;
    await sleep(200);
  }
}

async function served(rigs) {
  const fleet = new SyntheticFleet(rigs);
  let lastMs = systemClock.monotonicMs();
  const status = () => {
    const nowMs = systemClock.monotonicMs();
    fleet.advance(nowMs - lastMs);
    lastMs = nowMs;
    return fleet.status();
  };
  const options = { host: '127.0.0.1', port: 0, control: true };
  const context = { log: pino({ level: 'silent' }), clock: systemClock, instance: randomBytes(8).toString('hex') };
  return { ...(await serveFleet({ status, ask: fleet.ask }, options, context)), status };
}

async function measure(browser, rigs) {
  const { url, close, status } = await served(rigs);
  const statusMs = Array.from({ length: STATUSES }, () => cpuMs(status));
  const last = status();
  const jsonMs = Array.from({ length: STATUSES }, () => cpuMs(() => JSON.stringify(last)));
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(PROBE);
  const bytes = [];
  page.on('response', async (response) => {
    if (response.url().includes('/changes')) bytes.push((await response.body()).length);
  });
  await page.goto(url);
  await page.locator('#rig-table tbody tr').first().waitFor();
  const rowsMs = await page.evaluate('performance.now()');
  const paint = 'performance.getEntriesByName("first-contentful-paint")[0]?.startTime';
  const firstPaintMs = await known(page, paint);
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await known(page, 'window.refreshes.length > 0 || undefined');
  const cpuBeforeMs = await pageCpuMs(session);
  const seen = await page.evaluate('window.refreshes.length');
  const arrived = await known(
    page,
    `window.refreshes.length > ${values.refreshes} && window.refreshes.length || undefined`,
  );
  const refreshCpuMs = ((await pageCpuMs(session)) - cpuBeforeMs) / (arrived - seen);
  const [first, ...others] = await page.evaluate('window.refreshes');
  const frames = await page.evaluate(scroll(Number(values.frames)));
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const rowsInDocument = await page.locator('#rig-table tbody tr').count();
  if (values.screenshots && rigs === counts[0]) for (const each of PICTURES) await picture(browser, url, each);
  await context.close();
  await close();
  const refreshMs = others.map(({ parseMs, showMs }) => parseMs + showMs);
  return {
    rigs,
    rowsInDocument,
    firstPaintMs,
    rowsMs,
    firstAnswerMs: first.parseMs + first.showMs,
    refreshMs: { p50: median(refreshMs), p99: quantile(refreshMs, 0.99) },
    refreshCpuMs,
    frameMs: { p50: median(frames), p99: quantile(frames, 0.99) },
    heapMB: usedSize / 1e6,
    wholeKB: bytes[0] / 1e3,
    refreshKB: median(bytes.slice(1)) / 1e3,
    statusCpuMs: median(statusMs),
    jsonCpuMs: median(jsonMs),
  };
}

async function picture(browser, url, { name, ...device }) {
  const context = await browser.newContext(device);
  const page = await context.newPage();
  await page.goto(url);
  await page.locator('#rig-table tbody tr').first().waitFor();
  const path = `${values.screenshots}/${name}.png`;
  const png = shrinkPng(await page.screenshot({ fullPage: true, animations: 'disabled' }));
  await context.close();
  mkdirSync(values.screenshots, { recursive: true });
  writeFileSync(path, png);
  if (png.length > MOST_BYTES) throw new Error(`${path} is larger than ${MOST_BYTES / 1000} kB`);
}

const counts = values.rigs.split(',').map(Number);
if (!values.json) printHeading();
const browser = await chromium.launch({ executablePath: values.chromium, args: ['--no-sandbox'] });
const rows = [];
try {
  for (const rigs of counts) rows.push(await measure(browser, rigs));
} finally {
  await browser.close();
}
if (values.json) console.log(JSON.stringify({ bench: 'fleet-page', rows }));
else {
  const ms = (value) => `${value.toFixed(1)} ms`;
  const both = ({ p50, p99 }) => `${ms(p50)} / ${ms(p99)}`;
  const figures = [
    ['rows in the document', ({ rowsInDocument }) => String(rowsInDocument)],
    ['first paint', ({ firstPaintMs }) => ms(firstPaintMs)],
    ['rows shown', ({ rowsMs }) => ms(rowsMs)],
    ['first answer parsed and painted', ({ firstAnswerMs }) => ms(firstAnswerMs)],
    ['refresh, median / p99', ({ refreshMs }) => both(refreshMs)],
    ['CPU of a refresh', ({ refreshCpuMs }) => ms(refreshCpuMs)],
    ['frame while scrolling, median / p99', ({ frameMs }) => both(frameMs)],
    ['heap', ({ heapMB }) => `${heapMB.toFixed(1)} MB`],
    ['first answer', ({ wholeKB }) => `${wholeKB.toFixed(0)} kB`],
    ['answer of a refresh', ({ refreshKB }) => `${refreshKB.toFixed(0)} kB`],
    ['server: CPU of a status', ({ statusCpuMs }) => ms(statusCpuMs)],
    ['server: CPU of its whole JSON', ({ jsonCpuMs }) => ms(jsonCpuMs)],
  ];
  printTable(
    ['', ...rows.map(({ rigs }) => `${rigs} rigs`)],
    figures.map(([name, text]) => [name, ...rows.map(text)]),
  );
}
save(values.out, { bench: 'fleet-page', rows });
