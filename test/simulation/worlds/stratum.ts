/** A rig on two nodes with a stratum server, and a farm of ASICs of all habits. */

import type { Random } from '#pickaxe/mock-node/random.js';
import { HEADER_OFFSET } from '#pickaxe/protocol/chain/bytes.js';
import { parentOf } from '#pickaxe/protocol/chain/work.js';
import { onNodes } from '../members.ts';
import type { SimulatedRig } from '../rigs.ts';
import type { Faults, Simulation } from '../simulation.ts';
import { type AsicPlan, FarmAsic } from '../stratum/farm.ts';
import type { ServerLife } from '../stratum/life.ts';
import { MISCHIEF } from '../stratum/mischief.ts';
import { SHARE_SECONDS, StratumRig } from '../stratum/rig.ts';
import { pick } from './faults.ts';
import { MiningWorld } from './world.ts';

/** Most of the shares of current jobs that may come too late. With all faults, it is some 3 %. */
const MOST_REFUSED = 0.1;
/** Some ASICs have the same user. */
const SHARED_USER = 'farm.shared';
/** The last ASICs are turned on when this part of the minutes with faults is over. */
const LATEST_START = 0.7;
/** Hashes per block: usually, and while blocks are as easy as shares. */
const DIFFICULTY = 4_096;
const EASY_DIFFICULTY = 128;
/** Longest time until all ASICs have a job of a new block. */
const CURRENT_MS = 10_000;
/** From this time after the last fault on, all jobs are of newest blocks. */
const SURE_MS = 30_000;
/** An ASIC's difficulty is right once its rate has been the same for this time, and it has sent this many shares. */
const SETTLED_MS = 240_000;
const SETTLED_SHARES = 700;

export class StratumWorld extends MiningWorld {
  readonly rigs: readonly SimulatedRig[];
  readonly rig: StratumRig;
  readonly farm: readonly FarmAsic[];
  /** Number of ASICs whose difficulty should be settled, and that learn once more. */
  #learning = 0;

  constructor(simulation: Simulation, asics: number) {
    super(simulation, 2);
    this.network.setDifficulty(DIFFICULTY);
    const { books, nodes, isCurrent } = this;
    const settings = () => onNodes(nodes.map(({ url }) => url));
    this.rig = new StratumRig({ name: 'rig0', simulation, books, nodes, isCurrent, settings, hashesPerSecond: 12 });
    this.rigs = [this.rig];
    const random = simulation.random('farm');
    const latestMs = 60_000 * LATEST_START * simulation.options.minutes;
    const isOld = (header: Uint8Array) => this.#isOld(header);
    const options = { simulation, books, life: () => this.rig.life, isOld };
    this.farm = Array.from({ length: asics }, (_, at) => new FarmAsic(planOf(at, random, latestMs), options));
  }

  /** The server that runs now, or ran last. */
  get life(): ServerLife {
    return this.rig.life!;
  }

