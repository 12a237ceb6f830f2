/** Settings: the pool to mine on, in place of a node. */

import { nodeFile, nodeFingerprint, poolUrl } from '../setting-types/addresses.ts';
import { poolPassword, poolUser } from '../setting-types/miner.ts';
import { poolDifficulty } from '../setting-types/numbers.ts';
import { list, path, toggle } from '../setting-types/setting-type.ts';
import type { Table } from '../settings-table.ts';

export const POOL = {
  pool: {
    about: 'Where work comes from and shares go, in place of a node: docs/pools.md.',
    heading: 'Pool',
    settings: {
      urls: {
        type: list(poolUrl),
        about: 'pool URL, to mine on a pool; repeat for failover: the first one is preferred',
        example: ['stratum+tcp://pool.example:3333'],
        flag: '--pool <url>',
        inHelp: 'first',
        needsNaming: 'if-mixed',
      },
      user: {
        type: poolUser,
        about: 'user at the pool, as the pool wants it: usually an account and the name of this rig',
        example: 'NAME.rig1',
        flag: '--user <name>',
        inHelp: 'first',
      },
      password: {
        type: poolPassword,
        about: 'password at the pool, which other users of this machine can see; if it is secret, use --password-file',
        otherwise: 'x, which most pools ignore',
        example: 'd=1000',
        flag: '--password <password>',
        short: '-p',
        inHelp: 'first',
        needsNaming: true,
        hidden: true,
      },
      passwordFile: {
        type: path,
        about: 'file that holds the password at the pool',
        otherwise: 'none',
        example: 'pool.password',
        flag: '--password-file <file>',
        needsNaming: true,
        secretFile: true,
      },
      difficulty: {
        type: poolDifficulty,
        about: 'difficulty of shares to suggest to the pool, as the pool counts it; not every pool takes it',
        otherwise: 'the pool decides',
        example: 1000,
        flag: '--pool-difficulty <number>',
      },
      allowReconnect: {
        type: toggle,
        about: 'let the pool send this miner to other hosts (client.reconnect)',
        default: false,
        flag: '--pool-allow-reconnect',
        needsNaming: 'if-mixed',
      },
      fingerprints: {
        type: list(nodeFingerprint),
        about:
          'accept only the certificate with this SHA-256 fingerprint from pools with TLS; for one of several pools, URL=FINGERPRINT',
        example: [`stratum+ssl://pool.example:3334=${'A'.repeat(43)}`],
        flag: '--pool-fingerprint <fingerprint>',
        needsNaming: 'if-mixed',
      },
      caFiles: {
        type: list(nodeFile),
        about:
          'PEM file with the certificate authorities to trust for pools with TLS; for one of several pools, URL=FILE',
        otherwise: 'the authorities that Node.js knows',
        example: ['pool-ca.pem'],
        flag: '--pool-ca-file <file>',
        inHelp: 'never',
        needsNaming: 'if-mixed',
      },
    },
  },
} as const satisfies Table;
