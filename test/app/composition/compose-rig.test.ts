/** Rigs and a coordinator as the commands compose them, with nodes and NATS in memory, in the time of their clock. */

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ChosenSource } from '#pickaxe/app/composition/choose-source.js';
import { composeRig } from '#pickaxe/app/composition/compose-rig.js';
import type { RigContext } from '#pickaxe/app/composition/context.js';
import type { FleetMember } from '#pickaxe/app/composition/fleet-link.js';
import { LiveConfig } from '#pickaxe/app/composition/reload.js';
import { runMiner, type Sidecar } from '#pickaxe/app/composition/run-miner.js';
import { followBlocks } from '#pickaxe/app/composition/sidecars.js';
import { type Config, DEFAULTS } from '#pickaxe/app/config/settings.js';
import { UsageError } from '#pickaxe/app/process/exit.js';
import { Restart } from '#pickaxe/app/process/restarts.js';
import { type Clock, wallMs } from '#pickaxe/base/system/clock.js';
import { readMessage } from '#pickaxe/fleet/messages.js';
import { RigReport } from '#pickaxe/fleet/rig-report.js';
import { FleetSubjects } from '#pickaxe/fleet/subjects.js';
import { Events } from '#pickaxe/miner/events/events.js';
import { MemoryStore } from '#pickaxe/node/blocks/block-log.js';
import type { Transport } from '#pickaxe/node/http/exchange.js';
import { HEADER_OFFSET, toHex } from '#pickaxe/protocol/chain/bytes.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { LogTail } from '#pickaxe/rig/log/log-tail.js';
import { FakeEngine, Recorder } from '../../fakes.ts';
import { FakeNats } from '../../fleet/nats/fake-nats.ts';
import { miner } from '../../miner/source/node/node.ts';
import { listeningLog } from '../../rig/pauses/fakes.ts';
import { SteppedClock } from '../../stepped-clock.ts';

const URL = 'http://node.example:1848';
const SUBJECTS = new FleetSubjects('pickaxe');
/** Where the number of adjacent chains is in a header. Each of them has a number and a hash. */
const ADJACENTS = HEADER_OFFSET.parent + 32;

/** A node of one chain in memory. Its work changes only with an accepted solution. */
class MemoryNode {
  /** The headers of accepted solutions, in hex. */
  readonly solved: string[] = [];
  readonly paths = new Set<string>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly transport = (): Transport => ({
    request: (request) => this.#request(request as never) as ReturnType<Transport['request']>,
    close: async () => {},
    destroy: async () => {},
  });

