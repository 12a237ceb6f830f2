/** Simulated ASICs on a stratum server, each with a judge of its connection. */

import type { Random } from '#pickaxe/mock-node/random.js';
import { SimulatedAsic } from '../asic.ts';
import type { AsicHabits, SentShare } from '../asic-habits.ts';
import type { Books } from '../books.ts';
import type { PipeEnd } from '../pipe.ts';
import type { Simulation } from '../simulation.ts';
import { StratumJudge } from './judge.ts';
import type { ServerLife } from './life.ts';
import type { Mischief } from './mischief.ts';

/** Longest time until a connection is made. */
const CONNECT_MS = 10_000;
/** Number of disconnections for floods or junk within a minute that lead to a ban, and the least number that may. */
const SURELY_BANNED = 17;
const HARDLY_BANNED = 9;
const MINUTE_MS = 60_000;
/** Time after which a server that was frozen has surely said something. */
const SILENT_MS = 90_000;

/** One connection of an ASIC. */
export interface Link {
  readonly life: ServerLife;
  readonly judge: StratumJudge;
  readonly openedMs: number;
  readonly end: PipeEnd;
  /** Whether something has broken it, or may have made the server end it. */
  mayEnd: boolean;
  /** Whether its end counts against its address. */
  isOffence: boolean;
}

/** What an ASIC is, besides its habits. */
export interface AsicPlan {
  readonly name: string;
  readonly address: string;
  readonly habits: Partial<AsicHabits>;
  /** Difficulty in hashes per share that its password chooses. */
  readonly chosen?: number;
}

export interface FarmOptions {
  readonly simulation: Simulation;
  readonly books: Books;
  /** The server that runs now, or ran last. */
  readonly life: () => ServerLife | undefined;
  /** Whether every server must know by now that the block of a header has been found. */
  readonly isOld: (header: Uint8Array) => boolean;
}

export class FarmAsic {
  readonly plan: AsicPlan;
  readonly asic: SimulatedAsic;
  link: Link | undefined;
  /** When its hashrate, or that of its share of time, last changed. */
  changedMs = 0;
  /** When its last connection ended. */
  closedMs = 0;
  /** Number of hashes; and for how many the shares count that it has found, with the sum of their squares. */
  hashes = 0;
  earned = 0;
  squares = 0;
  /** Answers to shares of jobs that were not replaced when they were sent. */
  readonly answers = { accepted: 0, refused: 0 };
  readonly #options: FarmOptions;

  constructor(plan: AsicPlan, options: FarmOptions) {
    this.plan = plan;
    this.#options = options;
    const { simulation } = options;
    const { clock } = simulation.time.start(plan.name);
    this.asic = new SimulatedAsic({
      clock,
      random: simulation.random(plan.name),
      connect: async (stop) => {
        const life = options.life();
        if (!life) throw new Error('nothing listens yet');
        const end = await life.port.connect({ clock, address: plan.address }, CONNECT_MS, stop);
        this.#opened(life, end);
        return end;
      },
      habits: plan.habits,
      watcher: {
        nonce1: (hex) => this.#begin(Number.parseInt(hex, 16)),
        target: (target) => this.link?.judge.target(target),
        job: (id, header) => this.link?.judge.job(id, header),
        authorizes: (user) => this.link?.judge.authorize(user),
        share: (sent) => this.#share(sent),
        answer: (_, answer) => this.#answer(answer),
        searched: (nonces) => {
          this.hashes += nonces;
        },
        silent: () => this.#silent(),
        closed: () => this.#closed(),
        fault: (what) => this.#violate(what),
      },
    });
  }

  /** Whether it has its nonce1. */
  get isServed(): boolean {
    return this.link?.judge.nonce1 !== undefined;
  }

  misbehave({ act, costs }: Mischief, random: Random): void {
    const { link } = this;
    if (!link) return;
    if (costs !== 'nothing') link.mayEnd = true;
    if (costs === 'points') link.isOffence = true;
    act(this.asic, random);
  }

