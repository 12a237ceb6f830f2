/** Reads the files that `pickaxe tx` is given: commands, forms, requests. */

import { UsageError } from '../../app/exit-codes.ts';
import { distrust } from '../../config/file-trust.ts';
import { type RegularFile, readRegularFile, UnfitFile } from '../../config/regular-file.ts';
import { withoutKeys } from '../../config/secrets.ts';
import { whyUnreadable } from '../../config/unreadable.ts';
import { decodeText } from '../../text/file-text.ts';
import type { Io } from './io.ts';

/** Nodes take no commands that come near it. */
const MAX_BYTES = 2 ** 22;
const STDIN = '-';

/** A text and what it is called in errors. */
export interface NamedText {
  readonly file: string;
  readonly text: string;
}

export interface TextFile extends NamedText {
  /** Why the file must not hold a secret, and what to do about it; undefined when it may. */
  readonly unfitForSecrets: string | undefined;
}

/**
 * @param file its name; `-` is standard input
 * @throws UsageError unless it can be read.
 */
export async function readInput(file: string, io: Pick<Io, 'read'>): Promise<NamedText> {
  if (file !== STDIN) return readTextFile(file);
  return { file: 'standard input', text: textOf(await io.read(MAX_BYTES), 'standard input') };
}

/** @throws UsageError unless it can be read. */
export function readTextFile(file: string): TextFile {
  const { bytes, facts } = read(file);
  return { file, text: textOf(bytes, file), unfitForSecrets: distrust(file, 'secret', facts) };
}

function read(file: string): RegularFile {
  try {
    return readRegularFile(file, MAX_BYTES);
  } catch (fault) {
    const why = fault instanceof UnfitFile ? fault.message : whyUnreadable(fault as NodeJS.ErrnoException, file);
    throw new UsageError(`${withoutKeys(file)} cannot be read: ${why}.`);
  }
}

function textOf(bytes: Uint8Array, file: string): string {
  try {
    return decodeText(bytes);
  } catch {
    throw new UsageError(`${file} is not UTF-8 text.`);
  }
}