  async #request({ path, body, signal }: { path: string; body: Uint8Array; signal: AbortSignal }): Promise<unknown> {
    const what = path.slice(path.lastIndexOf('/') + 1);
    this.paths.add(what);
    if (what === 'work') return this.#answer(200, this.#work());
    if (what === 'updates')
      return await new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason)));
    if (what !== 'solved') return this.#answer(404);
    // As on a chain, a second block on one parent comes too late.
    if (body[HEADER_OFFSET.parent] !== this.#parent) return this.#answer(400);
    this.solved.push(toHex(body));
    return this.#answer(204);
  }

  /** Each byte of the hash of the newest block. */
  get #parent(): number {
    return 1 + this.solved.length;
  }

  #answer(statusCode: number, ...body: Uint8Array[]) {
    const headers = { 'x-server-timestamp': String(Math.floor(wallMs(this.#clock) / 1000)) };
    return { statusCode, headers, body: Object.assign(Readable.from(body), { dump: async () => {} }) };
  }

  #work(): Uint8Array {
    const record = new Uint8Array(322);
    const view = new DataView(record.buffer);
    const target = targetForDifficulty(300);
    record.set(target, 4);
    record.set(target, 36 + HEADER_OFFSET.target);
    record.fill(this.#parent, 36 + HEADER_OFFSET.parent, 36 + HEADER_OFFSET.parent + 32);
    view.setUint16(36 + ADJACENTS, 3, true);
    for (const at of [0, 1, 2]) view.setUint32(36 + ADJACENTS + 2 + 36 * at, at + 1, true);
    view.setBigInt64(36 + HEADER_OFFSET.creationTime, this.#clock.nowUs() - 30_000_000n, true);
    view.setBigUint64(36 + HEADER_OFFSET.height, BigInt(7 + this.solved.length), true);
    view.setUint32(36 + HEADER_OFFSET.version, 1, true);
    return record;
  }
}

/** Settings, as the commands have them after they were read and checked. */
const configOf = (part: Partial<Config> = {}): Config => ({
  ...DEFAULTS,
  miner: { ...DEFAULTS.miner, publicKeys: miner.publicKeys },
  node: { ...DEFAULTS.node, network: 'development' },
  ...part,
});

const POOL = { ...DEFAULTS.pool, urls: ['stratum+tcp://pool.example:1'], user: 'me.rig' };
const onNode = () => configOf({ node: { ...DEFAULTS.node, urls: [URL], network: 'development' } });

interface Role {
  readonly context: RigContext;
  readonly config: Config;
  readonly isOnNodes?: boolean;
  readonly member?: FleetMember;
  readonly engines?: readonly FakeEngine[];
  readonly sidecars?: readonly Sidecar[];
}

async function composed({
  context,
  config,
  isOnNodes = true,
  member,
  engines = [new FakeEngine()],
  sidecars = [],
}: Role) {
  const [events, recorder, store] = [new Events(), new Recorder(), new MemoryStore()];
  events.on(recorder.listen);
  const { log, said } = listeningLog();
  const loaded = { config, origins: new Map(), files: [] };
  const reload = async () => loaded;
  const live = new LiveConfig(loaded, reload);
  const chosen = isOnNodes ? new ChosenSource(config, events, context, member !== undefined) : undefined;
  const restart = new Restart();
  const usual = { temperatureLimits: () => undefined, restart, reload };
  const parts = { ...usual, chosen, member, live, events, context, log };
  const rig = await composeRig({ ...parts, blockLog: (options, live) => followBlocks(options, () => store, live) });
  const run = (blocks?: number) =>
    runMiner(
      {
        rigName: 'rig-7',
        events,
        context,
        engines,
        log,
        logTail: new LogTail(),
        ...rig,
        sidecars: [...rig.sidecars, ...sidecars],
      },
      blocks === undefined ? {} : { blocks },
    );
  return { rig, run, recorder, said, store, engines };
}

function world() {
  const clock = new SteppedClock();
  const node = new MemoryNode(clock);
  return { clock, node, context: { clock, random: () => 0.25, transport: node.transport } };
}

let folder: string;
/** The timers of the system that were set, which are none if the given clock sets all of them. */
let usedTimers: () => unknown[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pickaxe-'));
  for (const name of ['HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME', 'XDG_CONFIG_HOME']) vi.stubEnv(name, folder);
  // The system's time stands still, so that only what takes its time from the given clock goes on.
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'Date', 'performance'] });
  const used: unknown[] = [];
  usedTimers = () => used;
  // A spy would restore the fake timers once more after the file.
  for (const name of ['setTimeout', 'setInterval'] as const) {
    const fake = globalThis[name] as (...args: unknown[]) => unknown;
    vi.stubGlobal(name, (...args: unknown[]) => {
      used.push(args);
      return fake(...args);
    });
  }
  onTestFinished(() => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });
});

const listeners = () => process.eventNames().map((name) => [name, process.listenerCount(name)]);

describe('a rig on a node', () => {
  it('mines and records a block, and touches no files, signals or timers of the system', async () => {
    const { clock, node, context } = world();
    const before = listeners();
    let within: ReturnType<typeof listeners> | undefined;
    const look: Sidecar = async () => {
      within = listeners();
      return () => {};
    };
    const { run, recorder, store } = await composed({ context, config: onNode(), sidecars: [look] });
    expect(await clock.runUntil(run(1))).toBe(0);
    expect(within).toEqual(before);
    expect(usedTimers()).toEqual([]);
    expect(clock.timers).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
    const [accepted] = recorder.of('accepted-block');
    expect(node.solved).toEqual([toHex(accepted.header)]);
    expect(store.blocks).toMatchObject([{ chain: 0, height: 7n, account: miner.account }]);
  });

  it('searches from the same nonce with the same random numbers', async () => {
    const searches = [0.25, 0.25, 0.5].map(async (number) => {
      const { clock, context } = world();
      const { run, engines } = await composed({ context: { ...context, random: () => number }, config: onNode() });
      await clock.runUntil(run(1));
      return engines[0].searched[0].range;
    });
    const [one, same, other] = await Promise.all(searches);
    expect(one.lane).toBe(2 ** 14);
    expect(same).toEqual(one);
    expect(other).not.toEqual(one);
  });

  it('compares its nodes in the time of its clock', async () => {
    const { clock, node, context } = world();
    const looked: Sidecar = async ({ controls }) => {
      const timer = clock.setInterval(() => node.paths.has('cut') && controls.stop(), 1_000);
      return () => timer.cancel();
    };
    const { run } = await composed({ context, config: onNode(), sidecars: [looked] });
    expect(await clock.runUntil(run())).toBe(0);
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(10_000);
    expect(usedTimers()).toEqual([]);
  });
});

