/** Light or dark: as the system is, or as was chosen here. Loaded first, so that the page is not drawn in another. */

const STORED = 'pickaxe-theme';
const CHOICES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof CHOICES)[number];

function stored(): Theme {
  const value = localStorage.getItem(STORED);
  return CHOICES.find((choice) => choice === value) ?? 'system';
}

function use(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}

/** @param changed called whenever colours are others than before */
export function followChoice(select: HTMLSelectElement, changed: () => void): void {
  select.value = stored();
  select.addEventListener('change', () => {
    localStorage.setItem(STORED, select.value);
    use(stored());
    changed();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', changed);
}

use(stored());
