import { describe, expect, test } from 'vitest';
import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { RIG_STATES } from '#pickaxe/rig/status/status.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { device, FakeClock, relay, worker } from './fakes.ts';

const source = (
  state: 'connected' | 'unhealthy' | 'lost' | 'standby' | 'warning',
  name = 'node',
  reason = `${name} ${state}`,
): MinerEvent => {
  return { type: 'source', source: name, kind: 'node', state, reason };
};
const work: MinerEvent = { type: 'work', chain: 3, height: 42n, difficulty: 1e9 };
const cut: MinerEvent = { type: 'new-cut', chain: 3 };
const seconds = (count: number) => count * 1_000;

/**
 * @param steps events, with waiting times between them.
 * @returns the state, and for how many seconds the rig has been in it
 */
function after(
  steps: readonly (MinerEvent | number)[],
  devices: { name: string; kind: 'cpu' | 'gpu' }[] = [],
  relays: { name: string }[] = [],
) {
  const clock = new FakeClock();
  const tally = new Tally(clock, devices, relays);
  for (const step of steps) {
    if (typeof step === 'number') clock.advance(step);
    else tally.listen(step);
  }
  const { state, stateReason, stateAgeSeconds } = tally.status();
  return [state, stateReason, stateAgeSeconds];
}

const cpu = device('cpu', 'ready');
const mines = [cpu, source('connected'), work];
const MINING = ['mining', null, expect.any(Number)];

describe('a rig', () => {
  test.each<[string, (MinerEvent | number)[], unknown[]]>([
    ['is starting before a device has a state', [seconds(3)], ['starting', 'no device has been opened yet', 3]],
    [
      'is starting although its node is connected already',
      [source('connected'), work],
      ['starting', expect.any(String), 0],
    ],
    ['mines', [seconds(5), cpu, seconds(1), source('connected'), work, seconds(2)], ['mining', null, 2]],
    ['mines with work from a source that does not report its state', [cpu, work], MINING],
    ['mines with an unhealthy node, when there is no other', [...mines, source('unhealthy')], MINING],
    ['mines with one node of two', [...mines, source('lost', 'other')], MINING],
    ['mines with one device of two', [...mines, device('gpu0', 'reopening', 'it hangs')], MINING],
    ['mines on when its node warns', [...mines, source('warning')], MINING],
    ['mines while work follows each New Cut', [...mines, cut, seconds(4.9)], MINING],
    [
      'is paused when its device is',
      [...mines, seconds(9), device('cpu', 'paused', '91 °C'), seconds(2)],
      ['paused', 'cpu paused: 91 °C', 2],
    ],
    [
      'is paused since it stopped mining, even if the reasons have changed since',
      [...mines, device('cpu', 'paused', 'a'), seconds(2), device('cpu', 'paused', 'b'), seconds(2)],
      ['paused', 'cpu paused: b', 4],
    ],
    [
      'is paused when all devices are paused that are not parked',
      [...mines, device('gpu0', 'parked', 'dead'), device('cpu', 'paused', 'night')],
      ['paused', 'cpu paused: night; gpu0 parked: dead', 0],
    ],
    [
      'is paused while its node is lost, too',
      [...mines, source('lost'), device('cpu', 'paused', 'night')],
      ['paused', 'cpu paused: night', 0],
    ],
    [
      'waits for the first work',
      [cpu, source('connected'), seconds(2)],
      ['waiting-for-work', 'the node has given none yet', 2],
    ],
    [
      'waits for the first work of a pool',
      [cpu, { type: 'source', source: 'p', kind: 'pool', state: 'connected', reason: '' }],
      ['waiting-for-work', 'the pool has given none yet', 0],
    ],
    [
      'waits for work when none follows a New Cut',
      [...mines, seconds(9), cut, seconds(5)],
      ['waiting-for-work', 'the node has given none since the last New Cut', 5],
    ],
    [
      'waits when its work has ended in another way',
      [...mines, seconds(9), { type: 'work-ended', chain: 3, reason: 'cancelled' }, seconds(5)],
      ['waiting-for-work', 'the node has given none since it cancelled the last', 5],
    ],
    ['stops waiting once there is work', [...mines, cut, seconds(60), work], MINING],
    ['has no node before one answers', [seconds(3), cpu], ['no-source', 'none has answered yet', 3]],
    [
      'has no node if none was ever reached',
      [cpu, seconds(3), source('lost', 'a', 'refused'), seconds(60), source('lost', 'a', 'refused still')],
      ['no-source', 'refused still', 63],
    ],
    [
      'has no node once the last one is lost, while another is on standby',
      [...mines, source('connected', 'b'), seconds(3), source('standby', 'b'), seconds(9), source('lost'), seconds(1)],
      ['no-source', 'node lost', 1],
    ],
    [
      'has no node once the last one is lost',
      [...mines, source('connected', 'b'), source('lost'), seconds(9), source('lost', 'b'), seconds(1)],
      ['no-source', 'node lost; b lost', 1],
    ],
    [
      'says of each node what is wrong, and not what to do',
      [cpu, source('lost', 'a', 'a.example is busy (503).'), source('lost', 'b', 'cannot reach b. Is it there?')],
      ['no-source', 'a.example is busy (503); cannot reach b', 0],
    ],
    ['has a node again', [...mines, source('lost'), seconds(9), source('connected')], ['mining', null, 0]],
    [
      'has no device when none is left',
      [...mines, device('cpu', 'reopening', 'it was lost'), seconds(4), device('cpu', 'parked', 'it was lost')],
      ['no-device', 'cpu parked: it was lost', 4],
    ],
    [
      'has no device while those that should mine fail',
      [...mines, device('cpu', 'reopening', 'it was lost'), device('gpu0', 'paused', 'night')],
      ['no-device', 'cpu reopening: it was lost; gpu0 paused: night', 0],
    ],
    ['has no device even if no reason is known', [device('gpu0', 'parked')], ['no-device', expect.any(String), 0]],
  ])('%s', (_, steps, expected) => {
    expect(after(steps)).toEqual(expected);
  });

  test('is starting as long as a device that it has to open has no state', () => {
    const devices = [
      { name: 'cpu', kind: 'cpu' as const },
      { name: 'gpu0', kind: 'gpu' as const },
    ];
    expect(after([device('cpu', 'parked', 'gone')], devices)).toEqual(['starting', 'opening gpu0', 0]);
    expect(after([device('gpu0', 'ready'), source('connected'), work], devices)).toEqual(MINING);
  });
});

