/** The commands of `pickaxe tx` that need no node, on the contract tool's own files. */

import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, test } from 'vitest';
import { UsageError } from '#pickaxe/app/process/exit.js';
import { oneLine } from '#pickaxe/base/text/plain-text.js';
import { runTxBuild } from '#pickaxe/cli/coins/tx/build.js';
import { withWords } from '#pickaxe/cli/coins/tx/command-files.js';
import { ShownTransactions } from '#pickaxe/cli/coins/tx/explain.js';
import { runTxShow } from '#pickaxe/cli/coins/tx/show.js';
import { runTxAddSig, runTxCombine, runTxSign } from '#pickaxe/cli/coins/tx/sign.js';
import { makeKeyFile } from '#pickaxe/cli/setup/keygen.js';
import { requestKeyOfCmd } from '#pickaxe/protocol/ledger/command/command.js';
import { RequestFileError } from '#pickaxe/protocol/ledger/request-file/yaml.js';
import { Folder } from '../../../app/config/folder.ts';
import { ALICE, BOB, CAROL, requestFile } from '../../../protocol/ledger/command-vectors.ts';
import { type Pretended, pretendedIo } from '../../pretended-io.ts';

const folder = new Folder();
afterAll(() => folder.remove());

const copy = (name: string) => folder.write(name, requestFile(name));
const keyFile = (name: string, { public: key, secret }: typeof ALICE) =>
  folder.write(name, `public: ${key}\nsecret: ${secret}\n`);
const at = (text: string) => Date.parse(`${text}Z`);
/** Control characters, and those that change the direction of a line. */
const DANGEROUS = /[^\P{C}\n]/u;
const SIGNED = { unsigned: false, local: false };
const UNSIGNED = { unsigned: true, local: false };
const FOR_SEND = { local: false, yes: false };
const ASKS = { yes: false };

let io: Pretended;
beforeEach(() => {
  io = pretendedIo();
});

