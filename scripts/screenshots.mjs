// Takes screenshots of the web page for the documents, during a real run of the demo on this machine's devices.
//
//   node scripts/screenshots.mjs [--minutes 10] [--devices cpu] [--chromium /usr/bin/chromium] [--to docs/images]

import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { shrinkPng } from './shrink-png.mjs';

/** The maximum size of a picture, because pictures stay in the repository forever. */
const MOST_BYTES = 250_000;
/** How long to wait for the start: the first start measures every device. */
const START_MS = 120_000;

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    devices: { type: 'string' },
    chromium: { type: 'string', default: '/usr/bin/chromium' },
    to: { type: 'string', default: `${root}docs/images` },
  },
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error('--minutes takes a number above 0');

const PICTURES = [
  { name: 'page-light', colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { name: 'page-dark', colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  { name: 'page-phone', colorScheme: 'light', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
];

/** @returns the URL of the page; settles once it is served */
async function urlOf(miner) {
  for await (const line of createInterface({ input: miner.stderr })) {
    const [, url] = /listening at (http:\S+?),/.exec(line) ?? [];
    if (url) {
      miner.stderr.resume();
      return url;
    }
  }
  throw new Error('pickaxe ended before it served anything');
}

async function picture(browser, url, { name, ...device }) {
  const context = await browser.newContext(device);
  const page = await context.newPage();
  await page.goto(url);
  await page.locator('#devices tbody tr').first().waitFor();
  await page.locator('.chart canvas').first().waitFor();
  await page.locator('.lines .line').first().waitFor();
  const path = `${values.to}/${name}.png`;
  const png = shrinkPng(await page.screenshot({ fullPage: true, animations: 'disabled' }));
  await context.close();
  writeFileSync(path, png);
  console.log(`${path}: ${Math.round(png.length / 1000)} kB`);
  if (png.length > MOST_BYTES) throw new Error(`${path} is larger than ${MOST_BYTES / 1000} kB`);
}

mkdirSync(values.to, { recursive: true });
const seconds = minutes * 60;
const miner = spawn(
  process.execPath,
  [
    `${root}dist/cli/main.js`,
    'demo',
    ...(values.devices ? ['--devices', values.devices] : ['--software-gpu']),
    '--http',
    '127.0.0.1:0',
    '--http-control',
    '--duration',
    String(seconds + START_MS / 1000),
  ],
  { stdio: ['ignore', 'ignore', 'pipe'] },
);
try {
  const url = await urlOf(miner);
  console.log(`${url}: mining for ${minutes} minutes`);
  await sleep(seconds * 1000);
  const browser = await chromium.launch({ executablePath: values.chromium, args: ['--no-sandbox'] });
  try {
    for (const each of PICTURES) await picture(browser, url, each);
  } finally {
    await browser.close();
  }
} finally {
  miner.kill();
}
