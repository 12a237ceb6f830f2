/** `pickaxe stats`: asks a miner that serves HTTP how it is doing, and prints that for people, programs and mining systems. */

import { request } from 'undici';
import { EXIT, UsageError } from '../../app/exit-codes.ts';
import { secretIn } from '../../app/secret-file.ts';
import type { Config } from '../../config/settings.ts';
import { hiveStats, mmposStats } from '../../report/http/compat/mining-os.ts';
import { Status } from '../../report/http/schemas.ts';
import { formatHttpAddress, type HttpAddress } from '../../text/http-address.ts';
import { statsLines } from '../stats-table.ts';

/** A mining system asks every few seconds and does not wait for long. */
const TIMEOUT_MS = 3_000;
/** Metrics of hundreds of devices. */
const MOST_BYTES = 4 * 1024 * 1024;

/** What each format is made from, and how it is printed. */
const FORMATS = {
  table: { path: '/api/v1/status', print: (text: string) => statsLines(statusOf(text)).join('\n') },
  json: { path: '/api/v1/status', print: (text: string) => JSON.stringify(statusOf(text)) },
  hive: { path: '/api/v1/status', print: hiveLines },
  mmpos: { path: '/api/v1/status', print: (text: string) => JSON.stringify(mmposStats(statusOf(text))) },
  xmrig: { path: '/1/summary', print: (text: string) => JSON.stringify(parsed(text)) },
  prom: { path: '/metrics', print: (text: string) => text.trimEnd() },
} as const;

export interface StatsOptions {
  /** For programs. */
  readonly json: boolean;
  /** For another system, in its own format. */
  readonly format?: Exclude<keyof typeof FORMATS, 'table' | 'json'>;
}

/** @throws UsageError when the settings do not say where the miner is, or its token cannot be read */
export async function runStats({ http }: Config, { json, format }: StatsOptions): Promise<number> {
  const { listen, tokenFile } = http;
  if (!listen)
    throw new UsageError('Say where the miner serves HTTP, with the same --http [HOST:]PORT that it was started with.');
  const authorization =
    tokenFile === undefined ? {} : { authorization: `Bearer ${secretIn(tokenFile, '--http-token-file')}` };
  const { path, print } = FORMATS[format ?? (json ? 'json' : 'table')];
  try {
    process.stdout.write(`${print(await get(`${originOf(listen)}${path}`, authorization))}\n`);
    return EXIT.done;
  } catch (fault) {
    process.stderr.write(`error: ${(fault as Error).message}\n`);
    return EXIT.failed;
  }
}

/** HiveOS reads two lines: the rig's kH/s, and the rest as JSON. */
function hiveLines(text: string): string {
  const { khs, stats } = hiveStats(statusOf(text));
  return `${khs}\n${JSON.stringify(stats)}`;
}

/** A miner that listens on all interfaces is reached on loopback. */
function originOf({ host, port }: HttpAddress): string {
  const reached = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${formatHttpAddress({ host: reached, port })}`;
}

/** @throws Error that says what to do */
async function get(url: string, headers: Record<string, string>): Promise<string> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const { statusCode, body } = await request(url, { headers, signal }).catch((cause) => {
    const why = signal.aborted ? 'it does not answer' : cause.message;
    throw new Error(`there is no miner at ${new URL(url).origin} (${why}). Is it running, with --http?`, { cause });
  });
  let text = '';
  try {
    for await (const chunk of body.setEncoding('utf8')) {
      text += chunk;
      if (text.length > MOST_BYTES) throw new Error('too much');
    }
  } catch (cause) {
    throw new Error(`the answer of ${url} could not be read: ${(cause as Error).message}`, { cause });
  }
  if (statusCode === 401)
    throw new Error('the miner asks for its token: name the token’s file with --http-token-file FILE.');
  if (statusCode !== 200) throw new Error(`${url} answers ${statusCode}: is it pickaxe that listens there?`);
  return text;
}

function statusOf(text: string): Status {
  const { success, data } = Status.safeParse(parsed(text));
  if (!success)
    throw new Error('the answer is not one of this version of pickaxe: does the miner have another version?');
  return data;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error('the answer is not JSON: is it pickaxe that listens there?', { cause });
  }
}