  /** Changes its hashrate. */
  speedUp(factor: number): void {
    this.asic.hashesPerSecond *= factor;
    this.changedMs = this.#nowMs;
  }

  get #nowMs(): number {
    return this.#options.simulation.time.nowMs;
  }

  #violate(what: string): void {
    this.#options.simulation.violate(`${this.plan.name}: ${what}`);
  }

  #opened(life: ServerLife, end: PipeEnd): void {
    const judge = new StratumJudge({ nowMs: () => this.#nowMs, violate: (what) => this.#violate(what) });
    this.link = { life, judge, openedMs: this.#nowMs, end, mayEnd: false, isOffence: false };
  }

  #begin(nonce1: number): void {
    if (!this.link) return;
    const { life, judge, openedMs } = this.link;
    if (judge.nonce1 !== undefined && judge.nonce1 !== nonce1) this.#violate('its nonce1 has changed');
    judge.nonce1 = nonce1;
    life.begin(judge, nonce1);
    const ban = life.bans.get(this.plan.address);
    if (ban && openedMs > ban.fromMs && this.#nowMs < ban.untilMs) this.#violate('it is served in spite of a ban');
  }

  #share(sent: SentShare): void {
    if (!this.link) return;
    const { life, judge } = this.link;
    const share = judge.share(sent);
    life.sent(share);
    const header = share.block === undefined ? undefined : judge.headerOf(share);
    if (header) this.#options.books.candidate(life.account, header);
    if (sent.kind !== 'good' && sent.kind !== 'old') return;
    this.earned += share.credit;
    this.squares += share.credit ** 2;
  }

  #answer(answer: string): void {
    if (!this.link) return;
    const { life, judge } = this.link;
    const share = judge.answer(answer);
    const header = share && judge.headerOf(share);
    if (header && answer === 'accepted' && this.#options.isOld(header)) this.#violate('a share of an old block counts');
    if (share?.sent.kind === 'good') this.answers[answer === 'accepted' ? 'accepted' : 'refused']++;
    if (share) life.answered(share, header);
  }

  /** A server that has work for its ASICs says so at least every half a minute. */
  #silent(): void {
    const { link } = this;
    if (!link || link.mayEnd || link.life.wasKilled) return;
    if (this.#nowMs - link.life.frozenMs > SILENT_MS) this.#violate('the server has said nothing for a minute');
  }

  #closed(): void {
    const { link } = this;
    this.link = undefined;
    this.closedMs = this.#nowMs;
    if (!link) return;
    const { life, judge, end, isOffence, mayEnd, openedMs } = link;
    const isByServer = end.readableEnded || end.errored !== null;
    const { address } = this.plan;
    if (isOffence && isByServer) this.#noteOffence(life);
    const ban = life.bans.get(address);
    const isBanned = ban !== undefined && judge.nonce1 === undefined && openedMs <= ban.untilMs;
    if (isByServer && !mayEnd && !isBanned && !life.wasKilled && !life.isStopping)
      this.#violate(`the server has ended its connection, which is ${this.#nowMs - openedMs} ms old`);
  }

  #noteOffence(life: ServerLife): void {
    const { address } = this.plan;
    const offences = life.offences.get(address) ?? [];
    life.offences.set(address, offences);
    offences.push(this.#nowMs);
    const recent = offences.filter((atMs) => this.#nowMs - atMs < MINUTE_MS).length;
    if (recent >= SURELY_BANNED && !life.bans.has(address)) this.#violate('it is not banned for its floods');
  }
}

/** @returns what is wrong with a ban of this address by this server; undefined if nothing is */
export function faultOfBan(life: ServerLife, address: string): string | undefined {
  const count = life.offences.get(address)?.length ?? 0;
  // The last offence is noted after its ban.
  return count + 1 < HARDLY_BANNED ? `${address} is banned after ${count} disconnections` : undefined;
}
