/**
 * Reads files that another file names: a test file loads contracts and tests, and a request file names the files of its
 * code and data. A stranger may have written the naming file, and the text that is read gets into commands, logs and
 * reports. So a file is read only if it is below the naming file's folder or the user has allowed it, and a file that
 * contains a secret is always refused.
 */

import { realpathSync, type Stats, statSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { withoutKeys } from '../app/config/secrets.ts';
import { UsageError } from '../app/process/exit.ts';
import { distrust, readRegularFile, UnfitFile, whyUnreadable } from '../base/system/regular-file.ts';
import { decodeText } from '../base/text/plain-text.ts';
import { parseKeyFile } from '../protocol/ledger/request-file/unsigned-form.ts';

/** Maximum size of a file in bytes. Contract code has at most 2^20 UTF-16 code units, each of at most 3 bytes. */
export const MAX_FILE_BYTES = 2 ** 22;

/** The two paths of a folder: as it was given, and without symbolic links. A file's path may begin with either path. */
interface Folder {
  readonly named: string;
  readonly real: string;
}

/** The files and folders that the user allows with `--allow-file`. */
export class AllowedFiles {
  /** Both paths of each allowed file: as it was given, and without symbolic links. */
  readonly #files = new Set<string>();
  readonly folders: readonly Folder[];

  /** @throws UsageError for a path that does not exist, or that this process may not look up */
  constructor(paths: readonly string[] = []) {
    const folders: Folder[] = [];
    for (const path of paths) {
      const named = resolve(path);
      try {
        const real = realpathSync.native(named);
        if (statSync(real).isDirectory()) folders.push({ named, real });
        else this.#files.add(named).add(real);
      } catch (fault) {
        const why = whyUnreadable(fault as NodeJS.ErrnoException, path);
        throw new UsageError(`--allow-file ${withoutKeys(path)}: ${why}.`);
      }
    }
    this.folders = folders;
  }

  hasFile(path: string): boolean {
    return this.#files.has(path);
  }
}

interface Rules {
  readonly allowed: AllowedFiles;
  /** The condition under which a user may allow a file, for messages: `a command may contain it` (the file's text). */
  readonly consent: string;
  /**
   * Endings of file names, in lower case. A file with another ending is read only if the user has allowed the file. If
   * `ends` is absent, any ending will do.
   */
  readonly ends?: readonly string[];
}

export class IncludedFiles {
  readonly #rules: Rules;
  readonly #folders: Folder[] = [];
  #folderName = '';
  #isFromPrivateFile = true;

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  /**
   * Lets files below a folder be read.
   * @param name the folder's name in error messages, such as `the request's folder`. Messages name only the folder that
   *   was added first
   * @param isPrivate whether only the user may read the file that refers to files in this folder. If other users may
   *   read any such file, a private file is read only if the user has allowed it, because it could be a secret
   */
  addFolder(path: string, name: string, isPrivate: boolean): void {
    const named = resolve(path);
    this.#folderName ||= `${name} (${named})`;
    this.#folders.push({ named, real: realPath(named) });
    this.#isFromPrivateFile &&= isPrivate;
  }

  /** @returns the text of a file @throws UnfitFile with a clause as its message, without any of the file's content */
  read(path: string): string {
    const named = resolve(path);
    if (namesDevice(named)) throw new UnfitFile('it is the name of a device');
    const { allowed } = this.#rules;
    // A file outside of the folders is not even looked up. Otherwise the error would show whether the file exists, and
    // on Windows a look-up can reveal the user to another host.
    const mayBeInside = this.#everywhere().some(
      (folder) => isBelow(named, folder.named) || isBelow(named, folder.real),
    );
    if (!mayBeInside && !allowed.hasFile(named)) this.#refuseOutside(named);
    const real = realPath(named);
    const isAllowed = allowed.hasFile(real);
    if (!isAllowed) this.#refuse(real);
    const text = textAt(real, (facts) => {
      if (isAllowed || this.#isFromPrivateFile || !isPrivateFile(real, facts)) return undefined;
      return `only you may read it, so it may be a secret. ${this.#remedy(real)}`;
    });
    if (hasSecretKey(text)) throw new UnfitFile('it has a secret key in it, so it is not used');
    return text;
  }

  #everywhere(): readonly Folder[] {
    return [...this.#folders, ...this.#rules.allowed.folders];
  }

  /** @param real a path without symbolic links @throws UnfitFile if the user must allow the file before it is read */
  #refuse(real: string): void {
    const folder = this.#everywhere().find((each) => isBelow(real, each.real));
    if (!folder) this.#refuseOutside(real);
    const parts = relative(folder.real, real).split(sep);
    if (parts.some((part) => part.startsWith('.'))) throw new UnfitFile(`it is a hidden file. ${this.#remedy(real)}`);
    const { ends } = this.#rules;
    if (ends && !ends.some((end) => real.toLowerCase().endsWith(end))) {
      throw new UnfitFile(`its name does not end with ${ends.join(' or ')}. ${this.#remedy(real)}`);
    }
  }

  #refuseOutside(path: string): never {
    throw new UnfitFile(`it is outside of ${this.#folderName}. ${this.#remedy(path)}`);
  }

  #remedy(path: string): string {
    return `If ${this.#rules.consent}, allow it: --allow-file ${shellWord(path)}`;
  }
}

