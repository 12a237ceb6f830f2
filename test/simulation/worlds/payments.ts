/** People who pay and sweep on three nodes that fail, restart, fork and lie. */

import { RefusedError } from '#pickaxe/mock-node/commands/command-checks.js';
import { finishingCommand } from '#pickaxe/mock-node/commands/transfer-finisher.js';
import { Genesis } from '#pickaxe/mock-node/execution/genesis.js';
import type { Random } from '#pickaxe/mock-node/random.js';
import { commandJson, KeyPair } from '#pickaxe/protocol/ledger/command/command.js';
import { parseExactJson } from '#pickaxe/protocol/ledger/json.js';
import { CoinBooks } from '../payments/coin-books.ts';
import { type Claim, Conspiracy } from '../payments/conspiracy.ts';
import {
  type Asked,
  CHAINS,
  LedgerNode,
  type Lie,
  minerOf,
  NETWORK,
  type NodeMode,
  settingsOf,
} from '../payments/ledger-node.ts';
import { allOf, LIES } from '../payments/lies.ts';
import { accountOf, type Job, Payer } from '../payments/payer.ts';
import type { World } from '../run.ts';
import type { Faults, Simulation } from '../simulation.ts';
import type { SimulatedProcess } from '../virtual-time.ts';
import { pick } from './faults.ts';

/** Mean time between two blocks of a chain. */
const BLOCK_MS = 20_000;
/** A fork has fewer blocks than what makes a command final. */
const MOST_FORKED = 4n;
const COIN = 10n ** 12n;
/** The longest time for which a node tells one lie. */
const LIE_MS = 240_000;
/** Number of payers, and of the payments of each. */
const PAYERS = 4;
const JOBS = 6;

export class PaymentsWorld implements World {
  readonly calmMs = 80 * 60_000;
  readonly simulation: Simulation;
  readonly nodes: readonly LedgerNode[];
  readonly payers: readonly Payer[];
  readonly books: CoinBooks;
  readonly #faulty: SimulatedProcess;
  readonly #miners: SimulatedProcess;
  readonly #random: Random;
  /** When a node was last told to lie. */
  #deceivedMs = Number.NEGATIVE_INFINITY;
  #isStandingStill = false;
  #isOver = false;

  constructor(simulation: Simulation) {
    this.simulation = simulation;
    const { time } = simulation;
    this.#faulty = time.start('faults');
    this.#miners = time.start('miners');
    this.#random = simulation.random('network');
    const jobs = Array.from({ length: PAYERS }, (_, at) => jobsOf(at, simulation.random(`jobs of ${at}`)));
    const payingAccounts = new Map(jobs.flat().map((job) => [accountOf(job), job.pair.publicKey]));
    const accounts = [...payingAccounts].map(([account, key]) => ({
      account,
      balance: '50.0',
      keys: [key],
      pred: 'keys-all',
    }));
    const settings = settingsOf(accounts);
    const genesis = new Genesis(settings);
    const states = Array.from({ length: CHAINS }, (_, chain) => genesis.stateOf(chain));
    const onRequest = (node: LedgerNode, asked: Asked) => this.books.asked(node, asked);
    this.nodes = [0, 1, 2].map((at) => {
      const dialect = at === 1 ? 'document' : 'chainweb';
      const random = simulation.random(`node${at}`);
      const seed = simulation.options.seed;
      return new LedgerNode({ name: `node${at}`, time, random, seed, dialect, settings, states, onRequest });
    });
    const { nodes } = this;
    this.payers = jobs.map((list, at) => {
      return new Payer({ name: `payer${at}`, simulation, nodes, jobs: list, onEnd: () => {} });
    });
    const miners = nodes.map((_, at) => minerOf(at));
    const isHonest = () => time.nowMs - this.#deceivedMs > LIE_MS;
    this.books = new CoinBooks({ simulation, nodes, payers: this.payers, jobs: jobs.flat(), miners, isHonest });
    void this.#grow();
  }

  get totals() {
    const planned = this.books.planned;
    const accepted = planned.filter(({ outcome }) => outcome === 'done').length;
    return { found: planned.length, accepted, lost: this.books.wrong };
  }

