/** What the contract tool prints: JSON when a command is complete, YAML while signatures are missing. */

import { type Command, commandJson, sendJson, verifyCommand } from '../command/command.ts';
import { RequestFileError } from './errors.ts';
import { formatUnsignedForm, signersOf, type UnsignedForm } from './unsigned-form.ts';

/** Whom a complete command is for: /send takes several in one object, /local takes one. */
export type Recipient = 'send' | 'local';

/** @returns JSON; it ends with a newline */
export function formatCommand(command: Command, recipient: Recipient): string {
  return `${recipient === 'local' ? commandJson(command) : sendJson([command])}\n`;
}

/**
 * @returns the command of a form; undefined while a signature or the command's text is missing
 * @throws RequestFileError unless the command is valid.
 */
export function completed({ hash, sigs, cmd }: UnsignedForm, file: string): Command | undefined {
  if (cmd === null) return undefined;
  const signatures = signersOf(cmd, file).map((key) => sigs.get(key));
  const present = signatures.filter((sig) => typeof sig === 'string');
  if (present.length < signatures.length) return undefined;
  const command = { cmd, hash, sigs: present.map((sig) => ({ sig })) };
  const verdict = verifyCommand(command);
  if (verdict.kind !== 'valid') throw new RequestFileError(`${file}: ${verdict.message}`);
  return command;
}

/**
 * @returns JSON or YAML; it ends with a newline
 * @throws RequestFileError as `completed`.
 */
export function formatForm(form: UnsignedForm, recipient: Recipient, file: string): string {
  const command = completed(form, file);
  return command ? formatCommand(command, recipient) : formatUnsignedForm(form);
}
