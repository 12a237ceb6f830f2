/** Figures as the page shows them, beside those of `report/units.ts`. */

import { shortName } from '../report/figures.ts';
import type { DeviceStatus } from '../report/status.ts';
import { formatAmount, formatHashrate } from '../report/units.ts';
import { announce, element, setAttribute, setText } from './dom.ts';

/** Stands for a figure that is not known. */
export const UNKNOWN = '–';

/** How many decimal places coins have. */
const COIN_PLACES = 12;

export function known<Value>(value: Value | null | undefined, format: (value: Value) => string): string {
  return value === null || value === undefined ? UNKNOWN : format(value);
}

export const hashrate = (value: number | null | undefined): string => known(value, formatHashrate);

/** `17.2 M`, `0` */
export const amount = (value: number | null): string => known(value, formatAmount);

/** @returns an exact decimal with all 12 places, so that points stand below each other: `12.500000000000` */
export function coins(decimal: string): string {
  return decimal.padEnd(decimal.indexOf('.') + 1 + COIN_PLACES, '0');
}

/** `0.31 ms`, `12.3 ms`, `1.24 s` */
export function latency(seconds: number): string {
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  const ms = seconds * 1000;
  return `${ms.toFixed(ms < 1 ? 2 : ms < 100 ? 1 : 0)} ms`;
}

/** What is proven of the hashes counted, with its 95 % interval: `99.8 %` and `98.1 to 101.5 %`. */
export function provenPart({ proven, hashes }: Pick<DeviceStatus, 'proven' | 'hashes'>): [string, string] {
  if (!proven || hashes === 0) return [UNKNOWN, ''];
  const part = (value: number) => ((100 * value) / hashes).toFixed(1);
  return [`${part(proven.hashes)} %`, `${part(proven.low)} to ${part(proven.high)} %`];
}

const two = (value: number): string => String(value).padStart(2, '0');

/** `15:32`, in this browser's time zone. */
export function clock(timeMs: number): string {
  const time = new Date(timeMs);
  return `${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** `15:32:07` */
export function clockSeconds(timeMs: number): string {
  return `${clock(timeMs)}:${two(new Date(timeMs).getSeconds())}`;
}

/* Names of workers, which often contain a public key. */

/** The name, shortened. If that leaves something out, it is a button that shows the whole name and copies it. */
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

/** @returns whether it is in the clipboard now */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyWithEvent(text);
  }
}

/**
 * Browsers have a clipboard for scripts only on loopback and with TLS. On other addresses only this old command copies.
 */
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