  faults(): Faults {
    const { nodes, payers, simulation } = this;
    const later = (random: Random, mostMs: number, act: () => void) => this.#faulty.after(random() * mostMs, act);
    const mode = (kind: NodeMode) => (random: Random) => {
      const node = pick(random, nodes);
      node.mode = kind;
      simulation.note(`${node.name} is ${kind}`);
      later(random, 120_000, () => {
        if (node.mode === kind) node.mode = 'fine';
      });
    };
    const paying = (random: Random, act: (payer: Payer, process: SimulatedProcess) => void) => {
      const payer = pick(random, payers);
      if (payer.process) act(payer, payer.process);
    };
    const killSoon = (random: Random) => {
      pick(random, payers).killIn = 1 + Math.floor(random() * 60);
    };
    return {
      'a node is down': mode('down'),
      'a node is busy': mode('busy'),
      'a node loses answers': mode('losing answers'),
      'a node breaks off': mode('breaking off'),
      'a node stalls': mode('stalling'),
      'a node is frozen': (random) => {
        const { process } = pick(random, nodes);
        process.freeze();
        later(random, 60_000, () => process.thaw());
      },
      'a node restarts': (random) => pick(random, nodes).restart(),
      'a node hears nothing': (random) => {
        const node = pick(random, nodes);
        node.isDeaf = true;
        later(random, 120_000, () => {
          node.isDeaf = false;
          this.#spread();
        });
      },
      'the network is split': (random) => {
        const node = pick(random, nodes);
        node.side = 1;
        later(random, 180_000, () => this.#heal());
      },
      'the chains stand still': (random) => {
        this.#isStandingStill = true;
        later(random, 120_000, () => {
          this.#isStandingStill = false;
        });
      },
      ...this.#lies(),
      'nodes forge blocks, and clocks are set to fit them': (random) => {
        const aheadMs = (42 + 10 * random()) * 60_000;
        this.#conspire('no block', random, aheadMs);
        // Only what was signed before by the right clock can seem to have expired.
        later(random, 60_000, () => {
          for (const payer of payers) this.#setClock(payer, aheadMs);
        });
        later(random, 300_000, () => {
          for (const payer of payers) this.#setClock(payer, 0);
        });
      },
      'commands are badlisted': (random) => {
        const chain = Math.floor(random() * CHAINS);
        const keys = nodes.flatMap(({ commands }) => commands.pending(chain).requestKeys);
        for (const node of nodes) for (const key of keys) node.commands.badlist(key);
      },
      'commands that wait are forgotten': () => {
        for (const node of nodes) {
          for (let chain = 0; chain < CHAINS; chain++) {
            for (const key of node.commands.pending(chain).requestKeys) node.mempool.drop(chain, key);
          }
        }
      },
      'somebody else finishes transfers': () => this.#finishTransfers(),
      'a payer is killed': (random) => paying(random, (_, process) => process.kill()),
      'a payer is killed at a step': killSoon,
      'a payer is killed at another step': killSoon,
      'a payer loses power': (random) =>
        paying(random, (payer, process) => {
          payer.files.losePower(random);
          process.kill();
        }),
      'a payer is frozen': (random) =>
        paying(random, (_, process) => {
          process.freeze();
          later(random, 120_000, () => process.thaw());
        }),
      'a payer is interrupted': (random) =>
        paying(random, (payer, process) => {
          if (!process.isFrozen) payer.interrupt();
        }),
      'the clock of a payer is set': (random) => {
        this.#setClock(pick(random, payers), (random() - 0.5) * (random() < 0.5 ? 4 * 3_600_000 : 60_000));
      },
    };
  }

  check(): void {
    this.books.check();
  }

  calm(): void {
    this.#isStandingStill = false;
    for (const node of this.nodes) {
      node.mode = 'fine';
      node.isDeaf = false;
      node.lie = undefined;
      if (node.process.isFrozen) node.process.thaw();
    }
    this.#heal();
    for (const payer of this.payers) {
      payer.isLeaving = true;
      payer.killIn = 0;
      this.#setClock(payer, 0);
      payer.process?.thaw();
    }
  }

  checkMining(): void {
    this.books.checkSettled();
  }

  stop(): void {
    this.#isOver = true;
    for (const payer of this.payers) {
      payer.isGone = true;
      payer.interrupt();
    }
  }

  stopMembers(): void {}

  checkEnd(): void {
    for (const { name, process } of this.payers) {
      if (process) this.simulation.violate(`${name} has not ended a minute after it was stopped`);
    }
  }

  #setClock(payer: Payer, skewMs: number): void {
    payer.skewMs = skewMs;
    if (payer.process) payer.process.skewMs = skewMs;
  }

