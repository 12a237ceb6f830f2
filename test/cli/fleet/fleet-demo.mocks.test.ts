/** What `pickaxe fleet demo` does, when, and what it says: its fleet is no processes here, but the test itself. */

import { getEventListeners } from 'node:events';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Account, DemoFleet } from '#pickaxe/cli/fleet/demo-fleet.js';
import { declareDemo } from '#pickaxe/cli/fleet/fleet-demo.js';
import { findServer } from '#pickaxe/fleet/nats/server-program.js';
import { makeLog } from '#pickaxe/rig/terminal/log.js';
import { isolated } from '../pickaxe.ts';
import { pretendedIo } from '../pretended-io.ts';

vi.mock('#pickaxe/cli/fleet/demo-fleet.js');
vi.mock('#pickaxe/fleet/nats/server-program.js');
vi.mock('#pickaxe/rig/terminal/log.js');

type Listener = Parameters<typeof DemoFleet.start>[1];
type Verdict = Parameters<Listener['verdict']>[0];

/** The names of the coordinators' rigs, an account, and what was done, with its second. */
class Fleet {
  readonly nodeUrl = 'http://127.0.0.1:1848';
  readonly serverUrl = 'nats://127.0.0.1:4222';
  readonly did: string[] = [];
  isMining = true;
  rigs: Record<string, string[]> = { north: ['alder'], south: ['birch', 'elm'] };
  words: Record<string, string> = {};
  account: Account = { found: 3, accepted: 2, rejected: 0, stale: 1, unknown: 0, pending: 0 };
  readonly #startedMs = performance.now();

  startCoordinator = (name: string) => this.#did(`start ${name}`);
  startRig = (name: string) => this.#did(`start ${name}`);
  rigsOf = (coordinator: string) => this.rigs[coordinator] ?? [];
  lastWordsOf = (name: string) => this.words[name];
  kill = async (name: string) => this.#did(`kill ${name}`);
  end = async (names: readonly string[]) => this.#did(`end ${names}`);
  close = async () => this.#did('close');

  #did(what: string): void {
    this.did.push(`${(performance.now() - this.#startedMs) / 1_000}: ${what}`);
  }
}

const TO_FAKE = ['setTimeout', 'clearTimeout', 'performance', 'hrtime'] as const;

