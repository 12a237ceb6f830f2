// Stamps say for which files a step was last done, so that it is not repeated without need.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The stamp of the installed packages, and what they depend on. Paths are relative to the root of the checkout, in
 * which the caller must be.
 */
export const INSTALLED = { stamp: 'node_modules/.pickaxe-ready', from: ['package-lock.json', 'package.json'] };
/**
 * The stamp of the build, and what it depends on. The script of the native kernels checks by itself whether they are up
 * to date.
 */
export const BUILT = {
  stamp: 'dist/.pickaxe-ready',
  from: ['src', 'native/generator', 'tsconfig.json', 'tsconfig.web.json', 'scripts/build.mjs'],
};

/** @returns a hash of the names and contents of files and, recursively, of folders */
export function fingerprint(paths) {
  const hash = createHash('sha256').update(`${process.version} ${process.platform} ${process.arch}`);
  const visit = (path) => {
    if (!existsSync(path)) return;
    if (statSync(path).isDirectory()) {
      for (const name of readdirSync(path).sort()) visit(join(path, name));
    } else {
      hash.update(`\0${path}\0`).update(readFileSync(path));
    }
  };
  for (const path of paths) visit(path);
  return hash.digest('hex');
}

/** @returns whether the step was last done for these files as they are now */
export function isDone({ stamp, from }) {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint(from);
}
