import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  type Command,
  commandJson,
  isSignature,
  KeyPair,
  parseCommand,
  requestKeyOfCmd,
  sendJson,
  verifyCommand,
} from '#pickaxe/protocol/ledger/command/command.js';
import { parsePayload, publicMetaOf } from '#pickaxe/protocol/ledger/command/command-payload.js';
import { decodeBase64url, LedgerFormatError, parseExactJson } from '#pickaxe/protocol/ledger/json.js';
import { ALICE, BOB, commands } from '../command-vectors.ts';

const exact = (value: unknown) => parseExactJson(JSON.stringify(value));
const signed = commands.filter(
  ({ hashMatches, signaturesOk }) => hashMatches && signaturesOk.length > 0 && signaturesOk.every(Boolean),
);
const JANUARY_2021 = BigInt(Date.UTC(2021, 0)) * 1000n;
const JANUARY_2023 = BigInt(Date.UTC(2023, 0)) * 1000n;

/** A command with two signers, signed by both. */
function twoSigners(): Command {
  const pairs = [ALICE, BOB].map((key) => new KeyPair(key.secret));
  const signers = pairs.map(({ publicKey }) => ({ pubKey: publicKey }));
  const payload = { exec: { code: '(+ 1 1)', data: null } };
  const cmd = JSON.stringify({ networkId: null, payload, signers, meta: {}, nonce: 'n' });
  const hash = requestKeyOfCmd(cmd);
  return { cmd, hash, sigs: pairs.map((pair) => ({ sig: pair.sign(decodeBase64url(hash)) })) };
}

/** Changes one bit of one byte. */
function flipped(text: string, at: number, bit: number): string {
  const bytes = Buffer.from(text);
  bytes[at % bytes.length] ^= 1 << bit;
  return bytes.toString('latin1');
}

describe('commands of the live network', () => {
  test.each(commands)('$source: $command.hash', ({ command, hashMatches, signaturesOk }) => {
    const { cmd, hash, sigs } = parseCommand(exact(command));
    expect(requestKeyOfCmd(cmd) === hash).toBe(hashMatches);
    const { signers } = parsePayload(cmd);
    const oks = sigs.map((sig, i) => sig && isSignature(sig.sig, decodeBase64url(hash, 32), signers[i].pubKey));
    expect(oks).toEqual(signaturesOk);
    const verdict = verifyCommand({ cmd, hash, sigs });
    if (hashMatches) expect(verdict.kind).toBe(signaturesOk.includes(null) ? 'wrong' : 'valid');
    else {
      expect(verdict).toMatchObject({ kind: 'wrong', part: signaturesOk.length > 0 ? 'cmd' : 'cmd or hash' });
      expect(verifyCommand({ cmd, hash, sigs }, JANUARY_2021).kind).toBe('not checkable');
      expect(verifyCommand({ cmd, hash, sigs }, JANUARY_2023).kind).toBe('wrong');
    }
  });

  it('are as many as are known, with as many signatures', () => {
    expect(commands).toHaveLength(47);
    expect(commands.filter(({ hashMatches }) => hashMatches)).toHaveLength(35);
    expect(commands.flatMap(({ signaturesOk }) => signaturesOk).filter(Boolean)).toHaveLength(38);
  });
});

describe('a command with a changed byte is wrong, and the part is named', () => {
  const bytes = fc.tuple(fc.constantFrom(...signed), fc.nat(), fc.nat(7));

  test('in cmd', () => {
    fc.assert(
      fc.property(bytes, ([{ command }, at, bit]) => {
        const verdict = verifyCommand({ ...command, cmd: flipped(command.cmd, at, bit) });
        expect(verdict.kind).toBe('wrong');
        // With a changed public key, the signature proves nothing.
        expect(verdict).toHaveProperty('part', expect.stringMatching(/^cmd( or hash)?$/));
      }),
    );
  });

  test('in hash', () => {
    fc.assert(
      fc.property(bytes, ([{ command }, at, bit]) => {
        expect(verifyCommand({ ...command, hash: flipped(command.hash, at, bit) })).toMatchObject({
          kind: 'wrong',
          part: 'hash',
        });
      }),
    );
  });

  test('in a signature', () => {
    fc.assert(
      fc.property(bytes, ([{ command }, at, bit]) => {
        const sigs = command.sigs.map((sig) => sig && { sig: flipped(sig.sig, at, bit) });
        expect(verifyCommand({ ...command, sigs })).toMatchObject({ kind: 'wrong', part: 'signatures' });
      }),
    );
  });
});