  get #calmFromMs(): number {
    return 60_000 * this.simulation.options.minutes;
  }

  get #isCalm(): boolean {
    return this.simulation.time.nowMs >= this.#calmFromMs;
  }

  protected override moreFaults(): Faults {
    const { farm, simulation } = this;
    const some = (random: Random, most: number) =>
      Array.from({ length: 1 + Math.floor(random() * most) }, () => pick(random, farm));
    const breakSome = (act: (asic: FarmAsic, random: Random) => void) => (random: Random) => {
      for (const asic of some(random, 8)) {
        if (asic.link) asic.link.mayEnd = true;
        act(asic, random);
      }
    };
    const pipeOf = ({ link }: FarmAsic) => [...this.life.port.pipes].find(({ ends }) => ends[0] === link?.end);
    const disk = (kind: ServerLife['disk']) => (random: Random) => {
      const { life } = this;
      life.disk = kind;
      simulation.endLater(random, 30_000, () => {
        life.disk = 'fine';
      });
    };
    const mischief = Object.entries(MISCHIEF).map(([name, each]) => {
      return [
        `ASICs ${name}`,
        (random: Random) => {
          for (const asic of some(random, 8)) asic.misbehave(each, random);
        },
      ] as const;
    });
    return {
      'the server is stopped and started': () => this.rig.restart((ms, act) => this.simulation.after(ms, act)),
      'connections are reset': breakSome((asic) => pipeOf(asic)?.reset()),
      'connections are deaf': breakSome((asic) => pipeOf(asic)?.deafen()),
      'connections are stalled': breakSome((asic, random) => pipeOf(asic)?.stall(random() * 40_000)),
      'connections are closed': breakSome((asic) => pipeOf(asic)?.close()),
      'all ASICs connect again': () => {
        for (const { asic } of farm) asic.reconnect();
      },
      'an ASIC reads nothing': breakSome(({ asic }, random) => asic.stopReading(random() * 60_000)),
      'ASICs pause': (random) => {
        for (const each of some(random, 10)) {
          each.asic.isIdle = true;
          each.changedMs = Number.POSITIVE_INFINITY;
          simulation.endLater(random, 90_000, () => {
            each.asic.isIdle = false;
            each.changedMs = simulation.time.nowMs;
          });
        }
      },
      'ASICs change their hashrate tenfold': (random) => {
        for (const each of some(random, 4)) {
          const factor = random() < 0.5 ? 10 : 0.1;
          each.speedUp(factor);
          simulation.endLater(random, 120_000, () => each.speedUp(1 / factor));
        }
      },
      'an ASIC misbehaves until it is banned': (random) => {
        const asic = pick(random, farm);
        const flood = () => {
          if (asic.isServed && !this.#isCalm) asic.misbehave(MISCHIEF['send a flood of wrong shares'], random);
        };
        for (let at = 0; at < 100; at++) this.simulation.after(at * 500, flood);
      },
      'blocks are easy': (random) => {
        this.network.setDifficulty(EASY_DIFFICULTY);
        simulation.endLater(random, 15_000, () => this.network.setDifficulty(DIFFICULTY));
      },
      'the disk is full': disk('full'),
      'the disk is slow': disk('slow'),
      'the disk takes parts of lines': disk('partial'),
      ...Object.fromEntries(mischief),
    };
  }

  override calm(): void {
    super.calm();
    this.network.setDifficulty(DIFFICULTY);
    const { time } = this.simulation;
    // Connections that may be deaf or stalled end, too.
    for (const { asic, link } of this.farm) if (link?.mayEnd) asic.reconnect();
    for (let ms = SURE_MS; ms < 60_000; ms += 5_000) this.simulation.after(ms, () => this.#checkJobs());
    this.simulation.note(`calm with ${this.farm.filter(({ isServed }) => isServed).length} ASICs at ${time.nowMs}`);
  }

  override checkMining(): void {
    super.checkMining();
    this.#checkJobs();
    for (const asic of this.farm) {
      this.#checkDifficulty(asic);
      this.#checkHashrate(asic);
    }
    this.#checkSessions();
  }

  override check(): void {
    super.check();
    const { life } = this;
    if (!life) return;
    if (life.process.isFrozen) life.frozenMs = this.simulation.time.nowMs;
    if (life.isStopping && life.disk !== 'fine') life.endedWithoutDisk = true;
  }

  /** ASICs find nothing more. */
  override stop(): void {
    for (const { asic } of this.farm) asic.isIdle = true;
  }

  override stopMembers(): void {
    const { simulation } = this;
    for (const { asic, plan } of this.farm)
      if (asic.waiting > 0) simulation.violate(`${plan.name} has ${asic.waiting} requests without an answer`);
    this.life.checkReport();
    super.stop();
    this.life.isStopping = true;
  }

  override checkEnd(): void {
    super.checkEnd();
    for (const life of this.rig.lives) {
      life.checkLedger();
      if (!life.wasKilled && life.port.pipes.size > 0) this.simulation.violate('a server has left connections');
    }
    for (const { asic } of this.farm) asic.end();
    const sum = (of: (asic: FarmAsic) => number) => this.farm.reduce((all, asic) => all + of(asic), 0);
    const [hashes, earned, squares] = [
      sum((asic) => asic.hashes),
      sum((asic) => asic.earned),
      sum((asic) => asic.squares),
    ];
    const [good, refused] = [sum(({ answers }) => answers.accepted), sum(({ answers }) => answers.refused)];
    this.simulation.note(`${good} good shares were accepted, ${refused} refused`);
    if (refused > MOST_REFUSED * (good + refused))
      this.simulation.violate(`${refused} of ${good + refused} good shares were refused`);
    this.simulation.note(`${hashes} hashes, credit for ${earned.toFixed(0)} ± ${Math.sqrt(squares).toFixed(0)}`);
    if (Math.abs(earned - hashes) > 6 * Math.sqrt(squares) + 0.03 * hashes)
      this.simulation.violate(
        `${hashes} hashes have a credit of ${earned.toFixed(0)} ± ${Math.sqrt(squares).toFixed(0)}`,
      );
  }

  /** Checks that each ASIC has a job of a block that some node takes for the newest one. */
  #checkJobs(): void {
    const { life, simulation } = this;
    if (life.process.isDead || life.isStopping) return;
    for (const { link, plan, closedMs } of this.farm) {
      const { newest } = link?.judge ?? {};
      if (!newest) {
        const isLong = simulation.time.nowMs - (link?.openedMs ?? closedMs) > CURRENT_MS;
        if (isLong && !life.bans.has(plan.address)) simulation.violate(`${plan.name} has no job`);
        continue;
      }
      if (this.#isOld(newest.header)) simulation.violate(`${plan.name} has a job of an old block`);
    }
  }

  /** Whether no node mines on the parent of this header any more, and everybody must know it. */
  #isOld(header: Uint8Array): boolean {
    const { simulation, nodes } = this;
    const { nowMs } = simulation.time;
    if (nowMs < this.#calmFromMs + SURE_MS) return false;
    const chain = header[HEADER_OFFSET.chain];
    const isNews = nodes.some(({ announcedMs }) => nowMs - announcedMs[chain] < CURRENT_MS);
    return !isNews && !nodes.some((node) => node.isCurrent(chain, parentOf(header)));
  }

  #checkDifficulty({ link, plan, asic, changedMs }: FarmAsic): void {
    const { terms, newest, answered } = link?.judge ?? {};
    if (!link || !terms || !newest) return;
    const { simulation } = this;
    const isSame = (difficulty: number) => Math.abs(terms.difficulty - difficulty) < 0.01 * difficulty;
    if (isSame(DIFFICULTY) || isSame(EASY_DIFFICULTY)) return;
    if (plan.chosen !== undefined) {
      if (!link.mayEnd && !isSame(plan.chosen))
        simulation.violate(`${plan.name} has the difficulty ${terms.difficulty} instead of ${plan.chosen}`);
      return;
    }
    const sinceMs = Math.max(changedMs, link.openedMs);
    if (simulation.time.nowMs - sinceMs < SETTLED_MS || (answered ?? 0) < SETTLED_SHARES) return;
    const seconds = terms.difficulty / asic.hashesPerSecond;
    simulation.note(`${plan.name} sends a share every ${seconds.toFixed(1)} s`);
    // By chance, a session begins to learn once more after some thousand shares, and then sends several a second.
    const isLearning = seconds < 1 && this.#learning++ === 0;
    if (!isLearning && (seconds < 0.5 * SHARE_SECONDS || seconds > 2 * SHARE_SECONDS))
      simulation.violate(`${plan.name} sends a share every ${seconds.toFixed(1)} s`);
  }

  /** Compares the hashrate that the server reports of an ASIC with its own, once it has sent enough shares. */
  #checkHashrate({ link, plan, asic, changedMs }: FarmAsic): void {
    const { simulation, life } = this;
    const user = plan.habits.user as string;
    const sinceMs = Math.max(changedMs, link?.openedMs ?? Number.POSITIVE_INFINITY);
    if (!link || user === SHARED_USER || simulation.time.nowMs - sinceMs < SETTLED_MS) return;
    const { hashesPerSecond } = life.relay?.workers.find(({ name }) => name === user) ?? {};
    if (hashesPerSecond === undefined) return;
    const isRight = hashesPerSecond > 0.4 * asic.hashesPerSecond && hashesPerSecond < 2 * asic.hashesPerSecond;
    if (!isRight)
      simulation.violate(`${plan.name} has ${asic.hashesPerSecond} H/s, but ${hashesPerSecond} are reported`);
  }

  #checkSessions(): void {
    const { life, simulation } = this;
    const served = this.farm.filter(({ isServed }) => isServed).length;
    const told = life.relay?.sessions ?? 0;
    const inMotion = this.farm.filter(({ link, closedMs }) => {
      return simulation.time.nowMs - Math.max(link?.openedMs ?? 0, closedMs) < 20_000;
    }).length;
    // The server does not know of some ends of connections.
    if (told < served - inMotion || told > life.port.pipes.size + inMotion)
      simulation.violate(
        `the server reports ${told} sessions of ${served}, and has ${life.port.pipes.size} connections`,
      );
  }
}

