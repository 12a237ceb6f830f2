/** The table of a fleet for people. */

import { describe, expect, it } from 'vitest';
import { oneColumnEach } from '#pickaxe/base/text/plain-text.js';
import { fleetLines, inOrder, matches, RIG_FILTERS, RIG_ORDERS } from '#pickaxe/cli/fleet/fleet-table.js';
import type { FleetCoordinator, FleetRig, FleetStatus } from '#pickaxe/fleet/operator/fleet-status.js';
import { fleetRig, reportedDevice } from '../../fleet/operator/messages.ts';

const coordinator = (more: Partial<FleetCoordinator> = {}): FleetCoordinator => ({
  name: 'c1',
  version: '0.1.0',
  ageSeconds: 0.4,
  silent: false,
  duplicate: false,
  lost: null,
  chain: 7,
  height: 5_000_000,
  workAgeSeconds: 12,
  rigs: 2,
  hashesPerSecond: 50e9,
  ...more,
});

const status = (rigs: readonly FleetRig[], more: Partial<FleetStatus> = {}): FleetStatus => ({
  timeMillis: 1,
  listeningSeconds: 100,
  disconnected: null,
  rigsMining: 2,
  rigsPaused: 0,
  rigsSilent: 0,
  rigsFaulty: 0,
  hashesPerSecond: 50e9,
  provenHashesPerSecond: 48e9,
  found: 12,
  accepted: 9,
  rejected: 1,
  stale: 1,
  unknown: 0,
  pending: 1,
  repeats: { ratio: 4.1e-5, rigs: 10_000, meanHashesPerSecond: 25e9, jobSeconds: 3, nonces: 2 ** 64 },
  coordinators: [coordinator()],
  rigs: [...rigs],
  ignored: { malformed: 0, tooFast: 0, tooManyMembers: 0 },
  ...more,
});

const lines = (rigs: readonly FleetRig[], more: Partial<FleetStatus> = {}, rows?: number): string[] =>
  fleetLines(status(rigs, more), { rigs, rows, clean: oneColumnEach });

