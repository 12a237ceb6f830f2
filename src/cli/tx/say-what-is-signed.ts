/** Tells who signs what the signature stands for, before it is printed. */

import type { UnsignedForm } from '../../ledger/request-file/unsigned-form.ts';
import { explain } from './explain.ts';
import { explainedLines } from './explained-lines.ts';
import type { Io } from './io.ts';

const BLIND = 'It does not tell what the command does: sign only what you have seen with pickaxe tx show.';

export function sayWhatIsSigned(file: string, form: UnsignedForm, io: Io): void {
  if (form.cmd === null) {
    io.say(`warning: ${file} is condensed. ${BLIND}`);
    return;
  }
  const now = io.now();
  for (const line of explainedLines(explain({ kind: 'form', file, form }, now), now)) io.say(line);
}

export function sayHashIsSigned(io: Io): void {
  io.say(`warning: A hash alone is signed. ${BLIND}`);
}
