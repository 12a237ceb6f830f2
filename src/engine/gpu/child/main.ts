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
import { openUnder, scanUnder, sendReportsUnder } from './sabotage.ts';
import { Searcher } from './searcher.ts';
import { selfTest, spotCheck } from './self-test.ts';
import { tunedScanner } from './tuned-scanner.ts';

/** For a lost device to say why. Only good enough. */
const REASON_MS = 1_000;

/** For sensors to be found. Behind a driver that hangs they may never be: the GPU mines without. */
const SENSORS_MS = 5_000;
const SILENT_SENSORS: Sensors = {
  what: `no readings: its driver did not answer within ${SENSORS_MS / 1000} s`,
  read: async () => ({}),
};

/** What must not be collected while the process lives, least of all Dawn's own object: it would crash. */
let kept: { readonly dawn: unknown; readonly device: GPUDevice } | undefined;
let searcher: Searcher | undefined;

// Ctrl-C and its like go to the whole process group: the parent decides, and says so by closing the channel.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', leave);
process.on('uncaughtException', (error) => fail(error));
process.on('message', (message) => {
  obey(toChild.parse(message)).catch(fail);
});

async function obey(message: ToChild): Promise<void> {
  switch (message.type) {
    case 'list':
      return send({ type: 'listed', adapters: await listAdapters() });
    case 'open':
      return send({ type: 'opened', ...(await open(message)) });
    case 'search':
      return searcher?.begin(message.search, message);
    case 'range':
      return searcher?.add(message.search, message.range);
    case 'stop':
      return searcher?.stop(message.search);
  }
}

async function open(wishes: OpenMessage) {
  const { fault } = wishes;
  openUnder(fault);
  const { dawn, adapter } = await openAdapter(await loadDawn(), wishes.adapter);
  const driver = modelOf(adapter);
  const model = wishes.adapter ?? driver;
  if (isSoftware(adapter) && !wishes.softwareGpu) {
    const remedy = 'use the CPU engine, or admit it with --software-gpu';
    throw new DeviceError(
      'missing',
      `the GPU is software on the CPU (${model}), slower than the CPU engine: ${remedy}`,
    );
  }
  const device = await openDevice(adapter, (reason) => fail(new Error(reason)));
  kept = { dawn, device };

  const { scanner, tuning, why } = await tunedScanner(device, {
    model,
    driver,
    cacheDirectory: wishes.cacheDirectory,
    again: wishes.tuneAgain,
    variant: wishes.variant,
    batchMs: wishes.batchMs,
    limits: wishes.tuningLimits,
    progress: (what, done) => send({ type: 'progress', what, done }),
    trying: (form) => send({ type: 'trying', form: nameOf(form) }),
    skip: wishes.skip,
    check: async (each) => {
      const scan = scanUnder(each, fault, 'opening');
      await selfTest(scan, each.unit);
      await spotCheck(scan);
    },
  });
  const deliver = sendReportsUnder(fault, send, () => device.destroy());
  const reports = new Reports((report) => deliver({ type: 'report', ...report }), systemClock);
  searcher = new Searcher({
    scanner,
    batchMs: wishes.batchMs ?? tuning.batchMs,
    firstCounters: wishes.firstCounters,
    checkEveryMs: wishes.checkEveryMs,
    clock: systemClock,
    hooks: {
      report: (report) => reports.add(report),
      idle: () => reports.flush(),
      ended: (search) => {
        reports.flush();
        send({ type: 'ended', search });
      },
      check: (each) => spotCheck(scanUnder(each, fault, 'mining')),
      lost: (error) => lose(device, error),
    },
  });
  const sensors = await Promise.race([openSensors(wishes.card), sleep(SENSORS_MS, SILENT_SENSORS)]);
  startPulse(wishes.pulseMs, sensors, (telemetry) => send({ type: 'pulse', ...(telemetry && { telemetry }) }));
  return { model, tuning, why, sensors: sensors.what };
}

/** Of a lost device the dispatch says nothing, and the device itself says why a little later. */
async function lose(device: GPUDevice, error: unknown): Promise<void> {
  if (error instanceof DeviceError) return fail(error);
  await Promise.race([device.lost, sleep(REASON_MS)]);
  fail(new Error(`a dispatch failed: ${(error as Error).message || 'no reason given'}`));
}

function send(message: ToParent, sent?: () => void): void {
  // A parent that has gone is told by 'disconnect', not here.
  process.send?.(message, undefined, undefined, () => sent?.());
}

/** Says why it cannot go on, and ends. */
function fail(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const fault = error instanceof DeviceError ? error.fault : 'lost';
  send({ type: 'failed', fault, message }, () => process.exit(1));
}

/**
 * Destroying waits for the dispatches in flight: ending before that can crash in Dawn. An exit would wait for sensors that
 * are being read, without end where their driver hangs.
 */
function leave(): void {
  kept?.device.destroy();
  process.kill(process.pid, 'SIGKILL');
}
