import type { Command } from 'commander';
import type { Line } from '../io.ts';
import { declareControl } from './control.ts';
import { declareDemo } from './fleet-demo.ts';
import { declareKeys } from './keys.ts';
import { declareWatch } from './watch.ts';

/** Declares the subcommands of `pickaxe fleet`. */
export function declare(fleet: Command, line: Line): void {
  fleet.helpCommand(false);
  declareWatch(fleet, line);
  declareControl(fleet, line);
  declareKeys(fleet, line);
  declareDemo(fleet, line);
}
