/** The commands and their descriptions. A command's module is loaded only when needed, so that pickaxe starts fast. */

import type { CommandModule } from './io.ts';

type Group = 'Start:' | 'Watch and earn:' | 'Measure:' | 'More:';

interface CommandEntry {
  /** Name and arguments, as `pickaxe --help` lists them. */
  readonly usage: string;
  /** Heading in `pickaxe --help`. Absent for commands for programs and developers, which are listed at the end. */
  readonly group?: Group;
  readonly about: string;
  readonly load: () => Promise<CommandModule>;
}

/** The commands in the order in which people need them, followed by the commands without a group. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    usage: 'demo',
    group: 'Start:',
    about: 'mine on a mock node in this process: nothing to set up',
    load: () => import('./mining/demo.ts'),
  },
  {
    usage: 'init',
    group: 'Start:',
    about: 'answer a few questions, and pickaxe.toml is written',
    load: () => import('./setup/init/init.ts'),
  },
  {
    usage: 'doctor',
    group: 'Start:',
    about: 'say what keeps this machine from mining, and what to do',
    load: () => import('./setup/doctor.ts'),
  },
  {
    usage: 'mine',
    group: 'Start:',
    about: 'mine on your nodes or pools until you stop it',
    load: () => import('./mining/mine.ts'),
  },
  {
    usage: 'stats',
    group: 'Watch and earn:',
    about: 'ask running miners how they are doing, over HTTP',
    load: () => import('./mining/stats.ts'),
  },
  {
    usage: 'fleet',
    group: 'Watch and earn:',
    about: 'watch and steer the rigs of a fleet, over NATS',
    load: () => import('./fleet/fleet.ts'),
  },
  {
    usage: 'blocks',
    group: 'Watch and earn:',
    about: 'list your blocks, their state, and what they have earned',
    load: () => import('./coins/blocks.ts'),
  },
  {
    usage: 'balance [account]',
    group: 'Watch and earn:',
    about: 'print what an account has on each chain, and in total',
    load: () => import('./coins/balance.ts'),
  },
  {
    usage: 'sweep',
    group: 'Watch and earn:',
    about: 'move the coins of an account from all chains to one',
    load: () => import('./coins/sweep/sweep.ts'),
  },
  {
    usage: 'bench',
    group: 'Measure:',
    about: 'measure the hashrate of each device, and prove its work',
    load: () => import('./measuring/bench.ts'),
  },
  {
    usage: 'devices',
    group: 'Measure:',
    about: 'list what this machine can mine with: devices and kernels',
    load: () => import('./measuring/devices.ts'),
  },
  {
    usage: 'config',
    group: 'More:',
    about: 'explain and check configuration files',
    load: () => import('./setup/config.ts'),
  },
  {
    usage: 'keygen <file>',
    group: 'More:',
    about: 'make a key pair, with its secret half in a new file',
    load: () => import('./setup/keygen.ts'),
  },
  {
    usage: 'coordinate',
    group: 'More:',
    about: 'give your nodes’ or pools’ work to the rigs of a fleet',
    load: () => import('./mining/coordinate.ts'),
  },
  {
    usage: 'service',
    group: 'More:',
    about: 'run pickaxe as a systemd service',
    load: () => import('./setup/service.ts'),
  },
  {
    usage: 'completion <shell>',
    group: 'More:',
    about: 'print a completion script for your shell',
    load: () => import('./usage/completion.ts'),
  },
  {
    usage: 'worker',
    about: 'mine for another program: jobs in and shares out, one JSON object per line',
    load: () => import('./mining/worker.ts'),
  },
  {
    usage: 'external-worker <target>',
    about: "read a header from stdin and print its nonce (the reference client's external-worker protocol)",
    load: () => import('./mining/external-worker.ts'),
  },
  {
    usage: 'ledger',
    about: 'read the ledger from a node, and prove it',
    load: () => import('./ledger/ledger.ts'),
  },
  {
    usage: 'tx',
    about: 'build, sign, explain and send transactions of the ledger',
    load: () => import('./coins/tx/tx.ts'),
  },
  {
    usage: 'repl [files...]',
    about: 'run contract code and its tests, from files or at a prompt',
    load: () => import('./repl/repl.ts'),
  },
  {
    usage: 'nodes',
    about: 'look at the nodes: do they answer, agree, keep up, and give work?',
    load: () => import('./ledger/nodes.ts'),
  },
  {
    usage: 'verify <header>',
    about: 'check the proof of work of a header or a work record (322 bytes), and compute its block hash',
    load: () => import('./measuring/verify.ts'),
  },
  {
    usage: 'mock-node',
    about: 'run a mock node on this machine, to try miners against',
    load: () => import('./mock-node/mock-node.ts'),
  },
];

/** @returns the command's name, such as `balance` from `balance [account]` */
export function nameIn({ usage }: CommandEntry): string {
  return usage.split(' ')[0];
}
