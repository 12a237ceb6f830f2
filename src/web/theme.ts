/** Light or dark: as the system is, or as was chosen here. Loaded first, so that the page is not drawn in another. */

import { keep, recall } from './storage.ts';

const STORED = 'pickaxe-theme';
const CHOICES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof CHOICES)[number];

function themeOf(value: string | null): Theme {
  return CHOICES.find((choice) => choice === value) ?? 'system';
}

function use(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}

/** @param changed called whenever colours are others than before */
export function followChoice(select: HTMLSelectElement, changed: () => void): void {
  select.value = document.documentElement.dataset.theme ?? 'system';
  select.addEventListener('change', () => {
    keep('localStorage', STORED, select.value);
    use(themeOf(select.value));
    changed();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', changed);
}

use(themeOf(recall('localStorage', STORED)));
