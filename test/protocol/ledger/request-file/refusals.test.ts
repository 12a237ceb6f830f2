/** Files that are refused, and the messages. */

import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { stringifyExactJson } from '#pickaxe/protocol/ledger/json.js';
import { parseRequest, type RequestKind } from '#pickaxe/protocol/ledger/request-file/request-file.js';
import {
  addSignatures,
  combineForms,
  completed,
  formatUnsignedForm,
  parseKeyFile,
  parseUnsignedForm,
  signHash,
  type UnsignedForm,
} from '#pickaxe/protocol/ledger/request-file/unsigned-form.js';
import { RequestFileError } from '#pickaxe/protocol/ledger/request-file/yaml.js';
import { cases } from '../../../cases.ts';
import { ALICE, BOB, requestFile } from '../command-vectors.ts';

const FILES: Readonly<Record<string, string>> = {
  'code.pact': '(+ 1 1)\n',
  'data.json': '{"a":1.50}',
  'bad.json': '{"a":',
};
const load = (path: string): string => {
  if (path in FILES) return FILES[path];
  throw new Error(`${path} cannot be read: there is no such file.`);
};
const parse = (text: string, kind: RequestKind = 'signed') => parseRequest(text, { file: 'r.yaml', kind, load });

const KEY_PAIRS = `keyPairs:\n  - public: ${ALICE.public}\n    secret: ${ALICE.secret}\n`;
const SIGNERS = `signers:\n  - public: ${ALICE.public}\n`;
const CONT = 'type: cont\npactTxHash: TNgO7o8nSZILVCfJPcg5IjHADy-XKvQ7o5RfAieJvwY\nstep: 1\nrollback: False\n';
const CODE = 'code: "1"\n';
const meta = (lines: string) => `${CODE}publicMeta:\n  chainId: "0"\n  ${lines}\n`;
const cap = (args: string, code = '1') =>
  `code: '${code}'\n${SIGNERS}    caps:\n      - name: coin.TRANSFER\n        args: ${args}\n`;

