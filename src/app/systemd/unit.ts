/** Units of systemd: the texts of packaging/systemd/ with the paths of this machine. Pure. */

import { createHash } from 'node:crypto';

/** In the first line of a unit that pickaxe wrote: with it, pickaxe knows whether it was changed since. */
const MARK = /^# Written by `pickaxe service install`\. Checksum: ([0-9a-f]{16})\.\n/;

/**
 * @param template a unit with one line `ExecStart=`
 * @param command what it is to start, word by word
 * @throws RangeError when a word of the command cannot be said in a unit.
 */
export function fillUnit(template: string, command: readonly string[]): string {
  const line = `ExecStart=${command.map(quoteWord).join(' ')}`;
  const text = template.replace(/^ExecStart=.*$/m, () => line);
  return `# Written by \`pickaxe service install\`. Checksum: ${digest(text)}.\n${text}`;
}

/** Whether the unit is one of pickaxe's, and nobody has changed it. */
export function isAsWritten(unit: string): boolean {
  const mark = MARK.exec(unit);
  return mark !== null && mark[1] === digest(unit.slice(mark[0].length));
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** systemd.service(5), "Command lines", and systemd.unit(5), "Specifiers". */
function quoteWord(word: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  if (/[\0-\x1f\x7f]/.test(word)) throw new RangeError(`A unit cannot name ${JSON.stringify(word)}`);
  const escaped = word
    .replace(/[\\"]/g, '\\$&')
    .replaceAll('%', '%%')
    .replaceAll('$', () => '$$');
  return /^[\w@%+=:,./-]+$/.test(escaped) ? escaped : `"${escaped}"`;
}
