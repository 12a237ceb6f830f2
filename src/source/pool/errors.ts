/** Why a connection to a pool was not made, or has ended. */

import { rootOf, speaksNoTls, whyUnreachable } from '../../net/unreachable.ts';
import { oneLine } from '../../text/one-line.ts';
import type { PoolAddress } from '../../text/pool-url.ts';
import { MOST_SHOWN } from './limits.ts';

/**
 * `network`: trying again soon may help. `refused`: it will not help until something is changed or a ban has run out. `intended`: the
 * connection was closed in good order, because of pickaxe or because the pool has asked to connect anew, so nothing is wrong.
 */
export type PoolFault = 'network' | 'refused' | 'intended';

export class PoolError extends Error {
  override readonly name = 'PoolError';
  readonly fault: PoolFault;
  /** The fingerprint of the pool's certificate, if the certificate is not trusted. */
  readonly fingerprint: string | undefined;
  /** Where the pool asks to connect next, and how long to wait before that. */
  readonly next: Reconnect | undefined;

  constructor(fault: PoolFault, message: string, more: { fingerprint?: string | undefined; next?: Reconnect } = {}) {
    super(message);
    this.fault = fault;
    this.fingerprint = more.fingerprint;
    this.next = more.next;
  }
}

export interface Reconnect {
  readonly address: PoolAddress;
  /** Whether a pool of the Internet has asked, so that the next address must be one of the Internet, too. */
  readonly mustBePublic: boolean;
  readonly waitMs: number;
}

/** Puts an error of the socket into words. @param url the pool's */
export function connectionError(cause: unknown, url: string): PoolError {
  if (cause instanceof PoolError) return cause;
  const { code, name: kind, message } = rootOf(cause);
  const why = kind === 'TimeoutError' ? whyUnreachable('ETIMEDOUT', 'pool') : whyUnreachable(code, 'pool');
  if (why !== undefined) return new PoolError('network', `cannot reach ${url}${code && ` (${code})`}: ${why}`);
  if (speaksNoTls(code)) {
    return new PoolError('refused', 'the pool does not speak TLS: use stratum+tcp:// instead of stratum+ssl://.');
  }
  return new PoolError('network', `the connection to ${url} broke (${quote(code === '' ? message : code)}).`);
}

/** @param why a sentence without its end */
export function unusable(why: string): PoolError {
  return new PoolError('refused', `the pool cannot be used: ${why}.`);
}

/** @returns a pool's text as one short, printable line */
export function quote(text: string): string {
  return oneLine(text, MOST_SHOWN);
}

/** @returns a pool's JSON as one short, printable line */
export function quoteJson(value: unknown): string {
  try {
    return quote(JSON.stringify(value) ?? '');
  } catch {
    // What is nested some thousand times can be read, but it cannot be written: the stack is too small.
    return 'something that is nested too deep';
  }
}

/** Whether a pool's words say that it no longer wants this miner. */
export function speaksOfBan(text: string): boolean {
  return /\bbann(ed|ing)\b|\bban\b|black-?list|\bblocked\b/i.test(text);
}