describe('a request is refused with the file, the line and what to do', () => {
  test.each<[string, RequestKind, string]>([
    [
      meta('gasLimit: 100000,'),
      'signed',
      'r.yaml, line 4: publicMeta.gasLimit must be a whole number of at least 0, but is "100000,": remove the comma.',
    ],
    [
      meta('gasLimit: 1.5'),
      'signed',
      'r.yaml, line 4: publicMeta.gasLimit must be a whole number of at least 0, but is "1.5".',
    ],
    [
      meta('gasPrice: 1e-13'),
      'signed',
      'r.yaml, line 4: publicMeta.gasPrice must be a number from 0 on with at most 12 decimal places, but is "1e-13".',
    ],
    [
      meta('gasPrice: -1'),
      'signed',
      'r.yaml, line 4: publicMeta.gasPrice must be a number from 0 on with at most 12 decimal places, but is "-1".',
    ],
    [meta('ttl: -1'), 'signed', 'r.yaml, line 4: publicMeta.ttl must be a whole number of at least 0, but is "-1".'],
    [meta('ttl: [1]'), 'signed', 'r.yaml, line 4: publicMeta.ttl must be a whole number of at least 0.'],
    [
      meta('sender: y'),
      'signed',
      'r.yaml, line 4: publicMeta.sender must be a text; YAML reads "y" as true, so quote it.',
    ],
    [`${CODE}meta: {chainId: "0"}\n`, 'signed', 'r.yaml, line 2: meta is called publicMeta here.'],
    [`type: cont\npactId: abc\n`, 'signed', 'r.yaml, line 2: pactId is called pactTxHash here.'],
    [
      meta('gaslimit: 5'),
      'signed',
      'r.yaml, line 4: publicMeta.gaslimit is not a key that is known here; these are: chainId, sender, gasLimit, gasPrice, ttl, creationTime.',
    ],
    [
      `${CODE}${KEY_PAIRS}`,
      'unsigned',
      'r.yaml, line 3: keyPairs must not be in a request for an unsigned command: name signers instead.',
    ],
    [
      `${CODE}${SIGNERS}`,
      'signed',
      'r.yaml, line 3: signers must not be in a request for a signed command: give keyPairs instead.',
    ],
    [CODE, 'unsigned', 'r.yaml, line 1: signers must be there for an unsigned command.'],
    [KEY_PAIRS, 'signed', 'r.yaml, line 1: code is wrong: there must be either code or codeFile, and not both.'],
    [
      `${CODE}codeFile: code.pact\n`,
      'signed',
      'r.yaml, line 2: codeFile is wrong: there must be either code or codeFile, and not both.',
    ],
    [
      'codeFile: x.pact\n',
      'signed',
      'r.yaml, line 1: codeFile names a file that cannot be read: x.pact cannot be read: there is no such file.',
    ],
    [
      `${CODE}data: {}\ndataFile: data.json\n`,
      'signed',
      'r.yaml, line 3: dataFile is wrong: there must not be both data and dataFile.',
    ],
    [`${CODE}type: exce\n`, 'signed', 'r.yaml, line 2: type must be exec or cont.'],
    [`${CODE}step: 1\n`, 'signed', 'r.yaml, line 2: step belongs to a request of the type cont.'],
    [`${CONT}code: "1"\n`, 'signed', 'r.yaml, line 5: code belongs to a request of the type exec.'],
    [CONT.replace('step: 1\n', ''), 'signed', 'r.yaml, line 1: step must be a whole number of at least 0.'],
    [CONT.replace('False', 'never'), 'signed', 'r.yaml, line 4: rollback must be true or false, but is "never".'],
    [CONT.replace('TNg', ''), 'signed', 'r.yaml, line 2: pactTxHash must be a hash: 43 characters of base64url.'],
    [
      `${CONT}flowTxHash: x\n`,
      'signed',
      'r.yaml, line 5: flowTxHash means the same as pactTxHash: leave one of them out.',
    ],
    [
      cap('[a, b, 0.1234567890123]'),
      'unsigned',
      'r.yaml, line 6: signers[0].caps[0].args is wrong: its amount: "0.1234567890123" has more than 12 decimal places.',
    ],
    [
      cap('[a, b, 2.0]', '(coin.transfer "a" "b" 2.1)'),
      'unsigned',
      'r.yaml, line 6: signers[0].caps[0].args is wrong: it allows 2.0, but the code transfers 2.1.',
    ],
    [cap('[a, ~]'), 'unsigned', 'r.yaml, line 6: signers[0].caps[0].args[1] is wrong: an argument cannot be null.'],
    [cap('5'), 'unsigned', 'r.yaml, line 6: signers[0].caps[0].args must be a list.'],
    [
      `${CODE}signers:\n  - public: abc\n`,
      'unsigned',
      'r.yaml, line 3: signers[0].public must be a public key: 64 lower-case hex digits.',
    ],
    [
      `${CODE}signers:\n  - public: ${BOB.public}\n    scheme: ETH\n`,
      'unsigned',
      'r.yaml, line 4: signers[0].scheme must be ED25519: no other signatures can be made here.',
    ],
    [
      `${CODE}${KEY_PAIRS.replace(ALICE.public, BOB.public)}`,
      'signed',
      'r.yaml, line 4: keyPairs[0].secret is wrong: the secret key does not belong to its public key.',
    ],
    [
      `${CODE}${KEY_PAIRS}    address: ${BOB.public}\n`,
      'signed',
      'r.yaml, line 4: keyPairs[0].secret is wrong: the secret key does not belong to its public key.',
    ],
    [
      `${CODE}${KEY_PAIRS.replace(ALICE.secret, ALICE.secret.slice(1))}`,
      'signed',
      'r.yaml, line 4: keyPairs[0].secret is wrong: a secret key is 64 hex digits.',
    ],
    [
      `${CODE}keyPairs:\n  - public: ${ALICE.public}\n`,
      'signed',
      'r.yaml, line 3: keyPairs[0].secret must be there: the secret key.',
    ],
    [`${CODE}code: "2"\n`, 'signed', 'r.yaml, line 2: this key is there twice.'],
    ['a: "b\n', 'signed', 'r.yaml, line 2: this is not YAML: check the indentation, the colons and the quotes.'],
    [`${CODE}---\n${CODE}`, 'signed', 'r.yaml, line 2: a second document begins here, but only one can be read.'],
    ['', 'signed', 'r.yaml, line 1: the file must be a map of keys and values.'],
    ['- 1\n', 'signed', 'r.yaml, line 1: the file must be a map of keys and values.'],
    [`${CODE}nonce: !!int 5\n`, 'signed', 'r.yaml, line 2: nonce has a tag, which is not read here: leave it out.'],
    [
      `${CODE}data: {<<: 1}\n`,
      'signed',
      'r.yaml, line 2: data.<< is a merge key, which is not read here: write its values out.',
    ],
    [`${CODE}data: "\\ud800"\n`, 'signed', 'r.yaml, line 2: data has half of a surrogate pair, so it is not Unicode.'],
    [
      `${CODE}data: ${'['.repeat(102)}${']'.repeat(102)}\n`,
      'signed',
      expect.stringMatching(/^r\.yaml, line 2: data.* is nested more than 100 deep\.$/),
    ],
    [
      `${CODE}data: ${'{a: '.repeat(101)}1${'}'.repeat(101)}\n`,
      'signed',
      expect.stringMatching(/^r\.yaml, line 2: data.* is nested more than 100 deep\.$/),
    ],
    [`${CODE}data: &a [*a]\n`, 'signed', expect.stringMatching(/^r\.yaml, line 2: /)],
  ])('%j as %s', (text, kind, message) => {
    expect(() => parse(text, kind)).toThrow(RequestFileError);
    expect(() => parse(text, kind)).toThrow(expect.objectContaining({ message }));
  });

  test('also when the data file is no JSON, or the request is too long', () => {
    expect(() => parse(`${CODE}dataFile: bad.json\n`)).toThrow(
      /^r\.yaml, line 2: dataFile names a file that cannot be read: This is not JSON/,
    );
    expect(() => parse(`${CODE}#${'x'.repeat(2 ** 20)}`)).toThrow(RequestFileError);
  });

  test('also when aliases would make it long', () => {
    const levels = Array.from({ length: 9 }, (_, i) => `  - &a${i + 1} [${Array(10).fill(`*a${i}`).join(', ')}]\n`);
    expect(() => parse(`${CODE}data:\n  - &a0 [1]\n${levels.join('')}`)).toThrow(/has more than 100000 values/);
  });
});

