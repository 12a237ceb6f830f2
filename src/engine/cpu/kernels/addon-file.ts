/** Finds the file of the native kernels: the addon built on this machine, or the prebuilt one of the package. */

import { existsSync } from 'node:fs';
import { arch, platform } from 'node:process';
import { fileURLToPath } from 'node:url';
import { systemReport } from '../../../system/system-report.ts';

/** Where the addon comes from. */
export const ORIGINS = ['built-here', 'prebuilt'] as const;
export type Origin = (typeof ORIGINS)[number];

interface AddonFile {
  readonly path: string;
  readonly origin: Origin;
}

/** The properties of a system that decide which addon it can load, with Node.js's names. */
export interface System {
  readonly platform: string;
  readonly arch: string;
  /** The version of glibc; undefined when the C library is another one, such as Alpine's musl. */
  glibc(): string | undefined;
}

const THIS_SYSTEM: System = { platform, arch, glibc: () => systemReport().header.glibcVersionRuntime };

/** The package's folder. The path to it is the same in a clone and in an installed package. */
const PACKAGE = new URL('../../../../', import.meta.url);

/**
 * Prefers the addon that was built here: somebody built it on purpose.
 * @param root the package's folder, with a slash at the end
 * @returns undefined when there is no addon: `whyNone` says why
 */
export function findAddon(root: URL = PACKAGE, system: System = THIS_SYSTEM): AddonFile | undefined {
  const built = fileURLToPath(new URL('native/build/pickaxe.node', root));
  if (existsSync(built)) return { path: built, origin: 'built-here' };
  const carried = carriedFile(root, system);
  return existsSync(carried) && hasItsLibrary(system) ? { path: carried, origin: 'prebuilt' } : undefined;
}

/** @returns why there is no addon, and what to do about it: a clause for people */
export function whyNone(root: URL = PACKAGE, system: System = THIS_SYSTEM): string {
  if (system.platform === 'win32' && system.arch !== 'x64')
    return `not built: there is no native build for Windows on ${system.arch}`;
  const compiler = system.platform === 'win32' ? 'gcc of MinGW-w64' : 'clang (or gcc)';
  const remedy = `install ${compiler} and run \`${buildCommand(root)}\`, for two to six times the speed`;
  if (!existsSync(carriedFile(root, system))) return `not built: ${remedy}`;
  return `not built: the addon in this package is for glibc, and this system has another C library (Alpine has musl): ${remedy}`;
}

/** @returns a command for any shell; a path with blanks is quoted */
export function buildCommand(root: URL = PACKAGE): string {
  const script = fileURLToPath(new URL('scripts/build-native.mjs', root));
  return `node ${/\s/.test(script) ? `"${script}"` : script}`;
}

/** @returns whether the system has the C library of the prebuilt addon. On Windows that is part of the system */
function hasItsLibrary({ platform, glibc }: System): boolean {
  return platform !== 'linux' || glibc() !== undefined;
}

/** @returns the path of the prebuilt addon, which scripts/build-addons.mjs makes */
function carriedFile(root: URL, { platform, arch }: System): string {
  const library = platform === 'linux' ? '-glibc' : '';
  return fileURLToPath(new URL(`native/addons/${platform}-${arch}${library}.node`, root));
}
