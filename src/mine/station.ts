/**
 * One engine's place in the miner: opened, put to each assignment, paused while it is too hot, restarted when its device
 * is lost or computes wrong hashes, and parked when there is no such device or when it keeps failing.
 */

import type { Job } from '../chain/job.ts';
import { DeviceError, type Engine, type EngineInfo, type EngineListener, type SearchReport } from '../engine/engine.ts';
import type { PauseReason } from '../events/controls.ts';
import type { Listener, MinerEvent } from '../events/events.ts';
import { onAbort, pause } from '../system/abort.ts';
import type { Clock } from '../system/clock.ts';
import type { Assignment } from './assignment.ts';
import { Heat, type HeatHooks, type TemperatureLimits } from './heat.ts';
import { Proofs } from './proofs.ts';
import { Restarts } from './restarts.ts';

/**
 * Wrong claims within an hour before a device is restarted. One alone can be a cosmic ray; a device that is really broken
 * makes three at once.
 */
const HARDWARE_ERRORS = 3;
const HARDWARE_ERRORS_WITHIN_MS = 3_600_000;

type DeviceEvent = MinerEvent & { event: 'device' };

interface Search {
  /** Ends it: its assignment is over, or the device is to rest. */
  readonly halt: AbortController;
  readonly done: Promise<void>;
}

export interface StationHooks {
  readonly emit: Listener;
  /** Called for each report, in order, with the assignment's job as the engine was given it. */
  readonly report: (station: Station, assignment: Assignment, job: Job, report: SearchReport) => void;
  /** Called when the engine found no more ranges to take. */
  readonly exhausted: (assignment: Assignment) => void;
}

export interface StationOptions {
  readonly clock: Clock;
  /** When a device is too hot to work, asked at each reading; left out, never. */
  readonly temperatureLimits?: (() => TemperatureLimits | undefined) | undefined;
  /** Before a failed device is first tried again; doubled each time. Left out, a second. */
  readonly restartAfterMs?: number | undefined;
  /** Hashes that a device's first proofs take each, until its rate is known. Left out, good enough for its kind. */
  readonly firstProofDifficulty?: number | undefined;
}

export class Station {
  readonly engine: Engine;
  readonly #hooks: StationHooks;
  #assignment: Assignment | undefined;
  /** Searches that have not ended: usually one, two for a moment when the job changes. */
  readonly #searches = new Set<Search>();
  /** Ends the time in service with a fault. Undefined while out of service. */
  #leave: ((fault: unknown) => void) | undefined;
  /** When wrong claims were made, oldest first. */
  #hardwareErrorsMs: number[] = [];
  readonly #restarts: Restarts;
  /** When it came into service, this time. */
  #readyMs: number | undefined;
  #description: string;
  #bus: Pick<DeviceEvent, 'bus'> = {};
  /** What to tell people of each reason to rest. */
  readonly #pauses = new Map<PauseReason, string>();
  readonly #temperatureLimits: () => TemperatureLimits | undefined;
  readonly #proofs: Proofs;
  readonly #clock: Clock;
  /** Of the last New Cut after which it was seen to search: when that was heard of. */
  #cutMs: number | undefined;

  constructor(engine: Engine, hooks: StationHooks, options: StationOptions) {
    const { clock, temperatureLimits, restartAfterMs, firstProofDifficulty } = options;
    this.engine = engine;
    this.#description = engine.name;
    this.#hooks = hooks;
    this.#temperatureLimits = temperatureLimits ?? (() => undefined);
    this.#restarts = new Restarts(restartAfterMs);
    this.#clock = clock;
    this.#proofs = new Proofs(engine.kind, clock, firstProofDifficulty);
  }

  /** Puts the engine to a new assignment at once, or to none. */
  assign(assignment: Assignment | undefined): void {
    this.#assignment = assignment;
    if (assignment) this.#start(assignment, assignment.cutMs);
  }

