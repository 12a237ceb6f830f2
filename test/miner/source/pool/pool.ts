/** Headers, sources and lines for tests of the pool client. */

import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { formatTarget } from '#pickaxe/miner/relay/stratum/stratum-messages.js';
import type { PoolLimits } from '#pickaxe/miner/source/pool/pool-limits.js';
import { PoolSource, type PoolSourceContext, type PoolSourceOptions } from '#pickaxe/miner/source/pool/pool-source.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { Recorder } from '../../../fakes.ts';
import { Follower } from '../follow.ts';

export const USER = 'k:abc.rig1';

/** No test waits for so long: what should happen at once, and happens only when a time limit ends, fails. */
const NEVER_MS = 600_000;

/** Faults are tried again sooner than in the world. */
const QUICK: Partial<PoolLimits> = {
  pauses: { firstMs: 20, mostMs: 200 },
  refusedPauses: { firstMs: 20, mostMs: 200 },
  connectTimeoutMs: NEVER_MS,
  handshakeMs: NEVER_MS,
  submitMs: NEVER_MS,
  submitAfterStopMs: 200,
  noWorkMs: NEVER_MS,
  silenceMs: NEVER_MS,
};

export function poolSource(
  url: string,
  limits: Partial<PoolLimits> = {},
  options: Partial<PoolSourceOptions> = {},
  others: Partial<PoolSourceContext> = {},
): PoolSource {
  const surroundings = { limits: { ...QUICK, ...limits }, ...others };
  return new PoolSource({ url, user: USER, password: 'x', userAgent: 'pickaxe/test', ...options }, surroundings);
}

export function followPool(
  url: string,
  limits: Partial<PoolLimits> = {},
  options: Partial<PoolSourceOptions> = {},
  others: Partial<PoolSourceContext> = {},
): { source: PoolSource; follower: Follower; recorder: Recorder } {
  const recorder = new Recorder();
  const source = poolSource(url, limits, options, { emit: recorder.listen, ...others });
  const follower = new Follower(source);
  onTestFinished(() => follower.end());
  return { source, follower, recorder };
}

/** A connection whose other end is the test. */
export class FakeSocket extends EventEmitter {
  destroyed = false;
  /** Number of bytes that wait to be sent. */
  writableLength = 0;
  remoteAddress: string | undefined = '127.0.0.1';
  /** The lines that were sent to the pool. */
  readonly written: string[] = [];

  write(line: string): boolean {
    this.written.push(line.trimEnd());
    return true;
  }

  destroy(): void {
    this.destroyed = true;
  }

  get asSocket(): Socket {
    return this as unknown as Socket;
  }

  /** What the pool sends: bytes, or lines of a transcript. */
  receives(...sent: readonly (Buffer | string)[]): void {
    for (const each of sent)
      this.emit('data', typeof each === 'string' ? Buffer.from(`${each.replace(/^< /, '')}\n`) : each);
  }
}

export interface HeaderFields {
  readonly parent?: number;
  readonly height?: number;
  readonly chain?: number;
  /** Hashes that a block takes on average. */
  readonly difficulty?: number;
  readonly payload?: number;
}

/** @returns 286 bytes */
export function makeHeader({ parent = 1, height = 7, chain = 3, difficulty = 1e12, payload = 9 }: HeaderFields = {}) {
  const header = new Uint8Array(286);
  const view = new DataView(header.buffer);
  view.setBigInt64(8, 1_700_000_000_000_000n, true);
  header.fill(parent, 16, 48);
  header.set(targetForDifficulty(difficulty), 158);
  header.fill(payload, 190, 222);
  view.setUint32(222, chain, true);
  view.setBigUint64(258, BigInt(height), true);
  return header;
}

/** The beginning of every transcript. */
export const SUBSCRIBE = '> {"id":1,"method":"mining.subscribe","params":["pickaxe/test",null]}';
export const AUTHORIZE = `> {"id":2,"method":"mining.authorize","params":["${USER}","x"]}`;
/** How f2pool, poolflare and the reference answer. */
export const SUBSCRIBED = '< {"id":1,"result":[null,"09e8",6],"error":null}';
export const AUTHORIZED = '< {"id":2,"result":true,"error":null}';
export const GREETING = [SUBSCRIBE, AUTHORIZE, SUBSCRIBED, AUTHORIZED] as const;

/** @param difficulty hashes that a share takes on average */
export function targetLine(difficulty: number): string {
  const target = formatTarget(targetForDifficulty(difficulty));
  return `< {"method":"mining.set_target","params":["${target}"],"id":null}`;
}

/** @param flag the clean flag as it is written; without it, there is none */
export function jobLine(id: string, header: Uint8Array, flag?: string): string {
  const rest = flag === undefined ? '' : `,${flag}`;
  return `< {"method":"mining.notify","params":["${id}","${toHex(header)}"${rest}],"id":null}`;
}

/** @param nonce2 hex digits */
export function submitLine(request: number, job: string, nonce2: string): string {
  return `> {"id":${request},"method":"mining.submit","params":["${USER}","${job}","${nonce2}"]}`;
}
