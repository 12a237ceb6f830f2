import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { fingerprintOf, hexOf, parseFingerprint } from '#pickaxe/base/net/certificate.js';
import { selfSigned } from '../../node/client/certificates.ts';

/** The output of `openssl x509 -fingerprint -sha256` for `selfSigned`. */
const OPENSSL = '86:AC:D8:4B:6D:59:8E:EF:D6:0F:55:CC:38:CB:CB:7E:77:75:69:89:C9:B2:13:EC:84:AD:0D:FC:8D:82:92:9F';
const PEER_ID = 'hqzYS21Zju_WD1XMOMvLfnd1aYnJshPshK0N_I2Ckp8';

describe('the fingerprint of a certificate', () => {
  it('is the SHA-256 of its DER, which openssl prints as hex digits', () => {
    expect(fingerprintOf(new X509Certificate(selfSigned.cert).raw)).toBe(PEER_ID);
    expect(hexOf(PEER_ID)).toBe(OPENSSL);
  });

  it.each([
    ['Base64Url', PEER_ID],
    ['Base64 with its padding', 'hqzYS21Zju/WD1XMOMvLfnd1aYnJshPshK0N/I2Ckp8='],
    ['hex digits with colons', OPENSSL],
    ['lower-case hex digits without colons', OPENSSL.replaceAll(':', '').toLowerCase()],
  ])('is read from %s', (_, text) => {
    expect(parseFingerprint(text)).toBe(PEER_ID);
  });

  it.each([
    ['nothing', ''],
    ['42 characters', PEER_ID.slice(1)],
    ['44 characters', `A${PEER_ID}`],
    ['bits that 32 bytes do not have', `${PEER_ID.slice(0, -1)}9`],
    ['a character of another alphabet', `${PEER_ID.slice(0, -1)}.`],
    ['the SHA-1 that openssl prints by default', OPENSSL.slice(0, 59)],
    ['one digit too few', OPENSSL.slice(0, -1)],
    ['one pair too many', `${OPENSSL}:00`],
    ['a space before it', ` ${PEER_ID}`],
  ])('is not read from %s', (_, text) => {
    expect(parseFingerprint(text)).toBeUndefined();
  });
});
