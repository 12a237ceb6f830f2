/** Prints a form, as YAML or, once it is complete, as JSON; and says what comes next. */

import type { NamedForm } from '../../ledger/request-file/combine.ts';
import { completed, formatForm } from '../../ledger/request-file/output.ts';
import { signersOf, type UnsignedForm } from '../../ledger/request-file/unsigned-form.ts';
import { oneLine } from '../../text/one-line.ts';
import type { Io } from './io.ts';

/** @param local whether a complete command is for /local */
export function printForm({ file, form }: NamedForm, local: boolean, io: Io): void {
  if (!completed(form, file)) sayWhatIsNext(form, file, io);
  io.out(formatForm(form, local ? 'local' : 'send', file));
}

function sayWhatIsNext(form: UnsignedForm, file: string, io: Io): void {
  const keys = form.cmd === null ? [...form.sigs.keys()] : signersOf(form.cmd, file);
  const missing = keys.filter((key) => !form.sigs.get(key));
  if (missing.length > 0) io.say(`These keys have not signed yet: ${oneLine(missing.join(', '))}`);
  else io.say('All keys have signed. Combine this condensed form with the whole one: pickaxe tx combine');
}