/** Without these bounds, 48 kB take half a minute, and 250,000 brackets can end the process. */
describe('a short text that would take long is refused', () => {
  const data = (yaml: string) => `${CODE}data:\n${yaml}\n`;
  const many = (count: number, of: (i: number) => string, by = '') =>
    Array.from({ length: count }, (_, i) => of(i)).join(by);

  test.each([
    [
      'aliases',
      data(`  a: &a 1\n  b: [${many(101, () => '*a', ', ')}]`),
      'r.yaml, line 4: the file has more than 100 aliases.',
    ],
    [
      '16,000 aliases',
      data(`  a: &a 1\n  b: [${many(16_000, () => '*a', ', ')}]`),
      /more than (100 aliases|50000 parts)/,
    ],
    [
      'a map of many keys',
      data(many(12_000, (i) => `  k${i}: 1`, '\n')),
      /^r\.yaml, line \d+: the file has more than 50000 parts/,
    ],
    ['a flow map of many keys', data(`  {${many(16_000, (i) => `k${i}: 1`, ', ')}}`), /more than 50000 parts/],
    ['brackets', data('['.repeat(260_000)), 'r.yaml, line 3: the file is nested more than 250 deep.'],
    ['braces', data('{a: '.repeat(60_000)), /nested more than 250 deep/],
    ['hyphens', '- '.repeat(130_000), /nested more than 250 deep/],
    ['commas', `[${','.repeat(260_000)}`, /more than 50000 parts/],
    ['lines that are no YAML', '*a\n'.repeat(80_000), /this is not YAML/],
    [
      'documents',
      `${CODE}---\n`.repeat(18_000),
      'r.yaml, line 2: a second document begins here, but only one can be read.',
    ],
    ['quotes that are folded', data(`  "${'a\n\n  '.repeat(180_000)}"`), 'r.yaml is longer than 262144 characters.'],
    ['one character more than is read', `${CODE}#`.padEnd(262_145, 'a'), 'r.yaml is longer than 262144 characters.'],
  ])('%s', (_, text, says) => {
    expect(() => parse(text)).toThrow(RequestFileError);
    expect(() => parse(text)).toThrow(typeof says === 'string' ? expect.objectContaining({ message: says }) : says);
    expect(() => parseUnsignedForm(text, 'f.yaml')).toThrow(RequestFileError);
  });

  it('but one within these bounds is read', () => {
    const rows = many(2_000, (i) => `  k${i}: {amount: 1.${i}, to: "k:${i}"}`, '\n');
    const aliases = many(100, () => '*a', ', ');
    const { message } = parse(`${data(rows)}  a: &a {b: 1}\n  c: [${aliases}]\n`);
    expect(message).toMatchObject({ exec: { data: { k1999: { to: 'k:1999' } } } });
    expect(parse(`${CODE}#`.padEnd(262_144, 'a')).message).toMatchObject({ exec: {} });
  });

  it('but one of exactly as many parts as are read', () => {
    // The first line has seven parts, with the document's beginning, and each empty line is one more.
    const parts = (count: number) => CODE + '\n'.repeat(count - 7);
    expect(parse(parts(50_000)).message).toMatchObject({ exec: { code: '1' } });
    expect(() => parse(parts(50_001))).toThrow(/has more than 50000 parts/);
  });

  it('an alias stands for the last anchor of its name before it', () => {
    const { message } = parse(data('  - &a 1\n  - *a\n  - &a [2]\n  - *a'));
    expect('exec' in message && stringifyExactJson(message.exec.data)).toBe('[1,1,[2],[2]]');
    expect(() => parse(data('  - *a\n  - &a 1'))).toThrow(/^r\.yaml, line 3: /);
  });

  test.each(['a: 1, b: 2, a: 3', '"a": 1, a: 2', 'k: {a: 1, "\\x61": 2}'])('a key that is there twice: {%s}', (map) => {
    expect(() => parse(data(`  {${map}}`))).toThrow('r.yaml, line 3: this key is there twice.');
  });
});

