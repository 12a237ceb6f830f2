/**
 * Looks after one engine: opens it, has it search each assignment, judges what it reports, pauses it while it is too hot,
 * opens it again when its device is lost or computes wrong hashes, and parks it when there is no such device or when it
 * keeps failing.
 */

import type { Job } from '../chain/job.ts';
import { difficultyOf } from '../chain/target.ts';
import { type Solution, verify } from '../chain/verify.ts';
import {
  type Candidate,
  DeviceError,
  type Engine,
  type EngineInfo,
  type EngineListener,
  type SearchReport,
} from '../engine/engine.ts';
import type { PauseReason } from '../events/controls.ts';
import type { Listener, MinerEvent } from '../events/events.ts';
import { onAbort, pause } from '../system/abort.ts';
import type { Clock } from '../system/clock.ts';
import type { Assignment } from './assignment.ts';
import { Proofs } from './proofs.ts';
import { ReopenPolicy } from './reopen-policy.ts';
import { type TemperatureLimits, ThermalGuard, type ThermalHooks } from './thermal-guard.ts';

/**
 * Wrong candidates within an hour before the device is opened again. One alone can be a cosmic ray; a device that is
 * really broken reports three at once.
 */
const MOST_HARDWARE_ERRORS = 3;
const HARDWARE_ERRORS_WITHIN_MS = 3_600_000;

type DeviceEvent = MinerEvent & { type: 'device' };

interface RunningSearch {
  /** Ends the search: its assignment is over, or the device is to rest. */
  readonly halt: AbortController;
  readonly done: Promise<void>;
}

export interface SupervisorHooks {
  readonly emit: Listener;
  /** Called for each solution that the device has found. */
  readonly solved: (solution: Solution, device: string) => void;
  /** Called when the engine found no more ranges to take. */
  readonly exhausted: (assignment: Assignment) => void;
}

export interface SupervisorOptions {
  readonly clock: Clock;
  /** The temperatures at which a device is paused and resumed, asked at each reading. Without it there are none. */
  readonly temperatureLimits?: (() => TemperatureLimits | undefined) | undefined;
  /** Milliseconds before a failed device is first opened again, doubled each time. The default is a second. */
  readonly reopenAfterMs?: number | undefined;
  /** Hashes that each of a device's first proofs takes, until its rate is known. The default suits its kind. */
  readonly firstProofDifficulty?: number | undefined;
}

export class EngineSupervisor {
  readonly engine: Engine;
  readonly #hooks: SupervisorHooks;
  readonly #clock: Clock;
  readonly #temperatureLimits: () => TemperatureLimits | undefined;
  readonly #proofs: Proofs;
  readonly #reopenPolicy: ReopenPolicy;
  #assignment: Assignment | undefined;
  /** Searches that have not ended: usually one, two for a moment when the job changes. */
  readonly #searches = new Set<RunningSearch>();
  /** Ends the time in service with a fault. Undefined while out of service. */
  #leave: ((fault: unknown) => void) | undefined;
  /** When the engine last came into service. */
  #readyMs: number | undefined;
  /** When wrong candidates were reported, oldest first. */
  #hardwareErrorsMs: number[] = [];
  #description: string;
  #facts: Pick<DeviceEvent, 'model' | 'kernel' | 'bus'> = {};
  #detail: Pick<DeviceEvent, 'detail'> = {};
  /** Each reason to rest, with what people are told of it. */
  readonly #pauses = new Map<PauseReason, string>();
  /** Time of the last New Cut whose job switch was reported. */
  #switchedCutMs: number | undefined;

  constructor(engine: Engine, hooks: SupervisorHooks, options: SupervisorOptions) {
    const { clock, temperatureLimits, reopenAfterMs, firstProofDifficulty } = options;
    this.engine = engine;
    this.#description = engine.name;
    this.#hooks = hooks;
    this.#clock = clock;
    this.#temperatureLimits = temperatureLimits ?? (() => undefined);
    this.#proofs = new Proofs(engine.kind, clock, firstProofDifficulty);
    this.#reopenPolicy = new ReopenPolicy(reopenAfterMs);
  }

  /** Puts the engine to a new assignment at once, or to none. */
  assign(assignment: Assignment | undefined): void {
    this.#assignment = assignment;
    if (assignment) this.#start(assignment, assignment.cutMs);
  }

