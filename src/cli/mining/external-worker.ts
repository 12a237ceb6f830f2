/** `pickaxe external-worker TARGET`: finds the nonce of one header for the reference mining client. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import { z } from 'zod';
import { chooseInTurn, limitsOf } from '../../app/composition/choose-engines.ts';
import type { Loaded } from '../../app/config/load.ts';
import { EXIT, orUsageError, UsageError } from '../../app/process/exit.ts';
import { aborted } from '../../base/system/abort.ts';
import { systemClock } from '../../base/system/clock.ts';
import { jsonOrUndefined } from '../../base/text/plain-text.ts';
import type { Engine } from '../../miner/engine/engine.ts';
import { Events } from '../../miner/events/events.ts';
import { Miner } from '../../miner/loop/miner.ts';
import type { LimitsOf } from '../../miner/loop/thermal-guard.ts';
import { socketPath } from '../../miner/source/parent/connection.ts';
import type { UpdateListener, Verdict, WorkSource } from '../../miner/source/source.ts';
import { HEADER_BYTES, HEADER_OFFSET, toHex, WORK_BYTES } from '../../protocol/chain/bytes.ts';
import { NO_NONCE1 } from '../../protocol/chain/nonce.ts';
import { meetsTarget } from '../../protocol/chain/target.ts';
import { powHash, type Solution } from '../../protocol/chain/verify.ts';
import { creationTimeOf, headerTargetOf, type Work, withNonce } from '../../protocol/chain/work.ts';
import {
  type ExternalAnswer,
  formatAnswer,
  isTargetArgument,
  meansTarget,
} from '../../protocol/wire/external-worker.ts';
import { LenientLines } from '../../protocol/wire/lines.ts';
import { PROTOCOL_VERSION, workOfHeader } from '../../protocol/wire/worker.ts';
import { LogLines } from '../../rig/log/log-lines.ts';
import { Tally } from '../../rig/status/tally.ts';
import { makeLog } from '../../rig/terminal/log.ts';
import type { Io, Line } from '../io.ts';
import { settingsOf, withSettings } from '../usage/options.ts';

export function declare(command: Command, { io, action }: Line): void {
  withSettings(command, 'devices', 'cpu', 'gpu', 'log')
    .argument('<target>', 'the target in 64 hex digits; the one in the header counts')
    .option('--connect <address>', 'let a warm worker do it: unix:PATH as in pickaxe worker --listen unix:PATH')
    .action(action(async (target, options) => runExternalWorker(await settingsOf(command), target, options, io)));
}

interface ExternalWorkerOptions {
  /** `unix:PATH` of the worker that searches. If absent, the search runs in this process. */
  readonly connect?: string;
}

const TAG = { tag: 'worker' };

/** @param argument the target as the client writes it. The search uses the target in the header instead */
async function runExternalWorker(
  { config }: Loaded,
  argument: string,
  { connect }: ExternalWorkerOptions,
  io: Io,
): Promise<number> {
  if (!isTargetArgument(argument)) {
    throw new UsageError('The target is 64 hex digits, and the 286 bytes of the header come on stdin.');
  }
  const path =
    connect === undefined
      ? undefined
      : orUsageError(
          () => socketPath(connect),
          (why) => `--connect: ${why}.`,
        );
  const log = makeLog(config.log.level, config.log.format);
  const header = await readHeader();
  const target = headerTargetOf(header);
  if (!meansTarget(argument, target)) {
    log.warn(TAG, `the argument is another target than the header’s, which counts: ${toHex(target)} (little-endian)`);
  }
  if (path !== undefined) return answer(await solved(solveAt(path, header)), io);
  const engines = chooseInTurn(config, log, { hurried: true, minesAtOnce: true });
  const temperatureLimits: LimitsOf = (kind, name) => limitsOf(config.devices, kind, name);
  const found = await solveHere(header, { engines, log, temperatureLimits });
  return found ? answer(found, io) : EXIT.noDevice;
}

function answer(found: Solved, io: Io): number {
  io.out(formatAnswer(found));
  return EXIT.done;
}

/** Makes a UsageError of every error: a worker that refuses or ends is not an internal error of pickaxe. */
async function solved<T>(task: Promise<T>): Promise<T> {
  try {
    return await task;
  } catch (fault) {
    throw fault instanceof UsageError ? fault : new UsageError(`${(fault as Error).message}.`);
  }
}

/** Reads stdin to its end. @throws UsageError unless it is a header of 286 bytes */
async function readHeader(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Bytes beyond this limit are read, so that the writer does not fail, but they are not kept.
    if (bytes <= 2 * WORK_BYTES) chunks.push(chunk);
  }
  if (bytes === HEADER_BYTES) return new Uint8Array(Buffer.concat(chunks));
  const write = `write the header’s ${HEADER_BYTES} bytes, raw, and close stdin`;
  const isHex = bytes <= 2 * WORK_BYTES && /^[\da-f]+\s*$/i.test(Buffer.concat(chunks).toString('latin1'));
  const what =
    isHex && bytes > HEADER_BYTES ? 'hex digits' : bytes === WORK_BYTES ? 'a whole work record' : 'no header';
  throw new UsageError(`stdin has ${bytes} bytes, which are ${what}: ${write}.`);
}

type Solved = Required<ExternalAnswer>;

/** The fields of a worker's lines that are used here. Other fields, and lines of other types, are ignored. */
const Answer = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hello'), protocol: z.unknown() }),
  z.object({ type: z.literal('share'), nonce: z.string().regex(/^\d{1,20}$/) }),
  z.object({ type: z.literal('stats'), hashes: z.number().nonnegative(), hashesPerSecond: z.number().nonnegative() }),
  z.object({ type: z.literal('error'), message: z.string() }),
]);
type Answer = z.infer<typeof Answer>;

