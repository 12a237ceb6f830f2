/** Which rigs a request goes to, which requests the command line makes, and the table at its limits. */

import { describe, expect, it } from 'vitest';
import { runControl } from '#pickaxe/cli/fleet/control.js';
import { fleetLines, matches, RIG_FILTERS } from '#pickaxe/cli/fleet/fleet-table.js';
import type { FleetStatus } from '#pickaxe/fleet/operator/fleet-status.js';
import { delivered, fleetRig, reportedDevice, sendReport } from '../../fleet/operator/messages.ts';
import { pickaxe } from '../in-process.ts';
import { pretendedIo } from '../pretended-io.ts';
import { answeringRig, LOADED, setUp } from './members.ts';

/** @returns the rigs that are asked, and the output */
async function askedOf(rigs: readonly string[], group?: string, json = false) {
  const { nats, clock, open } = setUp();
  const names = ['a1', 'a2', 'b1', 'b2'];
  const asked = names.map((name) => answeringRig(nats, name, { done: true, message: 'it is paused' }));
  const io = pretendedIo();
  const which = { ...(group !== undefined && { group }), wait: 15, json };
  const running = runControl(LOADED, rigs, which, { command: 'pause' }, io, open);
  await delivered();
  const link = nats.link('rigs');
  for (const name of names) sendReport(link, name, name.endsWith('1') ? { group: 'hall' } : {});
  await delivered();
  clock.advance(15_000);
  const code = await running;
  return { code, asked: names.filter((_, i) => asked[i].length > 0), stdout: io.stdout, stderr: io.stderr };
}

describe('a request goes', () => {
  it.each([
    [['a1', 'b2'], undefined, ['a1', 'b2']],
    [[], 'hall', ['a1', 'b1']],
    [['a*'], undefined, ['a1', 'a2']],
    [['a1', '?2'], undefined, ['a1', 'a2', 'b2']],
    [['a*', 'b*'], 'hall', ['a1', 'b1']],
    [['a1', 'a2'], 'hall', ['a1']],
    [['b?'], 'hall', ['b1']],
  ])('to the rigs %j of the group %s', async (rigs, group, names) => {
    const { code, asked, stdout } = await askedOf(rigs, group);
    expect([code, asked]).toEqual([0, names]);
    const rows = names.map((name) => `${name}  done  it is paused`);
    expect(stdout).toBe(
      `${rows.join('\n')}\n${names.length} of ${names.length} rig${names.length === 1 ? '' : 's'} did it\n`,
    );
  });

  it('nowhere if no rig is such', async () => {
    const stderr = 'Listening for 15 s: each rig reports once in 10 s …\nerror: no such rig has reported.\n';
    expect(await askedOf(['c*'])).toEqual({ code: 1, asked: [], stdout: '', stderr });
  });

  it('to few rigs in JSON, too', async () => {
    const { stdout } = await askedOf(['a1'], undefined, true);
    const rigs = [{ name: 'a1', done: true, message: 'it is paused' }];
    expect(JSON.parse(stdout)).toEqual({ done: 1, failed: 0, rigs });
  });
});

it.each([
  [['pause'], 'Say which rigs: their names, patterns like "hall-a-*", or --group NAME.'],
  [['limits', 'r'], 'Give a limit: --gpu CELSIUS or --cpu CELSIUS.'],
  [['pause', 'x'.repeat(65)], `No rig’s name is longer than 64 characters: ${'x'.repeat(65)}`],
])('fleet %j is refused', async (words, message) => {
  expect((await pickaxe('fleet', ...words)).stderr).toBe(`error: ${message}\n`);
});

it.each([
  ['150', 'No NATS server'],
  ['0', 'No NATS server'],
  ['none', 'No NATS server'],
  ['151', 'Give a temperature in °C from 0 to 150, or none.'],
  ['1e1', 'Give a temperature in °C from 0 to 150, or none.'],
  ['0070', 'Give a temperature in °C from 0 to 150, or none.'],
  ['-1', 'Give a temperature in °C from 0 to 150, or none.'],
  ['', 'Give a temperature in °C from 0 to 150, or none.'],
])('the limit %j of a temperature', async (celsius, message) => {
  for (const flag of ['--gpu', '--cpu'])
    expect((await pickaxe('fleet', 'limits', 'rig', `${flag}=${celsius}`)).stderr).toContain(message);
});

