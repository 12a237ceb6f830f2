// Builds the WebAssembly kernels from native/wasm.c with clang and lld. They are kept in native/prebuilt/, so that
// users need neither.
//
//   node scripts/build-wasm.mjs            builds them
//   node scripts/build-wasm.mjs --fresh    fails unless they were built from the present sources (needs no clang)
//   node scripts/build-wasm.mjs --check    also rebuilds them: the bytes must be the same, or the answers must be right, because
//                                          other versions of clang give other bytes (needs dist/)

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const native = fileURLToPath(new URL('../native/', import.meta.url));
const prebuilt = join(native, 'prebuilt');
const digestFile = join(prebuilt, 'sources.sha256');
const SOURCES = ['wasm.c', 'kernel.h', 'pair.h', 'words.h', 'scan.generated.h', 'search.h'];
const MODULES = { 'scan-simdx2.wasm': ['-msimd128', '-DPAIRED'], 'scan-simd.wasm': ['-msimd128'], 'scan.wasm': [] };

const FLAGS = [
  '--target=wasm32',
  '-std=gnu11',
  '-O3',
  '-Wall',
  '-Wextra',
  '-ffreestanding',
  '-nostdlib',
  '-Wl,--no-entry',
  '-Wl,--strip-all',
  // The table of counters (10 KiB) and the job's words are on the stack.
  '-Wl,-z,stack-size=65536',
];

function build(folder) {
  for (const [file, flags] of Object.entries(MODULES)) {
    const command = process.env.CLANG ?? 'clang';
    const { status, error } = spawnSync(command, [...FLAGS, ...flags, '-o', join(folder, file), 'wasm.c'], {
      cwd: native,
      stdio: 'inherit',
    });
    if (error || status !== 0) {
      console.error(`Error: ${command} could not build ${file}: ${error?.message ?? `exit code ${status}`}`);
      console.error('It takes clang and lld (on Debian: `apt-get install clang lld`); CLANG names another clang.');
      process.exit(1);
    }
  }
}

/** @returns the digest of everything that the modules are built from. It is kept in a file beside them */
function sourceDigest() {
  const hash = createHash('sha256').update(JSON.stringify([FLAGS, MODULES]));
  for (const source of SOURCES) hash.update(readFileSync(join(native, source)));
  return `${hash.digest('hex')}\n`;
}

function fail(fault) {
  console.error(`Error: ${fault}. Run node scripts/build-wasm.mjs.`);
  process.exitCode = 1;
}

function checkFresh() {
  if (readFileSync(digestFile, 'utf8') !== sourceDigest())
    fail('native/prebuilt was not built from the present source');
}

async function checkRebuilt() {
  const { loadWasmFile } = await import('#pickaxe/miner/engine/cpu/kernels/wasm-kernels.js');
  const { answersRight } = await import('#pickaxe/miner/engine/cpu/kernels/load-kernel.js');
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-wasm-'));
  try {
    build(folder);
    for (const file of Object.keys(MODULES)) {
      const rebuilt = join(folder, file);
      if (readFileSync(rebuilt).equals(readFileSync(join(prebuilt, file)))) continue;
      if (answersRight(loadWasmFile('wasm', rebuilt))) console.error(`${file}: other bytes, right answers`);
      else fail(`${file} computes wrong hashes when it is rebuilt`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const [mode] = process.argv.slice(2);
if (mode === '--fresh') {
  checkFresh();
} else if (mode === '--check') {
  checkFresh();
  await checkRebuilt();
} else {
  mkdirSync(prebuilt, { recursive: true });
  build(prebuilt);
  writeFileSync(digestFile, sourceDigest());
}
