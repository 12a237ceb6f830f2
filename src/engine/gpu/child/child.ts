/**
 * A GPU's child process. It owns Dawn's objects for as long as it lives, does what its parent says, and ends when the
 * parent closes the channel or dies.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../system/clock.ts';
import { DeviceError } from '../../engine.ts';
import { type OpenMessage, type ToChild, type ToParent, toChild } from '../protocol.ts';
import { openSensors, type Sensors } from '../sensors/sensors.ts';
import { nameOf } from '../variants.ts';
import { listAdapters } from './adapters.ts';
import { isSoftware, loadDawn, modelOf, openAdapter, openDevice } from './device.ts';
import { startPulse } from './pulse.ts';
import { Reports } from './reports.ts';
import { Searcher, type SearcherOptions } from './searcher.ts';
import { selfTest, spotCheck } from './self-test.ts';
import { tunedScanner } from './tuned-scanner.ts';

/**
 * Time between checks of the GPU against known answers while it mines. A check takes about a millisecond of the GPU's time,
 * and an hour of mining with wrong hashes would be an hour lost.
 */
const CHECK_EVERY_MS = 60_000;

/** How long a lost device has to say why. Only good enough. */
const REASON_MS = 1_000;

/** How long finding the sensors may take. Behind a driver that hangs it may take for ever: the GPU mines without them. */
const SENSORS_MS = 5_000;
const SILENT_SENSORS: Sensors = {
  what: `no readings: its driver did not answer within ${SENSORS_MS / 1000} s`,
  read: async () => ({}),
};

/** The parts of the child through which it meets its device and its parent. */
interface ChildParts {
  readonly openDevice: typeof openDevice;
  readonly selfTest: typeof selfTest;
  readonly spotCheck: typeof spotCheck;
  readonly createSearcher: (options: SearcherOptions) => Searcher;
  /** @param sent called when the message is out */
  readonly send: (message: ToParent, sent?: () => void) => void;
}

export const CHILD_PARTS: ChildParts = {
  openDevice,
  selfTest,
  spotCheck,
  createSearcher: (options) => new Searcher(options),
  send: (message, sent) => {
    // A parent that has gone is noticed by 'disconnect', not here.
    process.send?.(message, undefined, undefined, () => sent?.());
  },
};

/** Has this process serve its parent. To be called once. */
export function startChild(parts: ChildParts = CHILD_PARTS): void {
  const child = new Child(parts);
  // Ctrl-C and its like go to the whole process group: the parent decides, and says so by closing the channel.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  process.on('disconnect', () => child.leave());
  process.on('uncaughtException', (error) => child.fail(error));
  process.on('message', (message) => {
    child.obey(toChild.parse(message)).catch((error) => child.fail(error));
  });
}

class Child {
  readonly #parts: ChildParts;
  /** What must not be collected while the process lives, least of all Dawn's own object: the process would crash. */
  #kept: { readonly dawn: unknown; readonly device: GPUDevice } | undefined;
  #searcher: Searcher | undefined;

  constructor(parts: ChildParts) {
    this.#parts = parts;
  }

  async obey(message: ToChild): Promise<void> {
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

  async #open(wishes: OpenMessage) {
    const { send, openDevice, selfTest, spotCheck, createSearcher } = this.#parts;
    const { dawn, adapter } = await openAdapter(await loadDawn(), wishes.adapter);
    const driver = modelOf(adapter);
    const model = wishes.adapter ?? driver;
    if (isSoftware(adapter) && !wishes.softwareGpu) {
      const remedy = 'use the CPU engine, or allow it with --software-gpu';
      throw new DeviceError(
        'missing',
        `the GPU is software that runs on the CPU (${model}), slower than the CPU engine: ${remedy}`,
      );
    }
    const device = await openDevice(adapter, (reason) => this.fail(new Error(reason)));
    this.#kept = { dawn, device };

    const { scanner, tuning, why } = await tunedScanner(device, {
      model,
      driver,
      cacheDirectory: wishes.cacheDirectory,
      again: wishes.tuneAgain,
      variant: wishes.variant,
      batchMs: wishes.batchMs,
      limits: wishes.tuningLimits,
      progress: (what, done) => send({ type: 'progress', what, done }),
      trying: (variant) => send({ type: 'trying', variant: nameOf(variant) }),
      skip: wishes.skip,
      check: async (each) => {
        const scan: typeof each.scan = (puzzle, range) => each.scan(puzzle, range);
        await selfTest(scan, each.unit);
        await spotCheck(scan);
      },
    });
    const reports = new Reports((report) => send({ type: 'report', ...report }), systemClock);
    this.#searcher = createSearcher({
      scanner,
      batchMs: wishes.batchMs ?? tuning.batchMs,
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
    const sensors = await Promise.race([openSensors(wishes.card), sleep(SENSORS_MS, SILENT_SENSORS)]);
    startPulse(wishes.pulseMs, sensors, (telemetry) => send({ type: 'pulse', ...(telemetry && { telemetry }) }));
    return { model, driver, tuning, why, sensors: sensors.what };
  }

  /** The dispatch of a lost device says nothing about the reason. The device itself does, a little later. */
  async #lose(device: GPUDevice, error: unknown): Promise<void> {
    if (error instanceof DeviceError) return this.fail(error);
    await Promise.race([device.lost, sleep(REASON_MS)]);
    this.fail(new Error(`a dispatch failed: ${(error as Error).message || 'no reason given'}`));
  }

  /** Says why it cannot go on, and ends the process. */
  fail(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const fault = error instanceof DeviceError ? error.fault : 'lost';
    this.#parts.send({ type: 'failed', fault, message }, () => process.exit(1));
  }

  /**
   * Ends the process. Destroying the device waits for the dispatches in flight: to end before that can crash in Dawn. An
   * exit would wait for sensors that are being read, without end where their driver hangs.
   */
  leave(): void {
    this.#kept?.device.destroy();
    process.kill(process.pid, 'SIGKILL');
  }
}
