/** The page of a fleet as a whole. */

import { describe, expect, it } from 'vitest';
import { openWindow, runModule } from '../../rig/page/window.ts';
import { turns } from '../../turns.ts';

describe('the page of a fleet', () => {
  it.each([
    ['', 'rig up'],
    ['#sort=power&order=down', 'power down'],
  ])('opened with %s says that nobody listens', async (fragment, order) => {
    const { byId, window } = openWindow('fleet', { fragment });
    await runModule('dist/fleet/page/fleet-page.js');
    await turns();
    expect(byId('banner').textContent).toBe('The operator cannot be reached. Trying again.');
    expect(byId<InstanceType<typeof window.HTMLSelectElement>>('sort').value).toBe(order);
  });
});