describe('the table of rigs', () => {
  const STATUS: FleetStatus = {
    ...{ timeMillis: 1, listeningSeconds: 100, disconnected: null },
    ...{ rigsMining: 1, rigsPaused: 2, rigsSilent: 3, rigsFaulty: 4, hashesPerSecond: 50e9, provenHashesPerSecond: 0 },
    ...{ found: 21, accepted: 6, rejected: 5, stale: 4, unknown: 3, pending: 2 },
    repeats: { ratio: 1e-6, rigs: 3, meanHashesPerSecond: 25e9, jobSeconds: 3, nonces: 2 ** 64 },
    coordinators: [],
    rigs: [],
    ignored: { malformed: 0, tooFast: 0, tooManyMembers: 1 },
  };
  const lines = (status: Partial<FleetStatus>, rows?: number) => {
    const it = { ...STATUS, ...status };
    return fleetLines(it, { rigs: it.rigs, rows, clean: (text) => text });
  };
  const coordinator = {
    ...{ name: 'c1', version: '0.1.0', ageSeconds: 0.4, silent: false, duplicate: false, lost: null },
    ...{ chain: 7, height: 5_000_000, workAgeSeconds: 12, rigs: 2, hashesPerSecond: 50e9 },
  };

  it('says all that is wrong', () => {
    const rigs = [
      fleetRig('a', { duplicate: true }),
      fleetRig('b', { state: 'no-source', stateReason: 'no coordinator sends messages', duplicate: true }),
      fleetRig('c', {
        devices: [
          reportedDevice({ state: 'parked', reason: 'it fell off' }),
          reportedDevice({ name: 'gpu1', state: 'reopening', reason: null }),
        ],
      }),
      fleetRig('d', { silent: true, ageSeconds: 3_600, group: 'hall' }),
    ];
    const coordinators = [
      { ...coordinator, silent: true, lost: 'the node is away' },
      { ...coordinator, name: 'c2', lost: 'the node is away', duplicate: true },
      { ...coordinator, name: 'c3', duplicate: true, chain: null, height: null, workAgeSeconds: null },
    ];
    const disconnected = 'the server is away';
    expect(lines({ rigs, coordinators, disconnected }).join('\n')).toMatchInlineSnapshot(`
      "connection  the server is away
      rigs        1 mining, 2 paused, 3 silent, 4 faulty, 2 with the name of another
      hashrate    50.00 GH/s counted, 0 H/s proven
      solutions   21 found = 6 accepted + 5 rejected + 4 stale + 3 unknown + 2 pending
      repeated    0.0001 % of the work at most = 3 × 25.00 GH/s × 3 s ÷ 18.45 E nonces
      ignored     1 message that could not be read or came too fast

      coordinator  state      chain   height  work since  rigs    hashrate  version  reason
      c1           silent         7  5000000        12 s     2  50.00 GH/s  0.1.0    the node is away
      c2           no source      7  5000000        12 s     2  50.00 GH/s  0.1.0    the node is away
      c3           duplicate      -        -           -     2  50.00 GH/s  0.1.0

      rig  group  state        hashrate      proven  hottest  power  acc/rej/stale  faults     seen  version  reason
      a    -      mining     25.00 GH/s  24.00 GH/s    61 °C  300 W          0/0/0       0  3 s ago  0.1.0    two rigs have this name
      b    -      no source  25.00 GH/s  24.00 GH/s    61 °C  300 W          0/0/0       0  3 s ago  0.1.0    two rigs have this name; no coordinator sends messages
      c    -      mining     25.00 GH/s  24.00 GH/s    61 °C  600 W          0/0/0       0  3 s ago  0.1.0    gpu0 is parked: it fell off; gpu1 is reopening:
      d    hall   silent     25.00 GH/s  24.00 GH/s    61 °C  300 W          0/0/0       0  1 h ago  0.1.0"
    `);
  });

  it('has at least two rows, and tells how many are left out', () => {
    const rigs = ['a', 'b', 'c'].map((name) => fleetRig(name));
    const shown = (rows: number) => lines({ rigs }, rows).slice(8);
    const names = (rows: number) => shown(rows).map((line) => line.split(/ {2,}/)[0]);
    expect(names(0)).toEqual(['rig', '… and 3 more']);
    expect(names(11)).toEqual(['rig', 'a', '… and 2 more']);
    expect(names(12)).toEqual(['rig', 'a', 'b', 'c']);
  });

  it.each([
    [1e-6, '0.0001 %'],
    [0.99e-6, 'less than 0.0001 %'],
    [0.012345, '1.2000 %'],
  ])('names a share of repeated work of %s', (ratio, share) => {
    const repeats = { ...STATUS.repeats!, ratio };
    expect(lines({ repeats })[3]).toBe(
      `repeated   ${share} of the work at most = 3 × 25.00 GH/s × 3 s ÷ 18.45 E nonces`,
    );
  });

  it('chooses rigs of each kind', () => {
    const rigs = [
      fleetRig('mining'),
      fleetRig('silent', { silent: true, devices: [reportedDevice({ state: 'parked' })] }),
      fleetRig('faulty', { devices: [reportedDevice({ state: 'parked' })] }),
      fleetRig('twice', { duplicate: true, state: 'paused' }),
    ];
    const chosen = RIG_FILTERS.map((filter) => [
      filter,
      rigs.filter((rig) => matches(rig, filter)).map(({ name }) => name),
    ]);
    expect(Object.fromEntries(chosen)).toMatchInlineSnapshot(`
      {
        "duplicate": [
          "twice",
        ],
        "faulty": [
          "faulty",
        ],
        "mining": [
          "mining",
          "faulty",
        ],
        "no-device": [],
        "no-source": [],
        "paused": [
          "twice",
        ],
        "silent": [
          "silent",
        ],
        "starting": [],
        "waiting-for-work": [],
      }
    `);
  });
});
