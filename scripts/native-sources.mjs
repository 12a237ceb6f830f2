// Lists the sources of the native CPU kernels, without addon.c. The addon is built from them
// (scripts/build-native.mjs), and so is the driver that tests them outside of Node.js (test/native/).

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const native = fileURLToPath(new URL('../native/', import.meta.url));

const SOURCES = ['dispatch.c', 'assembly.c', 'sse41.c', 'neonx2.c', 'neon.c', 'portable.c'];

/**
 * Prints the assembly to native/build/ first. Files with the right content already are not written again.
 * @returns the paths of the sources, relative to native/
 * @throws Error when TypeScript has not been compiled yet.
 */
export async function kernelSources() {
  const { assemblyFiles } = await import('../dist/kernel/generate.js');
  mkdirSync(`${native}build`, { recursive: true });
  const assembly = Array.from(assemblyFiles(), ([name, text]) => {
    const path = `build/${name}.S`;
    if (!existsSync(native + path) || readFileSync(native + path, 'utf8') !== text) writeFileSync(native + path, text);
    return path;
  });
  return [...SOURCES, ...assembly];
}
