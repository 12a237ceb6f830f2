// Lists the sources of the native CPU kernels, without addon.c. The addon is built from them
// (scripts/build-native.mjs), and so is the driver that tests them outside of Node.js (test/native/).

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const native = fileURLToPath(new URL('../native/', import.meta.url));

const SOURCES = ['dispatch.c', 'assembly.c', 'sse41.c', 'neonx2.c', 'neon.c', 'portable.c'];

/**
 * In a checkout this prints the assembly to native/build/ first. Files that have the right content are not written
 * again. The npm package has the printed assembly, without the generator.
 * @returns the paths of the sources, relative to native/
 * @throws Error when TypeScript has not been compiled yet.
 */
export async function kernelSources() {
  const generator = new URL('../native/build/generator/generate.js', import.meta.url);
  return [...SOURCES, ...(existsSync(generator) ? await print(generator) : printed())];
}

async function print(generator) {
  const { assemblyFiles } = await import(generator);
  return Array.from(assemblyFiles(), ([name, text]) => {
    const path = `build/${name}.S`;
    if (!existsSync(native + path) || readFileSync(native + path, 'utf8') !== text) writeFileSync(native + path, text);
    return path;
  });
}

function printed() {
  const build = `${native}build`;
  const files = existsSync(build) ? readdirSync(build).filter((name) => name.endsWith('.S')) : [];
  if (files.length === 0) throw new Error('native/build/ has no assembly (`npm run build` prints it in a checkout)');
  return files.map((name) => `build/${name}`);
}
