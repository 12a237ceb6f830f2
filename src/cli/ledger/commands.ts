/** The commands of `pickaxe ledger`: their arguments and options. What they do is in `commands/ledger/`. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { exit } from '../../app/exit.ts';
import { asGiven, chainNumber, positiveInteger, settingsOf, wholeNumber, withSettings } from '../options.ts';

const HASH = /^[\w-]{43}$/;
/** How many items a list prints by default: a chain has millions of blocks. */
const USUAL_LIMIT = 100;

/** For commands that only few people need: the help leaves them out, and docs/ledger.md explains them. */
const RARE = { hidden: true };

const chain: [string, string, (text: string) => number] = ['<chain>', 'number of the chain, from 0 on', chainNumber];

/** Adds the command `ledger` to the program. */
export function addLedgerCommands(program: Command): void {
  const ledger = program.command('ledger').helpCommand(false).description('read the ledger from a node, and prove it');

  const reading = (name: string, about: string) =>
    withSettings(ledger.command(name), 'node', 'ledger')
      .description(about)
      .option('--json', 'JSON on stdout, one value a line', false);

  reading('cut', 'print the newest block of each chain')
    .option('--max-height <n>', 'a cut of at most this height, which is the sum of its blocks’ heights', wholeNumber)
    .option('--verify', 'prove each block, and that the blocks belong together', false)
    .action(async (options, command) =>
      exit(await (await import('./node.ts')).runCut(await settingsOf(command), options)),
    );

  reading('peers', 'list the peers that the node knows')
    .option('--chain <n>', 'list the peers of this chain’s mempool instead', chainNumber)
    .action(async (options, command) =>
      exit(await (await import('./node.ts')).runPeers(await settingsOf(command), options)),
    );

  reading('config', 'print the configuration that the node reports').action(async (options, command) =>
    exit(await (await import('./node.ts')).runConfig(await settingsOf(command), options)),
  );

  reading('info', 'print the network, the chains and the version of the node').action(async (options, command) =>
    exit(await (await import('./node.ts')).runInfo(await settingsOf(command), options)),
  );

  reading('payload', 'print what a block contains, proven against its hash')
    .argument(...chain)
    .argument('<hash>', 'the payload hash, 43 characters', (text) => hashOf(asGiven(text)))
    .option('--height <n>', 'height of the block: with it nodes find the payload faster', wholeNumber)
    .option('--outputs', 'also print what its transactions have done, and what its miner got', false)
    .action(async (number, hash, options, command) =>
      exit(await (await import('./blocks.ts')).runPayload(await settingsOf(command), number, hash, options)),
    );

  const list = (name: string, about: string, item: string) =>
    reading(name, about)
      .argument(...chain)
      .option('--min-height <n>', 'from this height on', wholeNumber)
      .option('--max-height <n>', 'up to this height', wholeNumber)
      .option('--limit <n>', `print at most this many ${item}`, positiveInteger(2 ** 53 - 1), USUAL_LIMIT);

  const newest = (command: Command) =>
    command.addOption(
      new Option('--last <n>', 'only the newest, the newest first and without orphans')
        .argParser(positiveInteger(2 ** 53 - 1))
        .conflicts(['minHeight', 'maxHeight', 'limit']),
    );

  newest(list('block', 'list blocks of a chain upwards, orphans too', 'blocks'))
    .option('--verify', 'prove each block: proof of work, neighbours, weight, payload, reward', false)
    .action(async (number, options, command) =>
      exit(await (await import('./blocks.ts')).runBlock(await settingsOf(command), number, options)),
    );

  newest(list('hash', 'list hashes of a chain’s blocks upwards, orphans’ too', 'hashes')).action(
    async (number, options, command) =>
      exit(await (await import('./blocks.ts')).runHash(await settingsOf(command), number, options)),
  );

  list('branch', 'list a block and its ancestors downwards', 'blocks')
    .requiredOption('--upper <hash>', 'hash of the block; repeat for several', collectHashes)
    .option('--lower <hash>', 'leave out this block and its ancestors; repeat for several', collectHashes)
    .option('--blocks', 'print whole blocks instead of hashes', false)
    .option('--verify', 'prove each block, as ledger block does', false)
    .action(async (number, options, command) =>
      exit(await (await import('./blocks.ts')).runBranch(await settingsOf(command), number, options)),
    );

  withSettings(ledger.command('put-cut', RARE), 'node', 'ledger')
    .description('publish a cut: the node will try to take it for the state of the ledger')
    .argument('<file>', 'JSON of a cut that names its origin; - for stdin')
    .action(async (file, _, command) =>
      exit(await (await import('./node.ts')).runPutCut(await settingsOf(command), file)),
    );

  withSettings(ledger.command('put-peer', RARE), 'node', 'ledger')
    .description('add a peer to those that the node knows and tells others about')
    .argument('<address>', 'HOST:PORT of the peer’s P2P port')
    .option('--id <id>', 'fingerprint of its certificate, 43 characters; not needed if an authority has signed it')
    .option('--chain <n>', 'add it to the peers of this chain’s mempool instead', chainNumber)
    .action(async (address, options, command) =>
      exit(await (await import('./node.ts')).runPutPeer(await settingsOf(command), address, options)),
    );
}

/** @returns 32 bytes */
function hashOf(text: string): Uint8Array {
  const bytes = HASH.test(text) ? Buffer.from(text, 'base64url') : undefined;
  if (bytes?.toString('base64url') !== text) throw new InvalidArgumentError('Give 43 characters of base64url.');
  return Uint8Array.from(bytes);
}

function collectHashes(text: string, before: readonly Uint8Array[] = []): Uint8Array[] {
  return [...before, hashOf(text)];
}
