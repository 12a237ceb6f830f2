// Builds the prebuilt addons of the npm package by cross-compilation with clang and lld: native/addons/*.node.
//
//   node scripts/build-addons.mjs [FOLDER]            builds them, in native/addons/ or in FOLDER, and checks them
//   node scripts/build-addons.mjs --check [FOLDER]    only checks those that exist
//
// The addons for Linux are linked without a C library: the running Node.js has loaded one already. No symbol is bound
// to a version, so they need no newer C library than Node.js does. The addon for Windows needs only libraries of
// Windows. The build needs the headers of each system: on Debian, `apt-get install clang lld gcc libc6-dev
// libc6-dev-arm64-cross gcc-mingw-w64-x86-64`.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { addonSources, compileAddon, native, nodeApiHeaders } from './compile-addon.mjs';
import { readSharedLibrary } from './elf.mjs';
import { mingwFlags } from './mingw.mjs';
import { readWindowsLibrary } from './pe.mjs';

const FOR_LINUX = ['-nostdlib', '-Wl,--build-id=none'];

/**
 * The addons, with Node.js's names for platform and chip. `link`: the linker's flags. On x64 a part of libgcc detects
 * the features of the chip.
 */
const TARGETS = {
  'linux-x64-glibc': {
    platform: 'linux',
    arch: 'x64',
    triple: 'x86_64-linux-gnu',
    link: () => [...FOR_LINUX, '-lgcc', '-Wl,--exclude-libs=ALL'],
  },
  'linux-arm64-glibc': { platform: 'linux', arch: 'arm64', triple: 'aarch64-linux-gnu', link: () => FOR_LINUX },
  'win32-x64': {
    platform: 'win32',
    arch: 'x64',
    triple: 'x86_64-w64-mingw32',
    link: () => ['-Wl,--no-insert-timestamp', ...mingwFlags()],
  },
};

/** The kernels that must be in each addon, the usually fastest first. */
const KERNELS = {
  x64: ['avx512x2', 'avx512', 'avx512vlx2', 'avx512vl', 'avx2x2long', 'avx2x2', 'avx2', 'sse41', 'portable'],
  arm64: ['neonx2', 'neon', 'portable'],
};

/** The functions of the C library that may be used. All are in glibc 2.17, the first version for arm64. */
const C_LIBRARY =
  /^(__errno_location|clock_gettime|mem(cpy|set)|pthread_(create|join)|sched_[gs]etaffinity|snprintf|strerror)$/;
/** The functions of Node-API up to version 8, which Node.js 20 has. */
const NODE_API = /^napi_(create|get|set|throw)_[a-z0-9_]+$/;

/** The libraries of Windows that an addon may need. */
const WINDOWS_LIBRARY = /^(kernel32|msvcrt)\.dll$/;

const file = (folder, name) => join(folder, `${name}.node`);

async function build(folder) {
  mkdirSync(folder, { recursive: true });
  const sources = await addonSources();
  const include = nodeApiHeaders();
  const clang = process.env.CLANG ?? 'clang';
  for (const [name, { platform, triple, link }] of Object.entries(TARGETS)) {
    const objects = mkdtempSync(join(folder, 'unfinished-'));
    try {
      const failure = compileAddon({
        compiler: `${clang} --target=${triple}`,
        platform,
        sources,
        include,
        linkFlags: ['-fuse-ld=lld', '-Wl,--strip-all', ...link()],
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
function check(folder, name, { platform, arch }) {
  const path = file(folder, name);
  const bytes = bytesOf(path);
  const library = read(path, bytes, platform === 'win32' ? readWindowsLibrary : readSharedLibrary);
  const faults = [
    library.arch !== arch && `is for ${library.arch}`,
    ...(platform === 'win32' ? faultsOnWindows(library) : faultsOnLinux(library)),
    !library.exports.includes('napi_register_module_v1') && 'is not a Node-API addon',
  ].filter(Boolean);
  if (faults.length > 0) throw new Error(`${path} ${faults.join(', and ')}`);
  const needs = platform === 'win32' ? library.needed.join(' and ') : 'no library and no version of one';
  const loads = process.platform === platform && process.arch === arch ? ', loads here' : '';
  if (loads) checkKernels(path, KERNELS[arch]);
  console.error(`${name}: ${bytes.length} bytes, needs ${needs}${loads}`);
}

function faultsOnLinux({ needed, versions, imports, executableStack }) {
  const foreign = imports.filter((symbol) => !C_LIBRARY.test(symbol) && !NODE_API.test(symbol));
  return [
    needed.length > 0 && `needs ${needed.join(', ')}`,
    versions && 'needs symbols of certain versions',
    foreign.length > 0 && `takes ${foreign.join(', ')} from outside`,
    executableStack && 'wants an executable stack',
  ];
}

/** Node-API is no import on Windows: the addon looks it up in the program that loads it. */
function faultsOnWindows({ needed, hardened }) {
  const foreign = needed.filter((library) => !WINDOWS_LIBRARY.test(library));
  return [
    foreign.length > 0 && `needs ${foreign.join(', ')}`,
    !hardened && 'does not let Windows choose its address and protect its data',
  ];
}

function bytesOf(path) {
  if (existsSync(path)) return readFileSync(path);
  throw new Error(
    `${path} is missing. \`node scripts/build-addons.mjs\` builds the addons of all systems, and \`node scripts/release.mjs --make\` makes a package with them`,
  );
}

function read(path, bytes, reader) {
  try {
    return reader(bytes);
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
  for (const [name, target] of Object.entries(TARGETS)) check(folder, name, target);
} catch (error) {
  console.error(`Error: ${error.message}`);
  process.exitCode = 1;
}
