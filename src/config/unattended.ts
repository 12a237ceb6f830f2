/** Settings of a rig that nobody looks at: a part of the table in settings.ts. */

import { duration, integer, list, path, toggle } from './kinds.ts';
import type { Table } from './setting.ts';
import * as kinds from './unattended-kinds.ts';

/** A hook, which is like all others but for when it runs. */
function hook<const F extends string>(about: string, flag: F) {
  // Commands have tokens and secret URLs in them.
  return {
    kind: kinds.command,
    about,
    example: 'logger -t pickaxe',
    flag,
    hidden: true,
    live: true,
    needsNaming: true,
  } as const;
}

export const UNATTENDED = {
  logFile: {
    about: 'A file that gets what the log gets, as JSON lines unless the format is text.',
    settings: {
      path: {
        kind: path,
        about: 'log to this file, too, which is rotated',
        otherwise: 'no file',
        example: 'pickaxe.log',
        flag: '--log-file <file>',
        needsNaming: true,
      },
      size: {
        kind: kinds.fileSize,
        about: 'a log file that reaches this size is rotated',
        default: '10M',
        flag: '--log-file-size <size>',
      },
      keep: {
        kind: integer(1, 100),
        about: 'old log files to keep, as FILE.1, FILE.2 …',
        default: 5,
        flag: '--log-file-keep <n>',
      },
    },
  },
  pause: {
    about: 'When all devices rest.',
    settings: {
      onBattery: {
        kind: toggle,
        about: 'rest while the machine runs on battery; Linux and macOS',
        default: false,
        flag: '--pause-on-battery',
        live: true,
      },
      onActivity: {
        kind: kinds.idleTime,
        about: 'rest until nobody has used the machine for so many seconds, 60 if no number is given; Linux and macOS',
        otherwise: 'none',
        example: 60,
        flag: '--pause-on-activity [time]',
        live: true,
      },
      schedule: {
        kind: kinds.schedule,
        about: 'mine only then, local time: 22:00-07:00, or mon-fri 22:00-07:00, sat,sun',
        otherwise: 'at any time',
        example: 'mon-fri 22:00-07:00, sat,sun',
        flag: '--schedule <windows>',
        live: true,
      },
    },
  },
  alarm: {
    about: 'What hashrate is too low.',
    settings: {
      minHashrate: {
        kind: list(kinds.leastRate),
        about: 'alarm below this hashrate of the rig, like 20G, or gpu0=5G of a device; several for several',
        example: ['20G', 'gpu0=5G'],
        flag: '--min-hashrate <rate>',
        live: true,
      },
      after: {
        kind: duration,
        about: 'below it for so many seconds, or a time like 90s or 5m',
        default: 300,
        flag: '--min-hashrate-after <time>',
        live: true,
      },
    },
  },
  hooks: {
    about: 'Shell commands to run when something happens: docs/unattended.md tells what they are given.',
    settings: {
      start: hook('command to run when pickaxe starts', '--on-start <command>'),
      stop: hook('command to run when mining has ended; waited for, 30 s at most', '--on-stop <command>'),
      block: hook('command to run when a block of ours was accepted', '--on-block <command>'),
      deviceLost: hook('command to run when a device goes out of service', '--on-device-lost <command>'),
      lowHashrate: hook('command to run at the alarm of --min-hashrate', '--on-low-hashrate <command>'),
      hashrateOk: hook('command to run when that alarm is over', '--on-hashrate-ok <command>'),
    },
  },
  webhook: {
    about: 'Where to POST what happens, as JSON.',
    settings: {
      url: {
        kind: kinds.webhookUrl,
        about: 'URL that is told what happens',
        example: 'https://hooks.example/pickaxe',
        flag: '--webhook <url>',
        live: true,
        needsNaming: true,
        hidden: true,
      },
      urlFile: {
        kind: path,
        about: 'file with that URL in it, where whoever knows it may write there',
        example: 'webhook-url',
        flag: '--webhook-file <file>',
        live: true,
        needsNaming: true,
        secretFile: true,
      },
      tokenFile: {
        kind: path,
        about: 'file with a bearer token to send there',
        example: 'webhook-token',
        flag: '--webhook-token-file <file>',
        live: true,
        needsNaming: true,
        secretFile: true,
      },
      events: {
        kind: list(kinds.notice),
        about: `of what to tell: ${kinds.notice.choices?.join(', ')}`,
        otherwise: 'all of them',
        example: ['block', 'device-lost'],
        flag: '--webhook-events <list>',
        live: true,
        needsNaming: true,
      },
    },
  },
} as const satisfies Table;
