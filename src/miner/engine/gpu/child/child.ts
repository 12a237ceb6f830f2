/** A GPU's child process. It owns Dawn's objects, and ends when the parent closes the IPC channel or ends. */

import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../../base/system/clock.ts';
import type { Telemetry } from '../../device.ts';
import { DeviceError } from '../../engine.ts';
import { READ_MS, type Sensors } from '../../sensors.ts';
import { openSensors } from '../gpu-sensors.ts';
import { likelyVariant } from '../likely-variant.ts';
import { type OpenMessage, type ToChild, type ToParent, toChild } from '../protocol.ts';
import { nameOf } from '../tuning.ts';
import { isSoftware, listAdapters, loadDawn, modelOf, openAdapter, openDevice } from './gpu-device.ts';
import { Reports, Searcher, type SearcherOptions } from './searcher.ts';
import { selfTest, spotCheck } from './self-test.ts';
import { type Tuned, tunedScanner } from './tuned-scanner.ts';

/**
 * Minimum time between two checks against known hits, in ms. A check takes about a millisecond of the GPU's time.
 * Without checks, a GPU that finds nothing could go unnoticed for hours.
 */
const CHECK_EVERY_MS = 60_000;

/** Time to wait for the driver's reason for the loss of the device, in ms. The exact value does not matter. */
const REASON_MS = 1_000;

/** The parts of the child that tests replace, to simulate a faulty child. */
interface ChildParts {
  readonly openDevice: typeof openDevice;
  readonly selfTest: typeof selfTest;
  readonly spotCheck: typeof spotCheck;
  readonly createSearcher: (options: SearcherOptions) => Searcher;
  /** @param sent called when the message was sent, or could not be sent */
  readonly send: (message: ToParent, sent?: () => void) => void;
}

export const CHILD_PARTS: ChildParts = {
  openDevice,
  selfTest,
  spotCheck,
  createSearcher: (options) => new Searcher(options),
  send: (message, sent) => {
    // Sending fails only if the parent has ended. The event 'disconnect' reports that.
    process.send?.(message, undefined, undefined, () => sent?.());
  },
};

/** Makes this process handle the messages of its parent. Must be called only once. */
export function startChild(parts: ChildParts = CHILD_PARTS): void {
  const child = new Child(parts);
  // A terminal sends its signals to the child, too. The child ignores them, because the parent handles them and closes
  // the channel.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'] as const) process.on(signal, () => {});
  process.on('disconnect', () => child.leave());
  process.on('uncaughtException', (error) => child.fail(error));
  process.on('message', (message) => {
    child.handle(toChild.parse(message)).catch((error) => child.fail(error));
  });
}

class Child {
  readonly #parts: ChildParts;
  /**
   * References to Dawn's own object and the device. They are kept because the process crashes when Dawn's object is
   * garbage-collected.
   */
  #kept: { readonly dawn: unknown; readonly device: GPUDevice } | undefined;
  #searcher: Searcher | undefined;

  constructor(parts: ChildParts) {
    this.#parts = parts;
  }

  async handle(message: ToChild): Promise<void> {
    switch (message.type) {
      case 'list':
        return this.#parts.send({ type: 'listed', adapters: await listAdapters() });
      case 'open':
        return this.#parts.send({ type: 'opened', ...(await this.#open(message)) });
      case 'search':
        return this.#searcher?.begin(message.search, message);
      case 'range':
        return this.#searcher?.add(message.search, message.range);
      case 'stop':
        return this.#searcher?.stop(message.search);
    }
  }

  async #open(wanted: OpenMessage) {
    const { send, openDevice, selfTest, spotCheck, createSearcher } = this.#parts;
    const { dawn, adapter } = await openAdapter(await loadDawn(), wanted.adapter);
    const driver = modelOf(adapter);
    const model = wanted.adapter ?? driver;
    if (isSoftware(adapter) && !wanted.softwareGpu) {
      const remedy = 'use the CPU engine, or allow it with --software-gpu';
      throw new DeviceError(
        'missing',
        `the GPU is software that runs on the CPU (${model}), slower than the CPU engine: ${remedy}`,
      );
    }
    const device = await openDevice(adapter, (reason) => this.fail(new Error(reason)));
    this.#kept = { dawn, device };

