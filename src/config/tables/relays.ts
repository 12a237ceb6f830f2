/** Settings: other programs that hash for this rig. */

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
        hidden: true,
        needsNaming: true,
      },
    },
  },
} as const satisfies Table;
