/** A mock node with some coins on each chain, and sweeps on it that can be killed at any step. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { NodeSweepLedger } from '#pickaxe/app/nodes/node-sweep-ledger.js';
import { NodesInTurn } from '#pickaxe/app/nodes/nodes-in-turn.js';
import { NEVER } from '#pickaxe/base/system/abort.js';
import { type Clock, systemClock } from '#pickaxe/base/system/clock.js';
import type { KnownWork } from '#pickaxe/node/blocks/known-work.js';
import { planSweep, type SweepRequest, sweepOf } from '#pickaxe/node/sweep/plan.js';
import { type RunnerOptions, SweepRunner } from '#pickaxe/node/sweep/runner.js';
import { SweepStore } from '#pickaxe/node/sweep/state-files.js';
import type { SweepLedger } from '#pickaxe/node/sweep/sweep-ledger.js';
import type { Sweep } from '#pickaxe/node/sweep/sweep-state.js';
import { KeyPair } from '#pickaxe/protocol/ledger/command/command.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { MockNode, type OtherOptions } from '../../mock-node/node.ts';

export const SECRET = '5a'.repeat(32);
export const PAIR = new KeyPair(SECRET);
export const ACCOUNT = `k:${PAIR.publicKey}`;
export { NEVER };
export const CONFIRMATIONS = 2;
export const TARGET = 0;

/** All accounts with coins: ours, the mock node's helper and gas station, and the miner of all blocks. */
const HELPER = `k:${new KeyPair('1f'.repeat(32)).publicKey}`;
const EVERYBODY = [ACCOUNT, HELPER, 'kadena-xchain-gas', `k:${'1'.repeat(64)}`];

export const WISHES: SweepRequest = {
  account: ACCOUNT,
  targetChain: TARGET,
  keep: parseDecimal('0.001'),
  min: parseDecimal('0.01'),
  gasPrice: parseDecimal('0.00000001'),
  gasStation: null,
  held: [PAIR.publicKey],
  known: { keys: [PAIR.publicKey], pred: 'keys-all' },
};

/** Stands for the end of the process. */
export class Killed extends Error {}

/** @returns a clock whose wall clock shows `nowMs` */
export const clockAt = (nowMs: () => number): Clock => ({
  ...systemClock,
  nowUs: () => BigInt(Math.round(nowMs())) * 1000n,
});

export class World {
  readonly node: MockNode;
  readonly network: string;
  readonly directory: string;
  readonly store: SweepStore;
  readonly notes: string[] = [];
  ledger!: SweepLedger;
  url!: string;
  #nonces = 0;

  static async make(options: OtherOptions = {}, dialect: Dialect = 'chainweb'): Promise<World> {
    const world = new World(options, dialect);
    world.url = (await world.node.start()).url;
    onTestFinished(async () => {
      await world.node.close();
      rmSync(world.directory, { recursive: true, force: true });
    });
    world.ledger = world.ledgerOf([world.url]);
    return world;
  }

  /** @returns the ledger of a sweep on these nodes */
  ledgerOf(urls: readonly string[], dialect: 'auto' | 'document' = 'auto', known?: KnownWork): SweepLedger {
    const limits = { attempts: 1, answerTimeoutMs: 5_000 };
    const { network } = this;
    const nodes = new NodesInTurn({ node: { urls, network, insecureTls: false }, ledger: { dialect } }, () => {}, {
      limits,
    });
    onTestFinished(() => nodes.close());
    return new NodeSweepLedger(network, nodes, known);
  }

  private constructor(options: OtherOptions, dialect: Dialect) {
    const accounts = [{ account: ACCOUNT, balance: '91.5' }];
    this.network = options.network ?? 'development';
    this.node = new MockNode({
      dialect,
      chains: 3,
      network: 'development',
      reward: '0.0',
      seed: 7,
      accounts,
      ...options,
    });
    this.directory = mkdtempSync(join(tmpdir(), 'pickaxe-sweep-'));
    this.store = new SweepStore(this.directory, this.network, ACCOUNT);
  }

  /** Adds blocks to every chain. */
  grow(blocks = 1): void {
    const { graph } = this.node.ledger.chains;
    for (let i = 0; i < blocks; i++) for (const chain of graph.keys()) this.node.ledger.advance(chain);
  }

  balance(chain: number, account = ACCOUNT): bigint {
    return this.node.ledger.chains.tip(chain).payload.state.account(account)?.balance ?? 0n;
  }

  /** All coins of all accounts on all chains. */
  total(): bigint {
    const chains = [...this.node.ledger.chains.graph.keys()];
    return chains.flatMap((chain) => EVERYBODY.map((account) => this.balance(chain, account))).reduce((a, b) => a + b);
  }