describe('the table', () => {
  it('has the sums, the coordinators and the rigs', () => {
    const hall = fleetRig('rig1', { group: 'hall-a', accepted: 9, rejected: 1, stale: 1, ageSeconds: 7 });
    const bare = fleetRig('rig2', { provenHashesPerSecond: null, devices: [], hardwareErrors: 2 });
    expect(lines([hall, bare])).toEqual([
      'rigs       2 mining, 0 paused, 0 silent, 0 faulty',
      'hashrate   50.00 GH/s counted, 48.00 GH/s proven',
      'solutions  12 found = 9 accepted + 1 rejected + 1 stale + 0 unknown + 1 pending',
      'repeated   0.0041 % of the work at most = 10000 × 25.00 GH/s × 3 s ÷ 18.45 E nonces',
      '',
      'coordinator  state       chain   height  work since  rigs    hashrate  version  reason',
      'c1           gives work      7  5000000        12 s     2  50.00 GH/s  0.1.0',
      '',
      'rig   group   state     hashrate      proven  hottest  power  acc/rej/stale  faults     seen  version  reason',
      'rig1  hall-a  mining  25.00 GH/s  24.00 GH/s    61 °C  300 W          9/1/1       0  7 s ago  0.1.0',
      'rig2  -       mining  25.00 GH/s           -        -      -          0/0/0       2  3 s ago  0.1.0',
    ]);
  });

  it('says what is wrong', () => {
    const rigs = [
      fleetRig('a', { duplicate: true }),
      fleetRig('b', { state: 'no-source', stateReason: 'no coordinator sends messages' }),
      fleetRig('c', { devices: [reportedDevice({ state: 'parked', reason: 'it fell off' })] }),
      fleetRig('d', { silent: true, ageSeconds: 3_600 }),
    ];
    const text = lines(rigs, {
      disconnected: 'the server is away',
      repeats: null,
      ignored: { malformed: 1, tooFast: 2, tooManyMembers: 0 },
      coordinators: [
        coordinator({ name: 'c1', silent: true }),
        coordinator({ name: 'c2', lost: 'the node is away' }),
        coordinator({ name: 'c3', duplicate: true, chain: null, height: null, workAgeSeconds: null }),
      ],
    }).join('\n');
    for (const part of [
      'connection  the server is away',
      '0 faulty, 1 with the name of another',
      'not known until rigs mine the work of a coordinator',
      'ignored     3 messages that could not be read or came too fast',
      'two rigs have this name',
      'no coordinator sends messages',
      'gpu0 is parked: it fell off',
      '1 h ago',
    ]) {
      expect(text).toContain(part);
    }
    expect(text).toMatch(/^c1 +silent/m);
    expect(text).toMatch(/^c2 +no source.*the node is away$/m);
    expect(text).toMatch(/^c3 +duplicate +- +- +-/m);
    expect(text).toMatch(/^d +- +silent/m);
  });

  it('fits the rows, and says how many rigs are left out', () => {
    const rigs = Array.from({ length: 1_000 }, (_, i) => fleetRig(`rig${i}`));
    const shown = lines(rigs, {}, 24);
    expect(shown).toHaveLength(24);
    expect(shown.at(-1)).toBe('… and 986 more');
    expect(shown.at(-2)).toMatch(/^rig13 /);
    expect(lines(rigs.slice(0, 15), {}, 24).at(-1)).toMatch(/^rig14 /);
  });

  it('is empty without members', () => {
    const text = lines([], { coordinators: [] });
    expect(text.slice(-3)).toEqual(['no coordinator has been found', '', 'no rig']);
  });

  it('shows nothing of others that a terminal could take for a command', () => {
    const rig = fleetRig('a\u001b[2Jb', { group: 'g\u009b', version: 'v\nw' });
    const text = lines([rig], { coordinators: [coordinator({ name: 'c\u001b', lost: 'x\u001b' })] }).join('');
    expect(text).not.toMatch(/\p{Cc}/u);
  });
});

describe('the order', () => {
  const rigs = [
    fleetRig('mining', { hashesPerSecond: 3, version: '2', ageSeconds: 1 }),
    fleetRig('paused', { state: 'paused', hashesPerSecond: 1, group: 'b', ageSeconds: 9, version: '3' }),
    fleetRig('silent', { silent: true, hashesPerSecond: 2, group: 'a', ageSeconds: 99, version: '1' }),
    fleetRig('faulty', { state: 'no-device', hashesPerSecond: 0, devices: [], hardwareErrors: 5 }),
    fleetRig('twice', { duplicate: true, hashesPerSecond: 4, devices: [reportedDevice({ celsius: 90, watts: 500 })] }),
  ];
  const names = (order: (typeof RIG_ORDERS)[number]) => inOrder(rigs, order).map(({ name }) => name);

  it('begins with the rigs that somebody must look at', () => {
    expect(names('attention')).toEqual(['faulty', 'twice', 'silent', 'paused', 'mining']);
  });

  it.each([
    ['name', 'faulty'],
    ['rate', 'twice'],
    ['celsius', 'twice'],
    ['watts', 'twice'],
    ['faults', 'faulty'],
    ['age', 'silent'],
    ['state', 'mining'],
  ] as const)('can be that of %s', (order, first) => {
    expect(names(order)[0]).toBe(first);
  });

  it('leaves no rig out', () => {
    for (const order of RIG_ORDERS) expect(names(order)).toHaveLength(rigs.length);
  });

  it('has filters for every state', () => {
    const such = RIG_FILTERS.map((filter) => [
      filter,
      rigs.filter((rig) => matches(rig, filter)).map(({ name }) => name),
    ]);
    expect(Object.fromEntries(such)).toEqual({
      starting: [],
      mining: ['mining', 'twice'],
      paused: ['paused'],
      'waiting-for-work': [],
      'no-source': [],
      'no-device': ['faulty'],
      silent: ['silent'],
      faulty: ['faulty'],
      duplicate: ['twice'],
    });
  });
});
