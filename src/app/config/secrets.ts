/** Reads secrets from files, finds names of secrets, and keeps secrets from being printed. */

import { distrust, readRegularFile, UnfitFile, whyUnreadable } from '../../base/system/regular-file.ts';
import { decodeText } from '../../base/text/plain-text.ts';
import { printed } from './setting-types/basic.ts';
import { ENTRIES } from './settings.ts';
import type { Setting } from './settings-table.ts';

/**
 * Maximum size of a file with a secret, in bytes. Tokens and passwords have a few dozen bytes, and an RSA key of 4096
 * bits in PEM has about 3300.
 */
const MAX_SECRET_BYTES = 4096;

/** Matches names that people give to secrets. */
const SECRET_NAME =
  /(^|[-_. ])(token|secret|password|passwd|passphrase|mnemonic|seed|bearer|authorization|(private|secret|api)[-_ ]?key|credentials?)($|[-_. ])/i;
const KEY_NAME = /private|secret[-_ ]?key|mnemonic|seed/i;

/** @returns a sentence about the proper place of a secret; undefined if the name is not that of a secret */
export function whereSecretBelongs(name: string): string | undefined {
  const words = name.replace(/([a-z])([A-Z])/g, '$1-$2');
  if (!SECRET_NAME.test(words) || /file$/i.test(words)) return undefined;
  if (KEY_NAME.test(words)) {
    return 'Mining needs only the public key (miner.public-keys): remove the secret, which pickaxe never needs.';
  }
  const files = ENTRIES.filter(({ setting }) => setting.secretFile).map(({ path }) => path);
  const named = files.length > 0 ? `, and name that file in ${files.join(' or ')}` : '';
  return `Secrets do not belong here: put it into a file that only you can read${named}.`;
}

/**
 * @param name the setting or flag that names the file, for errors
 * @returns the text of a file with a secret, without one newline at its end
 * @throws Error about the file, its owner or its mode; the message repeats nothing of its content
 */
export function readSecretFile(file: string, name: string): string {
  const value = readSecretText(file, name).replace(/\r?\n$/, '');
  if (value.trim() === '') throw new Error(`${name}: ${file} is empty. Write the secret into it`);
  if (/[\0\r\n]/.test(value))
    throw new Error(`${name}: ${file} has several lines. It must contain the secret on one line`);
  return value;
}

/** Like `readSecretFile`, for a secret of several lines, such as a key in PEM. Keeps a newline at the end. */
export function readSecretText(file: string, name: string): string {
  let bytes: Buffer;
  try {
    ({ bytes } = readRegularFile(file, MAX_SECRET_BYTES, (facts) => distrust(file, 'secret', facts)));
  } catch (fault) {
    const shown = withoutKeys(file);
    if (fault instanceof UnfitFile) throw new Error(`${name}: ${shown} cannot be used: ${fault.message}`);
    throw new Error(`${name}: ${shown} cannot be read: ${whyUnreadable(fault as NodeJS.ErrnoException, file)}`);
  }
  try {
    return decodeText(bytes);
  } catch {
    throw new Error(`${name}: ${file} is not UTF-8 text. Write the secret into it again`);
  }
}

const HIDDEN = '***';

/** @returns the part of a setting's value that may be shown, as in a file; `***` for a secret value */
export function visible({ type, hidden, shown }: Setting, value: unknown): unknown {
  if (value === undefined) return value;
  if (hidden) return HIDDEN;
  const written = printed(type, value);
  return shown ? shown(written) : written;
}

/** @returns the path with `…` in place of 64 or more hex digits, which could be a key given in place of its file */
export function withoutKeys(path: string): string {
  return path.replace(/[\da-f]{64,}/gi, '…');
}

/** @returns the text with `***` for users and passwords in URLs, `Authorization` values, and tokens in queries */
export function redact(text: string): string {
  return text
    .replace(/[^\s"<>]+/g, withoutUser)
    .replace(/(authorization["']?\s{0,9}[:=]\s{0,9}["']?)[^\r\n"']+/gi, `$1${HIDDEN}`)
    .replace(/\b(bearer|basic)\s+[\w.~+/=-]+/gi, `$1 ${HIDDEN}`)
    .replace(/([?&](?:[\w-]{0,32}[-_])?(?:token|key|secret|password)=)[^&#\s"']+/gi, `$1${HIDDEN}`);
}

/**
 * Removes the user and the password from a URL. Takes linear time, because a hostile text may contain many schemes.
 * @param word a word, or a whole text that is treated as one URL
 * @returns the word with `***` in place of the part between its first scheme and its last `@`
 */
export function withoutUser(word: string): string {
  const scheme = word.search(/[a-z][a-z0-9+.-]{0,20}:\/\//i);
  const user = word.indexOf('://', scheme) + '://'.length;
  const at = word.lastIndexOf('@');
  return scheme >= 0 && at > user ? word.slice(0, user) + HIDDEN + word.slice(at) : word;
}