describe('the signatures of a command', () => {
  it('belong to the signers in their order', () => {
    const command = twoSigners();
    expect(verifyCommand(command)).toEqual({ kind: 'valid' });
    expect(verifyCommand({ ...command, sigs: command.sigs.toReversed() })).toMatchObject({ part: 'signatures' });
  });

  it.each(['', 'A'.repeat(42), `${'A'.repeat(42)}=`])('have no meaning for the hash %j', (hash) => {
    expect(verifyCommand({ ...twoSigners(), hash })).toEqual({
      kind: 'wrong',
      part: 'hash',
      message: 'hash is not 43 characters of base64url.',
    });
  });

  it('must be as many as the signers', () => {
    const command = twoSigners();
    expect(verifyCommand({ ...command, sigs: command.sigs.slice(1) })).toEqual({
      kind: 'wrong',
      part: 'signatures',
      message: 'There are 1 signatures for 2 signers.',
    });
    expect(verifyCommand({ ...command, sigs: [...command.sigs, command.sigs[1]] })).toEqual({
      kind: 'wrong',
      part: 'signatures',
      message: 'There are 3 signatures for 2 signers.',
    });
    expect(verifyCommand({ ...command, sigs: [command.sigs[0], null] })).toEqual({
      kind: 'wrong',
      part: 'signatures',
      message: `The signature of ${BOB.public} is missing.`,
    });
  });

  it('of another scheme are not checked, and that is said', () => {
    const cmd = twoSigners().cmd.replace(`"pubKey":"${BOB.public}"`, '"scheme":"WebAuthn","pubKey":"WEBAUTHN-00"');
    const hash = requestKeyOfCmd(cmd);
    const sigs = [{ sig: new KeyPair(ALICE.secret).sign(decodeBase64url(hash)) }, { sig: '{}' }];
    expect(verifyCommand({ cmd, hash, sigs })).toMatchObject({
      kind: 'not checkable',
      message: expect.stringContaining('WebAuthn'),
    });
    expect(verifyCommand({ cmd, hash, sigs: [{ sig: '00' }, { sig: '{}' }] })).toMatchObject({ part: 'signatures' });
  });

  it('may be of a public key with digits in upper case, as nodes take it', () => {
    const cmd = twoSigners().cmd.replace(BOB.public, BOB.public.toUpperCase());
    const hash = requestKeyOfCmd(cmd);
    const sigs = [ALICE, BOB].map(({ secret }) => ({ sig: new KeyPair(secret).sign(decodeBase64url(hash)) }));
    expect(verifyCommand({ cmd, hash, sigs })).toEqual({ kind: 'valid' });
  });

  it('are worth nothing where a signer’s address is not its public key', () => {
    const signed = (addr: string) => {
      const cmd = twoSigners().cmd.replace('"pubKey"', `"addr":"${addr}","pubKey"`);
      const hash = requestKeyOfCmd(cmd);
      const sigs = [ALICE, BOB].map(({ secret }) => ({ sig: new KeyPair(secret).sign(decodeBase64url(hash)) }));
      return verifyCommand({ cmd, hash, sigs });
    };
    expect(signed(ALICE.public)).toEqual({ kind: 'valid' });
    expect(signed(BOB.public)).toEqual({
      kind: 'wrong',
      part: 'cmd',
      message: `The address of ${ALICE.public} is not this key, so nodes refuse the command.`,
    });
  });

  it('of an old block must belong to the hash', () => {
    const command = twoSigners();
    const other = { ...command, cmd: `${command.cmd} `, sigs: command.sigs.toReversed() };
    expect(verifyCommand(other, JANUARY_2021)).toMatchObject({ kind: 'wrong', part: 'signatures' });
  });
});