  /** Has the device rest for a reason. What it is on is given back. */
  pause(reason: PauseReason, why: string): void {
    if (this.#pauses.get(reason) === why) return;
    this.#pauses.set(reason, why);
    for (const { halt } of this.#searches) halt.abort();
    if (this.#leave) this.#announceReady();
  }

  /** Takes one reason to rest away. */
  resume(reason: PauseReason): void {
    if (!this.#pauses.delete(reason) || !this.#leave) return;
    this.#announceReady();
    if (this.#assignment) this.#start(this.#assignment);
  }

  /** Counts a claim that did not verify. Once out of service, a device's claims count no more. */
  hardwareError(nonce: bigint): void {
    const leave = this.#leave;
    if (!leave) return;
    this.#hooks.emit({ event: 'hardware_error', device: this.engine.name, nonce });
    const nowMs = this.#clock.monotonicMs();
    this.#hardwareErrorsMs = [...this.#hardwareErrorsMs, nowMs].filter((ms) => nowMs - ms < HARDWARE_ERRORS_WITHIN_MS);
    if (this.#hardwareErrorsMs.length < HARDWARE_ERRORS) return;
    this.#leave = undefined;
    const what = `${HARDWARE_ERRORS} nonces that it claimed do not solve: it computes wrong hashes`;
    leave(new DeviceError('wrong hashes', `${what}. Lower its clocks or check its cooling.`));
  }

  /** Keeps the engine in service until `stop`, or until it has to be parked. Never throws. */
  async run(stop: AbortSignal): Promise<void> {
    const stopped = new Promise<void>((resolve) => {
      onAbort(stop, resolve);
    });
    while (!stop.aborted) {
      this.#readyMs = undefined;
      try {
        await this.#serve(stopped);
      } catch (error) {
        const { message: reason, fault } = asDeviceError(error);
        const servedMs = this.#readyMs === undefined ? 0 : this.#clock.monotonicMs() - this.#readyMs;
        const waitMs = this.#restarts.after(fault, servedMs);
        if (waitMs === undefined) {
          const { inARow } = this.#restarts;
          this.#announce('parked', {
            reason: inARow > 0 ? `${reason} (${inARow} restarts did not help)` : reason,
            fault,
          });
          return;
        }
        this.#announce('restarting', { reason, fault });
        await pause(waitMs, stop);
      }
    }
  }

  /** One time in service, from opening to closing: until `stopped` (resolves) or a fault (rejects). */
  async #serve(stopped: Promise<void>): Promise<void> {
    const heat = new Heat(this.#temperatureLimits, this.#heatHooks);
    try {
      // A driver can take a minute to open, or hang: closing below ends that, too.
      const info = await Promise.race([this.engine.open(this.#listener(heat)), stopped]);
      if (!info) return;
      this.#description = describe(info);
      if (info.bus !== undefined) this.#bus = { bus: info.bus };
      this.#restarts.opened();
      this.#readyMs = this.#clock.monotonicMs();
      this.#hardwareErrorsMs = [];
      const left = new Promise<never>((_, reject) => {
        this.#leave = reject;
      });
      this.#announceReady();
      if (this.#assignment) this.#start(this.#assignment);
      await Promise.race([stopped, left]);
    } finally {
      this.#leave = undefined;
      heat.end();
      this.#pauses.delete('temperature');
      // Closing ends searches that would not end by themselves, and the last reports are still heard.
      await Promise.all([this.engine.close(), ...Array.from(this.#searches, ({ done }) => done)]);
    }
  }

  /**
   * Does nothing while out of service, or at rest: what is current then is started later.
   * @param cutMs of the New Cut that this is the answer to; left out of a start that came later
   */
  #start(assignment: Assignment, cutMs?: number): void {
    const { stop } = assignment;
    if (!this.#leave || this.#pauses.size > 0 || stop.aborted) return;
    const halt = new AbortController();
    const release = onAbort(stop, () => halt.abort());
    const done = this.#search(assignment, halt.signal, cutMs)
      .catch((fault) => this.#leave?.(fault))
      .finally(() => {
        release();
        this.#searches.delete(search);
      });
    const search = { halt, done };
    this.#searches.add(search);
  }

  async #search(assignment: Assignment, stop: AbortSignal, cutMs: number | undefined): Promise<void> {
    const { space, difficulty } = assignment;
    const job = this.#proofs.ease(assignment.job);
    for await (const report of this.engine.search(job, space, stop)) {
      const { hashes, beganMs } = report;
      this.#proofs.searched(hashes);
      this.#hooks.emit({ event: 'hashes', device: this.engine.name, hashes, difficulty });
      this.#tellRestart(cutMs, beganMs);
      this.#hooks.report(this, assignment, job, report);
    }
    // A search also ends when the device goes out of service.
    if (!stop.aborted && this.#leave) this.#hooks.exhausted(assignment);
  }

  #tellRestart(cutMs: number | undefined, beganMs: number): void {
    // The search of an earlier cut's work can report after that of a later one's.
    if (cutMs === undefined || cutMs <= (this.#cutMs ?? Number.NEGATIVE_INFINITY)) return;
    this.#cutMs = cutMs;
    this.#hooks.emit({ event: 'restart', device: this.engine.name, ms: Math.max(0, beganMs - cutMs) });
  }

  #listener(heat: Heat): EngineListener {
    const { name: device } = this.engine;
    return {
      progress: (what, done) => this.#hooks.emit({ event: 'progress', device, what, done }),
      telemetry: (telemetry) => {
        this.#hooks.emit({ event: 'telemetry', device, telemetry });
        if (this.#leave) heat.take(telemetry);
      },
      lost: (fault) => this.#leave?.(fault),
    };
  }

  readonly #heatHooks: HeatHooks = {
    tooHot: (why) => this.pause('temperature', why),
    cooledDown: () => this.resume('temperature'),
    silent: (why) => this.#leave?.(new DeviceError('lost', why)),
  };

  #announceReady(): void {
    if (this.#pauses.size === 0) this.#announce('ready');
    else this.#announce('paused', { reason: [...this.#pauses.values()].join('; ') });
  }

  #announce(state: DeviceEvent['state'], why: Pick<DeviceEvent, 'reason' | 'fault'> = {}): void {
    const { name: device, kind } = this.engine;
    this.#hooks.emit({ event: 'device', device, kind, state, description: this.#description, ...this.#bus, ...why });
  }
}

/** Whatever an engine throws that it did not say more about counts as a lost device. */
function asDeviceError(fault: unknown): DeviceError {
  if (fault instanceof DeviceError) return fault;
  return new DeviceError('lost', fault instanceof Error ? fault.message : String(fault), { cause: fault });
}

function describe({ model, kernel, threads, why }: EngineInfo): string {
  const count = threads === undefined ? '' : `, ${threads} ${threads === 1 ? 'thread' : 'threads'}`;
  return `${model}: kernel ${kernel}${count} (${why})`;
}
