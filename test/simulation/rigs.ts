/** Simulated rigs: members with a simulated device, whose solutions are in the books. */

import type { Sidecar } from '#pickaxe/app/composition/run-miner.js';
import { EXIT } from '#pickaxe/app/process/exit.js';
import type { Controls, MinerEvent } from '#pickaxe/miner/events/events.js';
import type { Job } from '#pickaxe/protocol/chain/job.js';
import { pauseOnBattery, pauseWhileUsed } from '#pickaxe/rig/pauses/pauses.js';
import { SimulatedEngine } from './engine.ts';
import { type MemberOptions, SimulatedMember } from './members.ts';
import type { Account, Counts, RigBooks } from './rig-books.ts';

export interface RigOptions extends Omit<MemberOptions, 'mostSkewMs' | 'coordinates'> {
  readonly books: RigBooks;
  /** Whether a batch that began then (monotonic) was on the newest block. Called once for each batch, at its end. */
  readonly isCurrent: (job: Job, nonces: number, beganMs: number) => boolean;
  readonly hashesPerSecond: number;
}

const MOST_SKEW_MS = 1_000;

/** A device is opened again so many times in a row, after waits that double (docs/devices.md). */
const MOST_REOPENINGS = 5;
const FIRST_WAIT_MS = 1_000;
/** Time until a pause takes effect, or has ended: guards look every ten seconds, and a batch takes seconds. */
const PAUSE_MS = 15_000;

export class SimulatedRig extends SimulatedMember {
  /** Virtual time of the last batch on the newest block. */
  lastCurrentMs = 0;
  /** Virtual time of the last batch. */
  lastBatchMs = 0;
  /** Why the rig is paused: by its user, on battery, or because somebody uses the machine. */
  pausedBy: 'user' | 'battery' | 'activity' | undefined;
  /** Since when the rig is paused, or not paused any more. */
  pausedSinceMs = 0;
  /** Whether the device is parked, so that the process ends. */
  isParked = false;
  engine!: SimulatedEngine;
  #controls: Controls | undefined;
  #reopenings = 0;
  #reopensAtMs: number | undefined;
  readonly #options: RigOptions;
  /** The books of the present process. */
  protected account!: Account;
  #readyMs = Number.NEGATIVE_INFINITY;

  constructor(options: RigOptions) {
    super({ ...options, mostSkewMs: MOST_SKEW_MS });
    this.#options = options;
    this.start();
  }

  override start(): void {
    if (this.isRunning) return;
    this.account = this.#options.books.open(this.name);
    this.isParked = false;
    this.#reopenings = 0;
    this.#reopensAtMs = undefined;
    super.start();
  }

  /** Whether nothing in the rig itself keeps it from mining. */
  get isAble(): boolean {
    const { process, pausedBy, engine, isParked } = this;
    return !process.isDead && !process.isFrozen && !pausedBy && engine?.mode === 'fine' && !isParked;
  }

  /** What the present process has counted. */
  get counts(): Readonly<Counts> {
    return this.account.counts;
  }

  /** The solutions without a verdict. */
  get pending(): readonly { readonly header: Uint8Array; readonly atMs: number }[] {
    return [...this.account.pending.values()];
  }

  /** @param reason undefined ends the pause */
  pause(reason: SimulatedRig['pausedBy']): void {
    this.pausedBy = reason;
    this.pausedSinceMs = this.#options.simulation.time.nowMs;
    if (reason === 'user') this.#controls?.pause('user', 'the user paused it');
    else this.#controls?.resume('user');
  }

  /** Checks that the rig mines nothing while it is paused. */
  check(): void {
    const beganMs = Math.max(this.pausedSinceMs, this.process.thawedMs) + PAUSE_MS;
    if (this.pausedBy && this.lastBatchMs > beganMs) {
      this.#options.simulation.violate(`${this.name} mines although it is paused by ${this.pausedBy}`);
    }
  }

  override kill(): void {
    super.kill();
    this.#options.books.close(this.account);
  }

  protected override engines(): readonly SimulatedEngine[] {
    const { simulation, books, isCurrent, hashesPerSecond } = this.#options;
    this.#readyMs = Number.NEGATIVE_INFINITY;
    const engine = new SimulatedEngine(this.process, hashesPerSecond, this.random);
    const { account } = this;
    engine.onFound = (header, job) => books.candidate(account, header, job);
    engine.onBatch = (job, nonces, beganMs) => {
      this.lastBatchMs = simulation.time.nowMs;
      if (!isCurrent(job, nonces, beganMs)) return;
      this.lastCurrentMs = simulation.time.nowMs;
    };
    this.engine = engine;
    return [engine];
  }

  protected override sidecars(): readonly Sidecar[] {
    const { pausedBy } = this;
    const userPauses: Sidecar = async ({ controls }) => {
      this.#controls = controls;
      // A pause by the user ends with the process. The other ones last.
      if (pausedBy === 'user') this.pause(undefined);
      return () => {};
    };
    const power = async () => (this.pausedBy === 'battery' ? 'battery' : 'mains');
    const watch = { name: 'terminals', idleMs: async () => (this.pausedBy === 'activity' ? 0 : 3_600_000) };
    return [
      userPauses,
      (running) => pauseOnBattery(power, running),
      (running) => pauseWhileUsed([watch], 60_000, running),
    ];
  }

  protected override mayEndWith(code: number): boolean {
    return super.mayEndWith(code) || (this.isParked && (code === EXIT.noDevice || code === EXIT.wrongHashes));
  }

  protected override listen(event: MinerEvent): void {
    this.#options.books.listen(this.account, event);
    if (event.type === 'device') this.#device(event);
  }

  /** A device that fails is opened again after 1, 2, 4, 8 and 16 s, and is parked then. */
  #device({ state, reason }: Extract<MinerEvent, { type: 'device' }>): void {
    const { simulation } = this.#options;
    const nowMs = this.process.clock.monotonicMs();
    simulation.note(`${this.name} is ${state}: ${reason ?? ''}`);
    const wasFrozen = simulation.time.nowMs - this.process.thawedMs < PAUSE_MS;
    if (state === 'ready' && Math.abs(nowMs - (this.#reopensAtMs ?? nowMs)) > 10 && !wasFrozen) {
      simulation.violate(`${this.name} opens its device ${(nowMs - this.#reopensAtMs!).toFixed(0)} ms late`);
    }
    // A pause does not end the time in service, which may begin with one.
    if ((state === 'ready' || state === 'paused') && !Number.isFinite(this.#readyMs)) this.#readyMs = nowMs;
    this.#reopensAtMs = undefined;
    if (state === 'reopening') {
      const isSteady = nowMs - this.#readyMs > (reason?.includes('wrong hashes') ? 3_600_000 : 60_000);
      if (isSteady && this.#readyMs > Number.NEGATIVE_INFINITY) this.#reopenings = 0;
      this.#readyMs = Number.POSITIVE_INFINITY;
      this.#reopensAtMs = nowMs + FIRST_WAIT_MS * 2 ** this.#reopenings++;
      if (this.#reopenings > MOST_REOPENINGS) simulation.violate(`${this.name} opens its device again and again`);
    }
    if (state !== 'parked') return;
    this.isParked = true;
    if (this.#reopenings < MOST_REOPENINGS) simulation.violate(`${this.name} gives its device up: ${reason}`);
  }
}