describe('the text of a command', () => {
  test.each([
    ['{', /^cmd|JSON/],
    ['[]', /cmd/],
    ['{"payload":{"exec":{"code":"1"}},"signers":[],"meta":{}}', /nonce/],
    ['{"payload":{},"signers":[],"meta":{},"nonce":""}', /either an exec or a cont/],
    ['{"payload":{"exec":{"code":"1"},"cont":{}},"signers":[],"meta":{},"nonce":""}', /payload/],
    ['{"payload":{"exec":{"code":1}},"signers":[],"meta":{},"nonce":""}', /payload\.exec\.code/],
    ['{"payload":{"exec":{"code":"1"}},"signers":[{}],"meta":{},"nonce":""}', /signers\.0\.pubKey/],
    ['{"payload":{"exec":{"code":"1"}},"signers":[5],"meta":{},"nonce":""}', /signers\.0/],
    ['{"payload":{"exec":{"code":"1"}},"signers":[],"meta":5,"nonce":""}', /meta/],
    ['{"payload":{"cont":{"pactId":"","step":-1,"rollback":true}},"signers":[],"meta":{},"nonce":""}', /step/],
  ])('cannot be %s', (cmd, message) => {
    expect(() => parsePayload(cmd)).toThrow(LedgerFormatError);
    expect(() => parsePayload(cmd)).toThrow(message);
  });

  it('tells public metadata with an exact price', () => {
    const { command } = commands.find(({ command }) => command.cmd.includes('"gasPrice":5.42e-10'))!;
    const { meta } = parsePayload(command.cmd);
    expect(publicMetaOf(meta)).toMatchObject({
      chainId: '0',
      gasLimit: 600,
      gasPrice: 542n,
      ttl: 28800,
      creationTime: 1626400724,
    });
    expect(() => publicMetaOf(exact({}) as never)).toThrow(LedgerFormatError);
    expect(() => publicMetaOf({ ...meta, gasPrice: exact(1e-13) })).toThrow(/gasPrice.*12 decimal places/);
  });

  /** Wallets and scripts write metadata like this, and nodes accept it. */
  it('has numbers of metadata in texts, and times with a fraction', () => {
    const meta = { chainId: '1', sender: 's', gasLimit: '100000', gasPrice: '0.00000001', ttl: '600' };
    const read = (more: object) => publicMetaOf(exact({ ...meta, ...more }) as never);
    expect(read({ creationTime: 1688045415.29 })).toEqual({
      chainId: '1',
      sender: 's',
      gasLimit: 100_000,
      gasPrice: 10_000n,
      ttl: 600,
      creationTime: 1688045415,
    });
    // Nodes round halves to the even neighbour.
    expect(read({ creationTime: 2.5 }).creationTime).toBe(2);
    expect(read({ creationTime: 1e9, gasLimit: 1500.0 })).toMatchObject({ creationTime: 1e9, gasLimit: 1500 });
    for (const wrong of ['', 'x', true, null, {}, [1], '0x10']) {
      expect(() => read({ creationTime: 1, ttl: wrong })).toThrow(/^cmd\.meta\.ttl/);
    }
    expect(() => read({ creationTime: '9007199254740993' })).toThrow(/creationTime.*beyond 2\^53/);
  });

  it('has a null where the other kind of message would be', () => {
    const cont = { proof: 'p', pactId: 'i', rollback: false, step: 1, data: {} };
    const text = (payload: object) => JSON.stringify({ payload, signers: [], meta: {}, nonce: '' });
    expect(parsePayload(text({ exec: null, cont })).payload).toMatchObject({ cont: { pactId: 'i', step: 1 } });
    expect(parsePayload(text({ exec: { code: '1' }, cont: null })).payload).toMatchObject({ exec: { code: '1' } });
    expect(() => parsePayload(text({ exec: null, cont: null }))).toThrow(/either an exec or a cont/);
  });

  it('with half of a surrogate pair is wrong, as its hash would be that of another text', () => {
    const command = twoSigners();
    const cmd = command.cmd.replace('"n"', '"\ud800"');
    expect(verifyCommand({ ...command, cmd, hash: requestKeyOfCmd(cmd) })).toMatchObject({ part: 'cmd' });
  });
});

