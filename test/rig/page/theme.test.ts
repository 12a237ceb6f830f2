/** The theme of a page: what the browser has kept, what the user chooses, and what the system has. */

import { describe, expect, it } from 'vitest';
import { enter, openWindow, runModule } from './window.ts';

interface Opened {
  readonly kept?: string;
  readonly prefersDark?: boolean;
}

/** Opens a page whose theme was chosen earlier. @returns what the test needs to choose another one */
async function openTheme({ kept, prefersDark = false }: Opened) {
  const page = openWindow('rig', { prefersDark });
  const { window, document } = page;
  if (kept !== undefined) window.localStorage.setItem('pickaxe-theme', kept);
  const { followChoice } = await runModule<typeof import('#pickaxe/rig/page/theme.js')>('dist/rig/page/theme.js');
  let changes = 0;
  const select = page.byId<InstanceType<typeof window.HTMLSelectElement>>('theme');
  return {
    theme: () => document.documentElement.dataset.theme,
    follow: () => followChoice(select as never, () => changes++),
    chosen: () => select.value,
    choose: (value: string) => enter(page, select, value),
    kept: () => window.localStorage.getItem('pickaxe-theme'),
    changes: () => changes,
    becomesDark: (isDark: boolean) => {
      window.happyDOM.settings.device.prefersColorScheme = isDark ? 'dark' : 'light';
      window.dispatchEvent(new window.Event('resize'));
    },
  };
}

describe('the theme of a page', () => {
  it.each<[Opened, string, string]>([
    [{}, 'light', 'system'],
    [{ prefersDark: true }, 'dark', 'system'],
    [{ kept: 'system', prefersDark: true }, 'dark', 'system'],
    [{ kept: 'light', prefersDark: true }, 'light', 'light'],
    [{ kept: 'dark' }, 'dark', 'dark'],
    [{ kept: 'blue' }, 'light', 'system'],
  ])('of %j is %s before the page is drawn', async (opened, theme, chosen) => {
    const page = await openTheme(opened);
    expect(page.theme()).toBe(theme);
    page.follow();
    expect([page.theme(), page.chosen(), page.changes(), page.kept()]).toEqual([theme, chosen, 0, opened.kept ?? null]);
  });

  it('is what the user chooses, and that is kept', async () => {
    const { follow, choose, theme, kept, changes } = await openTheme({});
    follow();
    for (const [at, value] of ['dark', 'light', 'dark', 'system'].entries()) {
      choose(value);
      expect([theme(), kept(), changes()]).toEqual([value === 'system' ? 'light' : value, value, at + 1]);
    }
  });

  it('changes with the system, unless another one is chosen', async () => {
    const { follow, choose, theme, becomesDark, changes, kept } = await openTheme({});
    follow();
    becomesDark(true);
    expect([theme(), changes()]).toEqual(['dark', 1]);
    becomesDark(false);
    expect([theme(), changes()]).toEqual(['light', 2]);
    expect(kept()).toBeNull();
    choose('light');
    becomesDark(true);
    expect(theme()).toBe('light');
    choose('system');
    expect(theme()).toBe('dark');
  });
});
