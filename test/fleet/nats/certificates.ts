/** An authority of a test's own, and certificates of it. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const KIND = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

export class Authority {
  readonly folder = mkdtempSync(join(tmpdir(), 'pickaxe-ca-'));
  readonly file = join(this.folder, 'ca.pem');

  constructor() {
    this.#openssl('req', '-x509', ...KIND, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=test');
  }

  get pem(): string {
    return readFileSync(this.file, 'utf8');
  }

  /** @param names such as `DNS:localhost` @returns the paths of a new certificate and its key */
  sign(name: string, names: string): { cert: string; key: string } {
    const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${names}`];
    this.#openssl('req', ...KIND, '-keyout', `${name}.key`, '-out', `${name}.csr`, ...subject);
    const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-copy_extensions', 'copy'];
    this.#openssl('x509', '-req', '-in', `${name}.csr`, ...by, '-out', `${name}.pem`);
    return { cert: join(this.folder, `${name}.pem`), key: join(this.folder, `${name}.key`) };
  }

  #openssl(...args: string[]): void {
    execFileSync('openssl', args, { cwd: this.folder, stdio: 'pipe' });
  }
}
