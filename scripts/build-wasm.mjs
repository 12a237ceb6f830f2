// Builds the WebAssembly kernels from native/wasm.c with clang and lld. They are kept prebuilt in native/prebuilt/, so
// that users need neither.
//
//   node scripts/build-wasm.mjs            builds
//   node scripts/build-wasm.mjs --check    builds elsewhere and fails unless the bytes are the same

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const native = fileURLToPath(new URL('../native/', import.meta.url));
const prebuilt = join(native, 'prebuilt');
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
  // The table over counters (10 KiB) and the job's words lie on the stack.
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

if (process.argv[2] === '--check') {
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-wasm-'));
  try {
    build(folder);
    const stale = Object.keys(MODULES).filter(
      (file) => !readFileSync(join(folder, file)).equals(readFileSync(join(prebuilt, file))),
    );
    if (stale.length > 0) {
      console.error(`Error: not what native/wasm.c gives: ${stale.join(', ')}. Run node scripts/build-wasm.mjs.`);
      process.exitCode = 1;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
} else {
  mkdirSync(prebuilt, { recursive: true });
  build(prebuilt);
}
