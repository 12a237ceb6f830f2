/** What a rig's page shows of events drawn at random, and what it announces. */

import { it } from 'vitest';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { EarningsPanel } from '#pickaxe/rig/page/balance.js';
import { Controls, Devices, Workers } from '#pickaxe/rig/page/devices.js';
import { ChainsPanel, SourcesPanel } from '#pickaxe/rig/page/sources.js';
import { changes, showSummary } from '#pickaxe/rig/page/summary.js';
import type { Status } from '#pickaxe/rig/status/status.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { type Recorded, recordIn, written } from '../../recorded.ts';
import { drawer } from '../../variants.ts';
import { eventDrawer, rounded } from '../drawn-events.ts';
import { FakeClock, hashes } from '../status/fakes.ts';
import { shownIn } from './shown.ts';
import { statusOf } from './statuses.ts';
import { openWindow } from './window.ts';

const MOMENTS = 8;
const expectRecorded = recordIn(new URL('recorded.json', import.meta.url));

function momentsOf(seed: number): Recorded[] {
  const one = drawer(seededRandom(400 + seed));
  const kind = (['node', 'pool', 'fleet'] as const)[seed];
  const draw = eventDrawer(500 + seed, kind === 'pool' ? 'pool' : 'node');
  const clock = new FakeClock();
  const terms = seed === 2 ? {} : { coinsAt: () => 0.98, powerPrice: 0.3, ...one({}, { powerWatts: 500 }) };
  const tally = new Tally(clock, [{ name: 'cpu', kind: 'cpu' }], one([], [{ name: 'stratum' }]), kind, terms);
  const page = openWindow('rig');
  const controls = new Controls(async () => {});
  const panels = [controls, new Devices(controls), new Workers(), new ChainsPanel(), new SourcesPanel()];
  const all = [...panels, new EarningsPanel()];
  let last: Status | undefined;
  return Array.from({ length: MOMENTS }, (_, i) => {
    const happened = Array.from({ length: one(1, 4, 8) }, draw);
    const rate = one(0, 1e6, 8e9);
    for (const name of ['cpu', 'gpu0']) {
      happened.push(hashes(name, rate), { type: 'proof', device: name, hashes: rate, difficulty: rate });
    }
    for (const event of happened) tally.listen(event);
    clock.advance(one(1, 500, 10_000, 60_000, 900_000));
    const status = statusOf({ tally }, { version: '1.2.3', control: one(true, true, false) });
    const news = last ? changes(last, status) : [];
    last = status;
    showSummary(status);
    for (const panel of all) panel.show(status);
    const outcome = [page.document.title, ...news, shownIn(page, '#main')].join('\n');
    return { input: `${i}: ${written(happened)}`, outcome: rounded(outcome) };
  });
}

it.each([0, 1, 2])('the page of rig %i shows what is recorded', (seed) => {
  expectRecorded(`rig ${seed}`, momentsOf(seed));
});