describe('a request means what it means to the tool', () => {
  /** kadena-io/pact:tests/chainweb-example.yaml has a time to live of 0. Other tests check what nodes accept. */
  it.each([0, 172_801])('with a time to live of %i', (ttl) => {
    expect(parse(`${CODE}publicMeta: {ttl: ${ttl}}\n`).meta).toMatchObject({ ttl });
  });

  it('with hexadecimal and octal numbers, if these are not too long to be numbers of the ledger', () => {
    const data = (text: string) => {
      const { message } = parse(`${CODE}data: ${text}\n`);
      return stringifyExactJson('exec' in message ? message.exec.data : null);
    };
    expect([data('0xff'), data('0o17'), data(`0x${'f'.repeat(40)}`)]).toEqual(['255', '15', `${2n ** 160n - 1n}`]);
    const long = `0x${'f'.repeat(900)}`;
    expect(data(long)).toBe(`"${long}"`);
  });

  it('with texts that look like numbers, and truth in all spellings', () => {
    const { nonce, meta, networkId } = parse(
      `${CODE}nonce: 0012\nnetworkId: 1e5\npublicMeta: {chainId: 0, gasLimit: "600", gasPrice: "0.00000001"}\n`,
    );
    expect([nonce, networkId]).toEqual(['0012', '1e5']);
    expect(meta).toEqual({ chainId: '0', sender: '', gasLimit: 600, gasPrice: 10_000n, ttl: 1800 });
    const { message } = parse(CONT.replace('False', 'ON').replace('pactTxHash', 'flowTxHash'));
    expect(message).toMatchObject({ cont: { rollback: true } });
  });

  it('with null for all that is left open, as in the tool’s templates', () => {
    const { message, networkId, ...rest } = parse(
      'code: 1\ncodeFile:\ndata: ~\nnetworkId: null\nnonce:\nkeyPairs:\npublicMeta:\ntype: exec\n',
    );
    expect(message).toEqual({ exec: { code: '1', data: null } });
    expect(networkId).toBeNull();
    expect(rest).toEqual({ kind: 'signed', signers: [], keyPairs: [] });
  });

  it('with numbers of the data to their last digit', () => {
    const text =
      'data: {a: 12345678901234567890.50, b: 0x10, c: +5, d: 007, e: 5., f: yes, g: "5", h: !!str 5, i: *x}\n';
    const { message } = parse(`${CODE}networkId: &x dev\n${text}`);
    const { data } = 'exec' in message ? message.exec : { data: null };
    expect(JSON.parse(JSON.stringify(data))).toEqual({
      a: { text: '12345678901234567890.50' },
      b: { text: '16' },
      c: { text: '5' },
      d: { text: '7' },
      e: { text: '5' },
      f: true,
      g: '5',
      h: '5',
      i: 'dev',
    });
  });

  it('with files beside it', () => {
    const { message } = parse('codeFile: code.pact\ndataFile: data.json\n');
    expect(message).toMatchObject({ exec: { code: '(+ 1 1)\n', data: { a: { text: '1.50' } } } });
  });

  it('with a key that is only known by its secret', () => {
    const { signers, keyPairs } = parse(
      `${CODE}keyPairs:\n  - address: ${ALICE.public}\n    secret: ${ALICE.secret}\n    scheme: ED25519\n`,
    );
    expect(signers).toEqual([{ pubKey: ALICE.public, clist: [] }]);
    expect(keyPairs.map(({ publicKey }) => publicKey)).toEqual([ALICE.public]);
  });

  it('with a key of digits only', () => {
    const digits = '12345678'.repeat(8);
    const { signers } = parse(`${CODE}signers: [{public: ${digits}}]\ndata: [${digits}]\n`, 'unsigned');
    expect(signers[0].pubKey).toBe(digits);
  });
});

