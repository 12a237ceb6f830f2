/** Settings: how long to mine, and where to see how it goes. */

import { httpAddress } from '../setting-types/addresses.ts';
import { duration, fileSize, integer, price, watts } from '../setting-types/numbers.ts';
import { choice, path, toggle } from '../setting-types/setting-type.ts';
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
        about: 'what the whole rig draws, in watts, where sensors do not tell it all',
        otherwise: 'what the sensors of the devices tell',
        example: 450,
        flag: '--power-watts <watts>',
      },
    },
  },
  http: {
    about: 'API and metrics over HTTP: docs/http.md.',
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
        about: 'format of the log and of the log file: text for people, or one JSON object per line',
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
