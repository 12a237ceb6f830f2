/**
 * Hashes as arguments. One hash in 64 begins with a hyphen, by which the reader of the command line knows options: on its way
 * through it, such a hash has a plus instead, which no hash has.
 */

import type { Command } from 'commander';

/** The last of the 43 characters stands for four bits only. */
const LIKE_AN_OPTION = /^-[\w-]{41}[AEIMQUYcgkosw048]$/;
const DISGUISED = /^\+(?=[\w-]{42}$)/;

/** @returns the arguments for the reader. The value of an option stays as it is, and so does all that follows `--` */
export function disguiseHashes(argv: readonly string[], program: Command): string[] {
  const takeValues = new Set(flagsWithValues(program));
  const end = argv.indexOf('--');
  return argv.map((text, i) => {
    const isArgument = (end < 0 || i < end) && !takeValues.has(argv[i - 1]);
    return isArgument && LIKE_AN_OPTION.test(text) ? `+${text.slice(1)}` : text;
  });
}

/** @returns the hash, or another argument, as it was given */
export function asGiven(text: string): string {
  return text.replace(DISGUISED, '-');
}

function flagsWithValues({ options, commands }: Command): string[] {
  const own = options.filter(({ required, optional }) => required || optional);
  return [...own.flatMap(({ short, long }) => [short ?? [], long ?? []].flat()), ...commands.flatMap(flagsWithValues)];
}
