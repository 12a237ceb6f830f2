/**
 * Chromium without a window. If it is missing, tests of the page are skipped and say so, except in CI, where they fail.
 */

import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { atFileEnd } from '../../file-end.ts';
import { PATIENCE } from '../../patience.ts';

/** The names on Debian and Ubuntu, and Chrome. */
const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const path = PATHS.find((each) => existsSync(each));
if (!path && process.env.CI) throw new Error('CI must try the web page: install chromium');

export const noBrowser = path === undefined;
/** Part of test titles. */
export const why = path ? '' : ' (skipped: no chromium in /usr/bin)';

let browser: Browser | undefined;

export interface View extends BrowserContextOptions {
  /** Console errors that the test expects. */
  readonly expected?: RegExp;
  /** Called before the page is loaded. */
  readonly prepare?: (page: Page) => Promise<unknown>;
}

/** Opens the page. Any error in it, or a request to another host, fails the test. */
export async function open(url: string, { expected, prepare, ...view }: View = {}): Promise<Page> {
  browser ??= await launch();
  /** Errors on the page's console, and requests of the page to other hosts. */
  const complaints: string[] = [];
  const context = await browser.newContext({ timezoneId: 'UTC', viewport: { width: 1280, height: 900 }, ...view });
  context.setDefaultTimeout(PATIENCE.timeout);
  onTestFinished(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });
  const page = await context.newPage();
  page.on('console', (message) => {
    const text = `${message.text()} ${message.location().url}`;
    if (['error', 'warning'].includes(message.type()) && !expected?.test(text)) complaints.push(text);
  });
  page.on('pageerror', (error) => complaints.push(`${error}`));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) complaints.push(`asked for ${request.url()}`);
  });
  await prepare?.(page);
  await page.goto(url);
  return page;
}

async function launch(): Promise<Browser> {
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const launched = await chromium.launch({ executablePath: path!, args });
  atFileEnd(() => {
    browser = undefined;
    return launched.close();
  });
  return launched;
}

/** Makes the page ask the miner now, instead of within two seconds. */
export async function refresh(page: Page): Promise<void> {
  await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
}

/** @returns what the page shows for a figure */
export async function figure(page: Page, name: string): Promise<string | null> {
  return page.locator(`[data-figure="${name}"]`).textContent();
}