describe('the JSON of a command', () => {
  test.each([
    [[]],
    [{}],
    [{ cmd: '', hash: '' }],
    [{ cmd: 1, hash: '', sigs: [] }],
    [{ cmd: '', hash: '', sigs: [1] }],
  ])('cannot be %j', (value) => {
    expect(() => parseCommand(exact(value))).toThrow(LedgerFormatError);
  });

  it('is read as it was written, also with what other tools add', () => {
    const command = twoSigners();
    expect(parseCommand(parseExactJson(commandJson(command)))).toEqual(command);
    const sigs = [
      { ...command.sigs[0], scheme: 'ED25519', pubKey: ALICE.public, addr: ALICE.public },
      { pubKey: BOB.public },
    ];
    expect(parseCommand(exact({ ...command, sigs })).sigs).toEqual([command.sigs[0], null]);
    expect(JSON.parse(sendJson([command, command]))).toEqual({ cmds: [command, command] });
  });
});

describe('keys', () => {
  /** RFC 8032 §7.1, tests 1 to 3. */
  test.each([
    [
      '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      '',
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    ],
    [
      '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
      '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
      '72',
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    ],
    [
      'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
      'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
      'af82',
      '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
    ],
  ])('sign as RFC 8032 says: %s', (secret, publicKey, message, signature) => {
    const pair = new KeyPair(secret, publicKey);
    expect(pair.publicKey).toBe(publicKey);
    expect(pair.sign(Buffer.from(message, 'hex'))).toBe(signature);
    expect(isSignature(signature, Buffer.from(message, 'hex'), publicKey)).toBe(true);
  });

  test.each([
    [ALICE.secret, BOB.public],
    [ALICE.secret.slice(1), undefined],
    [`${ALICE.secret}00`, undefined],
    [`${ALICE.secret.slice(1)}x`, undefined],
    ['', undefined],
  ])('that are wrong are refused without telling them', (secret, publicKey) => {
    const make = () => new KeyPair(secret, publicKey);
    expect(make).toThrow(LedgerFormatError);
    expect(make).not.toThrow(new RegExp(ALICE.secret.slice(8, 16)));
    expect(make).not.toThrow(new RegExp(BOB.public.slice(8, 16)));
  });

  it('do not show their secret', async () => {
    const { inspect } = await import('node:util');
    const pair = new KeyPair(ALICE.secret);
    const shown = [inspect(pair, { showHidden: true, depth: 9 }), JSON.stringify(pair), String(pair)].join();
    expect(shown).toContain(ALICE.public);
    expect(shown).not.toContain(ALICE.secret.slice(0, 8));
  });

  test.each(['', '00', 'G'.repeat(128), '0'.repeat(128)])('belong to no signature %j', (signature) => {
    expect(isSignature(signature, new Uint8Array(32), ALICE.public)).toBe(false);
  });

  it('that are no points belong to no signature', () => {
    const signature = new KeyPair(ALICE.secret).sign(new Uint8Array(32));
    expect(isSignature(signature, new Uint8Array(32), 'ff'.repeat(32))).toBe(false);
    expect(isSignature(signature, new Uint8Array(32), 'xx'.repeat(32))).toBe(false);
  });
});
