/**
 * Supervises one engine: opens the engine, starts its searches, verifies its candidates and pauses it. When the
 * engine's device is lost or computes wrong hashes, the supervisor reopens the engine. When the device does not exist
 * or keeps failing, the supervisor parks the engine.
 */

import { onAbort, pause, settledWithin } from '../../base/system/abort.ts';
import type { Clock } from '../../base/system/clock.ts';
import { plural } from '../../base/text/quantities.ts';
import { type Job, withSearchTarget } from '../../protocol/chain/job.ts';
import { difficultyOf } from '../../protocol/chain/target.ts';
import { type Solution, verify } from '../../protocol/chain/verify.ts';
import {
  type Candidate,
  DeviceError,
  type Engine,
  type EngineInfo,
  type EngineListener,
  type SearchReport,
} from '../engine/engine.ts';
import type { Listener, MinerEvent, PauseReason } from '../events/events.ts';
import { Proofs } from './proofs.ts';
import { ReopenPolicy } from './reopen-policy.ts';
import type { Assignment } from './space.ts';
import { type LimitsOf, ThermalGuard, type ThermalHooks } from './thermal-guard.ts';

/**
 * Number of wrong candidates within an hour after which the device is reopened. A cosmic ray can cause a single wrong
 * candidate; a broken device soon reports three.
 */
const MOST_HARDWARE_ERRORS = 3;
const HARDWARE_ERRORS_WITHIN_MS = 3_600_000;

/**
 * Time within which an engine must close and end its searches. The process of a GPU is killed long before this time is
 * over.
 */
const MOST_CLOSE_MS = 30_000;

type DeviceEvent = MinerEvent & { type: 'device' };

interface RunningSearch {
  /**
   * Aborted to end the search: when the assignment has ended, when the device is paused or taken out of service, and
   * when another search replaces this search because the difficulty of proofs has changed.
   */
  readonly halt: AbortController;
  readonly assignment: Assignment;
  /** The assignment's job, with the search target that the engine gets. */
  readonly job: Job;
  /** Number of hashes that each proof required when the search began. */
  readonly proofDifficulty: number;
}

interface SupervisorHooks {
  readonly emit: Listener;
  readonly solved: (solution: Solution, device: string) => void;
  /** Called when the engine's search has ended because the assignment's space is used up. */
  readonly exhausted: (assignment: Assignment) => void;
}

export interface SupervisorOptions {
  readonly clock: Clock;
  /**
   * Returns a device's present temperature limits. Called at each reading of a temperature. By default there are no
   * limits.
   */
  readonly temperatureLimits?: LimitsOf | undefined;
  /**
   * Wait before the first attempt to reopen a failed device, in ms. Each further wait in a row is twice as long as the
   * one before. The default is one second.
   */
  readonly reopenAfterMs?: number | undefined;
  /**
   * Number of hashes that each proof requires until a device's rate has been measured. The default depends on the
   * device's kind.
   */
  readonly firstProofDifficulty?: number | undefined;
}

export class EngineSupervisor {
  readonly engine: Engine;
  readonly #hooks: SupervisorHooks;
  readonly #clock: Clock;
  readonly #temperatureLimits: LimitsOf;
  readonly #proofs: Proofs;
  readonly #reopenPolicy: ReopenPolicy;
  #assignment: Assignment | undefined;
  /**
   * Searches that have not ended, each with a promise that settles when the search ends. There is at most one search,
   * except that an old search may still be ending when the next one has begun.
   */
  readonly #searches = new Map<RunningSearch, Promise<void>>();
  /** Whether the engine failed to close or to end its searches in time. If so, its later reports are dropped. */
  #isStuck = false;
  /** Takes the engine out of service because of a fault. Undefined while the engine is out of service. */
  #leave: ((fault: unknown) => void) | undefined;
  /** Time at which the engine came into service (monotonic, ms); ∞ if the present attempt has not opened the engine. */
  #readyMs = Number.POSITIVE_INFINITY;
  /** Times of the latest wrong candidates (monotonic, ms), oldest first. */
  #hardwareErrorsMs: number[] = [];
  #description: string;
  #facts: Pick<DeviceEvent, 'model' | 'kernel' | 'cores' | 'bus'> = {};
  #detail: Pick<DeviceEvent, 'detail'> = {};
  /** The reasons for which the device is paused, each with a clause for people. */
  readonly #pauses = new Map<PauseReason, string>();
  /** Time of the last New Cut for which a `job-switch` event was emitted (monotonic, ms); −∞ before the first. */
  #switchedCutMs = Number.NEGATIVE_INFINITY;

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

