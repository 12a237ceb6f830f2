/**
 * The page's theme, light or dark. The user can choose it. By default, it is the theme of the system. This module runs
 * before the page is drawn, so that the page never appears in the wrong theme.
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

/** Sets the attribute `data-theme`, by which style.css selects the colours. */
function use(): void {
  const isDark = choice === 'dark' || (choice === 'system' && systemIsDark.matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
}

/**
 * Lets the user choose the theme, and follows the choice and the system's theme from now on.
 * @param changed called when the colours may have changed
 */
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
