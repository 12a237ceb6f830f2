// Builds the native CPU kernels with the C compiler of this machine, without node-gyp and without downloads. Without a
// compiler it warns and succeeds, because WebAssembly kernels take their place. With REQUIRE_NATIVE=1 it fails instead.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { platform } from 'node:process';
import { fileURLToPath } from 'node:url';
import { addonSources, compileAddon, native, nodeApiHeaders } from './compile-addon.mjs';

const output = `${native}build/pickaxe.node`;

function giveUp(reason) {
  const required = process.env.REQUIRE_NATIVE === '1';
  console.error(`${required ? 'Error' : 'Warning'}: the native CPU kernels were not built: ${reason}`);
  if (!required) console.error('Mining works without them, on WebAssembly kernels, at a sixth to a half of the speed.');
  process.exit(required ? 1 : 0);
}

function headers() {
  try {
    return nodeApiHeaders();
  } catch {
    return giveUp('the package node-api-headers is not installed (`npm ci` installs it)');
  }
}

/** @param sources paths relative to native/ */
function upToDate(sources) {
  if (!existsSync(output)) return false;
  const builtMs = statSync(output).mtimeMs;
  const headers = readdirSync(native).filter((name) => name.endsWith('.h'));
  const inputs = [...headers, ...sources].map((path) => native + path);
  const scripts = [import.meta.url, new URL('./compile-addon.mjs', import.meta.url)].map((url) => fileURLToPath(url));
  return [...inputs, ...scripts].every((path) => statSync(path).mtimeMs <= builtMs);
}

async function build() {
  const sources = await addonSources();
  if (upToDate(sources)) return;
  const include = headers();
  // clang is preferred, because its SSE4.1 kernel is a third faster than that of gcc 12. AVX2 and AVX-512 are in
  // assembly.
  const compilers = process.env.CC ? [process.env.CC] : ['clang', 'cc', 'gcc'];
  const failures = [];
  mkdirSync(join(native, 'build'), { recursive: true });
  const folder = mkdtempSync(join(native, 'build', 'unfinished-'));
  try {
    for (const compiler of compilers) {
      const failure = compileAddon({ compiler, platform, sources, include, linkFlags: [], folder, output });
      if (failure === undefined) {
        console.error(`Native CPU kernels built with ${compiler}.`);
        return;
      }
      failures.push(`${compiler}: ${failure}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const kind = platform === 'win32' ? 'C compiler of MinGW-w64 (gcc or clang)' : 'C compiler';
  giveUp(`no ${kind} built them (CC names another):\n${failures.join('\n')}`);
}

try {
  await build();
} catch (error) {
  giveUp(error.message);
}
