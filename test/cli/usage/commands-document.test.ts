import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { processIo } from '#pickaxe/cli/io.js';
import { programFor } from '#pickaxe/cli/run.js';
import { expectTable } from '../../generated.ts';

/** The document that explains each command. */
const DOCUMENTS: Readonly<Record<string, string>> = {
  balance: 'node.md#balances',
  bench: 'devices.md#measure',
  blocks: 'rewards.md',
  completion: 'platforms.md#shell-completion',
  config: 'configuration.md',
  coordinate: 'fleet.md',
  devices: 'devices.md',
  doctor: '#first-minutes',
  'external-worker': 'workers.md#external-workers',
  fleet: 'fleet.md',
  init: '#first-minutes',
  ledger: 'node.md#reading-the-ledger',
  mine: 'configuration.md',
  'mock-node': 'mock-node.md',
  nodes: 'node.md#compare-nodes',
  repl: 'repl.md',
  service: 'platforms.md#as-a-service-or-in-a-container',
  stats: 'watching.md#several-rigs',
  sweep: 'coins.md',
  tx: 'coins.md#a-transaction-step-by-step',
  verify: '#verify',
  worker: 'workers.md#workers-hashing-for-another-program-and-letting-another-program-hash',
};

it('docs/commands.md has a line for every command, made from what help pages say', async () => {
  const program = await programFor({ io: processIo(), action: () => async () => {} }, () => true);
  const commands = named(program);
  expect(commands.length).toBeGreaterThan(20);
  expectTable('docs/commands.md', '# Commands', commands.map(rowOf));
  expect(Object.keys(DOCUMENTS).filter((name) => !commands.some((command) => command.name() === name))).toEqual([]);
});

function named(command: Command): Command[] {
  return command.commands.filter((each) => each.name() !== 'help');
}

/** Subcommands are only named: the help page of their command explains them. */
function rowOf(command: Command): string {
  const taken = command.registeredArguments.map((argument) => {
    const word = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${word}>` : `[${word}]`;
  });
  const usage = `\`pickaxe ${[command.name(), ...taken].join(' ')}\``;
  const document = DOCUMENTS[command.name()];
  const below = named(command).map((each) => `\`${each.name()}\``);
  const about = command.description().replaceAll('|', '\\|');
  const cells = [
    document === undefined ? usage : `[${usage}](${document})`,
    below.length === 0 ? about : `${about}: ${below.join(', ')}`,
  ];
  return `| ${cells.join(' | ')} |`;
}
