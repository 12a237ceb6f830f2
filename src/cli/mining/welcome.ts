/** `pickaxe` without a command: suggests what to do next. */

import { loadConfig } from '../../app/config/load.ts';
import { ConfigError } from '../../app/config/raw-settings.ts';
import { EXIT } from '../../app/process/exit.ts';
import { version } from '../../base/system/version.ts';
import { shownUrl } from '../../node/http/url.ts';
import type { Io } from '../io.ts';

export function runWelcome(io: Io): number {
  const lines = [`pickaxe ${version}`, '', ...whatNext(), '  pickaxe --help    all commands'];
  io.out(`${lines.join('\n')}\n`);
  return EXIT.done;
}

function whatNext(): string[] {
  try {
    const { config, files } = loadConfig({ environment: process.env, cwd: process.cwd() });
    const { node, pool, miner, nats } = config;
    const kind = pool.urls !== undefined ? 'pool' : nats.urls !== undefined && !node.urls ? 'fleet' : 'node';
    const urls = { node: miner.publicKeys && node.urls?.map(shownUrl), pool: pool.user && pool.urls, fleet: nats.urls }[
      kind
    ];
    if (urls) {
      return [
        `Ready to mine ${kind === 'fleet' ? 'for the fleet at' : 'on'} ${urls.join(', ')}${files.length > 0 ? `, according to ${files.join(' and ')}` : ''}.`,
        '',
        '  pickaxe mine      starts mining',
        `  pickaxe doctor    checks this machine and the ${kind} first`,
        '  pickaxe mine --print-config',
        '                    prints the effective settings and their sources',
      ];
    }
    const what =
      files.length > 0
        ? `${files.join(' and ')} names no node or no key yet, nor a pool and a user.`
        : 'Nothing is configured yet.';
    return [what, '', ...FIRST_STEPS];
  } catch (fault) {
    if (!(fault instanceof ConfigError)) throw fault;
    return [fault.message, '', 'Fix that first, then check again:', '', '  pickaxe config check'];
  }
}

const FIRST_STEPS = [
  '  pickaxe demo      mines at once, on a mock node inside this process',
  '  pickaxe init      asks for node or pool and devices, checks them, and writes pickaxe.toml',
  '  pickaxe doctor    says what keeps this machine from mining, and what to do about it',
];
