// Builds the prebuilt addons of the npm package by cross-compilation with clang and lld: native/addons/*-glibc.node.
//
//   node scripts/build-addons.mjs [FOLDER]            builds them, in native/addons/ or in FOLDER, and checks them
//   node scripts/build-addons.mjs --check [FOLDER]    only checks those that exist
//
// The addons are linked without a C library: the running Node.js has loaded one already. No symbol is bound to a version, so they
// need no newer C library than Node.js does. The build needs the headers of each system: on Debian,
// `apt-get install clang lld gcc libc6-dev libc6-dev-arm64-cross`.

import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { addonSources, compileAddon, native, nodeApiHeaders } from './compile-addon.mjs';
import { readSharedLibrary } from './elf.mjs';

/** The addons, with Node.js's names for platform and chip. `link`: a part of libgcc that detects the features of a chip. */
const TARGETS = {
  'linux-x64': { arch: 'x64', triple: 'x86_64-linux-gnu', link: ['-lgcc', '-Wl,--exclude-libs=ALL'] },
  'linux-arm64': { arch: 'arm64', triple: 'aarch64-linux-gnu', link: [] },
};

/** The kernels that must be in each addon, the usually fastest first. */
const KERNELS = {
  x64: ['avx512x2', 'avx512', 'avx512vlx2', 'avx512vl', 'avx2x2', 'avx2', 'sse41', 'portable'],
  arm64: ['neonx2', 'neon', 'portable'],
};

/** The functions of the C library that may be used. All are in glibc 2.17, the first version for arm64. */
const C_LIBRARY =
  /^(__errno_location|clock_gettime|mem(cpy|set)|pthread_(create|join)|sched_[gs]etaffinity|snprintf|strerror)$/;
/** The functions of Node-API up to version 8, which Node.js 20 has. */
const NODE_API = /^napi_(create|get|set|throw)_[a-z0-9_]+$/;

const file = (folder, name) => join(folder, `${name}-glibc.node`);

async function build(folder) {
  mkdirSync(folder, { recursive: true });
  const sources = await addonSources();
  const include = nodeApiHeaders();
  const clang = process.env.CLANG ?? 'clang';
  for (const [name, { triple, link }] of Object.entries(TARGETS)) {
    const objects = mkdtempSync(join(folder, 'unfinished-'));
    try {
      const failure = compileAddon({
        compiler: `${clang} --target=${triple}`,
        sources,
        include,
        linkFlags: ['-fuse-ld=lld', '-nostdlib', '-Wl,--strip-all', '-Wl,--build-id=none', ...link],
        folder: objects,
        output: file(folder, name),
      });
      if (failure !== undefined) throw new Error(`${clang} could not build ${name}: ${failure}`);
    } finally {
      rmSync(objects, { recursive: true, force: true });
    }
  }
}

/** @throws Error when the addon would not load on its system. */
function check(folder, name, arch) {
  const path = file(folder, name);
  const bytes = readFileSync(path);
  const library = read(path, bytes);
  const foreign = library.imports.filter((symbol) => !C_LIBRARY.test(symbol) && !NODE_API.test(symbol));
  const faults = [
    library.arch !== arch && `is for ${library.arch}`,
    library.needed.length > 0 && `needs ${library.needed.join(', ')}`,
    library.versions && 'needs symbols of certain versions',
    foreign.length > 0 && `takes ${foreign.join(', ')} from outside`,
    !library.exports.includes('napi_register_module_v1') && 'is not a Node-API addon',
    library.executableStack && 'wants an executable stack',
  ].filter(Boolean);
  if (faults.length > 0) throw new Error(`${path} ${faults.join(', and ')}`);
  const loads = process.platform === 'linux' && process.arch === arch ? ', loads here' : '';
  if (loads) checkKernels(path, KERNELS[arch]);
  console.error(`${name}: ${bytes.length} bytes, needs no library and no version of one${loads}`);
}

function read(path, bytes) {
  try {
    return readSharedLibrary(bytes);
  } catch (error) {
    throw new Error(`${path}: ${error.message}`);
  }
}

function checkKernels(path, names) {
  const found = createRequire(import.meta.url)(path).kernels.map(({ name }) => name);
  if (found.join() !== names.join()) throw new Error(`${path} has the kernels ${found.join()}, not ${names.join()}`);
}

const args = process.argv.slice(2);
const onlyCheck = args[0] === '--check';
const folder = resolve(args[onlyCheck ? 1 : 0] ?? join(native, 'addons'));
try {
  if (!onlyCheck) await build(folder);
  for (const [name, { arch }] of Object.entries(TARGETS)) check(folder, name, arch);
} catch (error) {
  console.error(`Error: ${error.message}`);
  process.exitCode = 1;
}
