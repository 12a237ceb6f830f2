/** The line that says what changed, which screen readers read out. Figures that change all the time are not in it. */

import type { Status } from '../report/http/schemas.ts';
import { byId, setText } from './dom.ts';

export function tell(news: string): void {
  setText(byId('news'), news);
}

/** @returns one sentence for each device and source that does something else than before */
export function changes(before: Status, now: Status): string[] {
  const devices = Object.entries(now.devices)
    .filter(([name, { state, reason }]) => {
      const old = before.devices[name];
      return old?.state !== state || (state !== 'ready' && old.reason !== reason);
    })
    .map(([name, { state, reason }]) => `${name} is ${state}${reason === null ? '' : `: ${reason}`}`);
  const sources = Object.entries(now.sources)
    .filter(([url, { state }]) => before.sources[url]?.state !== state)
    .map(([url, { state }]) => `${url} is ${state}`);
  return [...devices, ...sources];
}