describe('a rig without devices, which lives on its relays,', () => {
  const connected = source('connected');
  test.each<[string, (MinerEvent | number)[], unknown[]]>([
    ['has no node at first', [seconds(3)], ['no-source', 'none has answered yet', 3]],
    ['waits for work', [connected, seconds(2)], ['waiting-for-work', 'the node has given none yet', 2]],
    ['mines with work, without a device', [connected, work, seconds(2)], ['mining', null, 2]],
    ['mines with workers', [connected, work, relay('stratum', worker('asic'))], MINING],
    ['has no node once it is lost', [connected, work, source('lost'), seconds(1)], ['no-source', 'node lost', 1]],
    [
      'waits for work that does not follow a New Cut',
      [connected, work, cut, seconds(5)],
      ['waiting-for-work', 'the node has given none since the last New Cut', 5],
    ],
  ])('%s', (_, steps, expected) => {
    expect(after(steps, [], [{ name: 'stratum' }])).toEqual(expected);
  });

  test('is another one than a rig whose devices do not mine', () => {
    const devices = [{ name: 'cpu', kind: 'cpu' as const }];
    const relays = [{ name: 'stratum' }];
    expect(after([connected, work], devices, relays)[0]).toBe('starting');
    expect(after([connected, work, device('cpu', 'parked', 'gone')], devices, relays)[0]).toBe('no-device');
  });
});

test.each([
  ['node', 'none has answered yet'],
  ['pool', 'none has answered yet'],
  ['parent', 'none has connected yet'],
] as const)('a rig says that it mines on a %s before one has answered', (sourceKind, reason) => {
  const tally = new Tally(new FakeClock(), [], [], sourceKind);
  tally.listen(cpu);
  expect(tally.status()).toMatchObject({ state: 'no-source', sourceKind, stateReason: reason });
});

test('the tests above cover every state', () => {
  const tried = ['starting', 'mining', 'paused', 'waiting-for-work', 'no-source', 'no-device'];
  expect([...RIG_STATES].sort()).toEqual(tried.sort());
});
