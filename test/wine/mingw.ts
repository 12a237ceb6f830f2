/**
 * Compiles small programs for Windows. Without the compiler, tests that need them are skipped, except in CI, where they
 * fail.
 */

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const COMPILER = 'x86_64-w64-mingw32-gcc';
export const noCompiler = spawnSync(COMPILER, ['--version']).status !== 0;
if (noCompiler && process.env.CI) throw new Error('CI must try Windows: install gcc-mingw-w64-x86-64');
/** Part of the names of tests. */
export const whyNoCompiler = noCompiler ? ` (skipped: there is no ${COMPILER})` : '';

/**
 * @param source a file of this folder
 * @throws Error with what the compiler says
 */
export function build(source: string, output: string, ...flags: string[]): void {
  const file = fileURLToPath(new URL(source, import.meta.url));
  const args = ['-Wall', '-Wextra', '-Werror', '-o', output, file, ...flags];
  const { status, stderr } = spawnSync(COMPILER, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${COMPILER} ${args.join(' ')}: ${stderr}`);
}
