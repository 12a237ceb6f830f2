/** Unsigned commands as the network's client library and wallets write them: read, signed, and written back alike. */

import { describe, expect, it, test } from 'vitest';
import { parseCommand, verifyCommand } from '#pickaxe/protocol/ledger/command/command.js';
import { parseExactJson } from '#pickaxe/protocol/ledger/json.js';
import {
  addSignatures,
  combineForms,
  completed,
  formatForm,
  formatUnsignedForm,
  parseKeyFile,
  parseUnsignedForm,
} from '#pickaxe/protocol/ledger/request-file/unsigned-form.js';
import { BOB, CAROL, requestFile } from '../command-vectors.ts';

const tool = parseUnsignedForm(requestFile('add-sig.unsigned.yaml'), 'form.yaml');
const { hash } = tool;
const cmd = tool.cmd!;
const pairs = [BOB, CAROL].map(({ public: key, secret }) => parseKeyFile(`public: ${key}\nsecret: ${secret}\n`, 'key'));
const signatures = addSignatures({ file: 'form.yaml', form: tool }, pairs).sigs;
const keys = [...JSON.parse(cmd).signers].map(({ pubKey }) => pubKey as string);
const [sigA, sigB] = keys.map((key) => signatures.get(key)!);
const [a, b] = keys;

const read = (json: object) => parseUnsignedForm(JSON.stringify(json), 'form.json');
const signed = (json: object, ...by: typeof pairs) =>
  formatForm(addSignatures({ file: 'form.json', form: read(json) }, by), 'send', 'form.json');
const pairOf = (key: string) => pairs.find(({ publicKey }) => publicKey === key)!;

/** The forms, as `@kadena/client`, wallets by KIP-15, and both together write them. */
const FORMS: [name: string, form: (signatureA: string | null, signatureB: string | null) => object][] = [
  ['a list in the order of the signers', (...sigs) => ({ cmd, hash, sigs: sigs.map((sig) => sig && { sig }) })],
  ['keys and signatures, without hash', (...sigs) => ({ cmd, sigs: sigs.map((sig, i) => ({ pubKey: keys[i], sig })) })],
  ['keys, signatures and hash', (...sigs) => ({ cmd, hash, sigs: sigs.map((sig, i) => ({ pubKey: keys[i], sig })) })],
];

describe.each(FORMS)('%s', (_, form) => {
  it('is written back as it was', () => {
    const signaturesOfBoth: [string | null, string | null][] = [
      [null, null],
      [sigA, null],
      [null, sigB],
      [sigA, sigB],
    ];
    for (const [first, second] of signaturesOfBoth) {
      const text = `${JSON.stringify(form(first, second))}\n`;
      expect(formatUnsignedForm(parseUnsignedForm(text, 'form.json'))).toBe(text);
    }
  });

  it('is signed by one key after the other, and stays such a form when it is complete', () => {
    const one = signed(form(null, null), pairOf(b));
    expect(JSON.parse(one)).toEqual(form(null, sigB));
    const both = signed(JSON.parse(one), pairOf(a));
    expect(JSON.parse(both)).toEqual(form(sigA, sigB));
    expect(verifyCommand(completed(parseUnsignedForm(both, 'form.json'), 'form.json')!)).toEqual({ kind: 'valid' });
  });

  it('is combined with a form of the contract tool', () => {
    const forms = [read(form(sigA, null)), { ...tool, cmd: null, sigs: new Map([[b, sigB]]) }];
    const named = forms.map((each, i) => ({ file: `${i}`, form: each }));
    for (const order of [named, named.toReversed()]) {
      expect(JSON.parse(formatForm(combineForms(order), 'send', 'form'))).toEqual(form(sigA, sigB));
    }
  });
});

it('in the order of the signers is, when complete, the command that nodes take', () => {
  const command = parseCommand(parseExactJson(signed(FORMS[0][1](null, null), ...pairs)));
  expect(command).toEqual({ cmd, hash, sigs: [{ sig: sigA }, { sig: sigB }] });
});

it('may list keys in another order, or only some, and lack what is not signed', () => {
  expect(read({ cmd, sigs: [{ pubKey: b, sig: sigB }, { pubKey: a }] }).sigs).toEqual(
    new Map([
      [a, null],
      [b, sigB],
    ]),
  );
  expect(JSON.parse(signed({ cmd, sigs: [{ pubKey: b }] }, pairOf(b)))).toEqual(FORMS[1][1](null, sigB));
  expect(read({ cmd, hash, sigs: [{}, { sig: sigB }] }).sigs.get(b)).toBe(sigB);
});

const STRANGER = '0'.repeat(64);

test.each([
  [
    'fewer items than signers',
    { cmd, hash, sigs: [null] },
    'sigs must have a signature or null for each of the command’s 2 signers',
  ],
  ['more items than signers', { cmd, hash, sigs: [null, null, null] }, 'for each of the command’s 2 signers'],
  ['an item too few, of which one has a key', { cmd, hash, sigs: [{ pubKey: a }, null, null] }, 'for each of the'],
  [
    'a member that is not known',
    { cmd, sigs: [{ pubKey: a, sig: null }], more: 1 },
    'more is not a key that is known here',
  ],
  [
    'the key of a stranger',
    { cmd, sigs: [{ pubKey: STRANGER, sig: null }] },
    `sigs has a signature of ${STRANGER}, which is not a signer`,
  ],
  [
    'no key at all',
    { cmd, hash, sigs: [{ pubKey: 'k:me', sig: null }, null] },
    'must be a public key: 64 lower-case hex digits',
  ],
  [
    'no signature at all',
    { cmd, hash, sigs: [{ sig: 'noSig' }, null] },
    'must be null or a signature: 128 lower-case hex digits',
  ],
  [
    'the signature of the other signer',
    { cmd, hash, sigs: [{ sig: sigB }, null] },
    `the signature of ${a} does not sign the hash`,
  ],
  ['a text in the list', { cmd, hash, sigs: [sigA, null] }, 'sigs[0] must be a map of keys and values'],
  ['no text of the command', { hash, sigs: [null, null] }, 'cmd must be a text'],
  ['a text that is no command', { cmd: '{}', sigs: [] }, 'form.json: '],
  [
    'another hash',
    { cmd, hash: hash.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')), sigs: [null, null] },
    'form.json: ',
  ],
])('a list with %s is refused', (_, form, message) => {
  expect(() => read(form)).toThrow(message);
});
