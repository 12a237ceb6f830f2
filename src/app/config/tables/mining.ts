/** Settings of the node, the miner, the rig's name, pools, devices and the ledger. */

import { PREDICATES } from '../../../node/client/miner-identity.ts';
import { shownUrl } from '../../../node/http/url.ts';
import { commandPath, nodeFile, nodeFingerprint, nodeUrl, peerUrl, poolUrl } from '../setting-types/addresses.ts';
import {
  celsius,
  celsiusOrNone,
  choice,
  gpuBatch,
  gpuLimit,
  gpuResume,
  list,
  niceness,
  path,
  poolDifficulty,
  toggle,
  USUAL_GPU_LIMIT,
} from '../setting-types/basic.ts';
import {
  account,
  cpuCores,
  cpuList,
  devices,
  kernelName,
  network,
  poolPassword,
  poolUser,
  publicKey,
  rigName,
  threadCount,
} from '../setting-types/rig.ts';
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
        live: true,
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
        live: true,
        needsNaming: 'if-mixed',
      },
      caFiles: {
        type: list(nodeFile),
        about: 'PEM file with the certificate authorities to trust for https nodes; for one of several nodes, URL=FILE',
        otherwise: 'the authorities that Node.js knows',
        example: ['node-ca.pem'],
        flag: '--node-ca-file <file>',
        live: true,
        inHelp: 'never',
        needsNaming: 'if-mixed',
      },
      insecureTls: {
        type: toggle,
        about:
          'accept any certificate of an https node or of a pool with TLS: others can then read and change the traffic',
        default: false,
        flag: '--insecure-tls',
        live: true,
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
        live: true,
        inHelp: 'first',
        needsNaming: 'if-mixed',
      },
      user: {
        type: poolUser,
        about: 'user at the pool, usually an account and the name of this rig',
        example: 'NAME.rig1',
        flag: '--user <name>',
        inHelp: 'first',
      },
      password: {
        type: poolPassword,
        about: 'password at the pool, visible to other users of this machine; use --password-file for a secret one',
        otherwise: 'x, which most pools ignore',
        example: 'd=1000',
        flag: '--password <password>',
        live: true,
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
        live: true,
        needsNaming: true,
        secretFile: true,
      },
      difficulty: {
        type: poolDifficulty,
        about: 'difficulty of shares, as the pool counts it, to suggest to the pool',
        otherwise: 'the pool decides',
        example: 1000,
        flag: '--pool-difficulty <number>',
        live: true,
      },
      allowReconnect: {
        type: toggle,
        about: 'let the pool send this miner to other hosts (client.reconnect)',
        default: false,
        flag: '--pool-allow-reconnect',
        live: true,
        needsNaming: 'if-mixed',
      },
      fingerprints: {
        type: list(nodeFingerprint),
        about:
          'accept only the certificate with this SHA-256 fingerprint from pools with TLS; for one of several pools, URL=FINGERPRINT',
        example: [`stratum+ssl://pool.example:3334=${'A'.repeat(43)}`],
        flag: '--pool-fingerprint <fingerprint>',
        live: true,
        needsNaming: 'if-mixed',
      },
      caFiles: {
        type: list(nodeFile),
        about:
          'PEM file with the certificate authorities to trust for pools with TLS; for one of several pools, URL=FILE',
        otherwise: 'the authorities that Node.js knows',
        example: ['pool-ca.pem'],
        flag: '--pool-ca-file <file>',
        live: true,
        inHelp: 'never',
        needsNaming: 'if-mixed',
      },
    },
  },
} as const satisfies Table;

export const DEVICES = {
  devices: {
    about: 'What mines, and how hot it may get.',
    heading: 'Devices',
    settings: {
      use: {
        type: devices,
        about:
          'devices to use, like cpu,gpu0 (0,1 is gpu0,gpu1); all is the CPU and every real GPU; with none, only other programs and miners hash',
        default: 'all',
        flag: '--devices <list>',
        inHelp: 'first',
        short: '-d',
      },
      tempLimit: {
        type: gpuLimit,
        about: 'pause a GPU at this temperature in °C; none turns this off; gpu0=80 is for one GPU, repeat for several',
        default: USUAL_GPU_LIMIT,
        flag: '--temp-limit <celsius>',
        inHelp: 'first',
        live: true,
      },
      tempResume: {
        type: gpuResume,
        about: 'resume such a GPU at this temperature in °C; gpu0=70 is for one GPU',
        otherwise: '10 below the limit',
        example: 80,
        flag: '--temp-resume <celsius>',
        live: true,
      },
      cpuTempLimit: {
        type: celsiusOrNone,
        about: 'pause the CPU at this temperature in °C; none turns this off',
        // Ryzen chips lower their clock at 95 °C, and most of Intel's at 100 °C. Some chips run at this temperature
        // all day. The default is above both temperatures, so that these chips are not paused.
        default: 105,
        flag: '--cpu-temp-limit <celsius>',
        live: true,
      },
      cpuTempResume: {
        type: celsius,
        about: 'resume the CPU at this temperature in °C',
        otherwise: '10 below the limit',
        example: 80,
        flag: '--cpu-temp-resume <celsius>',
        live: true,
      },
    },
  },
  cpu: {
    about: 'How the CPU mines.',
    heading: 'Devices',
    settings: {
      threads: {
        type: threadCount,
        about: 'CPU threads, or a part of the hardware threads, like 50%',
        otherwise: 'all hardware threads, or all but one where there are more than two',
        example: 4,
        flag: '--threads <n>',
        inHelp: 'first',
        short: '-t',
      },
      cores: {
        type: cpuCores,
        about: 'cores of a hybrid chip that mine; where all are alike, performance is all',
        default: 'all',
        flag: '--cpu-cores <kind>',
      },
      priority: {
        type: niceness,
        about: 'niceness of the CPU threads, from 0 (normal) to 19 (all other programs go first)',
        // 19 is not given as `default`, so that the setting has no value unless a user sets one. A sandbox may refuse a
        // niceness, and the refusal must be an error only for users who set one.
        otherwise: '19',
        example: 19,
        flag: '--cpu-priority <n>',
      },
      affinity: {
        type: cpuList,
        about: 'CPUs to pin CPU threads to, like 0,2-5, or none',
        otherwise: 'threads are pinned only if every CPU hashes',
        example: '0,2-5',
        flag: '--cpu-affinity <list>',
      },
      kernel: {
        type: kernelName,
        about: 'CPU kernel; pickaxe devices compares them',
        otherwise: 'the fastest here',
        example: 'wasm-simd',
        flag: '--kernel <name>',
      },
    },
  },
  gpu: {
    about: 'How GPUs mine.',
    heading: 'Devices',
    settings: {
      batchMs: {
        type: gpuBatch,
        about:
          'length of a GPU dispatch in ms: a shorter one costs more and switches jobs sooner; gpu0=30 is for one GPU',
        otherwise: 'as tuned',
        example: 30,
        flag: '--gpu-batch-ms <ms>',
      },
      software: {
        type: toggle,
        about: 'also use software GPU adapters, which are slower than mining on the CPU',
        default: false,
        flag: '--software-gpu',
      },
    },
  },
} as const satisfies Table;

export const LEDGER = {
  ledger: {
    about: 'How pickaxe ledger, tx and balance speak with nodes: docs/node.md.',
    heading: 'Ledger',
    settings: {
      peerUrl: {
        type: peerUrl,
        about: 'URL of the P2P port of the first node, which serves its peers and its configuration',
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