  /** Each lie, which some nodes tell for a while. */
  #lies(): Faults {
    const later = (random: Random) => (mostMs: number, act: () => void) => {
      this.#faulty.after(random() * mostMs, act);
    };
    const make = (name: string, random: Random) => LIES[name]({ random, later: later(random), nodes: this.nodes });
    const names = Object.keys(LIES);
    const single = names.map((name) => [
      `nodes lie: ${name}`,
      (random: Random) => {
        // Every other lie comes with another one.
        const more = random() < 0.5 ? [pick(random, names)] : [];
        const all = [name, ...more];
        this.#deceive(random, all.join(', and '), allOf(all.map((each) => make(each, random))));
      },
    ]);
    const forged = (['no block', 'success', 'failure'] as const).map((claim) => [
      `nodes forge blocks: ${claim}`,
      (random: Random) => this.#conspire(claim, random),
    ]);
    return Object.fromEntries([...single, ...forged]) as Faults;
  }

  #conspire(claim: Claim, random: Random, aheadMs = 0): void {
    const forgers = new Conspiracy(claim, random, () => this.nodes[0].ledger.nowUs(), aheadMs);
    // Nodes that show other blocks are found out by one that does not, so mostly all of them do.
    this.#deceive(random, `forges ${claim}`, forgers.lie, random() < 0.6 ? this.nodes.length : undefined);
  }

  /** Lets one node, two or all of them tell the same lie for a while. */
  #deceive(random: Random, name: string, lie: Lie, number?: number): void {
    this.#deceivedMs = this.simulation.time.nowMs;
    const chance = random();
    const count = number ?? (chance < 0.4 ? 1 : chance < 0.7 ? 2 : this.nodes.length);
    const ms = random() * LIE_MS;
    const first = Math.floor(random() * this.nodes.length);
    for (let i = 0; i < count; i++) {
      const node = this.nodes[(first + i) % this.nodes.length];
      node.lie = lie;
      this.simulation.note(`${node.name} ${name}`);
      this.#faulty.after(ms, () => {
        if (node.lie === lie) node.lie = undefined;
      });
    }
  }

  async #grow(): Promise<void> {
    const random = this.#random;
    while (!this.#isOver) {
      await this.#miners.sleep(-Math.log(1 - random()) * (BLOCK_MS / CHAINS));
      const at = Math.floor(random() * this.nodes.length);
      const node = this.nodes[at];
      const free = [...Array(CHAINS).keys()].filter((chain) => node.ledger.chains.isFree(chain));
      const chain = pick(random, free);
      if (this.#isIdle || this.#isStandingStill || !node.isAlive || node.isDeaf) continue;
      for (const peer of this.nodes) if (this.#hear(node, peer) && random() < 0.7) node.pullCommands(peer);
      const block = node.mine(chain, minerOf(at));
      if (!block) continue;
      this.#spread(node);
      if (this.#forked() >= MOST_FORKED) this.#heal();
    }
  }

  /** Whether nothing is under way any more, so that no more blocks are needed. */
  get #isIdle(): boolean {
    return this.payers.every(({ isLeaving, job }) => isLeaving && !job);
  }

  #hear(one: LedgerNode, other: LedgerNode): boolean {
    return [one, other].every(({ isAlive, isDeaf }) => isAlive && !isDeaf) && one !== other && one.side === other.side;
  }

  /** Tells the nodes about the blocks of one of them, or of all. */
  #spread(from?: LedgerNode): void {
    for (const node of from ? [from] : this.nodes) {
      for (const peer of this.nodes) {
        if (!this.#hear(node, peer)) continue;
        this.#miners.after(50 + this.#random() * 1_500, () => {
          if (this.#hear(node, peer)) peer.joinCutOf(node);
        });
      }
    }
  }

  #heal(): void {
    for (const node of this.nodes) node.side = 0;
    this.#spread();
  }

  /** The most blocks by which a chain of one node differs from the same chain of another one. */
  #forked(): bigint {
    let most = 0n;
    for (const one of this.nodes) {
      for (const other of this.nodes) {
        for (let chain = 0; chain < CHAINS; chain++) {
          const [mine, theirs] = [one, other].map(({ ledger }) => ledger.chains.blocksOf(chain));
          let { height } = mine.tip.header;
          while (theirs.tip.header.height >= height && theirs.canonical(height)?.id !== mine.canonical(height)?.id)
            height--;
          const depth = theirs.tip.header.height < mine.tip.header.height ? 0n : mine.tip.header.height - height;
          if (depth > most) most = depth;
        }
      }
    }
    return most;
  }

  #finishTransfers(): void {
    const { best } = this.books;
    for (const planned of this.books.onTheWay(best)) {
      const [step0] = planned.step0;
      const target = planned.targetChain;
      try {
        const proof = best.commands.spv(planned.chain, step0, target);
        const lastTimeUs = best.ledger.chains.tip(target).header.creationTimeUs;
        const terms = { requestKey: step0, proof, target, network: NETWORK, minGasPrice: 10_000n, lastTimeUs };
        const command = finishingCommand(terms);
        this.books.finishes(target, command.hash, step0);
        best.commands.send(target, [parseExactJson(commandJson(command))]);
      } catch (error) {
        if (!(error instanceof RefusedError)) throw error;
      }
    }
  }
}

function jobsOf(payer: number, random: Random): Job[] {
  const secretOf = (number: number) => `${10 + payer}${10 + number}`.padStart(64, '5a');
  return Array.from({ length: JOBS }, (_, at): Job => {
    const isSweep = payer === 0;
    // Each sweep is one of an account of its own, and each payment one to an account of its own.
    const secret = secretOf(isSweep ? 50 + at : 0);
    const pair = new KeyPair(secret);
    const chain = Math.floor(random() * CHAINS);
    const toChain = random() < 0.5 ? chain : Math.floor(random() * CHAINS);
    const isFar = isSweep || chain !== toChain;
    const gasStation = isFar && random() < 0.3 ? { gasStation: 'kadena-xchain-gas' } : {};
    const name = `${isSweep ? 'sweep' : 'payment'} ${payer}.${at}`;
    if (isSweep) return { kind: 'sweep', name, secret, pair, chain, toChain, ...gasStation };
    const to = `k:${new KeyPair(secretOf(at + 20)).publicKey}`;
    const amount = COIN + BigInt(100 * payer + at) * 1_000_000n;
    return { kind: 'transfer', name, secret, pair, chain, toChain, to, amount, ...gasStation };
  });
}
