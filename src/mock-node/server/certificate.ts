/** Makes a certificate that is signed by itself (RFC 5280), like those of most nodes. */

import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { peerIdOf } from '../../ledger/cut.ts';

export interface Identity {
  /** PEM. */
  readonly key: string;
  /** PEM. */
  readonly cert: string;
  /** The id of a peer with this certificate, 43 characters. */
  readonly peerId: string;
}

/** The tags of DER (X.690). */
const TAG = { integer: 0x02, bits: 0x03, oid: 0x06, text: 0x0c, time: 0x18, sequence: 0x30, set: 0x31, version: 0xa0 };
const ECDSA_WITH_SHA256 = der(TAG.sequence, der(TAG.oid, Buffer.from('2a8648ce3d040302', 'hex')));
const COMMON_NAME = der(TAG.oid, Buffer.from('550403', 'hex'));
const VALID = ['20200101000000Z', '21200101000000Z'].map((time) => der(TAG.time, Buffer.from(time)));

/** @returns a new key of the curve P-256, with a certificate for the name `mock-node`, valid from 2020 to 2120 */
export function makeIdentity(): Identity {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = der(TAG.sequence, der(TAG.set, der(TAG.sequence, COMMON_NAME, der(TAG.text, Buffer.from('mock-node')))));
  const content = der(
    TAG.sequence,
    der(TAG.version, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, serial()),
    ECDSA_WITH_SHA256,
    name,
    der(TAG.sequence, ...VALID),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = sign('sha256', content, privateKey);
  const certificate = der(TAG.sequence, content, ECDSA_WITH_SHA256, der(TAG.bits, Buffer.from([0]), signature));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
    peerId: peerIdOf(certificate),
  };
}

/** @returns a positive integer whose first byte is not 0 */
function serial(): Buffer {
  const bytes = randomBytes(8);
  bytes[0] = (bytes[0] & 0x3f) | 0x40;
  return bytes;
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head =
    length < 128 ? [tag, length] : length < 256 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}