describe('no error tells a secret key', () => {
  const text = `${CODE}data: {a: 1}\n${KEY_PAIRS}publicMeta:\n  ttl: 5\n`;
  const secretParts = Array.from({ length: ALICE.secret.length - 7 }, (_, i) => ALICE.secret.slice(i, i + 8));
  const messageOf = (run: () => unknown): string => {
    try {
      run();
      return '';
    } catch (error) {
      if (!(error instanceof RequestFileError)) throw error;
      return error.message;
    }
  };

  const told = (damaged: string, kind: RequestKind) => {
    const message = messageOf(() => parse(damaged, kind));
    return secretParts.filter((part) => message.includes(part));
  };

  it.each([8, 24, 32, 40, 56])('where it is cut in two behind %i digits', (at) => {
    const [first, second] = [ALICE.secret.slice(0, at), ALICE.secret.slice(at)];
    for (const cut of [`${first}\n    ${second}: 1`, `${first}\n    scheme: ED25519${second}`, first, second]) {
      expect(told(text.replace(ALICE.secret, cut), 'signed')).toEqual([]);
    }
    for (const part of [first, second]) expect(told(text.replace('ttl: 5', `ttl: ${part}`), 'signed')).toEqual([]);
  });

  it('however the request is damaged', () => {
    const edits = fc.array(
      fc.tuple(
        fc.nat(text.length),
        fc.nat(3),
        fc.constantFrom('', ' ', '\n', ':', '-', '"', ',', '&', '*', '!', '{', '\t'),
      ),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(edits, fc.constantFrom<RequestKind>('signed', 'unsigned'), (changes, kind) => {
        const damaged = changes.reduce((all, [at, length, by]) => all.slice(0, at) + by + all.slice(at + length), text);
        expect(told(damaged, kind)).toEqual([]);
      }),
      { numRuns: cases(500) },
    );
  });

  test.each([
    'type',
    'pactTxHash',
    'nonce',
    'step',
    'rollback',
    'proof',
    'codeFile',
    'dataFile',
    'publicMeta',
    'signers',
    'unknown',
  ])('in the place of %s', (key) => {
    const message = [
      messageOf(() => parse(`${CODE}${key}: ${ALICE.secret}\n`)),
      messageOf(() => parse(`${CONT}${key}: ${ALICE.secret}\n`)),
    ].join();
    expect(secretParts.filter((part) => message.includes(part))).toEqual([]);
  });

  test('as a key, or in the place of the public key', () => {
    const message = [
      messageOf(() => parse(`${CODE}${ALICE.secret}: 1\n`)),
      messageOf(() => parse(`${CODE}keyPairs:\n  - public: ${ALICE.secret}\n    secret: ${ALICE.public}\n`)),
      messageOf(() => parseUnsignedForm(`hash: ${ALICE.secret}\nsigs: {}\n`, 'f')),
      messageOf(() => parseKeyFile(`${ALICE.secret}\n`, 'f')),
      messageOf(() => parseKeyFile(`public: ${ALICE.secret}\nsecret: ${ALICE.public}\n`, 'f')),
    ];
    expect(message.every((each) => each !== '')).toBe(true);
    expect(secretParts.filter((part) => message.join().includes(part))).toEqual([]);
  });
});

