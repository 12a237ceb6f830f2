/** Shows signers all that they are about to sign, and asks them, before anything is signed. */

import { UsageError } from '../../app/exit-codes.ts';
import { unknownMembers } from '../../ledger/command/payload.ts';
import type { UnsignedForm } from '../../ledger/request-file/unsigned-form.ts';
import { oneLine } from '../../text/one-line.ts';
import { explain } from './explain.ts';
import { explainedLines } from './explained-lines.ts';
import type { Io } from './io.ts';
import { row } from './row.ts';

const BLIND = 'does not show what the command does: sign only what you have seen with pickaxe tx show.';

/**
 * @param form checked already
 * @param yes whether not to ask
 * @returns whether to sign. Without a terminal it is true, because the command was started in order to sign
 * @throws UsageError where nobody can be asked and the command has something in it that cannot be explained
 */
export async function mayBeSigned(file: string, form: UnsignedForm, yes: boolean, io: Io): Promise<boolean> {
  if (form.cmd === null) {
    io.say(`warning: ${file} is condensed, so it ${BLIND}`);
    return await isWanted('Sign it without seeing it?', yes, io);
  }
  const now = io.now();
  for (const line of explainedLines(explain({ kind: 'form', file, form }, now), now)) io.say(line);
  io.say(row('cmd', oneLine(form.cmd)));
  const [unknown] = unknownMembers(form.cmd);
  return await isWanted('Sign this?', yes, io, () => {
    if (unknown === undefined) return;
    throw new UsageError(
      `${file} has ${oneLine(unknown.path)}, which pickaxe does not know, so nothing was signed. To sign it all the same, add --yes.`,
    );
  });
}

/** The same for a hash whose command is not there. */
export async function mayHashBeSigned(yes: boolean, io: Io): Promise<boolean> {
  io.say(`warning: A hash alone ${BLIND}`);
  return await isWanted('Sign it without seeing it?', yes, io);
}

/** @param unasked called where nobody can be asked */
async function isWanted(question: string, yes: boolean, io: Io, unasked = () => {}): Promise<boolean> {
  if (yes) return true;
  const answer = await io.confirm(question);
  if (answer === undefined) unasked();
  if (answer === false) io.say('Nothing was signed.');
  return answer ?? true;
}
