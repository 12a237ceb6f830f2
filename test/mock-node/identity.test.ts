/** The certificate of a mock node. */

import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { expect, it } from 'vitest';
import { makeIdentity, pemOf } from '#pickaxe/mock-node/p2p/peers.js';
import { peerIdOf } from '#pickaxe/protocol/ledger/cut.js';

/** The two numbers of the signature have 31 bytes each, so the certificate has 288 bytes: six full lines of base64. */
const SHORT = `MIIBHDCBxqADAgECAghuzJjvDlYBsTAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlt
b2NrLW5vZGUwIhgPMjAyMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFDES
MBAGA1UEAwwJbW9jay1ub2RlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAES/Z5
RL4NVqmHUDvyDkpFHhWRJ+KV65YamhhQ9sskRIaLZKFA4UEimDrwkxEfZFhkRR6H
0qWFyWUGKwUkrlbOzDAKBggqhkjOPQQDAgNFADBCAh8qyEotyJMIcuvYxWrRm6XX
KmS3xE5KToWBpUpEeLwcAh8G+odi06hZ+2dKdezoSbausJldW951jgIfT/GMkye8`;

it('a certificate whose last line is full is one that TLS takes', () => {
  const cert = pemOf(Buffer.from(SHORT, 'base64'));
  expect(() => createSecureContext({ cert })).not.toThrow();
  expect(cert.trim().split('\n').slice(1, -1)).toEqual(SHORT.split('\n'));
});

it('an identity is a key with its certificate', () => {
  const { key, cert } = makeIdentity();
  expect(() => createSecureContext({ key, cert })).not.toThrow();
  const certificate = new X509Certificate(cert);
  expect(certificate.verify(certificate.publicKey)).toBe(true);
});

/** The certificate in hex digits (RFC 5280), without its lengths, serial number, public key and signature. */
const FORM = new RegExp(
  [
    '^3082....3081..a003020102',
    '0208[4-7].{15}',
    '300a06082a8648ce3d040302',
    '30143112301006035504030c096d6f636b2d6e6f6465',
    '3022180f32303230303130313030303030305a180f32313230303130313030303030305a',
    '30143112301006035504030c096d6f636b2d6e6f6465',
    '3059301306072a8648ce3d020106082a8648ce3d03010703420004.{128}',
    '300a06082a8648ce3d040302',
    '03..0030.{132,144}$',
  ].join(''),
);

it('a certificate is that of the mock node for a hundred years, and each has a number of its own', () => {
  const serials = Array.from({ length: 60 }, () => {
    const { cert, peerId } = makeIdentity();
    const { raw, subject, issuer, validFrom, validTo, serialNumber } = new X509Certificate(cert);
    expect(raw.toString('hex')).toMatch(FORM);
    expect([subject, issuer, peerId]).toEqual(['CN=mock-node', 'CN=mock-node', peerIdOf(raw)]);
    expect([validFrom, validTo]).toEqual(['Jan  1 00:00:00 2020 GMT', 'Jan  1 00:00:00 2120 GMT']);
    return serialNumber;
  });
  expect(new Set(serials).size).toBe(60);
  // The first byte is neither fixed nor odd each time: each of its low bits is 0 in one certificate and 1 in another.
  const first = serials.map((serial) => Number.parseInt(serial.slice(0, 2), 16));
  for (const bit of [1, 2, 4, 8, 16, 32]) expect(new Set(first.map((byte) => byte & bit)).size).toBe(2);
});