describe('build', () => {
  it('makes the JSON for /send, or for /local', () => {
    const file = copy('docs.my-api-request.yaml');
    const now = at('2024-09-06 20:04:12.679') + 0.143;
    io = pretendedIo({ now });
    expect(runTxBuild(file, SIGNED, io)).toBe(0);
    expect(io.stdout.trimEnd()).toBe(requestFile('docs.my-api-request.send.json').trimEnd());
    const other = pretendedIo({ now: at('2024-09-06 20:24:45.822') + 0.71 });
    runTxBuild(file, { unsigned: false, local: true }, other);
    expect(other.stderr).toMatch(/^warning: [0-9a-f]{64} signs for everything/m);
    expect(other.stdout.trimEnd()).toBe(requestFile('docs.my-api-request.local.json').trimEnd());
  });

  it('makes a form, and warns of what is wrong with it', () => {
    expect(runTxBuild(copy('sign-scripts.unsigned-exec.yaml'), UNSIGNED, io)).toBe(0);
    expect(io.stdout).toBe(requestFile('sign-scripts.add-sigs.yaml'));
    expect(io.stderr).toContain('warning: The command has no metadata (publicMeta)');
  });

  it.each([
    [0, 'The time to live is over, so nodes refuse the command'],
    [172_801, 'Nodes take a time to live (publicMeta.ttl) of at most 172800 seconds'],
  ])('warns of a time to live of %i', (ttl, warning) => {
    const meta = `publicMeta: {chainId: "0", sender: s, gasLimit: 1, gasPrice: 1, ttl: ${ttl}}`;
    const request = folder.write('ttl.yaml', `code: "1"\n${meta}\nsigners: []\n`);
    expect(runTxBuild(request, UNSIGNED, io)).toBe(0);
    expect(io.stderr).toContain(warning);
  });

  it('reads the code from a file beside the request', () => {
    folder.write('sub/code.pact', '(+ 1 2)\n');
    const request = folder.write('sub/request.yaml', `codeFile: code.pact\nsigners:\n  - public: ${ALICE.public}\n`);
    runTxBuild(request, UNSIGNED, io);
    expect(io.stdout).toContain('"code":"(+ 1 2)\\n"');
  });

  describe('of a request from a stranger', () => {
    const secretKey = 'c0ff'.repeat(16);
    const key = folder.write('alice.json', JSON.stringify({ publicKey: ALICE.public, secretKey }));
    const pem = folder.write('key.pem', '-----BEGIN PRIVATE KEY-----\nMC4CAQ\n');
    const token = folder.write('token.json', '{"token":"ghp_SECRET"}');
    const notes = folder.write('project/.env', 'SECRET=1\n');
    folder.write('project/own.txt', '(+ 1 2)');
    symlinkSync(key, join(folder.path, 'project/link'));
    symlinkSync('own.txt', join(folder.path, 'project/own-link'));
    const request = (line: string) => {
      const file = folder.write('project/request.yaml', `${line}\nsigners: []\n`);
      chmodSync(file, 0o644);
      return file;
    };
    const build = (line: string, allowFile: string[] = []) =>
      withWords(() => runTxBuild(request(line), { ...UNSIGNED, allowFile }, io));

    it.each([
      ['codeFile: ../alice.json', 'outside of the request'],
      ['dataFile: ../alice.json\ncode: "1"', 'outside of the request'],
      [`codeFile: ${token}`, 'outside of the request'],
      ['codeFile: link', 'outside of the request'],
      ['codeFile: /etc/passwd', 'outside of the request'],
      ['codeFile: /proc/self/environ', 'outside of the request'],
      ['codeFile: .env', 'it is a hidden file'],
      ['codeFile: ../gone', 'outside of the request'],
      ['codeFile: gone', 'there is no such file.'],
      ['codeFile: .', 'it is a directory.'],
    ])('%s is refused, with what to do', async (line, why) => {
      const fault = await build(line).catch((error) => error);
      expect(fault).toBeInstanceOf(UsageError);
      expect(fault.message).toContain(`line 1: ${line.split(':')[0]} names a file that cannot be read: `);
      expect(fault.message).toContain(why);
      expect(fault.message).not.toMatch(/\.\.$/);
      if (why.startsWith('outside')) expect(fault.message).toMatch(/allow it: --allow-file \/\S+\.$/);
      expect(io.stdout + io.stderr).toBe('');
    });

    it.each([
      ['a key file', 'keys.json', JSON.stringify({ publicKey: ALICE.public, secretKey }), 0o644],
      ['a key file of the contract tool', 'keys.yaml', `public: ${ALICE.public}\nsecret: ${ALICE.secret}\n`, 0o644],
      ['a key in PEM', 'key.pem', '-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blb\n', 0o644],
      ['a request with keys', 'quick.yaml', `keyPairs:\n  - secret: ${secretKey}\n`, 0o644],
    ])('%s is refused beside the request, too, even where it was allowed', async (_, name, text, mode) => {
      const file = folder.write(`project/${name}`, text);
      chmodSync(file, mode);
      for (const allowed of [[], [file]]) {
        await expect(build(`codeFile: ${name}`, allowed)).rejects.toThrow('it has a secret key in it');
      }
      await expect(build('codeFile: ../key.pem', [pem])).rejects.toThrow('it has a secret key in it');
      expect(io.stdout + io.stderr).toBe('');
    });

    it.skipIf(process.platform === 'win32')('a file that only its owner may read is refused', async () => {
      folder.write('project/mine.txt', 'hvs.SECRET');
      await expect(build('codeFile: mine.txt')).rejects.toThrow('only you may read it, so it may be a secret. If ');
      expect(io.stdout + io.stderr).toBe('');
    });

    it('a file beside it is read, and so is what the user allows; each is named', async () => {
      chmodSync(join(folder.path, 'project/own.txt'), 0o644);
      expect(await build('codeFile: own-link')).toBe(0);
      expect(io.stderr).toMatch(/^read codeFile own-link \(7 bytes\)\n/);
      expect(io.stdout).toContain('"code":"(+ 1 2)"');
      expect(await build('code: "1"\ndataFile: ../token.json', [token])).toBe(0);
      expect(io.stderr).toContain('read dataFile ../token.json (22 bytes)\n');
      expect(await build('codeFile: .env', [notes])).toBe(0);
      await expect(build('codeFile: own.txt', [join(folder.path, 'gone')])).rejects.toThrow('there is no such file');
    });
  });

  it('refuses a request with secrets that others may read, without telling them', () => {
    const file = copy('docs.my-api-request.yaml');
    chmodSync(file, 0o644);
    const secret = /secret: (\w+)/.exec(requestFile('docs.my-api-request.yaml'))![1];
    const build = () => runTxBuild(file, SIGNED, io);
    expect(build).toThrow(UsageError);
    expect(build).toThrow(/has secret keys and cannot be used: other users .* \(chmod go-rwx /);
    expect(build).not.toThrow(secret);
    expect(io.stdout).toBe('');
  });

  test.each([
    ['gone.yaml', 'gone.yaml cannot be read: there is no such file'],
    ['', 'it is a directory'],
  ])('says why it cannot read %j', (name, message) => {
    expect(() => runTxBuild(join(folder.path, name), SIGNED, io)).toThrow(message);
  });
});

describe('sign', () => {
  const [, hash, signature] = /hash: (\S+)\nsigs:\n {2}(.*)\n/.exec(requestFile('sign-scripts.bare-sig.yaml'))!;
  const alice = keyFile('alice.yaml', ALICE);

  it('signs a bare hash, given itself, in a file or on standard input', async () => {
    for (const what of [hash, folder.write('hash.txt', `${hash}\n`), '-']) {
      io = pretendedIo({ stdin: `${hash}\n` });
      expect(await runTxSign(what, [alice], ASKS, io)).toBe(0);
      expect(io.stdout).toBe(`${signature}\n`);
      expect(io.stderr).toContain('A hash alone does not show what the command does');
    }
  });

  it('prints the signatures of a form, condensed or whole, and shows what a whole one does', async () => {
    const keys = [keyFile('bob.yaml', BOB), keyFile('carol.yaml', CAROL)];
    await runTxSign(copy('add-sig.unsigned.yaml'), keys, ASKS, io);
    expect(io.stderr).toMatch(/^runs +\(.*\n/m);
    const condensed = pretendedIo();
    await runTxSign(copy('add-sig.unsigned2.yaml'), keys, ASKS, condensed);
    expect(condensed.stderr).toContain('is condensed, so it does not show what the command does');
    expect(condensed.stdout).toBe(io.stdout);
    expect(io.stdout).toMatch(/^([0-9a-f]{64}: [0-9a-f]{128}\n){2}$/);
  });

  describe('a person at a terminal', () => {
    const keys = [keyFile('bob.yaml', BOB)];
    const form = copy('add-sig.unsigned.yaml');
    const condensed = copy('add-sig.unsigned2.yaml');
    const ways: [string, string, (yes: boolean) => Promise<number>][] = [
      ['a form', 'Sign this?', (yes) => runTxSign(form, keys, { yes }, io)],
      ['a condensed form', 'Sign it without seeing it?', (yes) => runTxSign(condensed, keys, { yes }, io)],
      ['a hash', 'Sign it without seeing it?', (yes) => runTxSign(hash, keys, { yes }, io)],
      ['add-sig', 'Sign this?', (yes) => runTxAddSig(form, keys, { local: false, yes }, io)],
    ];

    it.each(ways)('is asked before %s is signed', async (_, question, sign) => {
      io.answer = false;
      expect(await sign(false)).toBe(1);
      expect([io.stdout, io.questions]).toEqual(['', [question]]);
      expect(io.stderr).toMatch(/(\ncmd {8}\{"|does not show what)[^\n]*\nNothing was signed\.\n$/);
      io.answer = true;
      expect(await sign(false)).toBe(0);
      expect(io.stdout).toMatch(/[0-9a-f]{128}/);
    });

    it.each(ways)('is not asked with --yes: %s', async (_, __, sign) => {
      io.answer = false;
      expect(await sign(true)).toBe(0);
      expect(io.questions).toEqual([]);
      expect(io.stdout).toMatch(/[0-9a-f]{128}/);
    });

    it('is not asked about signatures that others have made', async () => {
      await runTxSign(form, keys, ASKS, io);
      const sigs = folder.write('sigs.yaml', io.stdout);
      const added = pretendedIo();
      added.answer = false;
      expect(await runTxAddSig(form, [sigs], FOR_SEND, added)).toBe(0);
      expect(added.questions).toEqual([]);
    });
  });

  describe('what pickaxe does not know', () => {
    const plain = {
      networkId: 'mainnet01',
      payload: { exec: { code: '(good)', data: null } },
      signers: [{ pubKey: ALICE.public, scheme: 'ED25519', clist: [{ name: 'coin.GAS', args: [] }] }],
      meta: { chainId: '0', sender: 'a', gasLimit: 1, gasPrice: 1, ttl: 60, creationTime: 0 },
      nonce: '',
      verifiers: [],
    };
    const formOf = (cmd: string) => {
      const form = { hash: requestKeyOfCmd(cmd), sigs: { [ALICE.public]: null }, cmd };
      return folder.write('form.json', JSON.stringify(form));
    };
    const strange: [string, object, string][] = [
      ['verifiers', { verifiers: [{ name: 'EVIL', prog: '(evil)' }] }, '[{"name":"EVIL","prog":"(evil)"}]'],
      ['Payload', { Payload: { exec: { code: '(evil)' } } }, '{"exec":{"code":"(evil)"}}'],
      ['payload.exec.Code', { payload: { exec: { code: '(good)', data: null, Code: '(evil)' } } }, '"(evil)"'],
      ['signers.0.weight', { signers: [{ ...plain.signers[0], weight: 12 }] }, '12'],
      ['meta.payer', { meta: { ...plain.meta, payer: '\u202eme' } }, '"\u202eme"'],
      ['scheme', { scheme: 'ETH' }, '"ETH"'],
      ['__proto__', JSON.parse('{"__proto__": {"a": 1}}'), '{"a":1}'],
      ['long', { long: 'x'.repeat(999) }, `"${'x'.repeat(199)}… (1001 characters)`],
    ];

    it.each(strange)('of %s is named, and not signed unless that is wanted', async (path, more, value) => {
      const cmd =
        path === '__proto__'
          ? `${JSON.stringify(plain).slice(0, -1)},"__proto__":{"a":1}}`
          : JSON.stringify({ ...plain, ...more });
      const file = formOf(cmd);
      const warning = `warning    ${oneLine(`The command has ${path}, which pickaxe does not know, and which is signed, too: ${value}`)}`;
      const key = [alice];
      await expect(withWords(() => runTxSign(file, key, ASKS, io))).rejects.toThrow(
        `${file} has ${path}, which pickaxe does not know, so nothing was signed. To sign it all the same, add --yes.`,
      );
      await expect(withWords(() => runTxAddSig(file, key, FOR_SEND, io))).rejects.toThrow('add --yes');
      expect(io.stdout).toBe('');
      expect(io.stderr.split('\n')).toContain(warning);
      expect(await runTxSign(file, key, { yes: true }, io)).toBe(0);

      const asked = pretendedIo();
      asked.answer = true;
      expect(await runTxSign(file, key, ASKS, asked)).toBe(0);
      expect(asked.stderr.split('\n')).toContain(warning);
      const shown = pretendedIo();
      await runTxShow(file, { json: false }, shown);
      expect(shown.stdout.split('\n')).toContain(warning);
    });

    it('is named of signers, too: other schemes and addresses', async () => {
      const signer = (more: object) => ({ signers: [{ ...plain.signers[0], ...more }] });
      const warningsFor = async (more: object) => {
        await runTxShow(formOf(JSON.stringify({ ...plain, ...more })), { json: true }, io);
        const { transactions } = ShownTransactions.parse(JSON.parse(io.stdout));
        io.stdout = '';
        return transactions[0].warnings;
      };
      const over = 'The time to live is over, so nodes refuse the command: build it again.';
      io = pretendedIo({ now: 60_000 });
      expect(await warningsFor({})).toEqual([over]);
      expect(await warningsFor(signer({ scheme: 'ETH' }))).toEqual([
        `${ALICE.public} signs with the scheme ETH, which pickaxe does not check.`,
        over,
      ]);
      expect(await warningsFor(signer({ addr: BOB.public }))).toEqual([
        expect.stringContaining(`has the address ${BOB.public}, which is not this key`),
        over,
      ]);
      expect(await warningsFor({ networkId: ':testnet04' })).toEqual([
        'No network has a name like :testnet04 (networkId), so nodes refuse the command. Did you mean testnet04?',
        over,
      ]);
      expect(await warningsFor({ networkId: 'mainet01' })).toEqual([
        'The network mainet01 (networkId) is not known. Did you mean mainnet01?',
        over,
      ]);
      expect(await warningsFor({ networkId: 'my-own-network' })).toEqual([over]);
    });

    it('a key that comes twice is refused', async () => {
      const cmd = JSON.stringify(plain).replace('"nonce"', '"payload":{"exec":{"code":"(evil)","data":null}},"nonce"');
      await expect(withWords(() => runTxSign(formOf(cmd), [alice], { yes: true }, io))).rejects.toThrow(
        'the key "payload" comes twice',
      );
    });
  });

  it('takes the files of pickaxe keygen', async () => {
    const file = join(folder.path, 'own-key.json');
    const publicKey = makeKeyFile(file);
    await runTxSign(hash, [file], ASKS, io);
    expect(io.stdout).toMatch(new RegExp(`^'?${publicKey}'?: [0-9a-f]{128}\n$`));
  });

  it('does not repeat a secret key that was given in the place of a file', async () => {
    const digits = 'c0ffee00'.repeat(8);
    for (const sign of [
      () => runTxSign(hash, [digits], ASKS, io),
      () => runTxSign(digits, [alice], ASKS, io),
      () => runTxAddSig(copy('add-sig.unsigned.yaml'), [digits.toUpperCase()], FOR_SEND, io),
      async () => runTxBuild(digits, SIGNED, io),
      async () => runTxBuild(copy('add-sig.unsigned.yaml'), { ...SIGNED, allowFile: [digits] }, io),
    ]) {
      const fault = await sign().catch((error) => error);
      expect(fault).toBeInstanceOf(UsageError);
      expect(fault.message).toMatch(/…(?: cannot be read)?: there is no such file/);
      expect(fault.message + io.stderr).not.toMatch(/c0ffee00/i);
    }
  });

  it('refuses key files that others may read, and keys of strangers', async () => {
    const open = keyFile('open.yaml', ALICE);
    chmodSync(open, 0o644);
    const refusal = await runTxSign(hash, [open], ASKS, io).catch((fault) => fault);
    expect(refusal).toBeInstanceOf(UsageError);
    expect(refusal.message).toContain('chmod go-rwx');
    expect(refusal.message).not.toContain(ALICE.secret);
    await expect(runTxSign(copy('add-sig.unsigned.yaml'), [alice], ASKS, io)).rejects.toThrow(
      `${ALICE.public} is not a key that is to sign this command`,
    );
    expect(io.stdout).toBe('');
  });
});

describe('add-sig and combine', () => {
  const bob = keyFile('bob.yaml', BOB);
  const carol = keyFile('carol.yaml', CAROL);
  const add = async (form: string, files: string[]) => {
    const run = pretendedIo();
    expect(await runTxAddSig(form, files, FOR_SEND, run)).toBe(0);
    return run;
  };

  it('one signer’s key makes the JSON of the contract tool', async () => {
    const { stdout } = await add(copy('sign-scripts.add-sigs.yaml'), [copy('sign-scripts.key.yaml')]);
    expect(stdout.trimEnd()).toBe(requestFile('sign-scripts.addSigsExpected.yaml').trimEnd());
  });

  it('signatures that were made elsewhere, and keys, come to the same command in any order', async () => {
    const form = copy('add-sig.unsigned.yaml');
    await runTxSign(form, [bob], ASKS, io);
    const sigs = folder.write('bob.sig.yaml', io.stdout);
    const first = await add(form, [sigs]);
    expect(first.stderr).toBe(`These keys have not signed yet: ${CAROL.public}\n`);
    const half = folder.write('half.yaml', first.stdout);
    const whole = await add(half, [carol]);
    expect((await add(form, [carol, sigs])).stdout).toBe(whole.stdout);
    expect((await add(form, [bob, carol])).stdout).toBe(whole.stdout);
    const [a, b] = await Promise.all([add(form, [bob]), add(copy('add-sig.unsigned2.yaml'), [carol])]);
    const combined = pretendedIo();
    const copies = [folder.write('b.yaml', b.stdout), folder.write('a.yaml', a.stdout)];
    await runTxCombine(copies, FOR_SEND, combined);
    expect(combined.stdout).toBe(whole.stdout);
    expect(JSON.parse(combined.stdout).cmds).toHaveLength(1);
  });

  it('a condensed form stays one, and says what to do with it', async () => {
    const { stdout, stderr } = await add(copy('add-sig.unsigned2.yaml'), [bob, carol]);
    expect(stdout).not.toContain('cmd:');
    expect(stderr).toContain('pickaxe tx combine');
  });

  it('a signature of another command, or of a stranger, is refused with its file', async () => {
    await runTxSign('A'.repeat(43), [bob], ASKS, io);
    const other = folder.write('other.yaml', io.stdout);
    const form = copy('add-sig.unsigned.yaml');
    await expect(runTxAddSig(form, [other], FOR_SEND, io)).rejects.toThrow(
      `${other}: the signature of ${BOB.public} does not sign the hash.`,
    );
    const stranger = folder.write('stranger.yaml', io.stdout.replace(BOB.public, ALICE.public));
    await expect(runTxAddSig(form, [stranger], FOR_SEND, io)).rejects.toThrow(RequestFileError);
  });
});

describe('show', () => {
  const show = async (text: string, now = 0) => {
    const file = folder.write('shown', text);
    const [plain, json] = [pretendedIo({ now }), pretendedIo({ now })];
    const code = await runTxShow(file, { json: false }, plain);
    expect(await runTxShow(file, { json: true }, json)).toBe(code);
    const { transactions } = ShownTransactions.parse(JSON.parse(json.stdout));
    return { code, text: plain.stdout, transactions };
  };

  it('explains a form with what is missing, its amounts, gas and time', async () => {
    const { code, text, transactions } = await show(
      requestFile('docs.cold-wallet.unsigned.yaml'),
      at('2020-01-29 16:46:32'),
    );
    expect(code).toBe(0);
    expect(transactions).toHaveLength(1);
    expect(transactions[0]).toMatchObject({
      verdict: 'signatures-missing',
      reason: null,
      content: { continues: null },
    });
    expect(text).toMatchInlineSnapshot(`
      "command    KY6RFunty4WazQiCsKsYD-ovu-_XQByfY6scTxi9gQQ
      state      2 signatures are missing; all else is right
      network    mainnet01, chain 0
      runs       (coin.transfer-create "alice" "bob" (read-keyset "ks") 100.1)
                 (coin.transfer "bob" "alice" 0.1)
      data       {"ks":{"pred":"keys-all","keys":["368820f80c324bbc7c2b0610688a7da43e39f91d118732671cd9c7500ff43cca"]}}
      gas        at most 0.012, paid by alice (1200 units at 0.00001)
      valid      from 2020-01-29 16:46:22 UTC to 2020-01-29 18:46:22 UTC (1 h 59 min left)
      signer     6be2f485a7af75fedb4b7f153a903f7e6000ca4aa501179c91a2450b777bd2a7 has NOT signed
                   pays at most 100.1 from alice to bob (coin.TRANSFER)
                   pays for gas (coin.GAS)
      signer     368820f80c324bbc7c2b0610688a7da43e39f91d118732671cd9c7500ff43cca has NOT signed
                   pays at most 0.1 from bob to alice (coin.TRANSFER)
      "
    `);
  });

  it('explains the contract tool’s own command, of a test server', async () => {
    const { code, transactions } = await show(requestFile('docs.my-api-request.send.json'), at('2024-09-06 20:04:30'));
    expect(code).toBe(0);
    expect(transactions[0]).toMatchObject({
      verdict: 'valid',
      signers: [{ isSigned: true, signsForEverything: true }],
    });
    expect(transactions[0].warnings).toContainEqual(expect.stringContaining('signs for everything'));
  });

  it('says which part is wrong, and exits with 1', async () => {
    const right = requestFile('docs.my-api-request.send.json');
    const { code, text, transactions } = await show(right.replace('"cmd":"', '"cmd":" '));
    expect([code, transactions[0].verdict]).toEqual([1, 'wrong']);
    expect(text).toContain('WRONG: cmd was changed');
    const unsigned = await show(right.replace(/"sig":"[0-9a-f]+"/, '"sig":""'));
    expect(unsigned.transactions[0].verdict).toBe('signatures-missing');
    const form = requestFile('add-sig.unsigned.yaml').replace('networkId', 'networkID');
    expect(await show(form)).toMatchObject({ code: 1, transactions: [{ verdict: 'wrong' }] });
  });

  it('shows of a condensed form who is to sign', async () => {
    const { text, transactions } = await show(requestFile('add-sig.unsigned2.yaml'));
    expect(transactions[0]).toMatchObject({
      content: null,
      signers: [{ isSigned: false, signsForEverything: null }, {}],
    });
    expect(text).toContain('2 signatures are missing');
  });

  it('keeps the commands of foreign texts away from the terminal', async () => {
    const request = `code: "(foo)\\u001b[31m"\nnonce: "\\u202eevil"\nsigners:\n  - public: ${ALICE.public}\n`;
    runTxBuild(folder.write('hostile.yaml', request), UNSIGNED, io);
    const { text } = await show(io.stdout);
    expect(text).toContain('(foo) [31m');
    expect(text).not.toMatch(DANGEROUS);
  });

  it('makes every text of a foreign command safe', async () => {
    const evil = '\u001b[2J\u202eevil\n';
    const cmd = JSON.stringify({
      networkId: evil,
      payload: { cont: { pactId: evil, step: 0, rollback: true, proof: evil, data: { [evil]: evil } } },
      signers: [{ pubKey: evil, scheme: evil, clist: [{ name: `${evil}.TRANSFER`, args: [evil, evil, 1] }] }],
      meta: { chainId: evil, sender: evil, gasLimit: 1, gasPrice: 1, ttl: 1, creationTime: 1 },
      nonce: evil,
    });
    for (const hash of [evil, requestKeyOfCmd(cmd)]) {
      const { text } = await show(JSON.stringify({ cmd, hash, sigs: [{ sig: evil }] }));
      expect(text).toContain('rolls back step 0');
      expect(text).not.toMatch(DANGEROUS);
    }
  });

  it('keeps them away in errors and hints, too', async () => {
    const evil = '\u001b[2J\u202eevil';
    const payload = { exec: { code: '1', data: null } };
    const cmd = JSON.stringify({ networkId: null, payload, signers: [{ pubKey: evil }], meta: {}, nonce: '' });
    const form = JSON.stringify({ hash: requestKeyOfCmd(cmd), sigs: {}, cmd });
    await runTxCombine([folder.write('evil.json', form)], FOR_SEND, io);
    expect(io.stderr).toContain('These keys have not signed yet: [2J evil');
    expect(io.stderr).not.toMatch(DANGEROUS);
    const fault = await withWords(() => {
      throw new RequestFileError(`evil.json: The signature of ${evil} is missing.`);
    }).catch((error) => error);
    expect(fault).toBeInstanceOf(UsageError);
    expect(fault.message).toBe('evil.json: The signature of [2J evil is missing.');
  });

  test.each([['{"cmds":[]}'], ['{"cmds":[{}]}'], ['{"a":1}'], ['nothing'], ['']])('refuses %j', async (text) => {
    await expect(runTxShow(folder.write('shown', text), { json: false }, io)).rejects.toThrow(RequestFileError);
  });
});
