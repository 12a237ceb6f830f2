import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { processIo } from '#pickaxe/cli/io.js';
import { programFor } from '#pickaxe/cli/run.js';
import { expectTable } from '../generated.ts';

/** Where a command is explained. */
const DOCUMENTS: Readonly<Record<string, string>> = {
  bench: 'bench.md',
  blocks: 'rewards.md',
  balance: 'ledger.md#balances',
  config: 'configuration.md',
  'external-worker': 'workers.md#external-workers',
  coordinate: 'fleet.md',
  fleet: 'fleet.md',
  init: 'first-minutes.md',
  ledger: 'ledger.md',
  mine: 'configuration.md',
  'mock-node': 'mock-node.md',
  nodes: 'ledger.md#nodes',
  repl: 'repl.md',
  service: 'platforms.md#as-a-service-or-in-a-container',
  stats: 'watching.md#several-rigs',
  sweep: 'sweep.md',
  tx: 'transactions.md',
  verify: '#verify',
  worker: 'workers.md#workers-hashing-for-another-program-and-letting-another-program-hash',
};

it('docs/commands.md has a line for every command, made from what help pages say', async () => {
  const program = await programFor({ io: processIo(), action: () => async () => {} }, () => true);
  const rows = program.commands.filter((command) => command.name() !== 'help').flatMap((command) => rowsOf(command));
  expect(rows.length).toBeGreaterThan(35);
  expectTable('docs/commands.md', '# Commands', rows);
});

function rowsOf(command: Command, above = ''): string[] {
  const name = `${above}${command.name()}`;
  const taken = command.registeredArguments.map((argument) => {
    const word = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${word}>` : `[${word}]`;
  });
  const document = DOCUMENTS[name];
  const where = document === undefined ? '' : `[${document.replace(/#.*|\.md.*/, '') || 'below'}](${document})`;
  const own = `| \`pickaxe ${[name, ...taken].join(' ')}\` | ${command.description().replaceAll('|', '\\|')} | ${where} |`;
  return [
    own,
    ...command.commands.filter((each) => each.name() !== 'help').flatMap((each) => rowsOf(each, `${name} `)),
  ];
}