  /**
   * Starts the search of a new assignment at once if the engine is in service and not paused. Does not end the previous
   * assignment: that is the caller's task.
   */
  assign(assignment: Assignment | undefined): void {
    this.#assignment = assignment;
    if (assignment) this.#start(assignment, assignment.cutMs);
  }

  /**
   * Restarts the current search if the difficulty of the device's proofs has changed. Without a restart, the new
   * difficulty would apply only from the next job on. A node's work gets a new job every few seconds, but a job of a
   * pool can last for minutes.
   */
  adjustProofs(): void {
    this.#proofs.learn();
    const running = [...this.#searches.keys()].find(({ halt }) => !halt.signal.aborted);
    if (!running || running.proofDifficulty === this.#proofs.difficulty) return;
    this.#start(running.assignment);
    running.halt.abort();
  }

  /**
   * Pauses the device for a reason. Its searches end, and the engine gives back the ranges that it has not searched.
   */
  pause(reason: PauseReason, why: string): void {
    if (this.#pauses.get(reason) === why) return;
    this.#pauses.set(reason, why);
    for (const { halt } of this.#searches.keys()) halt.abort();
    if (this.#leave) this.#announceReady();
  }

  /** Removes one reason for the pause. Without any other reason, the device resumes. */
  resume(reason: PauseReason): void {
    if (!this.#pauses.delete(reason) || !this.#leave) return;
    this.#announceReady();
    if (this.#assignment) this.#start(this.#assignment);
  }

  /** Keeps the engine in service until `stop` is aborted or the engine is parked. Never throws. */
  async run(stop: AbortSignal): Promise<void> {
    const stopped = new Promise<void>((resolve) => {
      onAbort(stop, resolve);
    });
    while (!stop.aborted) {
      this.#readyMs = Number.POSITIVE_INFINITY;
      try {
        await this.#serve(stopped);
      } catch (error) {
        const { message: reason, fault } = asDeviceError(error);
        if (this.#isStuck) {
          const what = `it did not end within ${MOST_CLOSE_MS / 1000} seconds, so it cannot be opened again`;
          this.#announce('parked', { reason: `${reason} (${what})`, fault });
          return;
        }
        const waitMs = this.#reopenPolicy.waitAfter(fault, this.#clock.monotonicMs() - this.#readyMs);
        if (waitMs === undefined) {
          const { inARow } = this.#reopenPolicy;
          this.#announce('parked', {
            reason: inARow > 0 ? `${reason} (${plural(inARow, 'attempt')} to reopen it did not help)` : reason,
            fault,
          });
          return;
        }
        this.#announce('reopening', { reason, fault });
        await pause(this.#clock, waitMs, stop);
      }
    }
  }

  /**
   * Opens the engine, keeps it in service until `stopped` resolves or a fault occurs, and closes it.
   * @throws the fault
   */
  async #serve(stopped: Promise<void>): Promise<void> {
    const thermalGuard = new ThermalGuard(
      this.#clock,
      () => this.#temperatureLimits(this.engine.kind, this.engine.name),
      this.#thermalHooks,
    );
    try {
      // Opening can take a minute, or hang in a driver. When `stopped` resolves, `#close` below ends the opening.
      const info = await Promise.race([this.engine.open(this.#listener(thermalGuard)), stopped]);
      if (!info) return;
      this.#learn(info);
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
      await this.#close();
    }
  }

  /** Closes the engine and waits until its searches have ended. Reports that come meanwhile still count. */
  async #close(): Promise<void> {
    // These signals end the searches even if the engine's `close` fails to end them.
    for (const { halt } of this.#searches.keys()) halt.abort();
    const closing = Promise.all([this.engine.close(), ...this.#searches.values()]);
    if (await settledWithin(this.#clock, closing, MOST_CLOSE_MS)) return;
    this.#isStuck = true;
  }

  #learn(info: EngineInfo): void {
    const { model, kernel, cores, bus, detail } = info;
    this.#description = describe(info);
    this.#detail = detail === undefined ? {} : { detail };
    this.#facts = { model, kernel, ...(cores && { cores }), ...(bus !== undefined && { bus }) };
  }

  /**
   * Starts the search of an assignment. Does nothing while the engine is out of service or paused. When the engine is
   * ready again, it starts to search the assignment that is current by then.
   * @param cutMs the assignment's `cutMs` if the assignment is new; undefined if the search starts because the engine
   *   has become ready, the device resumes, or the difficulty of proofs has changed
   */
  #start(assignment: Assignment, cutMs?: number): void {
    const { stop } = assignment;
    if (!this.#leave || this.#pauses.size > 0 || stop.aborted) return;
    const halt = new AbortController();
    const release = onAbort(stop, () => halt.abort());
    const job = withSearchTarget(assignment.job, this.#proofs.targetFor(assignment.job.work));
    // The difficulty is read after `targetFor`, which may have changed it.
    const search = { halt, assignment, job, proofDifficulty: this.#proofs.difficulty };
    const done = this.#search(search, cutMs)
      .catch((fault) => this.#leave?.(fault))
      .finally(() => {
        release();
        this.#searches.delete(search);
      });
    this.#searches.set(search, done);
  }

  async #search(search: RunningSearch, cutMs: number | undefined): Promise<void> {
    const { assignment, job, halt } = search;
    for await (const report of this.engine.search(job, assignment.space, halt.signal)) {
      if (this.#isStuck) return;
      this.#take(report, search, cutMs);
    }
    // A search that ended because it was halted, or because the device was taken out of service, has not used up the
    // space.
    if (!halt.signal.aborted && this.#leave) this.#hooks.exhausted(assignment);
  }

  /** Counts a report's hashes and verifies its candidates. */
  #take(report: SearchReport, search: RunningSearch, cutMs: number | undefined): void {
    const { hashes, beganMs, candidates } = report;
    const { difficulty } = search.assignment;
    this.#proofs.searched(hashes);
    this.#hooks.emit({ type: 'hashes', device: this.engine.name, hashes, difficulty });
    this.#reportSwitch(cutMs, beganMs);
    for (const candidate of candidates) this.#verify(candidate, search);
  }

  #verify(candidate: Candidate, { assignment, job }: RunningSearch): void {
    const { proves, powHash, solution } = verify(job, candidate);
    if (!proves) this.#hardwareError(candidate);
    if (!proves || !assignment.addCandidate(candidate)) return;
    const { name: device } = this.engine;
    const hashes = difficultyOf(job.searchTarget);
    this.#hooks.emit({ type: 'proof', device, hashes, difficulty: difficultyOf(powHash) });
    if (solution) this.#hooks.solved(solution, device);
  }

  /**
   * Counts a wrong candidate. The third within an hour takes the device out of service. A wrong candidate of a device
   * that is already out of service does not count.
   */
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

  #reportSwitch(cutMs: number | undefined, beganMs: number): void {
    // The search after an earlier New Cut can send a report later than the search after a later New Cut. Only the later
    // New Cut is reported then.
    if (cutMs === undefined || cutMs <= this.#switchedCutMs) return;
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
      changed: (info) => {
        this.#learn(info);
        if (this.#leave) this.#announceReady();
      },
      lost: (fault) => this.#leave?.(fault),
    };
  }

  readonly #thermalHooks: ThermalHooks = {
    tooHot: (why) => this.pause('temperature', why),
    cooledDown: () => this.resume('temperature'),
    sensorLost: (why) => this.#leave?.(new DeviceError('lost', why)),
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

/** Turns anything that an engine has thrown into a `DeviceError`. Other errors become the fault `lost`. */
function asDeviceError(fault: unknown): DeviceError {
  if (fault instanceof DeviceError) return fault;
  return new DeviceError('lost', fault instanceof Error ? fault.message : String(fault), { cause: fault });
}

function describe({ model, kernel, threads, why }: EngineInfo): string {
  const count = threads === undefined ? '' : `, ${plural(threads, 'thread')}`;
  // For a GPU, `why` begins with the names of the kernel and of its variant, so the kernel's name is not added.
  return `${model}: kernel ${why.startsWith(kernel) ? why : `${kernel}${count} (${why})`}`;
}