  /** Has the device rest for a reason. What it searches is given back. */
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
        const waitMs = this.#reopenPolicy.waitAfter(fault, servedMs);
        if (waitMs === undefined) {
          const { inARow } = this.#reopenPolicy;
          this.#announce('parked', {
            reason: inARow > 0 ? `${reason} (${attempts(inARow)} to reopen it did not help)` : reason,
            fault,
          });
          return;
        }
        this.#announce('reopening', { reason, fault });
        await pause(waitMs, stop);
      }
    }
  }

  /** One time in service, from opening to closing: until `stopped` (resolves) or a fault (rejects). */
  async #serve(stopped: Promise<void>): Promise<void> {
    const thermalGuard = new ThermalGuard(this.#temperatureLimits, this.#thermalHooks);
    try {
      // A driver can take a minute to open, or hang: closing below ends that, too.
      const info = await Promise.race([this.engine.open(this.#listener(thermalGuard)), stopped]);
      if (!info) return;
      this.#description = describe(info);
      const { model, kernel, bus, detail } = info;
      this.#detail = detail === undefined ? {} : { detail };
      this.#facts = { model, kernel, ...(bus !== undefined && { bus }) };
      this.#reopenPolicy.opened();
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
      thermalGuard.end();
      this.#pauses.delete('temperature');
      // Closing ends searches that would not end by themselves, and the last reports are still heard.
      await Promise.all([this.engine.close(), ...Array.from(this.#searches, ({ done }) => done)]);
    }
  }

  /**
   * Does nothing while the engine is out of service or paused: the assignment of that time is started later.
   * @param cutMs when the New Cut was heard of that this assignment answers; undefined for a start that came later
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
    const job = this.#proofs.ease(assignment.job);
    for await (const report of this.engine.search(job, assignment.space, stop))
      this.#take(report, assignment, job, cutMs);
    // A search also ends when the device goes out of service.
    if (!stop.aborted && this.#leave) this.#hooks.exhausted(assignment);
  }

  /** @param job the assignment's, as the engine was given it */
  #take(report: SearchReport, assignment: Assignment, job: Job, cutMs: number | undefined): void {
    const { hashes, beganMs, candidates } = report;
    this.#proofs.searched(hashes);
    this.#hooks.emit({ type: 'hashes', device: this.engine.name, hashes, difficulty: assignment.difficulty });
    this.#tellSwitch(cutMs, beganMs);
    for (const candidate of candidates) this.#verify(candidate, assignment, job);
  }

  /** Nothing that an engine reports is believed before the referee has seen it. */
  #verify(candidate: Candidate, assignment: Assignment, job: Job): void {
    const { proves, powHash, solution } = verify(job, candidate);
    if (!proves) this.#hardwareError(candidate);
    if (!proves || !assignment.addCandidate(candidate)) return;
    const { name: device } = this.engine;
    const hashes = difficultyOf(job.searchTarget);
    this.#hooks.emit({ type: 'proof', device, hashes, difficulty: difficultyOf(powHash) });
    if (solution) this.#hooks.solved(solution, device);
  }

  /** Counts a candidate that is none. Once the device is out of service, what it reports counts no more. */
  #hardwareError(nonce: Candidate): void {
    const leave = this.#leave;
    if (!leave) return;
    this.#hooks.emit({ type: 'hardware-error', device: this.engine.name, nonce });
    const nowMs = this.#clock.monotonicMs();
    this.#hardwareErrorsMs = [...this.#hardwareErrorsMs, nowMs].filter((ms) => nowMs - ms < HARDWARE_ERRORS_WITHIN_MS);
    if (this.#hardwareErrorsMs.length < MOST_HARDWARE_ERRORS) return;
    this.#leave = undefined;
    const what = `${MOST_HARDWARE_ERRORS} candidates that it reported are wrong: it computes wrong hashes`;
    leave(new DeviceError('wrong-hashes', `${what}. Lower its clocks or check its cooling.`));
  }

  #tellSwitch(cutMs: number | undefined, beganMs: number): void {
    // The search of an earlier cut's work can report after that of a later one's.
    if (cutMs === undefined || cutMs <= (this.#switchedCutMs ?? Number.NEGATIVE_INFINITY)) return;
    this.#switchedCutMs = cutMs;
    const switchSeconds = Math.max(0, beganMs - cutMs) / 1000;
    this.#hooks.emit({ type: 'job-switch', device: this.engine.name, switchSeconds });
  }

  #listener(thermalGuard: ThermalGuard): EngineListener {
    const { name: device } = this.engine;
    return {
      progress: (what, done) => this.#hooks.emit({ type: 'progress', device, what, done }),
      telemetry: (telemetry) => {
        this.#hooks.emit({ type: 'telemetry', device, telemetry });
        if (this.#leave) thermalGuard.take(telemetry);
      },
      lost: (fault) => this.#leave?.(fault),
    };
  }

  readonly #thermalHooks: ThermalHooks = {
    tooHot: (why) => this.pause('temperature', why),
    cooledDown: () => this.resume('temperature'),
    silent: (why) => this.#leave?.(new DeviceError('lost', why)),
  };

  #announceReady(): void {
    if (this.#pauses.size === 0) this.#announce('ready', this.#detail);
    else this.#announce('paused', { reason: [...this.#pauses.values()].join('; ') });
  }

  #announce(state: DeviceEvent['state'], why: Pick<DeviceEvent, 'reason' | 'fault' | 'detail'> = {}): void {
    const { name: device, kind } = this.engine;
    this.#hooks.emit({ type: 'device', device, kind, state, description: this.#description, ...this.#facts, ...why });
  }
}

/** Takes whatever an engine throws that says no more as a lost device. */
function asDeviceError(fault: unknown): DeviceError {
  if (fault instanceof DeviceError) return fault;
  return new DeviceError('lost', fault instanceof Error ? fault.message : String(fault), { cause: fault });
}

function attempts(count: number): string {
  return `${count} ${count === 1 ? 'attempt' : 'attempts'}`;
}

function describe({ model, kernel, threads, why }: EngineInfo): string {
  const count = threads === undefined ? '' : `, ${threads} ${threads === 1 ? 'thread' : 'threads'}`;
  return `${model}: kernel ${kernel}${count} (${why})`;
}
