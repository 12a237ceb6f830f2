import type { Command } from 'commander';
import type { Line } from '../io.ts';
import { declareBlockCommands } from './ledger-blocks.ts';
import { declareNodeCommands } from './node.ts';

export function declare(ledger: Command, line: Line): void {
  ledger.helpCommand(false);
  declareNodeCommands(ledger, line);
  declareBlockCommands(ledger, line);
}
