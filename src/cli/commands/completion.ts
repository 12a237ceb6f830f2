/** `pickaxe completion`: prints a shell completion script, made from commander's own definition. */

import type { Command, Option } from 'commander';
import { EXIT } from '../../app/exit-codes.ts';
import { ENTRIES } from '../../config/settings.ts';
import { bashCompletion } from '../completion/bash.ts';
import { commandsOf } from '../completion/commands.ts';
import { fishCompletion } from '../completion/fish.ts';
import { zshCompletion } from '../completion/zsh.ts';

const PRINTERS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export function runCompletion(program: Command, shell: keyof typeof PRINTERS): number {
  process.stdout.write(PRINTERS[shell](commandsOf(program, choicesOf)));
  return EXIT.done;
}

/** Commander does not know the choices of settings, which are checked elsewhere. */
function choicesOf({ long, argChoices }: Option): readonly string[] | undefined {
  return argChoices ?? ENTRIES.find(({ flag }) => flag === long)?.setting.type.choices;
}
