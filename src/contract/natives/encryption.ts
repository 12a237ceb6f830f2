/** Natives of dialect 4 for Curve25519: whether two keys match, and decryption with a key that both sides agree on. */

import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  type KeyObject,
} from 'node:crypto';
import { encodeBase64url } from '../../protocol/ledger/json.ts';
import { ContractError } from '../errors.ts';
import { type Call, type Evaluator, type Native, strict } from '../runtime/native.ts';
import { isText, type Value } from '../values/values.ts';
import { bytesOrFault } from './base64.ts';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Evaluation steps of an operation on the curve. */
const STEPS = 100;

/** What comes before the 32 bytes of an X25519 key in its DER form (RFC 8410): PKCS #8 and SPKI. */
const PRIVATE_DER = Buffer.from('302e020100300506032b656e04220420', 'hex');
const PUBLIC_DER = Buffer.from('302a300506032b656e032100', 'hex');

function fail(message: string): never {
  throw new ContractError('eval', message);
}

/** @param text 64 hexadecimal digits @returns the 32 bytes of the key @throws ContractError for any other text */
function keyBytes(text: string): Buffer {
  if (!/^(?:[\da-f]{2})*$/i.test(text)) fail(`Base16 decoding failed: ${text}`);
  const bytes = Buffer.from(text, 'hex');
  return bytes.length === KEY_BYTES ? bytes : fail(`${text} must be bytestring of length ${KEY_BYTES}`);
}

const publicKey = (bytes: Uint8Array): KeyObject =>
  createPublicKey({ key: Buffer.concat([PUBLIC_DER, bytes]), format: 'der', type: 'spki' });
const privateKey = (bytes: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PRIVATE_DER, bytes]), format: 'der', type: 'pkcs8' });

function validateKeypair([own, secret, ...more]: readonly Value[], { evaluator }: Call): boolean | undefined {
  if (own === undefined || secret === undefined || !isText(own) || !isText(secret) || more.length > 0) return undefined;
  const [bytes, secretBytes] = [keyBytes(own), keyBytes(secret)];
  evaluator.spend(STEPS);
  const derived = createPublicKey(privateKey(secretBytes)).export({ format: 'der', type: 'spki' });
  if (derived.subarray(PUBLIC_DER.length).equals(bytes)) return true;
  return fail('validate-keypair: mismatch');
}

/**
 * The native `decrypt-cc20p1305`: ChaCha20-Poly1305 (RFC 8439), with the shared point of X25519 as the key.
 * @returns the plaintext in base64url
 */
function decrypt(values: readonly Value[], { evaluator }: Call): string | undefined {
  const texts = values.filter((value) => isText(value));
  if (values.length !== 6 || texts.length !== 6) return undefined;
  const [ciphertext, nonce, data, tag, own, secret] = texts;
  const [cipherBytes, dataBytes, nonceBytes] = [ciphertext, data, nonce].map((text) => bytesOf(text, evaluator));
  if (nonceBytes.length !== NONCE_BYTES) fail(`nonce must be bytestring of length ${NONCE_BYTES}`);
  const tagBytes = bytesOf(tag, evaluator);
  const [publicBytes, secretBytes] = [keyBytes(own), keyBytes(secret)];
  if (tagBytes.length !== TAG_BYTES) fail('auth prefix: CryptoError_AuthenticationTagSizeInvalid');
  evaluator.spend(STEPS + ciphertext.length + data.length);
  const key = sharedKey(publicBytes, secretBytes);
  const decipher = createDecipheriv('chacha20-poly1305', key, nonceBytes, { authTagLength: TAG_BYTES });
  decipher.setAAD(dataBytes, { plaintextLength: cipherBytes.length });
  decipher.setAuthTag(tagBytes);
  const plaintext = decipher.update(cipherBytes);
  try {
    return encodeBase64url(Buffer.concat([plaintext, decipher.final()]));
  } catch {
    // The message of the language has the tag that would be right.
    const cipher = createCipheriv('chacha20-poly1305', key, nonceBytes, { authTagLength: TAG_BYTES });
    cipher.setAAD(dataBytes, { plaintextLength: plaintext.length });
    cipher.update(plaintext);
    cipher.final();
    return fail(`AEAD Authentication failed: ${cipher.getAuthTag().toString('hex')}`);
  }
}

function sharedKey(publicBytes: Uint8Array, secretBytes: Uint8Array): Buffer {
  try {
    return diffieHellman({ publicKey: publicKey(publicBytes), privateKey: privateKey(secretBytes) });
  } catch {
    // OpenSSL refuses public keys of a small order, whose shared point with any key is 0.
    return Buffer.alloc(KEY_BYTES);
  }
}

function bytesOf(text: string, evaluator: Evaluator): Uint8Array {
  const bytes = bytesOrFault(text, evaluator);
  return typeof bytes === 'string' ? fail(bytes) : bytes;
}

const KEYS = 'public-key:string secret-key:string';

export const ENCRYPTION: readonly Native[] = [
  strict('validate-keypair', 'public:string secret:string -> bool', validateKeypair),
  strict('decrypt-cc20p1305', `ciphertext:string nonce:string aad:string mac:string ${KEYS} -> string`, decrypt),
].map((native) => ({ ...native, dialect: 4 }));
