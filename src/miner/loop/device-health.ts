/**
 * The health of a device: proofs of its hashes, reopening after faults, and temperature limits. Each device searches
 * for its own target, so easy that it should find a few candidates per second. A verified candidate proves, on average,
 * as many hashes as that target requires, so a device that skips nonces, computes wrong hashes or reports too many
 * hashes falls short within minutes.
 */

import type { Clock } from '../../base/system/clock.ts';
import { type Job, withSearchTarget } from '../../protocol/chain/job.ts';
import { difficultyOf, targetForDifficulty } from '../../protocol/chain/target.ts';
import type { DeviceKind, Telemetry } from '../engine/device.ts';
import type { DeviceError } from '../engine/engine.ts';

/** The proven hashrate is known to ±14 % after a minute and ±4 % after 15. A proof costs two processes 0.1 ms. */
const PROOFS_PER_SECOND = 4;
/** Number of hashes that a proof requires until the device's rate is known. */
const FIRST_DIFFICULTY = { cpu: 2 ** 24, gpu: 2 ** 28 } as const;
/** Minimum time over which a rate is measured before the difficulty is adjusted to it. */
const LEARN_MS = 1_000;
/**
 * Maximum ratio of a device's solutions to its proofs: 64 to 144 solutions a second, because the difficulty of proofs
 * is a power of two. A pool's first target can be so easy that a GPU would find millions per second, and a pool adjusts
 * it only after a few dozen. A solution costs the main thread less than a millisecond.
 */
const MOST_SOLUTIONS_PER_PROOF = 24;

export class Proofs {
  readonly #clock: Clock;
  #difficulty: number;
  /** Hashes since the difficulty was last adjusted. */
  #hashes = 0;
  #sinceMs: number;

  /** @param firstDifficulty number of hashes of each of the first proofs; the default depends on the device's kind */
  constructor(kind: keyof typeof FIRST_DIFFICULTY, clock: Clock, firstDifficulty?: number) {
    this.#clock = clock;
    this.#difficulty = firstDifficulty ?? FIRST_DIFFICULTY[kind];
    this.#sinceMs = clock.monotonicMs();
  }

  searched(hashes: number): void {
    this.#hashes += hashes;
  }

  /** Number of hashes that each proof requires. It changes by powers of two, so that few changes are needed. */
  get difficulty(): number {
    return this.#difficulty;
  }

