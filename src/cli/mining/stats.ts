/** `pickaxe stats`: asks miners over HTTP for their status, and prints it for people, programs and mining systems. */

import { type Command, Option } from 'commander';
import { Agent, request } from 'undici';
import type { Config } from '../../app/config/settings.ts';
import { secretIn } from '../../app/nodes/node-clients.ts';
import { EXIT, UsageError } from '../../app/process/exit.ts';
import { TCP_CONNECTING } from '../../base/net/connecting.ts';
import { formatHttpAddress, type HttpAddress, isLoopback } from '../../base/text/addresses.ts';
import { jsonText } from '../../base/text/plain-text.ts';
import { hiveStats, mmposStats } from '../../rig/http/compat.ts';
import { Status } from '../../rig/status/status.ts';
import type { Io, Line } from '../io.ts';
import { collect, httpAddresses, settingsOf, withSettings } from '../usage/options.ts';
import { type RigReport, type RigsReport, rigsLines, statsLines } from './stats-table.ts';

export function declare(command: Command, { io, action }: Line): void {
  withSettings(command)
    .option(
      '--http <address>',
      'where a miner serves HTTP: [HOST:]PORT; give it again for each further miner (default: as configured)',
      httpAddresses,
    )
    .option(
      '--http-token-file <file>',
      'file with the token; one for each miner, in the same order, or one for several on this machine (default: as configured, for the miner of this configuration)',
      collect,
    )
    .option('--json', 'one JSON object on stdout, for programs', false)
    .addOption(
      new Option('--format <name>', 'for another system, in its format')
        .choices(['hive', 'mmpos', 'xmrig', 'prom'])
        .conflicts('json'),
    )
    .action(action(async (options) => runStats((await settingsOf(command)).config, options, io)));
}

/** Time limit for an answer. It is short, because mining systems call this command every few seconds. */
const TIMEOUT_MS = 3_000;
/** Maximum length of an answer in UTF-16 code units, enough for the metrics of hundreds of devices. */
const MOST_BYTES = 4 * 1024 * 1024;
const AGENT = new Agent({ connect: { ...TCP_CONNECTING } });

const FORMATS = {
  table: { path: '/api/v1/status', print: (text: string) => statsLines(statusOf(text)).join('\n') },
  json: { path: '/api/v1/status', print: (text: string) => JSON.stringify(statusOf(text)) },
  hive: { path: '/api/v1/status', print: hiveLines },
  mmpos: { path: '/api/v1/status', print: (text: string) => JSON.stringify(mmposStats(statusOf(text))) },
  xmrig: { path: '/1/summary', print: (text: string) => JSON.stringify(parsed(text)) },
  prom: { path: '/metrics', print: (text: string) => text.trimEnd() },
} as const;

interface StatsOptions {
  readonly json: boolean;
  readonly format?: Exclude<keyof typeof FORMATS, 'table' | 'json'>;
  /** Addresses of miners. Default: the configured address. */
  readonly http?: readonly HttpAddress[];
  /** Files of tokens: one for all miners, or one for each. Default: the configured file, for the configured miner. */
  readonly httpTokenFile?: readonly string[];
}

interface Asked {
  /** The miner's origin, such as `http://192.168.1.5:8080`. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function runStats({ http }: Config, options: StatsOptions, io: Io): Promise<number> {
  const { json, format, ...given } = options;
  const miners = minersToAsk(http, given);
  if (miners.length === 1) return printOne(miners[0], format ?? (json ? 'json' : 'table'), io);
  if (format !== undefined) throw new UsageError(`--format ${format} is about one miner: give --http only once.`);
  return printAll(miners, json, io);
}

/**
 * A configured token is sent only to the configured address. A single token for several miners is sent only if all of
 * them are on this machine.
 * @throws UsageError when no miner is named, when the tokens do not match the miners, or when a token cannot be read
 */
export function minersToAsk(
  { listen, tokenFile }: Config['http'],
  { http, httpTokenFile: files = [] }: Pick<StatsOptions, 'http' | 'httpTokenFile'>,
): Asked[] {
  const addresses = (http ?? (listen ? [listen] : [])).map(reached);
  if (addresses.length === 0)
    throw new UsageError('Say where the miner serves HTTP, with the same --http [HOST:]PORT that it was started with.');
  if (files.length > 1 && files.length !== addresses.length)
    throw new UsageError(
      `There are ${files.length} --http-token-file for ${addresses.length} --http. Give one for each, in the same order.`,
    );
  const elsewhere = addresses.find(({ host }) => !isLoopback(host));
  if (files.length === 1 && addresses.length > 1 && elsewhere)
    throw new UsageError(
      `One --http-token-file would send its token to all miners, and ${formatHttpAddress(elsewhere)} is not on this machine. Give one file for each --http, in the same order.`,
    );
  const given = files.map((file) => secretIn(file, '--http-token-file'));
  const own = files.length === 0 && listen && originOf(reached(listen));
  return addresses.map((address, index): Asked => {
    const origin = originOf(address);
    const configured = origin === own && tokenFile !== undefined ? secretIn(tokenFile, '--http-token-file') : undefined;
    const token = configured ?? (given.length > 1 ? given[index] : given[0]);
    return { origin, headers: token === undefined ? {} : { authorization: `Bearer ${token}` } };
  });
}

async function printOne({ origin, headers }: Asked, format: keyof typeof FORMATS, io: Io): Promise<number> {
  const { path, print } = FORMATS[format];
  try {
    io.out(`${print(await get(`${origin}${path}`, headers))}\n`);
    return EXIT.done;
  } catch (fault) {
    io.say(`error: ${(fault as Error).message}`);
    return EXIT.failed;
  }
}

async function printAll(miners: readonly Asked[], json: boolean, io: Io): Promise<number> {
  const report: RigsReport = { rigs: await Promise.all(miners.map(reportOf)) };
  io.out(`${json ? jsonText(report) : rigsLines(report).join('\n')}\n`);
  return report.rigs.some(({ fault }) => fault !== null) ? EXIT.failed : EXIT.done;
}

async function reportOf({ origin, headers }: Asked): Promise<RigReport> {
  try {
    const status = statusOf(await get(`${origin}${FORMATS.json.path}`, headers));
    return { address: origin, status, fault: null };
  } catch (fault) {
    return { address: origin, status: null, fault: (fault as Error).message };
  }
}

/** @returns the two lines that HiveOS reads: the rig's hashrate in kH/s, and the other figures as JSON */
function hiveLines(text: string): string {
  const { khs, stats } = hiveStats(statusOf(text));
  return `${khs}\n${JSON.stringify(stats)}`;
}

/** @returns the address at which a miner is reached: loopback for a miner that listens on all interfaces */
function reached({ host, port }: HttpAddress): HttpAddress {
  return { host: { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host, port };
}

function originOf(address: HttpAddress): string {
  return `http://${formatHttpAddress(address)}`;
}

async function get(url: string, headers: Asked['headers']): Promise<string> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const { statusCode, body } = await request(url, { headers, signal, dispatcher: AGENT }).catch((cause) => {
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
    throw new Error(
      `the miner at ${new URL(url).origin} asks for its token: name the token’s file with --http-token-file FILE.`,
    );
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