/**
 * @param check returns a clause that explains why a file with these facts must not be read; undefined if it may be read
 * @returns the text of a file
 * @throws UnfitFile, with a clause as its message, for a file that cannot be read, is too large or is not UTF-8
 */
export function textAt(path: string, check?: (facts: Stats) => string | undefined): string {
  const bytes = bytesAt(path, check);
  try {
    return decodeText(bytes);
  } catch {
    throw new UnfitFile('it is not UTF-8 text');
  }
}

function bytesAt(path: string, check?: (facts: Stats) => string | undefined): Uint8Array {
  try {
    return readRegularFile(path, MAX_FILE_BYTES, check).bytes;
  } catch (fault) {
    if (fault instanceof UnfitFile) throw fault;
    throw new UnfitFile(whyUnreadable(fault as NodeJS.ErrnoException, path));
  }
}

/** @returns whether only the user may read a file; false on Windows, where files have no such permissions */
export function isPrivateFile(path: string, facts: Pick<Stats, 'uid' | 'mode'>): boolean {
  return process.geteuid !== undefined && distrust(path, 'secret', facts) === undefined;
}

function realPath(path: string): string {
  try {
    // On systems where file names ignore case, only the native function returns names as they are spelled on the disk.
    return realpathSync.native(path);
  } catch (fault) {
    throw new UnfitFile(whyUnreadable(fault as NodeJS.ErrnoException, path));
  }
}

function isBelow(path: string, folder: string): boolean {
  const inside = relative(folder, path);
  return !isAbsolute(inside) && inside.split(sep)[0] !== '..';
}

/** Matches the names that Windows reserves for devices, in every folder and with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d¹²³])(?:[ .].*)?$/i;

/** @returns whether a path names a device or an alternate data stream of a file, which only paths on Windows can do */
export function namesDevice(path: string, platform: NodeJS.Platform = process.platform): boolean {
  if (platform !== 'win32') return false;
  const parts = path.replace(/^[a-z]:/i, '').split(/[\\/]/);
  return parts.some((part) => DEVICE.test(part) || part.includes(':'));
}

/** Matches secret keys in key files of wallets and of the contract language's tool, and in PEM files. */
const SECRET =
  /(?:secret|private|secret[-_ ]?key|private[-_ ]?key)["']?\s*[:=]\s*["']?[\da-f]{64}|-----BEGIN [A-Z ]*PRIVATE KEY-----/i;
/** Matches the seeds of NATS keys. */
const SEED = /\bS[ACNOUX][A-Z2-7]{56}\b/;
/** Maximum length of a text that is parsed as a key file, in characters. Key files have a few hundred characters. */
const MAX_KEY_FILE_LENGTH = 2 ** 16;

function hasSecretKey(text: string): boolean {
  if (SECRET.test(text) || SEED.test(text)) return true;
  if (text.length > MAX_KEY_FILE_LENGTH) return false;
  try {
    parseKeyFile(text, 'the file');
    return true;
  } catch {
    return false;
  }
}

/** @returns a path as one word of a shell. It is quoted where needed, because a stranger's path may contain commands */
function shellWord(path: string): string {
  return /^[\w./:\\@%+=,~-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