/** Maximum length of a line in bytes. A share has about 1,000 bytes, and `stats` of a rig with 16 GPUs about 2,000. */
const MOST_ANSWER_BYTES = 65_536;

interface LocalOptions {
  /** Groups of engines. A group may be a promise, and then starts when the promise resolves. */
  readonly engines: readonly (readonly Engine[] | Promise<readonly Engine[]>)[];
  readonly log: Logger;
  readonly temperatureLimits: LimitsOf;
}

/**
 * Searches with this machine's devices.
 * @param header 286 bytes. The search uses the header's target, and does not change the header's creation time
 * @returns the nonce with the hashes and the hashrate of the search; undefined when no device can be used
 */
export async function solveHere(header: Uint8Array, options: LocalOptions): Promise<Solved | undefined> {
  const { engines, log, temperatureLimits } = options;
  const terms = { target: headerTargetOf(header), nonce1: NO_NONCE1, rollTime: false } as const;
  const work = workOfHeader(header, { ...terms, until: 'solved' });
  const events = new Events();
  const tally = new Tally(systemClock);
  const logLines = new LogLines(log, tally);
  events.on(tally.listen);
  let startMs = systemClock.monotonicMs();
  events.on((event) => {
    // Devices open one after the other. As long as no device has hashed, each device that becomes ready restarts the
    // time from which the hashrate is computed.
    if (event.type === 'device' && event.state === 'ready' && tally.summary().hashes === 0) {
      startMs = systemClock.monotonicMs();
    }
    if (event.type === 'device' || event.type === 'progress' || event.type === 'hardware-error') logLines.listen(event);
  });
  return await new Promise((resolve, reject) => {
    const source = () =>
      new OneWork(work, ({ nonce }) => {
        const { hashes } = tally.summary();
        resolve({ nonce, hashes, hashesPerSecond: (1000 * hashes) / (systemClock.monotonicMs() - startMs) });
      });
    // Each miner takes a random lane, so that two miners rarely search the same nonces.
    const mine = async (some: (typeof engines)[number]) =>
      await new Miner({ source: source(), engines: await some, emit: events.emit, temperatureLimits }).run();
    Promise.all(engines.map(mine)).then(() => resolve(undefined), reject);
  });
}

/**
 * Asks the worker that listens at the socket `path`, and verifies the worker's nonce.
 * @throws UsageError when no worker listens there; Error when the worker ends, refuses, speaks another version of the
 *   protocol, or answers with a wrong nonce
 */
export async function solveAt(path: string, header: Uint8Array): Promise<Solved> {
  const socket = await connectTo(path);
  try {
    return await askFor(header, socket, path);
  } finally {
    socket.destroy();
  }
}

async function askFor(header: Uint8Array, socket: Socket, path: string): Promise<Solved> {
  const send = (message: object) => socket.write(`${JSON.stringify(message)}\n`);
  let nonce: bigint | undefined;
  let hashesBefore: number | undefined;
  for await (const answer of answersOf(socket)) {
    if (answer.type === 'hello') {
      if (answer.protocol !== PROTOCOL_VERSION) throw new Error(`the worker at ${path} speaks another protocol`);
      send({ type: 'stats' });
      send({ type: 'job', id: 'header', header: toHex(header), solutions: 'one' });
    } else if (answer.type === 'share') {
      nonce = checked(BigInt(answer.nonce), header, path);
      send({ type: 'stats' });
    } else if (answer.type === 'stats') {
      const { hashes, hashesPerSecond } = answer;
      if (nonce !== undefined) return { nonce, hashes: hashes - (hashesBefore ?? hashes), hashesPerSecond };
      hashesBefore = hashes;
    } else if (answer.type === 'error') {
      throw new Error(`the worker at ${path} refuses: ${answer.message}`);
    }
  }
  throw new Error(`the worker at ${path} ended before it found a nonce`);
}

/** @returns the nonce @throws Error when the hash with this nonce does not meet the header's target */
function checked(nonce: bigint, header: Uint8Array, path: string): bigint {
  if (meetsTarget(powHash(withNonce(header, nonce)), headerTargetOf(header))) return nonce;
  throw new Error(
    `the worker at ${path} gave a nonce that does not solve the header (target at byte ${HEADER_OFFSET.target})`,
  );
}

async function connectTo(path: string): Promise<Socket> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException;
    throw new UsageError(`No worker listens at ${path} (${code}): start one with pickaxe worker --listen unix:${path}`);
  }
  return socket;
}

async function* answersOf(socket: Socket): AsyncGenerator<Answer> {
  const lines = new LenientLines(MOST_ANSWER_BYTES);
  for await (const chunk of socket) {
    for (const line of lines.push(chunk)) {
      const answer = typeof line === 'string' ? Answer.safeParse(jsonOrUndefined(line)).data : undefined;
      if (answer) yield answer;
    }
  }
}

/** A source of a single work. It passes solutions to a callback. */
class OneWork implements WorkSource {
  readonly name = 'the header';
  readonly #work: Work;
  readonly #solved: (solution: Solution) => void;

  constructor(work: Work, solved: (solution: Solution) => void) {
    this.#work = work;
    this.#solved = solved;
  }

  async follow(listener: UpdateListener, stop: AbortSignal): Promise<void> {
    listener({ kind: 'work', work: this.#work });
    await aborted(stop);
  }

  async submit(solution: Solution): Promise<Verdict> {
    this.#solved(solution);
    return { outcome: 'delivered', reason: '' };
  }

  /** The creation time must not change, because only the nonce is returned. */
  latestTimeUs(work: Work): bigint {
    return creationTimeOf(work.header);
  }
}
