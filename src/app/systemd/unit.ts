/** Makes systemd units from the templates in packaging/systemd/ and the paths of this machine. Pure. */

import { createHash } from 'node:crypto';

/** The first line of a unit that pickaxe wrote. Its checksum shows whether the unit was changed since. */
const MARK = /^# Written by `pickaxe service install`, checksum ([0-9a-f]{16})\. See docs\/service\.md for changes\.\n/;

/**
 * @param template a unit with one line `ExecStart=`
 * @param command the command to start, word by word
 * @throws RangeError when a word has a control character, which a unit cannot contain.
 */
export function fillUnit(template: string, command: readonly string[]): string {
  const line = `ExecStart=${command.map(quoteWord).join(' ')}`;
  const text = template.replace(/^ExecStart=.*$/m, () => line);
  return `# Written by \`pickaxe service install\`, checksum ${digest(text)}. See docs/service.md for changes.\n${text}`;
}

/** Whether pickaxe wrote the unit and nobody has changed it. */
export function isAsWritten(unit: string): boolean {
  const mark = MARK.exec(unit);
  return mark !== null && mark[1] === digest(unit.slice(mark[0].length));
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** Quotes by the rules of systemd.service(5), "Command lines", and systemd.unit(5), "Specifiers". */
function quoteWord(word: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters
  if (/[\0-\x1f\x7f]/.test(word)) throw new RangeError(`A systemd unit cannot contain ${JSON.stringify(word)}`);
  const escaped = word
    .replace(/[\\"]/g, '\\$&')
    .replaceAll('%', '%%')
    .replaceAll('$', () => '$$');
  return /^[\w@%+=:,./-]+$/.test(escaped) ? escaped : `"${escaped}"`;
}
