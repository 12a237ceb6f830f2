/** The fleet of `pickaxe fleet demo`, whose processes say here what the test makes them say. */

import type { SpawnOptions } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { existsSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { endWithPickaxe, killGroup, startGroup } from '#pickaxe/base/system/process-group.js';
import { DemoFleet } from '#pickaxe/cli/fleet/demo-fleet.js';
import { startServer } from '#pickaxe/fleet/nats/server-program.js';

vi.mock('#pickaxe/base/system/process-group.js');
vi.mock('#pickaxe/fleet/nats/server-program.js');
/** The node of the fleets: no server, but what the fleets have made of it. */
const node = vi.hoisted(() => ({ ledger: { difficulty: 0 }, options: {}, closed: 0 }));
vi.mock('#pickaxe/mock-node/mock-node.js', () => ({
  MockNode: class {
    readonly ledger = node.ledger;
    constructor(options: object) {
      node.options = options;
    }
    start = async () => ({ url: 'http://127.0.0.1:1848' });
    close = async () => void node.closed++;
  },
}));

type Listener = Parameters<typeof DemoFleet.start>[1];

class Member extends EventEmitter {
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  readonly signals: string[] = [];
  exitCode: number | null = null;
  signalCode: string | null = null;
  readonly args: readonly string[];
  readonly options: SpawnOptions;

  constructor(args: readonly string[], options: SpawnOptions) {
    super();
    this.args = args;
    this.options = options;
  }

  kill(signal: string): void {
    this.signals.push(signal);
  }

  ends(): void {
    this.exitCode = 0;
    this.emit('close');
  }

  async prints(...lines: readonly unknown[]): Promise<void> {
    for (const line of lines) this.stdout.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
    await turns();
  }
}

/** Enough turns of the event loop for lines to arrive. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await new Promise((resolve) => setImmediate(resolve));
}

let members: Member[];
let folder: string;
const server = { kill: vi.fn() };

beforeEach(() => {
  vi.clearAllMocks();
  members = [];
  Object.assign(node, { options: {}, closed: 0 });
  node.ledger.difficulty = 0;
  vi.mocked(startGroup).mockImplementation(([, , ...args]: readonly string[] | string, options = {}) => {
    members.push(new Member(args, options));
    return members.at(-1) as never;
  });
  vi.mocked(killGroup).mockImplementation((child) => {
    Object.assign(child, { signalCode: 'SIGKILL' });
    child.emit('close');
  });
  vi.mocked(startServer).mockImplementation(async (given) => {
    folder = given.folder;
    return { process: server, ports: { client: 4222 }, ended: Promise.resolve() } as never;
  });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Not the members themselves, because a failure would print the environment. @returns the positions of those killed */
const killed = () => vi.mocked(killGroup).mock.calls.map(([child]) => members.indexOf(child as never));

async function started() {
  const said: unknown[] = [];
  const listener: Listener = {
    verdict: (verdict) => said.push(verdict),
    mines: (...given) => said.push(given),
  };
  const fleet = await DemoFleet.start('/usr/bin/nats-server', listener);
  onTestFinished(() => fleet.close());
  return { fleet, said };
}

const timeMillis = 1;
const news = (source: string, state: string, reason = '', kind = 'fleet') => ({
  ...{ type: 'source', timeMillis, source, kind, state, reason, nodeConfiguration: null },
});
const solution = (nonce: number) => ({
  ...{ type: 'solution', timeMillis, device: 'cpu', isRelay: false, chain: 3, height: 9, nonce: `${nonce}` },
  ...{ isBlock: true, isShare: false, difficulty: 1, hash: '0'.repeat(64) },
});
const verdict = (nonce: number, outcome: string, reason = '') => {
  const { hash: _, ...found } = solution(nonce);
  return { ...found, type: 'verdict', outcome, reason, answerSeconds: 0.5 };
};
const hashrate = (hashesPerSecond: number) => ({ type: 'hashrate', timeMillis, hashesPerSecond, devices: {} });

describe('a rig', () => {
  it.each([
    ['is connected at first', [news('north', 'connected')], ['north']],
    ['is connected to others later', [news('north', 'connected'), news('south', 'connected')], ['north']],
    ['takes over', [news('north', 'connected'), news('south', 'info', 'takes over from north')], ['north', 'south']],
    [
      'takes over, again and again',
      [
        news('north', 'connected'),
        ...['south', 'south', 'north'].map((name) => news(name, 'info', 'takes over again from x')),
      ],
      ['north', 'south', 'north'],
    ],
    ['takes over before it is connected', [news('south', 'info', 'takes over from north')], ['south']],
    ['loses', [news('north', 'connected'), news('south', 'lost', 'takes over from north')], ['north']],
    ['hears other news of', [news('north', 'connected'), news('south', 'info', 'nobody takes over')], ['north']],
    ['hears news only of', [news('north', 'info', 'is there'), news('north', 'warning', 'takes over')], []],
    ['has nodes beside', [news('north', 'connected', '', 'node'), news('x', 'info', 'takes over', 'pool')], []],
  ])('mines for the coordinator that it %s', async (_, lines, coordinators) => {
    const { fleet, said } = await started();
    fleet.startRig('elm');
    await members[0].prints(...lines);
    const before = [undefined, ...coordinators];
    expect(said).toEqual(coordinators.map((name, i) => ['elm', name, before[i]]));
    for (const name of ['north', 'south']) {
      expect(fleet.rigsOf(name)).toEqual(coordinators.at(-1) === name ? ['elm'] : []);
    }
  });

  it('finds blocks, whose verdicts are counted once each', async () => {
    const { fleet, said } = await started();
    fleet.startRig('elm');
    fleet.startRig('birch');
    const [elm, birch] = members;
    await elm.prints('no JSON', {}, { type: 'solution' }, solution(1), solution(2), solution(3));
    expect(fleet.account).toMatchObject({ found: 3, pending: 3, accepted: 0 });
    await elm.prints(verdict(1, 'rejected', 'wrong'), news('north', 'connected'), verdict(2, 'stale', 'a new block'));
    expect(fleet.isMining).toBe(false);
    await birch.prints(verdict(4, 'unknown'));
    await elm.prints(verdict(3, 'unknown'), verdict(3, 'accepted'));
    expect(fleet.account).toEqual({ found: 4, accepted: 1, rejected: 1, stale: 1, unknown: 1, pending: 0 });
    expect(fleet.isMining).toBe(true);
    const facts = { rig: 'elm', chain: 3, height: 9, answerSeconds: 0.5 };
    expect(said.filter((each) => !Array.isArray(each)).slice(0, 3)).toEqual([
      { ...facts, coordinator: undefined, outcome: 'rejected', reason: 'wrong' },
      { ...facts, coordinator: 'north', outcome: 'stale', reason: 'a new block' },
      { ...facts, rig: 'birch', coordinator: undefined, outcome: 'unknown', reason: '' },
    ]);
  });

  it('that has found a block, but mines for nobody, is no fleet that mines', async () => {
    const { fleet } = await started();
    fleet.startRig('elm');
    await members[0].prints(solution(1), verdict(1, 'accepted'));
    expect(fleet.isMining).toBe(false);
  });

  it('makes the difficulty such that all rigs find a block in two seconds', async () => {
    const { fleet } = await started();
    for (const name of ['elm', 'birch']) fleet.startRig(name);
    const [elm, birch] = members;
    const after = async (member: Member, rate: number) => {
      await member.prints(hashrate(rate));
      return node.ledger.difficulty;
    };
    expect([await after(elm, 0), await after(elm, 100), await after(birch, 50)]).toEqual([0, 200, 300]);
    expect([await after(elm, 10), await after(birch, 0)]).toEqual([120, 120]);
    expect([await after(elm, 0.1), await after(birch, 0.1)]).toEqual([100.2, 1]);
  });
});

it('members find the server and the node of the demo, and no settings of the user', async () => {
  vi.stubEnv('PICKAXE_NODE_URLS', 'http://elsewhere:1848');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { fleet } = await started();
  fleet.startCoordinator('north');
  fleet.startRig('elm');
  expect(members.map(({ args }) => args.join(' '))).toEqual([
    `coordinate --nats nats://127.0.0.1:4222 --node http://127.0.0.1:1848 --network development --public-key ${'0'.repeat(64)} --rig-name north`,
    'mine --nats nats://127.0.0.1:4222 --devices cpu --threads 1 --rig-name elm --json',
  ]);
  for (const { options } of members) {
    expect(options.cwd).toBe(folder);
    expect(Object.keys(options.env ?? {}).filter((name) => name.startsWith('PICKAXE_'))).toEqual([]);
    expect(options.env?.XDG_CONFIG_HOME).toBe(`${folder}/config`);
    expect(options.env?.PATH === process.env.PATH).toBe(true);
  }
  expect(vi.mocked(endWithPickaxe).mock.calls.map(([child]) => members.indexOf(child as never))).toEqual([0, 1]);
});

describe('the end', () => {
  it('of a member is known with its last words', async () => {
    const { fleet } = await started();
    for (const name of ['elm', 'birch', 'alder']) fleet.startRig(name);
    const [elm, birch] = members;
    elm.stderr.write('first\nlast\n');
    await turns();
    expect(['elm', 'x'].map(fleet.lastWordsOf, fleet)).toEqual([undefined, undefined]);
    elm.ends();
    birch.signalCode = 'SIGSEGV';
    expect(['elm', 'birch', 'alder'].map(fleet.lastWordsOf, fleet)).toEqual(['last', '', undefined]);
  });

  it('is asked for, and a member that does not come to it in 15 s is killed', async () => {
    const { fleet } = await started();
    for (const name of ['elm', 'birch', 'alder']) fleet.startRig(name);
    const [elm, birch, alder] = members;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let hasEnded = false;
    const ended = fleet.end(['elm', 'birch', 'nobody']).then(() => {
      hasEnded = true;
    });
    elm.ends();
    await vi.advanceTimersByTimeAsync(14_999);
    expect([hasEnded, killed()]).toEqual([false, []]);
    await vi.advanceTimersByTimeAsync(1);
    await ended;
    expect(killed()).toEqual([1]);
    expect([elm, birch, alder].map(({ signals }) => signals)).toEqual([['SIGTERM'], ['SIGTERM'], []]);
  });

  it('of all kills who still runs, and leaves no folder', async () => {
    const { fleet } = await started();
    for (const name of ['elm', 'birch']) fleet.startRig(name);
    await fleet.kill('elm');
    await fleet.kill('elm');
    expect(killed()).toEqual([0]);
    expect([existsSync(folder), node.closed]).toEqual([true, 0]);
    await fleet.close();
    expect(killed()).toEqual([0, 1]);
    expect([existsSync(folder), node.closed, server.kill.mock.calls]).toEqual([false, 1, [['SIGKILL']]]);
  });

  it('comes at once if there is no server', async () => {
    vi.mocked(startServer).mockImplementation(async (given) => {
      folder = given.folder;
      throw new Error('no server');
    });
    await expect(started()).rejects.toThrow('no server');
    expect([existsSync(folder), node.closed]).toEqual([false, 1]);
  });
});
