// What the native CPU kernels are compiled from: everything but the N-API face. The addon is built of them
// (scripts/build-native.mjs), and so is the driver that tests them alone (test/native/).

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const native = fileURLToPath(new URL('../native/', import.meta.url));

const SOURCES = ['dispatch.c', 'assembly.c', 'sse41.c', 'neonx2.c', 'neon.c', 'portable.c'];

/**
 * Paths of the sources, relative to native/. Assembly is printed to native/build/ first: files that say already what
 * they should are left as they are.
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
