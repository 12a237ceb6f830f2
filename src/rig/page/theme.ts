/**
 * The theme: light or dark, as the user has chosen or, without a choice, as the system is set. This module is loaded
 * first, so that the page is never drawn in the wrong theme.
 */

import { keep, recall } from './dom.ts';

const STORED = 'pickaxe-theme';
const CHOICES = ['system', 'light', 'dark'] as const;

const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
let choice = choiceOf(recall('localStorage', STORED));
use();

function choiceOf(value: string | null): (typeof CHOICES)[number] {
  return CHOICES.find((one) => one === value) ?? 'system';
}

/** Sets the attribute that style.css selects by. */
function use(): void {
  const isDark = choice === 'dark' || (choice === 'system' && systemIsDark.matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
}

/** @param changed called when the colours may have changed */
export function followChoice(select: HTMLSelectElement, changed: () => void): void {
  select.value = choice;
  select.addEventListener('change', () => {
    choice = choiceOf(select.value);
    keep('localStorage', STORED, choice);
    use();
    changed();
  });
  systemIsDark.addEventListener('change', () => {
    use();
    changed();
  });
}
