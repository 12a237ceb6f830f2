/** Settings: what hashes for this rig besides its devices, or pretends to. */

import { simulation } from '../setting-types/simulation.ts';
import { command } from '../setting-types/unattended.ts';
import type { Table } from '../settings-table.ts';

export const RELAYS = {
  externalWorker: {
    about: 'Somebody else’s external worker, which hashes beside the devices: docs/worker.md.',
    heading: 'Other programs that hash',
    settings: {
      command: {
        type: command,
        about:
          'external worker: a command that gets the target as its last argument and the header on stdin, and prints a nonce; with --devices none it mines alone',
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
    about: 'For test networks that check no proof of work: docs/worker.md.',
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