describe('a fleet', () => {
  const memberOf = (nats: FakeNats, name: string): FleetMember => {
    const link = nats.link(name, SUBJECTS.inbox(name));
    return { name, instance: Buffer.from(name.padEnd(8)).toString('hex'), subjects: SUBJECTS, link };
  };

  it('of a coordinator and a rig mines a block, which the rig reports with its own verdict', async () => {
    const { clock, node, context } = world();
    const nats = new FakeNats();
    let stop = () => {};
    const stoppable: Sidecar = async ({ controls }) => {
      stop = controls.stop;
      return () => {};
    };
    const coordinator = await composed({
      context,
      config: onNode(),
      member: memberOf(nats, 'c1'),
      engines: [],
      sidecars: [stoppable],
    });
    expect(coordinator.rig.relays).toHaveLength(1);
    const rig = await composed({
      context: { clock, random: () => 0.75 },
      config: configOf({ nats: { ...DEFAULTS.nats, urls: ['nats://fake:4222'] } }),
      isOnNodes: false,
      member: memberOf(nats, 'r1'),
    });
    expect(rig.rig).toMatchObject({ relays: [], source: { kind: 'fleet', name: 'nats://fake:4222' } });
    expect([rig.rig.askBalance, coordinator.rig.askBalance]).toEqual([undefined, expect.any(Function)]);
    expect([rig.rig.sidecars.length, coordinator.rig.sidecars.length]).toEqual([1, 3]);
    const coordinating = coordinator.run();
    expect(await clock.runUntil(rig.run(1))).toBe(0);
    stop();
    expect(await clock.runUntil(coordinating)).toBe(0);
    expect(node.solved).toHaveLength(1);
    const accepted = rig.recorder.of('verdict').filter(({ outcome }) => outcome === 'accepted');
    expect(accepted).toMatchObject([{ height: 7n }]);
    expect(coordinator.store.blocks).toMatchObject([{ height: 7n, isRelay: true }]);
    expect(rig.store.blocks).toEqual([]);
  });

  it('is told that a coordinator mines the work that it gives', async () => {
    const { clock, context } = world();
    const nats = new FakeNats();
    const reports = () => nats.sent.filter(({ subject }) => subject === SUBJECTS.report('c1'));
    const looked: Sidecar = async ({ controls }) => {
      const timer = clock.setInterval(() => reports().length > 0 && controls.stop(), 1_000);
      return () => timer.cancel();
    };
    const member = memberOf(nats, 'c1');
    const { run } = await composed({ context, config: onNode(), member, sidecars: [looked] });
    expect(await clock.runUntil(run())).toBe(0);
    expect(readMessage(RigReport, reports()[0].data)).toMatchObject({ coordinator: 'c1' });
  });

  it.each([
    ['nodes', onNode(), [SUBJECTS.fallbacks]],
    ['pools', configOf({ pool: POOL }), []],
  ])('sends solutions of lost coordinators only to one on nodes: %s', async (_, config, taken) => {
    const { clock, context } = world();
    const member = memberOf(new FakeNats(), 'c1');
    const subscribed = vi.spyOn(member.link, 'subscribe');
    const { rig, recorder } = await composed({ context, config, member });
    const [relay] = rig.relays.map((make) =>
      make({ source: rig.source, emit: recorder.listen, clock, random: () => 0, lane: 0 }),
    );
    await clock.runUntil(relay.open());
    const subjects = subscribed.mock.calls.map(([subject]) => subject);
    expect(subjects).toContain(SUBJECTS.solutionsTo('c1'));
    expect(subjects.filter((subject) => subject === SUBJECTS.fallbacks)).toEqual(taken);
  });
});

it('a rig without nodes, pools and a fleet is refused', async () => {
  const { context } = world();
  const refused = composed({ context, config: configOf(), isOnNodes: false });
  await expect(refused).rejects.toThrow(UsageError);
  await expect(refused).rejects.toThrow('No NATS server is configured');
});

it.each([
  ['a node', onNode(), [2, true]],
  ['a pool', configOf({ pool: POOL }), [0, false]],
])(
  'only on a node blocks are followed, nodes are watched and a balance can be asked for: %s',
  async (_, config, expected) => {
    const { context } = world();
    const { rig } = await composed({ context, config });
    expect([rig.sidecars.length, rig.askBalance !== undefined]).toEqual(expected);
  },
);
