/** Formats of figures and names for the page, in addition to those of `rig/status/units.ts`. */

import { shortName } from '../status/figures.ts';
import type { DeviceStatus } from '../status/status.ts';
import { formatAmount, formatHashrate } from '../status/units.ts';
import { announce, element, setAttribute, setText } from './dom.ts';

/** Text for a value that is not known. */
export const UNKNOWN = '–';

/** Decimal places of a coin amount. */
const COIN_PLACES = 12;

export function known<Value>(value: Value | null | undefined, format: (value: Value) => string): string {
  return value === null || value === undefined ? UNKNOWN : format(value);
}

export const hashrate = (value: number | null | undefined): string => known(value, formatHashrate);

/** Formats a number of hashes: `17.20 M`, `0`. */
export const amount = (value: number | null): string => known(value, formatAmount);

/** @returns an exact decimal with 12 decimal places, so that decimal points are aligned: `12.500000000000` */
export function coins(decimal: string): string {
  return decimal.padEnd(decimal.indexOf('.') + 1 + COIN_PLACES, '0');
}

/** Formats a latency: `0.31 ms`, `12.3 ms`, `1.24 s`. */
export function latency(seconds: number): string {
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  const ms = seconds * 1000;
  return `${ms.toFixed(ms < 1 ? 2 : ms < 100 ? 1 : 0)} ms`;
}

/**
 * @returns the proven hashes as a percentage of the counted ones, and the 95 % interval of this percentage: `99.8 %`
 *   and `98.1 to 101.5 %`. If nothing is proven or counted, `UNKNOWN` and an empty text
 */
export function provenPart({ proven, hashes }: Pick<DeviceStatus, 'proven' | 'hashes'>): [string, string] {
  if (!proven || hashes === 0) return [UNKNOWN, ''];
  const part = (value: number) => ((100 * value) / hashes).toFixed(1);
  return [`${part(proven.hashes)} %`, `${part(proven.low)} to ${part(proven.high)} %`];
}

const two = (value: number): string => String(value).padStart(2, '0');

/** @param timeMs ms since the UNIX epoch @returns the time in the browser's time zone: `15:32` */
export function clock(timeMs: number): string {
  const time = new Date(timeMs);
  return `${two(time.getHours())}:${two(time.getMinutes())}`;
}

export function clockSeconds(timeMs: number): string {
  return `${clock(timeMs)}:${two(new Date(timeMs).getSeconds())}`;
}

/* Names of workers, which often contain a public key */

/**
 * @returns an element that shows the name. If the name is shortened, the element is a button that shows the whole name
 *   and copies it
 */
export function nameElement(name: string): HTMLElement {
  const short = shortName(name);
  if (short === name) return element('span', { class: 'name' }, name);
  const button = element('button', { type: 'button', class: 'name', title: name, 'aria-expanded': 'false' }, short);
  button.addEventListener('click', async () => {
    const wasWhole = button.getAttribute('aria-expanded') === 'true';
    setAttribute(button, 'aria-expanded', String(!wasWhole));
    setText(button, wasWhole ? short : name);
    if (!wasWhole)
      announce((await copy(name)) ? `copied: ${name}` : `not copied, since the browser forbids it: ${name}`);
  });
  return button;
}

/** @returns whether the text was copied to the clipboard */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyWithEvent(text);
  }
}

/** Copies with an obsolete command. Without TLS, browsers offer `navigator.clipboard` only to pages from loopback. */
function copyWithEvent(text: string): boolean {
  let isCopied = false;
  const fill = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
    isCopied = true;
  };
  document.addEventListener('copy', fill, { once: true });
  const isDone = document.execCommand('copy');
  document.removeEventListener('copy', fill);
  return isDone && isCopied;
}
