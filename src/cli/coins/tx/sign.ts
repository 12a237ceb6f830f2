/**
 * `pickaxe tx sign`, `add-sig` and `combine`. `sign` prints only signatures, which can be carried from an offline
 * machine.
 */

import { EXIT, UsageError } from '../../../app/process/exit.ts';
import { oneLine } from '../../../base/text/plain-text.ts';
import type { KeyPair } from '../../../protocol/ledger/command/command.ts';
import { unknownMembers } from '../../../protocol/ledger/command/command-payload.ts';
import { HASH_TEXT } from '../../../protocol/ledger/json.ts';
import {
  addSignatures,
  combineForms,
  completed,
  formatForm,
  type NamedForm,
  type NamedSignatures,
  parseSignatureLines,
  parseUnsignedForm,
  putSignatures,
  signatureLines,
  signersOf,
  signHash,
  type UnsignedForm,
} from '../../../protocol/ledger/request-file/unsigned-form.ts';
import type { Io } from '../../io.ts';
import { readKeyFile } from '../../setup/keygen.ts';
import { type NamedText, readInput, readTextFile } from './command-files.ts';
import { explain } from './explain.ts';
import { row } from './results.ts';
import { explainedLines } from './show.ts';

/**
 * @param what a hash, or a file with a hash or a form
 * @returns the exit code: failed if the user was asked and refused
 * @throws UsageError or RequestFileError for unusable files, and for a key that is not one of the form's signers;
 *   also the UsageError of `mayBeSigned`
 */
export async function runTxSign(
  what: string,
  keyFiles: readonly string[],
  { yes }: { readonly yes: boolean },
  io: Io,
): Promise<number> {
  const pairs = keyFiles.map(readKeyFile);
  const { file, text }: NamedText = HASH_TEXT.test(what) ? { file: 'the hash', text: what } : await readInput(what, io);
  if (HASH_TEXT.test(text.trim())) {
    const lines = signHash(text, pairs);
    if (!(await mayHashBeSigned(yes, io))) return EXIT.failed;
    io.out(lines);
    return EXIT.done;
  }
  const form = parseUnsignedForm(text, file);
  const { sigs } = addSignatures({ file, form }, pairs);
  if (!(await mayBeSigned(file, form, yes, io))) return EXIT.failed;
  io.out(signatureLines(new Map(pairs.map(({ publicKey }) => [publicKey, sigs.get(publicKey)!]))));
  return EXIT.done;
}

/** Matches a line that starts with a public key, as each line of signatures does. Lines of key files do not. */
const SIGNATURE_LINE = /^['"]?[\da-f]{64}['"]?:/m;

interface AddSigOptions {
  readonly local: boolean;
  readonly yes: boolean;
}

/**
 * @param added paths of key files, and of files of signatures that `pickaxe tx sign` has printed
 * @returns the exit code: failed if the user was asked and refused
 * @throws the errors of `runTxSign`
 */
export async function runTxAddSig(
  formFile: string,
  added: readonly string[],
  { local, yes }: AddSigOptions,
  io: Io,
): Promise<number> {
  const { file, text } = await readInput(formFile, io);
  const form = parseUnsignedForm(text, file);
  const { pairs, signatures } = sorted(added);
  const signed = addSignatures({ file, form: putSignatures({ file, form }, signatures) }, pairs);
  if (pairs.length > 0 && !(await mayBeSigned(file, form, yes, io))) return EXIT.failed;
  printForm({ file, form: signed }, local, io);
  return EXIT.done;
}

function sorted(files: readonly string[]): { pairs: KeyPair[]; signatures: NamedSignatures[] } {
  const isOfSignatures = (file: string) => SIGNATURE_LINE.test(readTextFile(file).text);
  const ofSignatures = files.filter(isOfSignatures);
  return {
    pairs: files.filter((file) => !ofSignatures.includes(file)).map(readKeyFile),
    signatures: ofSignatures.map((file) => ({ file, sigs: parseSignatureLines(readTextFile(file).text, file) })),
  };
}

/**
 * Combines copies of a form, and prints a form with the signatures of all copies.
 * @throws UsageError or RequestFileError for unusable files, and for forms of different commands
 */
export async function runTxCombine(
  files: readonly string[],
  { local }: { readonly local: boolean },
  io: Io,
): Promise<number> {
  if (files.filter((file) => file === '-').length > 1)
    throw new UsageError('Standard input (-) can be read only once.');
  const forms = [];
  for (const each of files) {
    const { file, text } = await readInput(each, io);
    forms.push({ file, form: parseUnsignedForm(text, file) });
  }
  printForm({ file: 'the combined form', form: combineForms(forms) }, local, io);
  return EXIT.done;
}

/*
 * Before a signature is printed, the user sees the command, or a warning if only the command's hash is known. Then the
 * user is asked, unless `yes` is set or there is no terminal.
 */

const BLIND = 'does not show what the command does: sign only what you have seen with pickaxe tx show.';

/**
 * @returns whether to sign: true if `yes` is set or if there is no terminal, otherwise the user's answer
 * @throws UsageError if the command has members that pickaxe does not know, there is no terminal, and `yes` is not set
 */
async function mayBeSigned(file: string, form: UnsignedForm, yes: boolean, io: Io): Promise<boolean> {
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

async function mayHashBeSigned(yes: boolean, io: Io): Promise<boolean> {
  io.say(`warning: A hash alone ${BLIND}`);
  return await isWanted('Sign it without seeing it?', yes, io);
}

/** @param unasked called if `yes` is not set and there is no terminal. If `unasked` returns, the answer is yes */
async function isWanted(question: string, yes: boolean, io: Io, unasked = () => {}): Promise<boolean> {
  if (yes) return true;
  const answer = await io.confirm(question);
  if (answer === undefined) unasked();
  if (answer === false) io.say('Nothing was signed.');
  return answer ?? true;
}

/** Prints a form as YAML, or a completed one as a command in JSON. @param local whether that command is for /local */
function printForm({ file, form }: NamedForm, local: boolean, io: Io): void {
  if (!completed(form, file)) sayWhatIsNext(form, file, io);
  io.out(formatForm(form, local ? 'local' : 'send', file));
}

function sayWhatIsNext(form: UnsignedForm, file: string, io: Io): void {
  const keys = form.cmd === null ? [...form.sigs.keys()] : signersOf(form.cmd, file);
  const missing = keys.filter((key) => !form.sigs.get(key));
  if (missing.length > 0) io.say(`These keys have not signed yet: ${oneLine(missing.join(', '))}`);
  else io.say('All keys have signed. Combine this condensed form with the whole one: pickaxe tx combine');
}
