/** Panels that fold: the browser remembers which are open. */

import { keep, recall } from './storage.ts';

const OPEN = 'open';
const CLOSED = 'closed';

/** Opens and closes the panels as they were left, and as the page has them the first time. */
export function rememberFolds(): void {
  for (const panel of document.querySelectorAll<HTMLDetailsElement>('details[id]')) {
    const stored = `pickaxe-fold-${panel.id}`;
    const left = recall('localStorage', stored);
    if (left === OPEN || left === CLOSED) panel.open = left === OPEN;
    panel.addEventListener('toggle', () => keep('localStorage', stored, panel.open ? OPEN : CLOSED));
  }
}
