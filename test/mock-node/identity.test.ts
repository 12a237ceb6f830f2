/** The certificate of a mock node. */

import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { expect, it } from 'vitest';
import { makeIdentity, pemOf } from '#pickaxe/mock-node/p2p/peers.js';

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
