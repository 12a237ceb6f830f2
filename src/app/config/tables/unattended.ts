/** Settings of an unattended rig: pauses, the alarm, hooks, the webhook and the block log. */

import { webhookUrl } from '../setting-types/addresses.ts';
import { duration, integer, leastRate, list, path, toggle } from '../setting-types/basic.ts';
import { command, idleTime, notice, schedule } from '../setting-types/rig.ts';
import type { InHelp, Table } from '../settings-table.ts';

function hook<const F extends string>(about: string, flag: F, inHelp?: InHelp) {
  // The value is hidden because commands can contain tokens and secret URLs.
  return {
    type: command,
    about,
    example: 'logger -t pickaxe',
    flag,
    ...(inHelp && { inHelp }),
    hidden: true,
    live: true,
    needsNaming: true,
  } as const;
}

export const UNATTENDED = {
  pause: {
    about: 'When all devices are paused.',
    heading: 'When to mine',
    settings: {
      onBattery: {
        type: toggle,
        about: 'pause while the machine runs on battery; Linux and macOS',
        default: false,
        flag: '--pause-on-battery',
        live: true,
      },
      onActivity: {
        type: idleTime,
        about:
          'pause until nobody has used the machine for this time (60 seconds if no time is given); Linux and macOS',
        otherwise: 'none',
        example: 60,
        flag: '--pause-on-activity [time]',
        live: true,
      },
      schedule: {
        type: schedule,
        about: 'mine only in these windows (local time), like 22:00-07:00, or mon-fri 22:00-07:00, sat,sun',
        otherwise: 'at any time',
        example: 'mon-fri 22:00-07:00, sat,sun',
        flag: '--schedule <windows>',
        inHelp: 'first',
        live: true,
      },
    },
  },
  alarm: {
    about: 'Which hashrate is too low.',
    heading: 'Notifications',
    settings: {
      minHashrate: {
        type: list(leastRate),
        about:
          'raise an alarm below this hashrate of the rig, like 20G, or of one device, like gpu0=5G; repeat for several devices',
        example: ['20G', 'gpu0=5G'],
        flag: '--min-hashrate <rate>',
        live: true,
      },
      after: {
        type: duration,
        about: 'time after which the alarm is raised: seconds, or a time like 90s or 5m',
        default: 300,
        flag: '--min-hashrate-after <time>',
        live: true,
      },
    },
  },
  hooks: {
    about:
      'Shell commands to run when something happens, or lists of a program and its arguments: see docs/unattended.md.',
    heading: 'Notifications',
    settings: {
      start: hook('command to run when pickaxe starts', '--on-start <command>'),
      stop: hook('command to run when mining has ended; pickaxe waits for it, for 30 s at most', '--on-stop <command>'),
      block: hook('command to run when one of our blocks was accepted', '--on-block <command>'),
      blockState: hook(
        'command to run when a block is won, settled or orphaned (docs/rewards.md)',
        '--on-block-state <command>',
        'never',
      ),
      blockReward: hook(
        'command to run when a reward is confirmed late, a node misreports it, or a block pays another account',
        '--on-block-reward <command>',
        'never',
      ),
      deviceLost: hook('command to run when a device goes out of service', '--on-device-lost <command>'),
      lowHashrate: hook('command to run when the alarm of --min-hashrate is raised', '--on-low-hashrate <command>'),
      hashrateOk: hook('command to run when that alarm is over', '--on-hashrate-ok <command>', 'never'),
    },
  },
  webhook: {
    about: 'Where to POST events, as JSON.',
    heading: 'Notifications',
    settings: {
      url: {
        type: webhookUrl,
        about: 'URL to send events to',
        example: 'https://hooks.example/pickaxe',
        flag: '--webhook <url>',
        live: true,
        needsNaming: true,
        hidden: true,
      },
      urlFile: {
        type: path,
        about: 'file that holds that URL, for a URL that must stay secret',
        example: 'webhook-url',
        flag: '--webhook-file <file>',
        live: true,
        needsNaming: true,
        secretFile: true,
      },
      tokenFile: {
        type: path,
        about: 'file that holds a bearer token to send with the events',
        example: 'webhook-token',
        flag: '--webhook-token-file <file>',
        inHelp: 'never',
        live: true,
        needsNaming: true,
        secretFile: true,
      },
      events: {
        type: list(notice),
        about: `events to send: ${notice.choices?.join(', ')}`,
        otherwise: 'all of them',
        example: ['block', 'device-lost'],
        flag: '--webhook-events <list>',
        inHelp: 'never',
        live: true,
        needsNaming: true,
      },
    },
  },
} as const satisfies Table;

export const BLOCKS = {
  blocks: {
    about: 'What becomes of accepted blocks, and what they earn: docs/rewards.md.',
    heading: 'Blocks',
    settings: {
      log: {
        type: toggle,
        about:
          'follow each accepted block of a node, and keep its state in the block log; --no-block-log turns this off',
        default: true,
        flag: '--block-log',
      },
      folder: {
        type: path,
        about: 'folder of the block log',
        otherwise: 'pickaxe in the user’s folder for state, such as ~/.local/state',
        example: 'pickaxe-state',
        flag: '--block-log-folder <folder>',
        inHelp: 'never',
        needsNaming: true,
      },
      settledDepth: {
        type: integer(1, 120),
        about: 'number of blocks on top at which a block counts as settled',
        default: 6,
        flag: '--settled-depth <n>',
        inHelp: 'never',
      },
    },
  },
} as const satisfies Table;
