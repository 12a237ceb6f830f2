/**
 * A GPU's child process. It owns Dawn's objects for as long as it lives, does what its parent says, and ends when the
 * parent closes the channel or dies.
 */

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { joinNonce } from '../../../chain/nonce.ts';
import { DeviceError } from '../../engine.ts';
import { type Fault, type OpenMessage, type ToChild, type ToParent, toChild } from '../protocol.ts';
import { listAdapters } from './adapters.ts';
import { benchmark } from './benchmark.ts';
import { isSoftware, loadDawn, modelOf, openAdapter, openDevice } from './device.ts';
import { Scanner, SHADERS, type ShaderName } from './scanner.ts';
import { Searcher } from './searcher.ts';
import { selfTest } from './self-test.ts';

/** For a lost device to say why. Only good enough. */
const REASON_MS = 1_000;

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

async function open({ adapter: name, softwareGpu, batchMs, fault }: OpenMessage) {
  const { dawn, adapter } = await openAdapter(await loadDawn(), name);
  const model = modelOf(adapter);
  if (isSoftware(adapter) && !softwareGpu) {
    const remedy = 'use the CPU engine, or admit it with --software-gpu';
    throw new DeviceError(
      'missing',
      `the GPU is software on the CPU (${model}), slower than the CPU engine: ${remedy}`,
    );
  }
  const device = await openDevice(adapter, (reason) => fail(new Error(reason)));
  kept = { dawn, device };

  const names = Object.keys(SHADERS) as ShaderName[];
  const scanners = await Promise.all(names.map((each) => Scanner.compile(device, each, wgslOf(each))));
  for (const scanner of scanners) {
    await selfTest(fault === 'wrong hashes' ? async () => ({ hits: [] }) : (...scan) => scanner.scan(...scan));
  }
  const [best, other] = await benchmark(scanners);
  searcher = new Searcher(best.scanner, batchMs, {
    report: (search, report) => deliver({ type: 'report', search, ...report }, fault),
    ended: (search) => send({ type: 'ended', search }),
    lost: async (error) => {
      // Of a lost device the dispatch says nothing, and the device itself says why a little later.
      await Promise.race([device.lost, sleep(REASON_MS)]);
      fail(new Error(`a dispatch failed: ${(error as Error).message || 'no reason given'}`));
    },
  });
  const faster = (100 * (best.hashesPerSecond / other.hashesPerSecond - 1)).toFixed(1);
  const why = `${faster} % faster here than ${other.scanner.name}`;
  return { model, kernel: best.scanner.name, why, hashesPerSecond: best.hashesPerSecond };
}

function wgslOf(shader: ShaderName): string {
  return readFileSync(new URL(`../../../../shaders/${SHADERS[shader]}`, import.meta.url), 'utf8');
}

/** Sends a report, spoilt by the fault that a test asked for. */
function deliver(report: ToParent & { type: 'report' }, fault: Fault | undefined): void {
  const { lane, page, counter } = report.searched;
  if (fault === 'hang') return;
  if (fault === 'device loss') kept?.device.destroy();
  if (fault === 'wrong nonces') report.candidates.push(joinNonce({ lane, page, counter }));
  send(report, fault === 'crash' ? () => process.kill(process.pid, 'SIGKILL') : undefined);
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

/** Destroying waits for the dispatches in flight; exiting before that can crash in Dawn. */
function leave(): void {
  kept?.device.destroy();
  process.exit(0);
}
