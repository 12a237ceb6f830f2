/** Settings: whether more nodes are found than those that are configured. */

import { toggle } from '../setting-types/setting-type.ts';
import type { Table } from '../settings-table.ts';

export const DISCOVERY = {
  discovery: {
    about: 'Nodes that nobody has configured: docs/ledger.md.',
    heading: 'Node',
    settings: {
      nodes: {
        type: toggle,
        about: 'find more nodes by the peers of the configured ones, and use them for failover after those',
        default: false,
        flag: '--discover-nodes',
      },
    },
  },
} as const satisfies Table;
