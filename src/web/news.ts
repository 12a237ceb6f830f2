/** The line that says what changed, which screen readers read out. Figures that change all the time are not in it. */

import type { Status } from '../report/http/schemas.ts';
import { byId, setText } from './dom.ts';

export function tell(news: string): void {
  setText(byId('news'), news);
}

/**
 * @returns one sentence for all devices that do the same, unlike before, and one for each source. Why a whole rig does not mine is
 *   said below its hashrate, and not a second time
 */
export function changes(before: Status, now: Status): string[] {
  const changed = Object.entries(now.devices).filter(([name, { state, reason }]) => {
    const old = before.devices[name];
    return old?.state !== state || (state !== 'ready' && old.reason !== reason);
  });
  const devices = new Map<string, string[]>();
  for (const [name, { state, reason }] of changed) {
    const does = reason === null || now.stateReason !== null ? state : `${state}: ${reason}`;
    devices.set(does, [...(devices.get(does) ?? []), name]);
  }
  const sources = Object.entries(now.sources)
    .filter(([url, { state }]) => before.sources[url]?.state !== state)
    .map(([url, { state }]) => `${url} is ${state}`);
  return [
    ...Array.from(devices, ([does, names]) => `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} ${does}`),
    ...sources,
  ];
}
