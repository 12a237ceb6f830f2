/** Shows the signers of a form what it does, before their signatures are printed. */

import type { UnsignedForm } from '../../ledger/request-file/unsigned-form.ts';
import { explain } from './explain.ts';
import { explainedLines } from './explained-lines.ts';
import type { Io } from './io.ts';

const BLIND = 'does not show what the command does: sign only what you have seen with pickaxe tx show.';

export function showBeforeSigning(file: string, form: UnsignedForm, io: Io): void {
  if (form.cmd === null) {
    io.say(`warning: ${file} is condensed, so it ${BLIND}`);
    return;
  }
  const now = io.now();
  for (const line of explainedLines(explain({ kind: 'form', file, form }, now), now)) io.say(line);
}

export function warnOfBareHash(io: Io): void {
  io.say(`warning: A hash alone ${BLIND}`);
}