const below = (random: Random, count: number) => Math.floor(random() * count);

/**
 * @param latestMs when it is turned on at the latest
 * @returns an ASIC of the farm; the first ones leave their difficulty to the server
 */
function planOf(at: number, random: Random, latestMs: number): AsicPlan {
  const name = `asic${at}`;
  const hasOwnAddress = random() < 0.8;
  const address = hasOwnAddress ? `198.51.100.${at + 1}` : '192.0.2.1';
  const usual = {
    user: random() < 0.05 ? SHARED_USER : `farm.${name}`,
    subscription: pick(random, [['asic/1', null], ['asic/2'], [], ['asic/3', 'an earlier session']]),
    authorizesFirst: random() < 0.2,
    omitsZeros: random() < 0.2,
    startMs: random() < 0.3 ? 0 : random() * latestMs,
    lagMs: random() < 0.8 ? 20 : 3_000,
    duplicates: random() < 0.05 ? 0.3 : 0,
    wrong: random() < 0.05 ? 0.5 : 0,
    reconnectMs: random() < 0.05 ? 90_000 : 0,
  };
  if (at < 4) {
    const hashesPerSecond = 10 + below(random, 20);
    const suggestion = (10 + below(random, 50)) / 2 ** 32;
    return { name, address, habits: { ...usual, hashesPerSecond, suggestion, password: 'x' } };
  }
  const hashesPerSecond = 1 + below(random, 6);
  const chosen = Math.round(hashesPerSecond * (8 + below(random, 12)));
  const password = `${random() < 0.5 ? 'x,' : ''}d=${(chosen / 2 ** 32).toFixed(20)}`;
  return { name, address, habits: { ...usual, hashesPerSecond, password, roundMs: 1_000 }, chosen };
}
