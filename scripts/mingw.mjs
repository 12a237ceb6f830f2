// Finds the libraries of MinGW-w64, with which programs for Windows are built on Linux.

import { spawnSync } from 'node:child_process';

const GCC = 'x86_64-w64-mingw32-gcc';

/**
 * @returns the linker's flags by which clang finds libgcc for Windows, which it does not find by itself; none without
 *   MinGW-w64
 */
export function mingwFlags() {
  const { status, stdout } = spawnSync(GCC, ['-print-libgcc-file-name'], { encoding: 'utf8' });
  return status === 0 ? ['-L', stdout.trim().replace(/\/[^/]*$/, '')] : [];
}
