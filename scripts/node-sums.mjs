// Compares Node.js, which the archives take from packages of the registry, with what its makers publish.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Far larger than the program. */
const MAX_BYTES = 2 ** 29;

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/**
 * @param folder the files that its makers publish for this version: SHASUMS256.txt and, for Linux, the .tar.gz, because
 *   that list has no sum of the program alone
 * @param platform linux-x64 or win32-x64 @param program the path of the program to be compared
 * @throws Error unless the program is the one that they publish
 */
export function compareNode({ folder, version, platform, program }) {
  const sums = sumsIn(join(folder, 'SHASUMS256.txt'));
  const found = sha256(readFileSync(program));
  const published = platform === 'win32-x64' ? sumOf(sums, 'win-x64/node.exe') : inTarball(folder, version, sums);
  if (found === published) return;
  throw new Error(`Node.js ${version} of ${platform} has the SHA-256 ${found}, and its makers publish ${published}`);
}

function inTarball(folder, version, sums) {
  const name = `node-v${version}-linux-x64`;
  const path = join(folder, `${name}.tar.gz`);
  if (!existsSync(path))
    throw new Error(`${path} is missing: SHASUMS256.txt has the sum of it, and not of its program`);
  const sum = sha256(readFileSync(path));
  if (sum !== sumOf(sums, `${name}.tar.gz`))
    throw new Error(`${path} has the SHA-256 ${sum}, not that of SHASUMS256.txt`);
  const { status, error, stdout, stderr } = spawnSync('tar', ['-xzOf', path, `${name}/bin/node`], {
    maxBuffer: MAX_BYTES,
  });
  if (status !== 0) throw new Error(`tar: ${error?.message ?? stderr}`);
  return sha256(stdout);
}

function sumsIn(path) {
  const lines = [...readFileSync(path, 'utf8').matchAll(/^([\da-f]{64}) [ *](\S+)$/gm)];
  return new Map(lines.map(([, sum, name]) => [name, sum]));
}

function sumOf(sums, name) {
  const sum = sums.get(name);
  if (sum === undefined) throw new Error(`SHASUMS256.txt has no ${name}: it is of another version`);
  return sum;
}
