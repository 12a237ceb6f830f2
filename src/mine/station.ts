/**
 * One engine's place in the miner: opened, put to each assignment, restarted when its device is lost, and retired when
 * there is no such device, when it keeps being lost, or when it computes wrong hashes.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { DeviceError, type Engine, type EngineInfo, type SearchReport } from '../engine/engine.ts';
import type { Listener, MinerEvent } from '../events/events.ts';
import type { Assignment } from './assignment.ts';

/** A lost device is tried again after 1, 2, 4 … seconds, this often in a row. Good enough: a driver resets in seconds. */
const RESTARTS = 5;
const RESTART_AFTER_MS = 1_000;
/** A device that has worked this long since its restart starts with a clean slate. */
const STEADY_MS = 60_000;
/**
 * Wrong claims within an hour before a device is retired. One alone can be a cosmic ray or a clock a step too high; a
 * device that is really broken makes three at once.
 */
const HARDWARE_ERRORS = 3;
const HARDWARE_ERRORS_WITHIN_MS = 3_600_000;

export interface StationHooks {
  readonly emit: Listener;
  /** Called for each report, in order. */
  readonly report: (station: Station, assignment: Assignment, report: SearchReport) => void;
  /** Called when the engine found no more ranges to take. */
  readonly exhausted: (assignment: Assignment) => void;
}

export class Station {
  readonly engine: Engine;
  readonly #hooks: StationHooks;
  #assignment: Assignment | undefined;
  /** Searches that have not ended: usually one, two for a moment when the job changes. */
  readonly #searches = new Set<Promise<void>>();
  /** Ends the time in service with a fault. Undefined while out of service. */
  #leave: ((fault: unknown) => void) | undefined;
  /** When wrong claims were made, oldest first. */
  #hardwareErrorsMs: number[] = [];
  #wasReady = false;
  #description: string;

  constructor(engine: Engine, hooks: StationHooks) {
    this.engine = engine;
    this.#description = engine.name;
    this.#hooks = hooks;
  }

  /** Puts the engine to a new assignment at once, or to none. */
  assign(assignment: Assignment | undefined): void {
    this.#assignment = assignment;
    if (this.#leave && assignment) this.#start(assignment);
  }

  /** Counts a claim that did not verify. Once out of service, a device's claims count no more. */
  hardwareError(nonce: bigint): void {
    const leave = this.#leave;
    if (!leave) return;
    this.#hooks.emit({ event: 'hardware_error', device: this.engine.name, nonce });
    const nowMs = performance.now();
    this.#hardwareErrorsMs = [...this.#hardwareErrorsMs, nowMs].filter((ms) => nowMs - ms < HARDWARE_ERRORS_WITHIN_MS);
    if (this.#hardwareErrorsMs.length < HARDWARE_ERRORS) return;
    this.#leave = undefined;
    const what = `${HARDWARE_ERRORS} nonces that it claimed do not solve: it computes wrong hashes`;
    leave(new DeviceError('wrong hashes', `${what}. Lower its clocks or check its cooling, then restart.`));
  }

  /** Keeps the engine in service until `stop`, or until it has to be retired. Never throws. */
  async run(stop: AbortSignal): Promise<void> {
    let restarts = 0;
    while (!stop.aborted) {
      const openedAtMs = performance.now();
      try {
        await this.#serve(stop);
      } catch (fault) {
        if (performance.now() - openedAtMs > STEADY_MS) restarts = 0;
        const lost = asDeviceError(fault);
        // A device that has worked is not there for a while when its driver is reset.
        const mayReturn = lost.fault === 'lost' || (lost.fault === 'missing' && this.#wasReady);
        if (!mayReturn || restarts >= RESTARTS) {
          this.#announce('retired', lost);
          return;
        }
        this.#announce('restarting', lost);
        const waitMs = RESTART_AFTER_MS * 2 ** restarts++;
        await sleep(waitMs, undefined, { signal: stop }).catch(() => {});
      }
    }
  }

  /** One time in service, from opening to closing: until `stop` (resolves) or a fault (rejects). */
  async #serve(stop: AbortSignal): Promise<void> {
    const stopped = new Promise<void>((resolve) => {
      if (stop.aborted) resolve();
      stop.addEventListener('abort', () => resolve(), { once: true });
    });
    try {
      // A driver can take a minute to open, or hang: closing below ends that, too.
      const info = await Promise.race([this.engine.open(), stopped]);
      if (!info || stop.aborted) return;
      this.#description = describe(info);
      this.#wasReady = true;
      this.#announce('ready');
      const left = new Promise<never>((_, reject) => {
        this.#leave = reject;
      });
      if (this.#assignment) this.#start(this.#assignment);
      await Promise.race([stopped, left]);
      await Promise.all(this.#searches);
    } finally {
      this.#leave = undefined;
      await this.engine.close();
    }
  }

  #start(assignment: Assignment): void {
    const search = this.#search(assignment)
      .catch((fault) => this.#leave?.(fault))
      .finally(() => this.#searches.delete(search));
    this.#searches.add(search);
  }

  async #search(assignment: Assignment): Promise<void> {
    const { job, space, stop } = assignment;
    if (stop.aborted) return;
    for await (const report of this.engine.search(job, space, stop)) {
      this.#hooks.emit({ event: 'hashes', device: this.engine.name, hashes: report.hashes });
      this.#hooks.report(this, assignment, report);
    }
    if (!stop.aborted) this.#hooks.exhausted(assignment);
  }

  #announce(state: (MinerEvent & { event: 'device' })['state'], error?: DeviceError): void {
    const { name: device, kind } = this.engine;
    const why = error && { reason: error.message, fault: error.fault };
    this.#hooks.emit({ event: 'device', device, kind, state, description: this.#description, ...why });
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
