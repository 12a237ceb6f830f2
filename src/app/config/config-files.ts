/** Finds and reads configuration files. */

import { lstatSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, extname, isAbsolute, join, resolve } from 'node:path';
import { distrust, readRegularFile, UnfitFile, whyUnreadable } from '../../base/system/regular-file.ts';
import { decodeText } from '../../base/text/plain-text.ts';
import { type Position, parseToml } from './parse.ts';
import { ConfigError, type Environment, type RawSettings } from './raw-settings.ts';

/** Maximum size of a file in bytes. The example file, which names every setting, has a seventeenth of this size. */
const MAX_BYTES = 256 * 1024;

/**
 * @returns the user's directory for the configuration of programs: `$XDG_CONFIG_HOME` if this is an absolute path (XDG
 *   Base Directory Specification), else `%APPDATA%` on Windows, else `~/.config`; undefined for a user without a home
 *   directory
 */
export function userConfigHome(
  environment: Environment,
  platform: string = process.platform,
  home: () => string = homedir,
): string | undefined {
  const { XDG_CONFIG_HOME: xdg, APPDATA: roaming } = environment;
  if (xdg && isAbsolute(xdg)) return xdg;
  if (platform === 'win32' && roaming) return roaming;
  try {
    const own = home();
    return isAbsolute(own) ? join(own, '.config') : undefined;
  } catch {
    return undefined; // HOME is not set, and the system does not know the user.
  }
}

export function userConfigDirectory(...whose: Parameters<typeof userConfigHome>): string | undefined {
  const home = userConfigHome(...whose);
  return home === undefined ? undefined : join(home, 'pickaxe');
}

/**
 * @param base the path of the file without `.toml`
 * @returns the path of the file; undefined if the file does not exist
 * @throws ConfigError if the folder cannot be searched. Also if a file `${base}.json` exists, because the author of
 *   that file expects pickaxe to read it
 */
export function findFile(base: string): string | undefined {
  const [toml, json] = [`${base}.toml`, `${base}.json`];
  if (exists(json)) {
    throw new ConfigError([`${json}: pickaxe reads TOML only. Move its settings to ${basename(toml)}, and remove it.`]);
  }
  return exists(toml) ? toml : undefined;
}

/** Whether the file exists. A link to a missing file counts as existing, so that reading it reports an error. */
function exists(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch (fault) {
    const remedy = 'Make its folder readable, or set HOME or XDG_CONFIG_HOME to a folder of your own.';
    throw new ConfigError([
      `${file}: pickaxe cannot find out whether it exists (${(fault as Error).message}). ${remedy}`,
    ]);
  }
}

/**
 * @param file the path of the file, as errors show it @param cwd the folder at which a relative path starts
 * @returns the settings that could be parsed, with a problem for each place that is not valid TOML
 * @throws ConfigError when the file's name does not end in .toml, or when the file cannot be read, is not UTF-8, or
 *   must not be trusted (regular-file.ts)
 */
export function readConfigFile(file: string, cwd: string): RawSettings {
  const absolute = resolve(cwd, file);
  if (extname(file).toLowerCase() !== '.toml') {
    throw new ConfigError([`${file}: a configuration file is TOML, and its name ends in .toml.`]);
  }
  const text = readText(file, absolute);
  const { document, positions, faults, unread } = parseToml(text);
  const at = ({ line, column }: Position) => `${file}:${line}:${column}`;
  return {
    document,
    where: (path) => {
      const position = positions(path);
      return position === undefined ? file : `${file}:${position.line}`;
    },
    at: (path) => {
      const position = positions(path);
      return position === undefined ? file : at(position);
    },
    file: absolute,
    problems: faults.map((fault) => `${at(fault)}: ${fault.what}.`),
    unread,
  };
}

function readText(file: string, absolute: string): string {
  let bytes: Buffer;
  try {
    ({ bytes } = readRegularFile(absolute, MAX_BYTES, (facts) => distrust(file, 'settings', facts)));
  } catch (fault) {
    const why = fault instanceof UnfitFile ? fault.message : whyUnreadable(fault as NodeJS.ErrnoException, absolute);
    throw new ConfigError([`${file}: ${why}.`]);
  }
  try {
    return decodeText(bytes);
  } catch {
    throw new ConfigError([`${file}: it is not UTF-8 text.`]);
  }
}
