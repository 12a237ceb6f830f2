/** Settings: how the ledger is read from a node. */

import { shownUrl } from '../../node/url.ts';
import { commandPath, peerUrl } from '../setting-types/addresses.ts';
import { choice } from '../setting-types/setting-type.ts';
import type { Table } from '../settings-table.ts';

export const LEDGER = {
  ledger: {
    about: 'How pickaxe ledger, tx and balance speak with nodes: docs/ledger.md.',
    heading: 'Ledger',
    settings: {
      peerUrl: {
        type: peerUrl,
        about: 'URL of the P2P port of the first node, on which real nodes serve their peers and their configuration',
        example: 'https://127.0.0.1:1789',
        flag: '--peer-url <url>',
        shown: (url) => shownUrl(url as string),
      },
      dialect: {
        type: choice('auto', 'document', 'chainweb'),
        about: 'names and paths that the node uses: those of /ledger/0.0, or those of /chainweb/0.0',
        default: 'auto',
        flag: '--dialect <name>',
        inHelp: 'never',
      },
      commandPath: {
        type: commandPath,
        about: 'path of the node’s command API, below that of the API or, with a slash in front, from the host root',
        otherwise: 'that of the dialect',
        example: 'chain/<chain>/pact/api/v1',
        flag: '--command-path <path>',
        inHelp: 'never',
      },
    },
  },
} as const satisfies Table;
