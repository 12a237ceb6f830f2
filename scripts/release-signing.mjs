// Signs the list of a release's checksums, and checks the signature, with OpenSSH's ssh-keygen: those who verify have
// it, on Linux, on macOS and on Windows. SECURITY.md has the public keys that count.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Who signs, and for what: a signature of the same key for something else does not count. */
const SIGNER = 'pickaxe';
const NAMESPACE = 'pickaxe-release';

/** @returns the lines of SECURITY.md that name a key, as ssh-keygen takes them (ALLOWED SIGNERS in its manual) */
export function signersIn(securityPage) {
  return securityPage.match(/^pickaxe namespaces="pickaxe-release" \S+ [A-Za-z0-9+/=]+$/gm) ?? [];
}

/**
 * Signs a file, which may ask for the key's passphrase, and checks that the signature counts.
 * @param key the file of the private key, or of the public key where an agent has the private one
 * @param signers as `signersIn`
 * @returns the path of the signature, `FILE.sig`
 * @throws Error when it cannot be signed, or is signed by another key
 */
export function sign(file, key, signers) {
  rmSync(`${file}.sig`, { force: true });
  const stdio = ['inherit', 'ignore', 'pipe'];
  const { status, error, stderr } = spawnSync('ssh-keygen', ['-Y', 'sign', '-f', key, '-n', NAMESPACE, file], {
    stdio,
  });
  if (status !== 0) throw new Error(`${file} cannot be signed: ${error?.message ?? `${stderr}`.trim()}`);
  try {
    verify(file, `${file}.sig`, signers);
  } catch (fault) {
    rmSync(`${file}.sig`, { force: true });
    throw fault;
  }
  return `${file}.sig`;
}

/** @throws Error unless one of the signers has signed the file */
export function verify(file, signature, signers) {
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-signers-'));
  try {
    const allowed = join(folder, 'signers');
    writeFileSync(allowed, `${signers.join('\n')}\n`);
    const args = ['-Y', 'verify', '-f', allowed, '-I', SIGNER, '-n', NAMESPACE, '-s', signature];
    const { status, error } = spawnSync('ssh-keygen', args, { input: readFileSync(file), encoding: 'utf8' });
    if (status !== 0) throw new Error(`${signature} ${error?.message ?? 'is no signature of a key in SECURITY.md'}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
