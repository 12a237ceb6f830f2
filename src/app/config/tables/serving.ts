/** Settings of a run's length and output, power, HTTP, logs, the stratum server, programs that hash, and simulation. */

import { httpAddress, ipNetwork } from '../setting-types/addresses.ts';
import { choice, duration, fileSize, integer, list, path, price, toggle, watts } from '../setting-types/basic.ts';
import { command, simulation } from '../setting-types/rig.ts';
import type { Table } from '../settings-table.ts';

export const RUN_HTTP_LOG = {
  run: {
    about: 'How long to mine, and what to print meanwhile.',
    heading: 'Limits',
    settings: {
      blocks: {
        type: integer(1, 1e9),
        about: 'stop after this many accepted blocks',
        otherwise: 'no end',
        example: 10,
        flag: '--blocks <n>',
      },
      duration: {
        type: duration,
        about: 'stop after this time: seconds, or a time like 90m, 1h30m or 2d',
        otherwise: 'no end',
        example: 3600,
        flag: '--duration <time>',
        inHelp: 'first',
      },
      json: {
        type: toggle,
        about: 'print events as one JSON object per line on stdout',
        default: false,
        flag: '--json',
        heading: 'Output',
      },
      status: {
        type: toggle,
        about: 'show a status line below the log, on a terminal; --no-status hides it',
        default: true,
        flag: '--status',
        heading: 'Output',
      },
    },
  },
  power: {
    about: 'What power costs, for the estimate of earnings: docs/rewards.md.',
    heading: 'Output',
    settings: {
      price: {
        type: price,
        about: 'price of a kilowatt-hour, in any currency: pickaxe then shows what a day of mining costs',
        otherwise: 'costs are not shown',
        example: 0.3,
        flag: '--power-price <price>',
      },
      watts: {
        type: watts,
        about: 'power of the whole rig, in watts',
        otherwise: 'the sum of what the devices’ sensors show',
        example: 450,
        flag: '--power-watts <watts>',
      },
    },
  },
  http: {
    about: 'API and metrics over HTTP: docs/watching.md.',
    heading: 'HTTP',
    settings: {
      listen: {
        type: httpAddress,
        about: 'serve the web page, API and metrics at [HOST:]PORT; without a host, on this machine only',
        otherwise: 'not served',
        example: '127.0.0.1:8080',
        flag: '--http <address>',
        inHelp: 'first',
        needsNaming: true,
      },
      tokenFile: {
        type: path,
        about: 'HTTP clients must send the token in this file',
        otherwise: 'no token',
        example: 'pickaxe.token',
        flag: '--http-token-file <file>',
        needsNaming: true,
        secretFile: true,
      },
      control: {
        type: toggle,
        about: 'HTTP clients may pause, resume and stop mining',
        default: false,
        flag: '--http-control',
        needsNaming: true,
      },
    },
  },
  log: {
    about: 'The log, on stderr.',
    heading: 'Output',
    settings: {
      level: {
        type: choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
        about: 'how much to log',
        default: 'info',
        flag: '--log-level <level>',
        inHelp: 'first',
        live: true,
      },
      format: {
        type: choice('text', 'json'),
        about: 'format of the log and of the log file: text, or one JSON object per line',
        default: 'text',
        flag: '--log-format <format>',
      },
    },
  },
  logFile: {
    about: 'A copy of the log in a file, in the same format.',
    heading: 'Output',
    settings: {
      path: {
        type: path,
        about: 'write the log to this file as well, and rotate the file',
        otherwise: 'no file',
        example: 'pickaxe.log',
        flag: '--log-file <file>',
        inHelp: 'first',
        needsNaming: true,
      },
      size: {
        type: fileSize,
        about: 'rotate the log file when it reaches this size',
        default: 10 * 1024 ** 2,
        flag: '--log-file-size <size>',
        inHelp: 'never',
        needsNaming: true,
      },
      keep: {
        type: integer(1, 100),
        about: 'old log files to keep, as FILE.1, FILE.2 …',
        default: 5,
        flag: '--log-file-keep <n>',
        inHelp: 'never',
        needsNaming: true,
      },
    },
  },
} as const satisfies Table;

export const STRATUM = {
  stratum: {
    about: 'A stratum server, for ASICs and other miners: docs/workers.md.',
    heading: 'Stratum server',
    settings: {
      listen: {
        type: httpAddress,
        about: 'serve work to ASICs and other miners at [HOST:]PORT; without a host, on this machine only',
        otherwise: 'not served',
        example: '0.0.0.0:1917',
        flag: '--stratum-listen <address>',
        needsNaming: true,
      },
      shareSeconds: {
        type: integer(5, 30),
        about: 'seconds between two shares of a session, once its hashrate is known',
        default: 10,
        flag: '--stratum-share-seconds <n>',
        inHelp: 'never',
      },
      ledger: {
        type: path,
        about: 'append shares, and the sessions that bring them, to this file, as JSON lines',
        otherwise: 'no file',
        example: 'shares.jsonl',
        flag: '--stratum-ledger <file>',
        inHelp: 'never',
        needsNaming: true,
      },
      proxies: {
        type: list(ipNetwork),
        about:
          'address or network of proxies whose connections must begin with a PROXY protocol header (version 1 or 2); repeat for several',
        otherwise: 'none',
        example: ['10.0.0.2'],
        flag: '--stratum-proxy-protocol <address>',
        inHelp: 'never',
        needsNaming: true,
      },
      tlsCert: {
        type: path,
        about: 'PEM certificate chain for the stratum server; turns on TLS',
        otherwise: 'no TLS',
        example: 'stratum.crt',
        flag: '--stratum-tls-cert <file>',
        needsNaming: true,
      },
      tlsKey: {
        type: path,
        about: 'PEM file with the key of that certificate',
        example: 'stratum.key',
        flag: '--stratum-tls-key <file>',
        needsNaming: true,
        secretFile: true,
      },
    },
  },
} as const satisfies Table;

export const RELAYS = {
  externalWorker: {
    about: 'Somebody else’s external worker, which hashes beside the devices: docs/workers.md.',
    heading: 'Other programs that hash',
    settings: {
      command: {
        type: command,
        about:
          'external worker: a command that gets the target as its last argument and the header on stdin, and prints a nonce',
        otherwise: 'none',
        example: '/opt/miner/worker --fast',
        flag: '--external-worker <command>',
        inHelp: 'never',
        hidden: true,
        needsNaming: true,
      },
    },
  },
  testNetwork: {
    about: 'For test networks that check no proof of work: docs/workers.md.',
    heading: 'Test networks',
    settings: {
      simulate: {
        type: simulation,
        about:
          'make blocks without hashing: at a simulated rate (hashrate=100M), at fixed intervals (delay=5s), or on request over HTTP (on-demand=PORT); never on mainnet01',
        otherwise: 'none',
        example: 'delay=5s',
        flag: '--simulate <how>',
        inHelp: 'never',
        needsNaming: true,
      },
    },
  },
} as const satisfies Table;
