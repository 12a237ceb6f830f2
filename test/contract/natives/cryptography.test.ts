/** Poseidon, Hyperlane's messages, and keys of Curve25519, by public vectors; and what they refuse. */

import { createCipheriv } from 'node:crypto';
import { x25519 } from '@noble/curves/ed25519.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { checkOutcomes } from '../outcomes.ts';

const FIELD = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
const table = (code: string) => ['(env-gaslimit 1000000)', '(env-gasmodel "table")', '(env-gas 0)', code, '(env-gas)'];

/** circomlib's hashes of 1, of 1 and 2, and so on. */
const POSEIDON = [
  18586133768512220936620570745912940619677854269274689475585506675881198879027n,
  7853200120776062878684798364095072458815029376092732009249414926327459813530n,
  6542985608222806190361240322586112750744169038454362455181422643027100751666n,
  18821383157269793795438455681495246036402687001665670618754263018637548127333n,
  6183221330272524995739186171720101788151706631170188140075976616310159254464n,
  20400040500897583745843009878988256314335038853985262692600694741116813247201n,
  12748163991115452309045839028154629052133952896122405799815156419278439301912n,
  18604317144381847857886385684060986177838410221561136253933256952257712543953n,
];
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1).join(' ');
const hash = (...inputs: (bigint | number)[]) => `(hash-poseidon ${inputs.join(' ')})`;

checkOutcomes(
  [],
  [
    ...POSEIDON.map((value, i) => [`(hash-poseidon ${upTo(i + 1)})`, `${value}`] as const),
    [`(poseidon-hash-hack-a-chain ${upTo(8)})`, `${POSEIDON[7]}`],
    [`(= ${hash(-1)} ${hash(FIELD - 1n)})`, 'true'],
    [`(= ${hash(FIELD + 1n, 2)} ${hash(1, 2)})`, 'true'],
    [table(hash(1)), '212', '213'],
    [table(hash(1, 2, 3)), '616', '689'],
  ],
);

