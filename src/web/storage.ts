/** What the browser remembers of the page, where it is allowed to. Otherwise the page begins as it did the first time. */

type Kind = 'localStorage' | 'sessionStorage';

export function recall(kind: Kind, name: string): string | null {
  try {
    return window[kind].getItem(name);
  } catch {
    return null;
  }
}

export function keep(kind: Kind, name: string, value: string): void {
  try {
    window[kind].setItem(name, value);
  } catch {
    // Forbidden, or full.
  }
}

const OPEN = 'open';
const CLOSED = 'closed';

/** Opens and closes the panels that fold as they were left, and as the page has them the first time. */
export function rememberFolds(): void {
  for (const panel of document.querySelectorAll<HTMLDetailsElement>('details[id]')) {
    const stored = `pickaxe-fold-${panel.id}`;
    const left = recall('localStorage', stored);
    if (left === OPEN || left === CLOSED) panel.open = left === OPEN;
    panel.addEventListener('toggle', () => keep('localStorage', stored, panel.open ? OPEN : CLOSED));
  }
}
