/** Which certificates of servers are trusted, and what is said of the others. */

import { X509Certificate } from 'node:crypto';
import { expect, it } from 'vitest';
import { fingerprintOf } from '#pickaxe/base/net/certificate.js';
import { authoritiesOf, distrust, type Trust } from '#pickaxe/base/net/tls-trust.js';
import { selfSigned } from '../../node/client/certificates.ts';

const { raw } = new X509Certificate(selfSigned.cert);
const OWN = fingerprintOf(raw);
const OTHER = 'A'.repeat(OWN.length);
const NODE = { kind: 'node', origin: 'https://one.example' } as const;
const POOL = { kind: 'pool', origin: 'stratum+ssl://one.example:1' } as const;

function judged(trust: Trust, { authorized = false, shown = true, server = NODE as typeof NODE | typeof POOL } = {}) {
  const socket = {
    authorized,
    authorizationError: authorized ? null : 'DEPTH_ZERO_SELF_SIGNED_CERT',
    getPeerCertificate: () => (shown ? { raw } : {}),
  };
  return distrust(socket as never, server, trust);
}

const AUTHORITY: Trust = { by: 'authority' };

it('nobody is asked where nothing is checked', () => {
  expect(judged({ by: 'nothing' }, { shown: false })).toBeUndefined();
});

it('a server must show a certificate', () => {
  expect(judged(AUTHORITY, { shown: false, authorized: true })).toEqual({
    message: 'https://one.example has shown no certificate, so no request was sent to it.',
  });
  const { message } = judged(AUTHORITY, { shown: false, server: POOL })!;
  expect(message).toBe('stratum+ssl://one.example:1 has shown no certificate, so nothing was sent to it.');
});

it('an authority may have signed it, and otherwise its fingerprint is told', () => {
  expect(judged(AUTHORITY, { authorized: true })).toBeUndefined();
  const node = judged(AUTHORITY)!;
  expect(node.fingerprint).toBe(OWN);
  expect(node.message).toContain('is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT), so no request was sent to it.');
  expect(node.message).toContain(`Nodes often sign their own certificates: ask the node’s operator`);
  expect(node.message).toContain(`--node-fingerprint https://one.example=${OWN} (node.fingerprints)`);
  expect(judged(AUTHORITY, { server: POOL })!.message).toContain('Some pools sign their own certificates');
});

it('the user may trust some, even if an authority has signed another one', () => {
  const of = (...fingerprints: string[]): Trust => ({ by: 'fingerprint', fingerprints });
  expect(judged(of(OTHER, OWN))).toBeUndefined();
  const { message, fingerprint } = judged(of(OTHER, 'B'), { authorized: true })!;
  expect(fingerprint).toBe(OWN);
  expect(message).toContain(`expected ${OTHER} or B, presented ${OWN}. Ask the node’s operator`);
});

it('only own authorities are named to Node.js', () => {
  expect(authoritiesOf({ by: 'authority', authorities: ['one', 'two'] })).toEqual({ ca: ['one', 'two'] });
  for (const trust of [AUTHORITY, { by: 'nothing' }, { by: 'peer id', id: OWN }] as const)
    expect(authoritiesOf(trust)).toEqual({});
});

it('a peer has the certificate that its id says', () => {
  expect(judged({ by: 'peer id', id: OWN })).toBeUndefined();
  const { message, fingerprint } = judged({ by: 'peer id', id: OTHER }, { authorized: true })!;
  expect(fingerprint).toBe(OWN);
  expect(message).toContain(`the peer at https://one.example has shown another certificate than its id says`);
  expect(message).toContain(`expected ${OTHER}, presented ${OWN}.`);
});