    const { scanner, tuning, why, measure } = await tunedScanner(device, {
      model,
      driver,
      cacheDirectory: wanted.cacheDirectory,
      again: wanted.tuneAgain,
      variant: wanted.variant,
      batchMs: wanted.batchMs,
      likely: wanted.minesAtOnce ? (wanted.likely ?? likelyVariant(adapter.info)) : undefined,
      hurried: wanted.hurried,
      limits: wanted.tuningLimits,
      progress: (what, done) => send({ type: 'progress', what, done }),
      trying: (variant) => send({ type: 'trying', ...(variant && { variant: nameOf(variant) }) }),
      skip: wanted.skip,
      check: async (each) => {
        const scan: typeof each.scan = (puzzle, range) => each.scan(puzzle, range);
        await selfTest(scan, each.unit);
        await spotCheck(scan);
      },
    });
    const reports = new Reports((report) => send({ type: 'report', ...report }), systemClock);
    const searcher = createSearcher({
      scanner,
      batchMs: wanted.batchMs ?? tuning.batchMs,
      checkEveryMs: CHECK_EVERY_MS,
      clock: systemClock,
      hooks: {
        report: (report) => reports.add(report),
        idle: () => reports.flush(),
        ended: (search) => {
          reports.flush();
          send({ type: 'ended', search });
        },
        check: (each) => spotCheck((puzzle, range) => each.scan(puzzle, range)),
        lost: (error) => this.#lose(device, error),
      },
    });
    this.#searcher = searcher;
    if (measure) {
      this.#measure(searcher, measure, wanted.batchMs).catch((error) => this.#lose(device, error));
    }
    const sensors = await openSensors(wanted.card);
    startPulse(wanted.pulseMs, sensors, (telemetry) => send({ type: 'pulse', ...(telemetry && { telemetry }) }));
    return { model, driver, tuning, why, sensors: sensors.what };
  }

  /**
   * Measures the variants while the GPU mines with the likely variant. After that, the GPU mines with the best variant.
   * @param wishedMs length of a batch in ms that the user chose; undefined if the user chose none
   */
  async #measure(
    searcher: Searcher,
    measure: NonNullable<Tuned['measure']>,
    wishedMs: number | undefined,
  ): Promise<void> {
    const { scanner, tuning, why } = await measure((turn) => searcher.interrupt(turn));
    const batchMs = wishedMs ?? tuning.batchMs;
    const firstCounters = Math.round((tuning.hashesPerSecond * batchMs) / 1000);
    await searcher.interrupt(async () => searcher.replace(scanner, batchMs, firstCounters).destroy());
    this.#parts.send({ type: 'tuned', tuning, why });
  }

  /**
   * Ends the process after a failed dispatch or check. The error of a failed dispatch does not have the reason. If the
   * device is lost, `device.lost` reports the reason a little later.
   */
  async #lose(device: GPUDevice, error: unknown): Promise<void> {
    if (error instanceof DeviceError) return this.fail(error);
    await Promise.race([device.lost, sleep(REASON_MS)]);
    this.fail(new Error(`a dispatch failed: ${(error as Error).message || 'no reason given'}`));
  }

  /** Sends the error to the parent, and ends the process. */
  fail(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const fault = error instanceof DeviceError ? error.fault : 'lost';
    this.#parts.send({ type: 'failed', fault, message }, () => process.exit(1));
  }

  /**
   * Destroys the device and ends the process. Destroying the device waits for the dispatches in flight. If the process
   * ended earlier, Dawn could crash. The process ends by SIGKILL, because a normal exit would wait for readings of
   * sensors, whose driver may hang.
   */
  leave(): void {
    this.#kept?.device.destroy();
    process.kill(process.pid, 'SIGKILL');
  }
}

/* The pulse: messages at fixed intervals, which show that the process works, and which carry the readings of sensors */

/**
 * Calls `beat` at fixed intervals, and reads the sensors every READ_MS. Only one reading runs at a time, so that
 * readings do not pile up when a driver hangs.
 * @param beat called every `everyMs`, with the latest reading if it is new and not empty
 */
export function startPulse(everyMs: number, sensors: Sensors, beat: (telemetry: Telemetry | undefined) => void): void {
  let fresh: Telemetry | undefined;
  let reading = false;
  let readMs = Number.NEGATIVE_INFINITY;
  setInterval(() => {
    beat(fresh);
    fresh = undefined;
    if (reading || performance.now() - readMs < READ_MS) return;
    reading = true;
    readMs = performance.now();
    sensors.read().then((telemetry) => {
      fresh = Object.keys(telemetry).length > 0 ? telemetry : undefined;
      reading = false;
    });
  }, everyMs);
}
