/** `pickaxe tx sign`: prints signatures alone, so that nothing else has to be carried back from an offline machine. */

import { EXIT, UsageError } from '../../app/exit.ts';
import type { KeyPair } from '../../ledger/command/command.ts';
import { unknownMembers } from '../../ledger/command/payload.ts';
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
} from '../../ledger/request-file/unsigned-form.ts';
import { oneLine } from '../../text/plain-text.ts';
import type { Io } from '../io.ts';
import { readKeyFile } from '../keygen.ts';
import { explain } from './explain.ts';
import { type NamedText, readInput, readTextFile } from './files.ts';
import { row } from './results.ts';
import { explainedLines } from './show.ts';

/** A command's hash: 43 characters of base64url. */
const HASH = /^[\w-]{43}$/;

/**
 * @param what a hash, or the name of a file with a hash or a form in it
 * @returns the exit code: failed when a person was asked and did not want it
 * @throws UsageError or RequestFileError for files that cannot be used, and for a key that is not one of the form's.
 */
export async function runTxSign(
  what: string,
  keyFiles: readonly string[],
  { yes }: { readonly yes: boolean },
  io: Io,
): Promise<number> {
  const pairs = keyFiles.map(readKeyFile);
  const { file, text }: NamedText = HASH.test(what) ? { file: 'the hash', text: what } : await readInput(what, io);
  if (HASH.test(text.trim())) {
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

/* `pickaxe tx add-sig`: adds signatures to a form, of key files or of what `pickaxe tx sign` has printed. */

/** How a line of signatures begins; key files begin with the names of their keys. */
const SIGNATURE_LINE = /^['"]?[\da-f]{64}['"]?:/m;

interface AddSigOptions {
  /** Whether a complete command is for /local. */
  readonly local: boolean;
  /** Whether not to ask before key files sign. */
  readonly yes: boolean;
}

/**
 * @param added files of keys or of signatures
 * @returns the exit code: failed when a person was asked and did not want to sign
 * @throws UsageError or RequestFileError for files that cannot be used, and for a key that is not one of the form's.
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

/* `pickaxe tx combine`: puts the signatures in copies of a form together. */

/** @throws UsageError or RequestFileError for files that cannot be used, and for forms of different commands. */
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

/* Shows signers all that they are about to sign, and asks them, before anything is signed. */

const BLIND = 'does not show what the command does: sign only what you have seen with pickaxe tx show.';

/**
 * @param form checked already
 * @param yes whether not to ask
 * @returns whether to sign. Without a terminal it is true, because the command was started in order to sign
 * @throws UsageError where nobody can be asked and the command has something in it that cannot be explained
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

/** The same for a hash whose command is not there. */
async function mayHashBeSigned(yes: boolean, io: Io): Promise<boolean> {
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

/* Prints a form, as YAML or, once it is complete, as JSON; and says what comes next. */

/** @param local whether a complete command is for /local */
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
