/**
 * `pickaxe external-worker TARGET`: finds the nonce of one header, as the reference mining client asks external workers
 * to.
 */

import type { Command } from 'commander';
import { chooseInTurn, limitsOf } from '../app/choose-engines.ts';
import { EXIT, UsageError } from '../app/exit.ts';
import { solveAt, solveHere } from '../app/solve.ts';
import { HEADER_BYTES, toHex, WORK_BYTES } from '../chain/bytes.ts';
import { headerTargetOf } from '../chain/work.ts';
import type { Loaded } from '../config/load.ts';
import type { LimitsOf } from '../mine/device-health.ts';
import { socketPath } from '../source/parent/connection.ts';
import { makeLog } from '../terminal/log.ts';
import { formatAnswer, isTargetArgument, meansTarget } from '../wire/external-worker.ts';
import type { Io, Line } from './io.ts';
import { settingsOf, withSettings } from './options.ts';

export function declare(command: Command, { io, action }: Line): void {
  withSettings(command, 'devices', 'cpu', 'gpu', 'log')
    .argument('<target>', 'the target in 64 hex digits; the one in the header counts')
    .option('--connect <address>', 'let a warm worker do it: unix:PATH as in pickaxe worker --listen unix:PATH')
    .action(action(async (target, options) => runExternalWorker(await settingsOf(command), target, options, io)));
}

interface ExternalWorkerOptions {
  /** `unix:PATH` of a worker. Without it, this process opens devices. */
  readonly connect?: string;
}

const TAG = { tag: 'worker' };

/** @param argument the target as the client writes it; the one in the header counts */
async function runExternalWorker(
  { config }: Loaded,
  argument: string,
  { connect }: ExternalWorkerOptions,
  io: Io,
): Promise<number> {
  if (!isTargetArgument(argument)) {
    throw new UsageError('The target is 64 hex digits, and the 286 bytes of the header come on stdin.');
  }
  const path = connect === undefined ? undefined : pathOf(connect);
  const log = makeLog(config.log.level, config.log.format);
  const header = await readHeader();
  const target = headerTargetOf(header);
  if (!meansTarget(argument, target)) {
    log.warn(TAG, `the argument is another target than the header’s, which counts: ${toHex(target)} (little-endian)`);
  }
  if (path !== undefined) return answer(await solved(solveAt(path, header)), io);
  const engines = chooseInTurn(config, log, { hurried: true });
  const temperatureLimits: LimitsOf = (kind, name) => limitsOf(config.devices, kind, name);
  const found = await solveHere(header, { engines, log, temperatureLimits });
  return found ? answer(found, io) : EXIT.noDevice;
}

function answer(found: Parameters<typeof formatAnswer>[0], io: Io): number {
  io.out(formatAnswer(found));
  return EXIT.done;
}

/** @throws UsageError instead of any other error: a worker that refuses or ends is nothing internal */
async function solved<T>(task: Promise<T>): Promise<T> {
  try {
    return await task;
  } catch (fault) {
    throw fault instanceof UsageError ? fault : new UsageError(`${(fault as Error).message}.`);
  }
}

function pathOf(address: string): string {
  try {
    return socketPath(address);
  } catch (fault) {
    throw new UsageError(`--connect: ${(fault as Error).message}.`);
  }
}

/** Reads stdin to its end. @throws UsageError unless it is a header of 286 bytes */
async function readHeader(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // What is too long is read to its end, so that who writes it does not fail, but is not kept.
    if (bytes <= 2 * WORK_BYTES) chunks.push(chunk);
  }
  if (bytes === HEADER_BYTES) return new Uint8Array(Buffer.concat(chunks));
  const write = `write the header’s ${HEADER_BYTES} bytes, raw, and close stdin`;
  const isHex = bytes <= 2 * WORK_BYTES && /^[\da-f]+\s*$/i.test(Buffer.concat(chunks).toString('latin1'));
  const what =
    isHex && bytes > HEADER_BYTES ? 'hex digits' : bytes === WORK_BYTES ? 'a whole work record' : 'no header';
  throw new UsageError(`stdin has ${bytes} bytes, which are ${what}: ${write}.`);
}
