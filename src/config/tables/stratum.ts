/** Settings: whom else the rig gives its work to. */

import { httpAddress, ipNetwork } from '../setting-types/addresses.ts';
import { integer } from '../setting-types/numbers.ts';
import { list, path } from '../setting-types/setting-type.ts';
import type { Table } from '../settings-table.ts';

export const STRATUM = {
  stratum: {
    about: 'A stratum server, for ASICs and other miners: docs/stratum.md.',
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
          'address of a proxy whose connections must begin with a PROXY protocol header (version 1 or 2), or a network of such; repeat for several',
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
