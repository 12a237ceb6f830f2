import { X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { certificatesIn } from '#pickaxe/app/nodes/node-clients.js';
import { UsageError } from '#pickaxe/app/process/exit.js';
import { authority, selfSigned } from '../../node/client/certificates.ts';

const folder = mkdtempSync(join(tmpdir(), 'pickaxe-ca-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function read(content: string | Uint8Array): string[] {
  const file = join(folder, 'ca.pem');
  writeFileSync(file, content);
  return certificatesIn(file, '--node-ca-file');
}

it('a CA file may have several certificates, and text around them', () => {
  expect(read(authority.cert)).toEqual([authority.cert.trim()]);
  const several = `Ours:\n${authority.cert}\n# and\r\n${selfSigned.cert.replaceAll('\n', '\r\n')}`;
  expect(read(several).map((cert) => new X509Certificate(cert).subject)).toEqual(['CN=test-authority', 'CN=test-node']);
});

it.each([
  ['text', 'not PEM', 'hello'],
  ['nothing', 'not PEM', ''],
  ['a certificate in DER', 'openssl x509 -inform der', new X509Certificate(authority.cert).raw],
  ['another thing in PEM', 'contains no certificate', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n'],
  ['a private key beside the certificate', 'contains a private key', authority.cert + authority.key],
  ['a private key of RSA', 'contains a private key', '-----BEGIN RSA PRIVATE KEY-----\n'],
  ['half a certificate', 'ends in the middle of a certificate', `${authority.cert}${selfSigned.cert.slice(0, 200)}`],
  ['a spoilt certificate', 'cannot be read, number 2', authority.cert + selfSigned.cert.replace(/\n.{20}/, '\nAAAA')],
  ['too much', 'more than 1048576 bytes', authority.cert.repeat(2000)],
])('a file that has %s in it is an error that says so', (_, says, content) => {
  expect(() => read(content)).toThrow(UsageError);
  expect(() => read(content)).toThrow(/^--node-ca-file: .*ca\.pem [^\n]*$/);
  expect(() => read(content)).toThrow(says);
  expect(() => read(content)).not.toThrow(/MIGH/);
});

it('a missing file and a directory are errors that say so', () => {
  mkdirSync(join(folder, 'directory'));
  expect(() => certificatesIn(join(folder, 'none.pem'), '--node-ca-file')).toThrow(
    /none\.pem cannot be read: there is no such file/,
  );
  expect(() => certificatesIn(join(folder, 'directory'), '--node-ca-file')).toThrow(
    /cannot be read: it is a directory/,
  );
});
