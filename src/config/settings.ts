/**
 * Every setting there is. This table is the only place that knows them: a new one is an entry here, and is then in
 * --help, files, the environment, the JSON Schema, the example and --print-config; a test asks for its line in
 * docs/configuration.md.
 */

import { PREDICATES } from '../node/miner-identity.ts';
import { shownUrl } from '../node/url.ts';
import * as kinds from './kinds.ts';
import { type Entry, entriesOf, type Table, type ValuesOf } from './setting.ts';
import { UNATTENDED } from './unattended.ts';

export const SETTINGS = {
  node: {
    about: 'Where work comes from and solutions go.',
    settings: {
      urls: {
        kind: kinds.list(kinds.nodeUrl),
        about: 'node URL; several for failover, the first preferred',
        example: ['http://127.0.0.1:1848'],
        flag: '--node <url>',
        shown: (urls) => (urls as string[]).map(shownUrl),
      },
      network: {
        kind: kinds.network,
        about:
          'network: mainnet01, testnet04, development or test-singleton; not needed where every node URL has a path',
        example: 'mainnet01',
        flag: '--network <id>',
      },
      fingerprints: {
        kind: kinds.list(kinds.nodeFingerprint),
        about:
          'SHA-256 fingerprint of the certificate that an https node must show, whoever signed it; for one of several nodes, URL=FINGERPRINT',
        example: [`https://node.example=${'A'.repeat(43)}`],
        flag: '--node-fingerprint <fingerprint>',
      },
      caFiles: {
        kind: kinds.list(kinds.nodeFile),
        about:
          'PEM file with the certificates of authorities, one of which must have signed that of an https node; for one of several nodes, URL=FILE',
        otherwise: 'the authorities that Node.js knows',
        example: ['node-ca.pem'],
        flag: '--node-ca-file <file>',
      },
      insecureTls: {
        kind: kinds.toggle,
        about: 'accept any certificate of an https node: others can then read and change the traffic',
        default: false,
        flag: '--insecure-tls',
      },
    },
  },
  miner: {
    about: 'Who gets the rewards. The node must list the same account, key and predicate.',
    settings: {
      publicKeys: {
        kind: kinds.list(kinds.publicKey),
        about: 'miner public key, 64 hex digits, like those of pickaxe keygen; several for several keys',
        example: ['00'.repeat(32)],
        flag: '--public-key <hex>',
      },
      account: {
        kind: kinds.account,
        about: 'miner account',
        otherwise: 'k: and the public key',
        example: `k:${'00'.repeat(32)}`,
        flag: '--account <name>',
      },
      predicate: {
        kind: kinds.choice(...PREDICATES),
        about: 'which keys must sign',
        default: 'keys-all',
        flag: '--predicate <name>',
      },
    },
  },
  devices: {
    about: 'What mines, and how hot it may get.',
    settings: {
      use: {
        kind: kinds.list(kinds.deviceName),
        about: 'devices to use, like cpu,gpu0,gpu1',
        otherwise: 'the CPU and every real GPU',
        example: ['cpu', 'gpu'],
        flag: '--devices <list>',
      },
      tempLimit: {
        kind: kinds.celsiusOrNone,
        about: 'a device at this many °C rests, where its temperature is known; or none',
        default: 90,
        flag: '--temp-limit <celsius>',
        live: true,
      },
      tempResume: {
        kind: kinds.celsius,
        about: 'a device that rests goes on at this many °C',
        otherwise: '10 below the limit',
        example: 80,
        flag: '--temp-resume <celsius>',
        live: true,
      },
    },
  },
  cpu: {
    about: 'How the CPU mines.',
    settings: {
      threads: {
        kind: kinds.integer(1, 1024),
        about: 'CPU threads',
        otherwise: 'leaves the machine usable',
        example: 4,
        flag: '--threads <n>',
      },
      priority: {
        kind: kinds.niceness,
        about: 'niceness of the CPU threads, 0 to 19, Linux only',
        // No default: that a sandbox refuses 19 is an obstacle only where it was asked for.
        otherwise: '19',
        example: 19,
        flag: '--cpu-priority <n>',
      },
      affinity: {
        kind: kinds.cpuList,
        about: 'CPUs to pin CPU threads to, like 0,2-5, or none',
        otherwise: 'pinned only if every CPU hashes',
        example: '0,2-5',
        flag: '--cpu-affinity <list>',
      },
      kernel: {
        kind: kinds.kernelName,
        about: 'CPU kernel, of which pickaxe devices tells',
        otherwise: 'the fastest here',
        example: 'wasm-simd',
        flag: '--kernel <name>',
      },
    },
  },
  gpu: {
    about: 'How GPUs mine.',
    settings: {
      batchMs: {
        kind: kinds.batchMilliseconds,
        about: 'length of a GPU dispatch in ms: a longer one costs less, a shorter one restarts sooner',
        otherwise: 'as tuned',
        example: 30,
        flag: '--gpu-batch-ms <ms>',
      },
      software: {
        kind: kinds.toggle,
        about: 'admit software GPU adapters, which are slower than the CPU engine',
        default: false,
        flag: '--software-gpu',
      },
    },
  },
  run: {
    about: 'How long to mine, and what to print of it.',
    settings: {
      blocks: {
        kind: kinds.integer(1, 1e9),
        about: 'stop after this many accepted blocks',
        otherwise: 'no end',
        example: 10,
        flag: '--blocks <n>',
      },
      duration: {
        kind: kinds.duration,
        about: 'stop after this many seconds, or after a time like 90m, 8h or 2d',
        otherwise: 'no end',
        example: 3600,
        flag: '--duration <time>',
      },
      json: {
        kind: kinds.toggle,
        about: 'events as one JSON object a line on stdout',
        default: false,
        flag: '--json',
      },
      status: {
        kind: kinds.toggle,
        about: 'on a terminal, a line below the log that says how it goes; --no-status leaves it out',
        default: true,
        flag: '--status',
      },
    },
  },
  http: {
    about: 'API and metrics over HTTP: docs/http.md.',
    settings: {
      listen: {
        kind: kinds.httpAddress,
        about: 'serve a web page, API and metrics over HTTP at [HOST:]PORT; without a host, on this machine only',
        otherwise: 'not served',
        example: '127.0.0.1:8080',
        flag: '--http <address>',
      },
      tokenFile: {
        kind: kinds.path,
        about: 'HTTP clients must send the token that is in this file',
        otherwise: 'no token',
        example: 'pickaxe.token',
        flag: '--http-token-file <file>',
        secretFile: true,
      },
      control: {
        kind: kinds.toggle,
        about: 'HTTP clients may pause, resume and stop mining',
        default: false,
        flag: '--http-control',
      },
    },
  },
  log: {
    about: 'The log, on stderr.',
    settings: {
      level: {
        kind: kinds.choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
        about: 'how much to log',
        default: 'info',
        flag: '--log-level <level>',
        live: true,
      },
      format: {
        kind: kinds.choice('auto', 'text', 'json'),
        about: 'auto: text on a terminal, else JSON',
        default: 'auto',
        flag: '--log-format <format>',
      },
    },
  },
  ...UNATTENDED,
} as const satisfies Table;

export type Config = ValuesOf<typeof SETTINGS>;

export const ENTRIES = entriesOf(SETTINGS);

/** @param value a setting's value; undefined where it has none */
export function assemble(value: (entry: Entry) => unknown): Config {
  const groups: Record<string, Record<string, unknown>> = {};
  for (const entry of ENTRIES) {
    groups[entry.group] ??= {};
    const given = value(entry);
    if (given !== undefined) groups[entry.group][entry.name] = given;
  }
  return groups as Config;
}

/** What pickaxe mines with where nobody sets anything. */
export const DEFAULTS = assemble(({ setting }) => setting.default);

/** @returns the setting's value in a configuration or a part of one; undefined where it has none */
export function valueIn(
  config: { readonly [G in keyof Config]?: Partial<Config[G]> },
  { group, name }: Entry,
): unknown {
  return (config as Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>)[group]?.[name];
}
