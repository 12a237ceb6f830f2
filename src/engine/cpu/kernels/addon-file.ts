/** Which file the native kernels are loaded from: the one built on this machine, or the one that the package carries. */

import { existsSync } from 'node:fs';
import { arch, platform } from 'node:process';
import { fileURLToPath } from 'node:url';
import { systemReport } from '../../../system/system-report.ts';

/** Where an addon comes from. */
export const ORIGINS = ['built-here', 'prebuilt'] as const;
export type Origin = (typeof ORIGINS)[number];

interface AddonFile {
  readonly path: string;
  readonly origin: Origin;
}

/** What decides which addon a system can load, with Node's names. */
export interface System {
  readonly platform: string;
  readonly arch: string;
  /** Its version; undefined where the C library is another one, like Alpine's musl. */
  glibc(): string | undefined;
}

const THIS_SYSTEM: System = { platform, arch, glibc: () => systemReport().header.glibcVersionRuntime };

/** The same in a clone and in an installed package. */
const PACKAGE = new URL('../../../../', import.meta.url);

/**
 * What was built here comes first: whoever has built it wants it.
 * @param root the package's folder, with a slash at its end
 * @returns undefined when there is none: `whyNone` says why
 */
export function findAddon(root: URL = PACKAGE, system: System = THIS_SYSTEM): AddonFile | undefined {
  const built = fileURLToPath(new URL('native/build/pickaxe.node', root));
  if (existsSync(built)) return { path: built, origin: 'built-here' };
  const carried = carriedFile(root, system);
  return existsSync(carried) && system.glibc() !== undefined ? { path: carried, origin: 'prebuilt' } : undefined;
}

/** What to do about an addon that is not there. */
export function whyNone(root: URL = PACKAGE, system: System = THIS_SYSTEM): string {
  if (system.platform === 'win32') return 'not built: there is no native build for Windows yet';
  const remedy = `install clang (or gcc) and run \`${buildCommand(root)}\`, for two to six times the speed`;
  if (!existsSync(carriedFile(root, system))) return `not built: ${remedy}`;
  return `not built: the addon in this package is for glibc, and this system has another C library (Alpine has musl): ${remedy}`;
}

export function buildCommand(root: URL = PACKAGE): string {
  return `node ${fileURLToPath(new URL('scripts/build-native.mjs', root))}`;
}

/** Made by scripts/build-addons.mjs. */
function carriedFile(root: URL, { platform, arch }: System): string {
  return fileURLToPath(new URL(`native/addons/${platform}-${arch}-glibc.node`, root));
}