const SENDER = Buffer.alloc(32, 1).toString('base64url');
const RECIPIENT = Buffer.alloc(32, 2).toString('base64url');
const message = (more: Readonly<Record<string, string>> = {}) => {
  const parts = { version: '3', nonce: '325', originDomain: '626', sender: `"${SENDER}"`, destinationDomain: '1' };
  const all = { ...parts, recipient: `"${RECIPIENT}"`, messageBody: '"AAAA"', ...more };
  return `{ ${Object.entries(all)
    .map(([key, value]) => `'${key}: ${value}`)
    .join(', ')} }`;
};
const idOf = (more: Readonly<Record<string, string>> = {}) => `(hyperlane-message-id ${message(more)})`;
/** The message as its bytes: version, nonce, domain, sender, domain, recipient and body. */
const PACKED = Buffer.concat([
  Buffer.from('030000014500000272', 'hex'),
  Buffer.alloc(32, 1),
  Buffer.from('00000001', 'hex'),
  Buffer.alloc(32, 2),
  Buffer.alloc(3),
]);
const both = (text: string) => [text, `Hyperlane native error: ${text}`] as const;
const sized = (key: string, bytes: number) => both(`Incorrect binary data size ${key}. Expected: 32, but got ${bytes}`);

/** The fixed parts of the token message: an amount of 10¹⁸ + 1, chain 300, and what follows. */
const tokenMessage = (recipient: string, amount = 10n ** 18n + 1n) =>
  Buffer.concat([
    Buffer.from(amount.toString(16).padStart(64, '0'), 'hex'),
    Buffer.from([1, 44]),
    Buffer.from(recipient),
  ]);
const decode = (bytes: Buffer) => `(hyperlane-decode-token-message "${bytes.toString('base64url')}")`;
const GUARD = '{"pred":"keys-any","keys":["a"]}';
const encode = (amount: string, chain: string, recipient = 'AQI') =>
  `(hyperlane-encode-token-message {'recipient: "${recipient}", 'amount: ${amount}, 'chainId: "${chain}"})`;
const encoded = (amount: bigint, chain: number) => {
  const hex = BigInt.asUintN(256, amount).toString(16).padStart(64, '0') + chain.toString(16).padStart(4, '0');
  return `"${Buffer.from(`${hex}0102`, 'hex').toString('base64url')}"`;
};
const decoding = (text: string) => [text, `Hyperlane decode error: ${text}`] as const;
const NO_GUARD = decoding('Could not parse recipient into a guard');

checkOutcomes(
  [],
  [
    [idOf(), `"${Buffer.from(keccak_256(PACKED)).toString('base64url')}"`],
    [`(= ${idOf()} ${idOf({ version: '4' })})`, 'false'],
    [`(length ${idOf({ version: '255', nonce: '4294967295', originDomain: '0' })})`, '43'],
    [idOf({ version: '256' }), ...both('Object key version was out of bounds')],
    [idOf({ nonce: '4294967296' }), ...both('Object key nonce was out of bounds')],
    [idOf({ originDomain: '-1' }), ...both('Object key originDomain was out of bounds')],
    [idOf({ destinationDomain: '1.0' }), ...both('Failed to find key in object: destinationDomain')],
    [idOf({ sender: '1' }), ...both('Failed to find key in object: sender')],
    [idOf({ sender: '"!"' }), ...both('Invalid base64 encoding on field sender')],
    [idOf({ sender: '"AAAA"' }), ...sized('sender', 3)],
    [idOf({ recipient: `"${Buffer.alloc(33).toString('base64url')}"` }), ...sized('recipient', 33)],
    [idOf({ messageBody: '1' }), "couldn't find message body", both('Failed to find key in object: messageBody')[1]],
    [table(idOf({ messageBody: `"${'A'.repeat(10_000)}"` })), '6', '3'],
    [
      decode(tokenMessage(GUARD)),
      '{"amount": 1.000000000000000001,"chainId": "300","recipient": KeySet {keys: [a],pred: keys-any}}',
    ],
    [
      `(at 'amount ${decode(tokenMessage(GUARD, 2n ** 256n - 1n))})`,
      '115792089237316195423570985008687907853269984665640564039457.584007913129639935',
    ],
    [`(at 'amount ${decode(tokenMessage(GUARD, 10n ** 18n))})`, '1.0'],
    ['(hyperlane-decode-token-message "!")', ...decoding('Failed to base64-decode token message')],
    [decode(Buffer.alloc(33)), ...decoding('Decoding error: binary decoding failed')],
    [decode(Buffer.alloc(34)), ...NO_GUARD],
    [decode(tokenMessage('"k:abc"')), ...NO_GUARD],
    [`(at 'recipient ${decode(tokenMessage('["a"]'))})`, NO_GUARD[0], 'KeySet {keys: [a],pred: keys-all}'],
    [
      `(at 'recipient ${decode(tokenMessage('{"keys":["a"],"int":1}'))})`,
      NO_GUARD[0],
      'KeySet {keys: [a],pred: keys-all}',
    ],
    [decode(tokenMessage('{"int":1}')), ...NO_GUARD],
    [decode(tokenMessage(`${GUARD} x`)), ...NO_GUARD],
    [decode(Buffer.concat([tokenMessage(''), Buffer.from([0xff])])), ...NO_GUARD],
    [encode('599.0', '1'), encoded(599n, 1)],
    [encode('2.5', '65535'), encoded(2n, 65_535)],
    [encode('-1.0', '65537x'), encoded(-1n, 1)],
    [encode('1.0', 'x'), ...both('Failed to decode chainId: input does not start with a digit')],
    [encode('1', '1'), ...both('Failed to find key in object: amount')],
    [encode('1.0', '1', '!'), ...both('Invalid base64 encoding on field recipient')],
    [
      '(hyperlane-encode-token-message {\'amount: 1.0, \'chainId: "1"})',
      "couldn't find recipient",
      both('Failed to find key in object: recipient')[1],
    ],
    [table(encode('1.0', '1', 'A'.repeat(4_000))), '4', '7'],
  ],
);

/* Keys, and what another library encrypts with their shared secret. */

const [SECRET, OTHER_SECRET] = ['a1'.repeat(32), 'b2'.repeat(32)];
const publicOf = (secret: string) => Buffer.from(x25519.getPublicKey(Buffer.from(secret, 'hex'))).toString('hex');
const [OWN, OTHER] = [publicOf(SECRET), publicOf(OTHER_SECRET)];
const NONCE = Buffer.from('nonce of 12b');
const DATA = Buffer.from('aad');

function encrypted(data: Buffer): readonly [text: string, tag: Buffer] {
  const key = x25519.getSharedSecret(Buffer.from(SECRET, 'hex'), Buffer.from(OTHER, 'hex'));
  const cipher = createCipheriv('chacha20-poly1305', key, NONCE, { authTagLength: 16 });
  cipher.setAAD(data, { plaintextLength: 7 });
  const text = Buffer.concat([cipher.update('message'), cipher.final()]).toString('base64url');
  return [text, cipher.getAuthTag()];
}

const [CIPHERTEXT, TAG] = encrypted(DATA);
/** Decrypts with parts that a case exchanges. */
const decrypt = (more: Readonly<Record<string, string>> = {}) => {
  const nonce = NONCE.toString('base64url');
  const parts = {
    text: CIPHERTEXT,
    nonce,
    data: DATA.toString('base64url'),
    tag: TAG.toString('base64url'),
    own: OWN,
    secret: OTHER_SECRET,
  };
  return `(decrypt-cc20p1305 ${Object.values({ ...parts, ...more })
    .map((part) => `"${part}"`)
    .join(' ')})`;
};
const UNKNOWN = (native: string) => `Unbound variable ${native}`;
const pair = (own: string, secret: string) => `(validate-keypair "${own}" "${secret}")`;
/** @param tag the one that would be right */
const wrongTag = (tag: Buffer | string) =>
  `AEAD Authentication failed: ${typeof tag === 'string' ? tag : tag.toString('hex')}`;
const NO_DECODE = 'Could not base64-decode string';

checkOutcomes(
  [],
  [
    [pair(OWN, SECRET), 'true', UNKNOWN('validate-keypair')],
    [pair(OWN.toUpperCase(), SECRET), 'true', null],
    [pair(OTHER, SECRET), 'validate-keypair: mismatch', null],
    [pair('ab', SECRET), 'ab must be bytestring of length 32', null],
    [pair(OWN, `${SECRET}a1`), `${SECRET}a1 must be bytestring of length 32`, null],
    [pair('abc', SECRET), 'Base16 decoding failed: abc', null],
    [decrypt(), '"bWVzc2FnZQ"', UNKNOWN('decrypt-cc20p1305')],
    [decrypt({ own: OTHER, secret: SECRET }), '"bWVzc2FnZQ"', null],
    [decrypt({ own: OTHER }), wrongTag('432e792e1471078c09ca11db931afd62'), null],
    [decrypt({ own: '00'.repeat(32) }), wrongTag('d3296731d14c2edd7350f8e1aeb2bff9'), null],
    [decrypt({ data: 'AAAA' }), wrongTag(encrypted(Buffer.alloc(3))[1]), null],
    [decrypt({ tag: Buffer.alloc(16).toString('base64url') }), wrongTag(TAG), null],
    [decrypt({ tag: 'AAAA' }), 'auth prefix: CryptoError_AuthenticationTagSizeInvalid', null],
    [decrypt({ nonce: 'AAAA' }), 'nonce must be bytestring of length 12', null],
    [decrypt({ text: '!' }), NO_DECODE, null],
    [decrypt({ data: '!' }), NO_DECODE, null],
    [decrypt({ tag: '!' }), NO_DECODE, null],
    [decrypt({ nonce: '!' }), NO_DECODE, null],
    [decrypt({ secret: 'x' }), 'Base16 decoding failed: x', null],
  ],
);