  /**
   * @returns the job with the device's own target if the work's is harder. If the work takes many solutions and is very
   * easy, the target is harder than the work's, so that solutions do not flood the host; the block's target does not
   * matter then, because no network has blocks that easy. Otherwise the job itself
   */
  aim(job: Job): Job {
    this.learn();
    const { target, until } = job.work;
    const difficulty = difficultyOf(target);
    if (difficulty > this.#difficulty) return withSearchTarget(job, targetForDifficulty(this.#difficulty));
    const flood = this.#difficulty / MOST_SOLUTIONS_PER_PROOF;
    return until === 'solved' || difficulty >= flood ? job : withSearchTarget(job, targetForDifficulty(flood));
  }

  /**
   * Adjusts the difficulty to the rate since the last adjustment. It rises at once, since a device that is faster than
   * expected floods its host. It falls by one step at most, because a device that was paused only seems slow.
   */
  learn(): void {
    const nowMs = this.#clock.monotonicMs();
    const ms = nowMs - this.#sinceMs;
    if (ms < LEARN_MS || this.#hashes === 0) return;
    const wanted = (1000 * this.#hashes) / ms / PROOFS_PER_SECOND;
    if (wanted < this.#difficulty / 1.5) this.#difficulty = Math.max(1, this.#difficulty / 2);
    while (wanted > 1.5 * this.#difficulty) this.#difficulty *= 2;
    this.#hashes = 0;
    this.#sinceMs = nowMs;
  }
}

/* Reopening and parking of failed devices. */

/** Five attempts take half a minute with the doubling waits. A driver resets a card within seconds. */
const MOST_IN_A_ROW = 5;
/** The wait before the first attempt. Each further wait is twice as long. */
const FIRST_WAIT_MS = 1_000;
/** After this time in service, earlier failures no longer count. */
const STEADY_MS = 60_000;
/** Wrong hashes come from heat or overclocking and can take a while to reappear, so a clean hour is required. */
const STEADY_AFTER_WRONG_HASHES_MS = 3_600_000;

export class ReopenPolicy {
  readonly #firstWaitMs: number;
  #inARow = 0;
  #hasOpened = false;

  constructor(firstWaitMs = FIRST_WAIT_MS) {
    this.#firstWaitMs = firstWaitMs;
  }

  /** Number of attempts since the device was last in service for long enough. */
  get inARow(): number {
    return this.#inARow;
  }

  opened(): void {
    this.#hasOpened = true;
  }

  /** @param servedMs 0 when the device did not open @returns ms to wait before reopening; undefined to park it */
  waitAfter(fault: DeviceError['fault'], servedMs: number): number | undefined {
    if (servedMs > (fault === 'wrong-hashes' ? STEADY_AFTER_WRONG_HASHES_MS : STEADY_MS)) this.#inARow = 0;
    // A device can be missing while its driver resets, but one that has never opened stays missing.
    const mayReturn = fault !== 'missing' || this.#hasOpened;
    if (!mayReturn || this.#inARow >= MOST_IN_A_ROW) return undefined;
    return this.#firstWaitMs * 2 ** this.#inARow++;
  }
}

/* Temperature limits. There are two, so that a device does not pause and resume all the time. */

export interface TemperatureLimits {
  readonly stopCelsius: number;
  /** Below `stopCelsius`. */
  readonly resumeCelsius: number;
}

/** Returns the present limits of a device, by its kind and its name; undefined when there are none. */
export type LimitsOf = (kind: DeviceKind, name: string) => TemperatureLimits | undefined;

const NO_LIMITS: TemperatureLimits = { stopCelsius: Number.POSITIVE_INFINITY, resumeCelsius: Number.POSITIVE_INFINITY };

/**
 * A paused device whose sensor goes silent would never resume. Silence is counted in ticks, so that time during which
 * the process is suspended (Ctrl-Z) does not count.
 */
const TICK_MS = 10_000;
const SILENT_TICKS = 6;

export interface ThermalHooks {
  readonly tooHot: (why: string) => void;
  readonly cooledDown: () => void;
  /** Called when the sensors of a paused device have gone silent. */
  readonly silent: (why: string) => void;
}

export class ThermalGuard {
  readonly #limits: () => TemperatureLimits | undefined;
  readonly #hooks: ThermalHooks;
  /** The sensor of the first reading. The hotspot, which some cards report alone, is warmer than the edge. */
  #sensor: 'temperatureCelsius' | 'hotspotCelsius' | undefined;
  /** Runs while the device is paused. */
  #ticking: NodeJS.Timeout | undefined;
  /** Number of ticks since the last reading of the temperature. */
  #ticks = 0;

  constructor(limits: () => TemperatureLimits | undefined, hooks: ThermalHooks) {
    this.#limits = limits;
    this.#hooks = hooks;
  }

  take(telemetry: Telemetry): void {
    this.#sensor ??= (['temperatureCelsius', 'hotspotCelsius'] as const).find(
      (sensor) => telemetry[sensor] !== undefined,
    );
    const temperatureCelsius = this.#sensor && telemetry[this.#sensor];
    if (temperatureCelsius === undefined) return;
    // A paused device resumes when its limits are removed.
    const { stopCelsius, resumeCelsius } = this.#limits() ?? NO_LIMITS;
    this.#ticks = 0;
    this.#ticking?.refresh();
    if (!this.#ticking && temperatureCelsius >= stopCelsius) {
      this.#ticking = setInterval(() => this.#tick(), TICK_MS);
      this.#hooks.tooHot(`its temperature is ${temperatureCelsius} °C; it resumes at ${resumeCelsius} °C`);
    } else if (this.#ticking && temperatureCelsius <= resumeCelsius) {
      this.end();
      this.#hooks.cooledDown();
    }
  }

  /** Must be called when the device goes out of service. */
  end(): void {
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }

  #tick(): void {
    this.#ticks++;
    if (this.#ticks !== SILENT_TICKS) return;
    const seconds = (SILENT_TICKS * TICK_MS) / 1000;
    this.#hooks.silent(`it was paused because it was too hot, and its sensors have reported nothing for ${seconds} s`);
  }
}