describe('a key file', () => {
  test.each([
    [`public: ${ALICE.public}\n`, 'k.yaml, line 1: secret must be there: the secret key.'],
    [`secret: ${ALICE.secret}\n`, 'k.yaml, line 1: public must be there: the public key.'],
    [
      `public: ${BOB.public}\nsecret: ${ALICE.secret}\n`,
      'k.yaml, line 2: secret is wrong: the secret key does not belong to its public key.',
    ],
    [`{"secretKey": "${ALICE.secret}"}`, 'k.yaml, line 1: publicKey must be there: the public key.'],
    [
      `publicKey: ${BOB.public}\nsecretKey: ${BOB.secret}\npublic: ${ALICE.public}\nsecret: ${ALICE.secret}\n`,
      'k.yaml, line 1: publicKey must not stand beside public or secret: leave one pair out.',
    ],
  ])('cannot be %j', (text, message) => {
    expect(() => parseKeyFile(text, 'k.yaml')).toThrow(expect.objectContaining({ message }));
  });
});

describe('an unsigned form', () => {
  const text = requestFile('sign-scripts.add-sigs.yaml');
  const form = parseUnsignedForm(text, 'f.yaml');
  const key = parseKeyFile(requestFile('sign-scripts.key.yaml'), 'key.yaml');
  const bob = parseKeyFile(`public: ${BOB.public}\nsecret: ${BOB.secret}\n`, 'bob.yaml');
  const signed = addSignatures({ file: 'f.yaml', form }, [key]);
  const other = parseUnsignedForm(requestFile('add-sig.unsigned.yaml'), 'other.yaml');

  test.each<[string, string, RegExp]>([
    ['another text', text.replace('Alice', 'Alicf'), /^f\.yaml: hash is not that of cmd/],
    ['another hash', text.replace('hash: i', 'hash: j'), /^f\.yaml: hash is not that of cmd/],
    ['a hash that is none', text.replace('hash: i', 'hash: '), /^f\.yaml, line 1: hash must be a hash/],
    ['a key of nobody', text.replace(ALICE.public, BOB.public), new RegExp(`^f\\.yaml: ${BOB.public} is not a signer`)],
    [
      'a key that is none',
      text.replace(`  ${ALICE.public}`, '  abc'),
      /^f\.yaml, line 3: sigs\.abc must be a public key/,
    ],
    [
      'a signature that is none',
      text.replace(': null', ': abc'),
      /^f\.yaml, line 3: sigs\.… must be null or a signature/,
    ],
    [
      'another signature',
      text.replace(': null', `: ${'0'.repeat(128)}`),
      /^f\.yaml: the signature of 7d0c.* does not sign/,
    ],
    ['no signatures', text.replace(/sigs:\n.*\n/, ''), /^f\.yaml, line 1: sigs must be a map/],
    ['anything else', `${text}x: 1\n`, /^f\.yaml, line 5: x is not a key that is known here/],
    [
      'a request',
      'code: (+ 1 1)\npublicMeta: {}\n',
      /^f\.yaml is a request, not yet a command: pickaxe tx build makes a command of it\.$/,
    ],
    ['a request in JSON', '{"pactTxHash": "x"}', /^f\.yaml is a request, /],
    ['a key of requests', `${text}code: 1\n`, /^f\.yaml, line 5: code is not a key that is known here/],
    ['no hash', text.replace(/^hash: .*\n/, ''), /^f\.yaml, line 1: hash must be a text/],
    ['one text alone', '5\n', /^f\.yaml, line 1: the file must be a map/],
    [
      'a text that is no command',
      'hash: DldRwCblQ7Loqy6wYJnaodHl30d3j3eH-qtFzfEv46g\nsigs: {}\ncmd: "{"\n',
      /^f\.yaml: hash is not that of cmd/,
    ],
  ])('cannot have %s', (_, damaged, message) => {
    expect(() => parseUnsignedForm(damaged, 'f.yaml')).toThrow(RequestFileError);
    expect(() => parseUnsignedForm(damaged, 'f.yaml')).toThrow(message);
  });

  it('with a signature tells whether the text or the hash was changed', () => {
    const whole = formatUnsignedForm(signed);
    expect(() => parseUnsignedForm(whole.replace('Alice', 'Alicf'), 'f.yaml')).toThrow(/^f\.yaml: cmd was changed/);
    expect(() => parseUnsignedForm(whole.replace('hash: i', 'hash: j'), 'f.yaml')).toThrow(
      /^f\.yaml: hash was changed/,
    );
    const signature = signed.sigs.get(ALICE.public)!;
    const other = `${signature[0] === '0' ? '1' : '0'}${signature.slice(1)}`;
    expect(() => parseUnsignedForm(whole.replace(signature, other), 'f.yaml')).toThrow(
      /^f\.yaml: the signature of 7d0c/,
    );
  });

  it('of which a byte was changed says the same, or is refused', () => {
    const whole = Buffer.from(formatUnsignedForm(signed));
    const step = Math.round(whole.length / cases(whole.length));
    let kept = 0;
    for (let at = Math.floor(Math.random() * step); at < whole.length; at += step) {
      const damaged = Buffer.from(whole);
      damaged[at] ^= 1;
      try {
        expect(parseUnsignedForm(damaged.toString('latin1'), 'f.yaml')).toEqual(signed);
        kept++;
      } catch (error) {
        expect(error).toBeInstanceOf(RequestFileError);
      }
    }
    // Only changes of spaces may leave the file valid.
    expect(kept).toBeLessThan(10);
  });

  it('is signed by its signers only', () => {
    expect(() => addSignatures({ file: 'f.yaml', form }, [bob])).toThrow(
      `f.yaml: ${BOB.public} is not a key that is to sign this command.`,
    );
    expect(() => signHash('x', [key])).toThrow();
  });

  it('is put together with its own copies only', () => {
    const named = (file: string, each: UnsignedForm) => ({ file, form: each });
    expect(() => combineForms([])).toThrow('There are no files to combine.');
    expect(() => combineForms([named('a', form), named('b', other)])).toThrow(/^b: this form has another hash than a/);
    expect(() => combineForms([named('a', { ...signed, cmd: null })])).toThrow(/None of the files has cmd/);
    const stranger = {
      ...signed,
      cmd: null,
      sigs: new Map([[BOB.public, bob.sign(Buffer.from(form.hash, 'base64url'))]]),
    };
    expect(() => combineForms([named('a', form), named('b', stranger)])).toThrow(/^b: 87a4.* is not a signer/);
  });

  it('with a wrong signature is never completed', () => {
    const sigs = new Map([[ALICE.public, '0'.repeat(128)]]);
    expect(() => completed({ ...form, sigs }, 'f.yaml')).toThrow(/^f\.yaml: The signature of 7d0c/);
    expect(completed(form, 'f.yaml')).toBeUndefined();
  });
});
