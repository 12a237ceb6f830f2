/** Settings: where work comes from, who gets the rewards, and what the rig is called. */

import { PREDICATES } from '../../node/miner-identity.ts';
import { shownUrl } from '../../node/url.ts';
import { nodeFile, nodeFingerprint, nodeUrl } from '../setting-types/addresses.ts';
import { account, network, publicKey, rigName } from '../setting-types/miner.ts';
import { choice, list, toggle } from '../setting-types/setting-type.ts';
import type { Table } from '../settings-table.ts';

export const NODE_AND_MINER = {
  node: {
    about: 'Where work comes from and solutions go.',
    heading: 'Node',
    settings: {
      urls: {
        type: list(nodeUrl),
        about: 'node URL; repeat for failover: the first one is preferred',
        example: ['http://127.0.0.1:1848'],
        flag: '--node <url>',
        inHelp: 'first',
        short: '-o',
        shown: (urls) => (urls as string[]).map(shownUrl),
        needsNaming: 'if-mixed',
      },
      network: {
        type: network,
        about: 'mainnet01, testnet04, development or test-singleton; not needed where every node URL has a path',
        example: 'mainnet01',
        flag: '--network <id>',
        inHelp: 'first',
      },
      fingerprints: {
        type: list(nodeFingerprint),
        about:
          'accept only the certificate with this SHA-256 fingerprint from https nodes; for one of several nodes, URL=FINGERPRINT',
        example: [`https://node.example=${'A'.repeat(43)}`],
        flag: '--node-fingerprint <fingerprint>',
        needsNaming: 'if-mixed',
      },
      caFiles: {
        type: list(nodeFile),
        about: 'PEM file with the certificate authorities to trust for https nodes; for one of several nodes, URL=FILE',
        otherwise: 'the authorities that Node.js knows',
        example: ['node-ca.pem'],
        flag: '--node-ca-file <file>',
        inHelp: 'never',
        needsNaming: 'if-mixed',
      },
      insecureTls: {
        type: toggle,
        about:
          'accept any certificate of an https node or of a pool with TLS: others can then read and change the traffic',
        default: false,
        flag: '--insecure-tls',
        needsNaming: true,
      },
    },
  },
  miner: {
    about: 'Who gets the rewards. The node must list the same account, key and predicate.',
    heading: 'Miner',
    settings: {
      publicKeys: {
        type: list(publicKey),
        about: 'miner public key, 64 hex digits, as pickaxe keygen prints it; repeat for several keys',
        example: ['00'.repeat(32)],
        flag: '--public-key <hex>',
        inHelp: 'first',
        short: '-u',
      },
      account: {
        type: account,
        about: 'miner account',
        otherwise: 'k: and the public key',
        example: `k:${'00'.repeat(32)}`,
        flag: '--account <name>',
      },
      predicate: {
        type: choice(...PREDICATES),
        about: 'which keys must sign',
        default: 'keys-all',
        flag: '--predicate <name>',
        inHelp: 'never',
      },
    },
  },
  rig: {
    about: 'What distinguishes this rig from others.',
    heading: 'Miner',
    settings: {
      name: {
        type: rigName,
        about: 'name of this rig; a key, account or user written as k:KEY.rig1 sets it, too',
        otherwise: 'the name of the host',
        example: 'rig1',
        flag: '--rig-name <name>',
        inHelp: 'first',
      },
    },
  },
} as const satisfies Table;