beforeEach(() => {
  vi.useFakeTimers({ toFake: [...TO_FAKE] });
  for (const name of ['XDG_CONFIG_HOME', 'XDG_STATE_HOME']) vi.stubEnv(name, isolated.env[name]);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

/** Starts a demo of 100 seconds, and waits until its fleet starts. */
async function demo(change: (fleet: Fleet) => void = () => {}) {
  const stop = new AbortController();
  const fleet = new Fleet();
  change(fleet);
  const said: string[] = [];
  const info = ({ tag, outcome = '' }: { tag: string; outcome?: string }, text: string) =>
    said.push(`${tag}: ${text}${outcome && ` [${outcome}]`}`);
  vi.mocked(makeLog).mockReturnValue({ info } as never);
  vi.mocked(findServer).mockResolvedValue('/usr/bin/nats-server');
  const started = new Promise<Listener>((resolve) => {
    vi.mocked(DemoFleet.start).mockImplementation(async (_, listener) => {
      resolve(listener);
      return fleet as never;
    });
  });
  let code: number | undefined;
  const command = new Command('fleet');
  const io = pretendedIo({ stop: stop.signal });
  declareDemo(command, {
    io,
    action:
      (act) =>
      async (...given) => {
        code = await act(...given);
      },
  });
  const ended = command.parseAsync(['demo', '--duration', '100'], { from: 'user' }).then(() => code);
  const listener = await Promise.race([started, ended.then(() => Promise.reject(new Error('has ended')))]);
  await seconds(0);
  return { fleet, said, listener, stop, ended, listening: () => getEventListeners(stop.signal, 'abort').length };
}

const seconds = (count: number) => vi.advanceTimersByTimeAsync(1_000 * count);

const STARTS = ['north', 'south', 'alder', 'birch', 'elm'].map((name) => `0: start ${name}`);
const ENDS = ['end alder,birch,elm', 'end north,south', 'close'];

describe('the coordinator with the most rigs', () => {
  it.each([
    ['south', { north: ['alder'], south: ['birch', 'elm'] }, 'birch and elm mine for south'],
    ['north', { north: ['alder', 'birch', 'elm'], south: [] }, 'alder, birch and elm mine for north'],
    ['north', { north: ['elm'], south: [] }, 'elm mines for north'],
    ['north', { north: [], south: [] }, 'no rig mines for north'],
  ])(
    'is killed, which is %s, and started again; then the rigs end before the coordinators',
    async (victim, rigs, who) => {
      const { fleet, said, ended, listening } = await demo((fleet) => Object.assign(fleet, { rigs }));
      await seconds(100);
      expect(await ended).toBe(0);
      const did = [`35: kill ${victim}`, `65: start ${victim}`, ...ENDS.map((each) => `100: ${each}`)];
      expect(fleet.did).toEqual([...STARTS, ...did]);
      expect(said).toContain(`demo: ${victim} is killed now (kill -9), so it cannot say goodbye; ${who}`);
      expect(said).toContain(`demo: ${victim} is started again`);
      expect(said.slice(-3, -1)).toEqual([
        'demo: the time is over: the rigs end once their last blocks are answered',
        'demo: 3 found = 2 accepted + 0 rejected + 1 stale + 0 unknown + 0 pending: none was lost',
      ]);
      expect([listening(), vi.getTimerCount()]).toEqual([0, 0]);
    },
  );
});

it('what there is, and how to watch it, is said at the beginning', async () => {
  const { said, stop, ended } = await demo();
  await seconds(1);
  expect(said).toEqual([
    'demo: a NATS server of its own at nats://127.0.0.1:4222 (/usr/bin/nats-server)',
    'demo: a mock node at http://127.0.0.1:1848: its blocks are worth nothing',
    'demo: north and south are coordinators: they get work from the node and publish it',
    'demo: alder, birch and elm are rigs: each hashes with one CPU thread, and knows only the NATS server',
    'demo: to watch it from another terminal: pickaxe fleet --nats nats://127.0.0.1:4222',
  ]);
  stop.abort();
  await ended;
});

it('a block without a verdict is not hidden', async () => {
  const { said, ended } = await demo((fleet) => {
    fleet.account = { ...fleet.account, found: 4, pending: 1 };
  });
  await seconds(100);
  await ended;
  expect(said.at(-2)).toBe(
    'demo: 4 found = 2 accepted + 0 rejected + 1 stale + 0 unknown + 1 pending: 1 HAVE NO VERDICT',
  );
});

it.each([
  ['before the kill', 20, []],
  ['while a coordinator is away', 50, ['35: kill south']],
  ['after all', 80, ['35: kill south', '65: start south']],
])('a demo that is stopped %s ends at once, and leaves nothing behind', async (_, at, before) => {
  const { fleet, said, stop, ended, listening } = await demo();
  await seconds(at);
  stop.abort();
  await seconds(0);
  expect(await ended).toBe(0);
  expect(fleet.did).toEqual([...STARTS, ...before, ...ENDS.map((each) => `${at}: ${each}`)]);
  expect(said).toContain('demo: stops');
  expect([listening(), vi.getTimerCount()]).toEqual([0, 0]);
});

describe('a fleet without a block', () => {
  const idle = (fleet: Fleet) => {
    fleet.isMining = false;
  };

  it('is given up after a minute', async () => {
    const { fleet, said, ended, listening } = await demo(idle);
    await seconds(59);
    expect(fleet.did).toEqual(STARTS);
    await seconds(1);
    expect(await ended).toBe(4);
    expect(fleet.did.slice(STARTS.length)).toEqual(['60: close']);
    expect(said.join()).not.toContain('to watch it');
    expect([listening(), vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('is waited for: the time counts from the first block', async () => {
    const { fleet, ended } = await demo(idle);
    await seconds(50);
    fleet.isMining = true;
    await seconds(101);
    expect(await ended).toBe(0);
    expect(fleet.did.slice(STARTS.length).map((each) => each.split(': ')[1])).toEqual([
      'kill south',
      'start south',
      ...ENDS,
    ]);
  });

  it('is no fault when the demo is stopped', async () => {
    const { fleet, stop, ended } = await demo(idle);
    await seconds(10);
    stop.abort();
    await seconds(1);
    expect(await ended).toBe(0);
    expect(fleet.did.slice(STARTS.length)).toEqual(['10: close']);
  });

  it.each(['north', 'south', 'alder', 'birch', 'elm'])(
    'whose member %s has ended is closed with its last words',
    async (name) => {
      const { fleet, ended } = await demo(idle);
      fleet.words = { [name]: 'error: no CPU' };
      const failed = expect(ended).rejects.toThrow(`${name} has ended: error: no CPU`);
      await seconds(1);
      await failed;
      expect(fleet.did.at(-1)).toMatch(/: close$/);
    },
  );
});

describe('of rigs is said', () => {
  const VERDICT: Verdict = {
    rig: 'elm',
    coordinator: 'south',
    outcome: 'accepted',
    reason: '',
    chain: 7,
    height: 12,
    answerSeconds: 0.0416,
  };

  it('for whom they mine, and how long after the kill', async () => {
    const { said, listener } = await demo();
    const mines = (...given: Parameters<typeof listener.mines>) => {
      listener.mines(...given);
      return said.at(-1);
    };
    expect(mines('elm', 'south', undefined)).toBe('elm: mines for south');
    expect(mines('elm', 'north', 'south')).toBe('elm: mines for north again');
    await seconds(35);
    await seconds(1.25);
    expect(mines('elm', 'north', 'south')).toBe('elm: mines for north now, 1.3 s after the kill');
    // This rig was not the victim's.
    expect(mines('alder', 'north', 'south')).toBe('alder: mines for north again');
    // The second time nobody was killed.
    expect(mines('elm', 'south', 'north')).toBe('elm: mines for south again');
    await seconds(2.75);
    expect(mines('birch', 'north', 'south')).toBe('birch: mines for north now, 4.0 s after the kill');
  });

  it('what became of each block, and which way it has gone', async () => {
    const { said, listener } = await demo();
    const verdict = (given: Partial<Verdict> = {}) => {
      listener.verdict({ ...VERDICT, ...given });
      return said.at(-1);
    };
    const found = 'elm: found a block on chain 7, height 12:';
    expect(verdict()).toBe(`${found} accepted (42 ms, by way of south) [accepted]`);
    expect(verdict({ coordinator: undefined })).toBe(`${found} accepted (42 ms, by way of a coordinator) [accepted]`);
    expect(verdict({ outcome: 'stale', reason: 'a new block' })).toBe(`${found} stale (a new block)`);
    await seconds(40);
    expect(verdict()).toBe(`${found} accepted (42 ms, work of south, delivered by north) [accepted]`);
    expect(verdict({ coordinator: 'north' })).toBe(`${found} accepted (42 ms, by way of north) [accepted]`);
    await seconds(30);
    expect(verdict()).toBe(`${found} accepted (42 ms, by way of south) [accepted]`);
  });
});
