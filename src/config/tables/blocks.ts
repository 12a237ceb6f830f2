/** Settings: whether it is followed what becomes of accepted blocks. */

import { integer } from '../setting-types/numbers.ts';
import { path, toggle } from '../setting-types/setting-type.ts';
import type { Table } from '../settings-table.ts';

export const BLOCKS = {
  blocks: {
    about: 'What becomes of accepted blocks, and what they earn: docs/rewards.md.',
    heading: 'Blocks',
    settings: {
      log: {
        type: toggle,
        about:
          'follow each accepted block of a node on its chain, and keep what becomes of it in the block log; --no-block-log does not',
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
        about: 'number of blocks on top of a block at which it counts as settled',
        default: 6,
        flag: '--settled-depth <n>',
        inHelp: 'never',
      },
    },
  },
} as const satisfies Table;