  /** @returns the number of commands in the canonical blocks of a chain */
  commands(chain: number): number {
    const store = this.node.ledger.chains.blocksOf(chain);
    return [...store.ancestry(store.tip)].reduce((sum, { payload }) => sum + payload.outputs.length, 0);
  }

  /** @returns the number of events of this name in the canonical blocks of a chain */
  events(chain: number, name: string): number {
    const store = this.node.ledger.chains.blocksOf(chain);
    const outputs = [...store.ancestry(store.tip)].flatMap(({ payload }) => payload.outputs);
    return outputs.filter((output) => Buffer.from(output).toString().includes(`"name":"${name}"`)).length;
  }

  /** What this process would do first: the sweep of the file, or a new one. */
  async begin(request: Partial<SweepRequest> = {}): Promise<Sweep> {
    const before = this.store.load();
    if (before) return before;
    const plan = await planSweep(this.ledger, { ...WISHES, ...request }, NEVER);
    const sweep = sweepOf(plan, this.network, 1_700_000_000_000);
    this.store.begin(sweep);
    return sweep;
  }

  runner(sweep: Sweep, options: Partial<RunnerOptions> = {}): SweepRunner {
    return new SweepRunner(sweep, {
      ledger: this.ledger,
      save: (it) => this.store.save(it),
      pairs: [PAIR],
      nonce: () => `test ${this.#nonces++}`,
      clock: clockAt(() => Date.now() + this.node.ledger.clockSkewMs),
      confirmations: CONFIRMATIONS,
      // Most tests are not about false answers, and have a node of their own.
      trustsNodes: true,
      notify: ({ chain }, note) => this.notes.push(`${chain}: ${note}`),
      ...options,
    });
  }

  /** Runs rounds until the sweep is finished; all chains grow in between. */
  async finish(runner: SweepRunner, between: (round: number) => void = () => {}, most = 40): Promise<Sweep> {
    for (let round = 0; await runner.round(NEVER); round++) {
      if (round === most) throw new Error(`no end after ${most} rounds:\n${this.notes.slice(-12).join('\n')}`);
      between(round);
      this.grow();
    }
    return runner.sweep;
  }

  /** Runs rounds until a condition holds; all chains grow after each. */
  async roundsUntil(runner: SweepRunner, isSo: () => boolean, most = 40): Promise<void> {
    for (let round = 0; !isSo(); round++) {
      if (round === most) throw new Error(`not so after ${most} rounds:\n${this.notes.slice(-12).join('\n')}`);
      await runner.round(NEVER);
      this.grow();
    }
  }

  /** Everything that a sweep leaves on the disk. */
  files(): string {
    return readdirSync(this.directory)
      .map((name) => readFileSync(join(this.directory, name), 'utf8'))
      .join('\n');
  }
}

/** Kills at the n-th of all writes and sends, counted from 0: before or after it. */
export class Killer {
  #left: number;
  readonly #when: 'before' | 'after';
  hasKilled = false;

  constructor(at: number, when: 'before' | 'after') {
    this.#left = at;
    this.#when = when;
  }

  save(world: World): (sweep: Sweep) => void {
    return (sweep) => {
      const kills = this.#counts();
      if (kills && this.#when === 'before') throw new Killed();
      world.store.save(sweep);
      if (kills) throw new Killed();
    };
  }

  ledger(world: World): SweepLedger {
    return withSend(world.ledger, async (send) => {
      const kills = this.#counts();
      if (kills && this.#when === 'before') throw new Killed();
      const sent = await send();
      if (kills) throw new Killed();
      return sent;
    });
  }

  #counts(): boolean {
    const kills = this.#left-- === 0;
    this.hasKilled ||= kills;
    return kills;
  }
}

type Send = SweepLedger['send'];

/** The same ledger with another way to send. */
export function withSend(
  ledger: SweepLedger,
  around: (send: () => ReturnType<Send>, ...asked: Parameters<Send>) => ReturnType<Send>,
): SweepLedger {
  return changed(ledger, { send: (...asked) => around(() => ledger.send(...asked), ...asked) });
}

export function changed(ledger: SweepLedger, changes: Partial<SweepLedger>): SweepLedger {
  return new Proxy(ledger, {
    get: (it, name) => {
      const own = Reflect.get(changes, name) ?? Reflect.get(it, name);
      return typeof own === 'function' ? own.bind(own === Reflect.get(changes, name) ? changes : it) : own;
    },
  });
}

/** @returns a world in which step 0 of each chain has been sent, and the sum of its coins before */
export async function sent() {
  const world = await World.make();
  const total = world.total();
  const runner = world.runner(await world.begin());
  await runner.round(NEVER);
  return { world, total, runner };
}

/** Like `sent`, once each chain has a block with its step 0. */
export async function left() {
  const { world, total, runner } = await sent();
  world.grow();
  await runner.round(NEVER);
  return { world, total, runner };
}
