/** The contract tool's outputs for its own files, byte for byte. */

import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { verifyCommand } from '#pickaxe/protocol/ledger/command/command.js';
import { parsePayload } from '#pickaxe/protocol/ledger/command/command-payload.js';
import {
  parseRequest,
  type RequestKind,
  signedCommand,
  unsignedForm,
} from '#pickaxe/protocol/ledger/request-file/request-file.js';
import {
  addSignatures,
  combineForms,
  completed,
  formatCommand,
  formatForm,
  formatUnsignedForm,
  parseKeyFile,
  parseUnsignedForm,
  putSignatures,
  signHash,
} from '#pickaxe/protocol/ledger/request-file/unsigned-form.js';
import { ALICE, BOB, CAROL, pairs, requestFile } from '../command-vectors.ts';

const utc = (text: string) => Date.parse(`${text}Z`);
const load = (path: string): string => {
  throw new Error(`there is no ${path}`);
};
const request = (text: string, kind: RequestKind) => parseRequest(text, { file: 'request.yaml', kind, load });
const form = (file: string) => parseUnsignedForm(requestFile(file), file);
const key = (file: string) => parseKeyFile(requestFile(file), file);
const keyOf = ({ public: publicKey, secret }: typeof ALICE) =>
  parseKeyFile(`public: ${publicKey}\nsecret: ${secret}\n`, 'key.yaml');

describe('a request with keys', () => {
  const text = requestFile('docs.my-api-request.yaml');

  it('becomes the JSON for /send', () => {
    const command = signedCommand(request(text, 'signed'), utc('2024-09-06 20:04:12.679') + 0.143);
    expect(formatCommand(command, 'send')).toBe(requestFile('docs.my-api-request.send.json'));
  });

  it('becomes the JSON for /local', () => {
    const command = signedCommand(request(text, 'signed'), utc('2024-09-06 20:24:45.822') + 0.71);
    expect(formatCommand(command, 'local')).toBe(requestFile('docs.my-api-request.local.json'));
  });

  /** kadena-io/pact:tests/cont-scripts/setup-06-escrow.yaml. The other files there contain its request key. */
  it('has the request key that the tool’s other files name', () => {
    const caps = '    caps:\n      - name: accounts.USER_GUARD\n        args: ["Alice"]\n';
    const keys = `keyPairs:\n  - public: ${ALICE.public}\n    secret: ${ALICE.secret}\n${caps}`;
    const escrow = `code: |-\n  (test.run-escrow "Alice" "Bob")\n${keys}nonce: setup-step06\n`;
    expect(signedCommand(request(escrow, 'signed'), 0).hash).toBe('L2N2SgjdQAHNEu6WY82VAa4LyxmqfrAuaR6sB41DUMQ');
  });
});

describe('a request with signers', () => {
  it('becomes an unsigned form', () => {
    const unsigned = unsignedForm(
      request(requestFile('add-sig.test.yaml'), 'unsigned'),
      utc('2022-03-29 20:17:21.296') + 0.857,
    );
    // The tool prints another newline at the end.
    const creation = requestFile('add-sig.unsigned.yaml').match(/"creationTime":(\d+)/)![1];
    expect(Math.floor(utc('2022-03-29 20:17:21') / 1000)).toBe(Number(creation));
    expect(`${formatUnsignedForm(unsigned)}\n`).toBe(requestFile('add-sig.unsigned.yaml'));
  });

  it('becomes an unsigned form with several capabilities and data', () => {
    // The price in the documentation differs from that of the form.
    const text = requestFile('docs.cold-wallet.request.yaml').replace('0.0000000001', '0.00001');
    const unsigned = unsignedForm(request(text, 'unsigned'), utc('2020-01-29 16:46:22.916') + 0.695);
    expect(formatUnsignedForm(unsigned)).toBe(requestFile('docs.cold-wallet.unsigned.yaml'));
    expect(formatUnsignedForm({ ...unsigned, cmd: null })).toBe(requestFile('docs.cold-wallet.condensed.yaml'));
  });

  it('becomes an unsigned form without metadata', () => {
    const unsigned = unsignedForm(request(requestFile('sign-scripts.unsigned-exec.yaml'), 'unsigned'), 0);
    expect(formatUnsignedForm(unsigned)).toBe(requestFile('sign-scripts.add-sigs.yaml'));
  });

  it('of a continuation has its nonce quoted once more', () => {
    const { cmd, sigs } = unsignedForm(request(requestFile('sign-scripts.unsigned-cont.yaml'), 'unsigned'), 0);
    const { payload, nonce } = parsePayload(cmd!);
    expect(nonce).toBe('"just-sign-cont"');
    const pactId = 'TNgO7o8nSZILVCfJPcg5IjHADy-XKvQ7o5RfAieJvwY';
    expect(payload).toEqual({ cont: { pactId, step: 1, rollback: false, data: null, proof: null } });
    expect(cmd).toContain(
      `"payload":{"cont":{"proof":null,"data":null,"pactId":"${pactId}","rollback":false,"step":1}}`,
    );
    expect([...sigs]).toEqual([['ac69d9856821f11b8e6ca5cdd84a98ec3086493fd6407e74ea9038407ec9eba9', null]]);
  });
});

describe('every request of the tool’s files', () => {
  test.each(pairs)('$files', ({ request: { meta, signers, ...rest }, cmd, hash }) => {
    // JSON is YAML, too.
    const text = JSON.stringify({ ...rest, ...(meta && { publicMeta: meta }), signers });
    const unsigned = unsignedForm(request(text, 'unsigned'), 0);
    expect(unsigned.cmd).toBe(cmd);
    expect(unsigned.hash).toBe(hash);
    expect([...unsigned.sigs.keys()]).toEqual(signers.map((signer) => signer.public));
    expect(parseUnsignedForm(formatUnsignedForm(unsigned), 'form.yaml')).toEqual({
      ...unsigned,
      sigs: new Map([...unsigned.sigs].sort()),
    });
  });
});

describe('signing', () => {
  it('of a form with one signer ends with the JSON', () => {
    const named = { file: 'add-sigs.yaml', form: form('sign-scripts.add-sigs.yaml') };
    const signed = addSignatures(named, [key('sign-scripts.key.yaml')]);
    expect(formatForm(signed, 'send', named.file)).toBe(requestFile('sign-scripts.addSigsExpected.yaml'));
    expect(formatForm(signed, 'local', named.file)).toBe(
      `${formatForm(signed, 'send', named.file).slice('{"cmds":['.length, -']}\n'.length)}\n`,
    );
  });

  it('of a bare hash, and putting it together with the full form', () => {
    const [, hash, signature] = /hash: (\S+)\nsigs:\n {2}(.*)\n/.exec(requestFile('sign-scripts.bare-sig.yaml'))!;
    expect(signHash(`${hash}\n`, [keyOf(ALICE)])).toBe(`${signature}\n`);
    const forms = ['sign-scripts.add-sigs.yaml', 'sign-scripts.bare-sig.yaml'].map((file) => ({
      file,
      form: form(file),
    }));
    const expected = requestFile('sign-scripts.combineSigsExpected.yaml');
    expect(formatForm(combineForms(forms), 'send', 'form')).toBe(expected);
    expect(formatForm(combineForms(forms.toReversed()), 'send', 'form')).toBe(expected);
  });

  it('uses the key of a request for the tool, too', () => {
    const [, list] = /^keyPairs:\n(.*)hash:/ms.exec(requestFile('sign-scripts.sign-req.yaml'))!;
    const { keyPairs } = request(`code: "1"\nkeyPairs:\n${list}`, 'signed');
    expect(keyPairs.map(({ publicKey }) => publicKey)).toEqual([ALICE.public]);
  });

  it('of a form with two signers is YAML until both have signed, in any order', () => {
    const named = { file: 'unsigned.yaml', form: form('add-sig.unsigned.yaml') };
    const keys = [key('add-sig.key1.yaml'), key('add-sig.key2.yaml')];
    const [first, second] = keys.map((pair) => addSignatures(named, [pair]));
    expect(formatForm(first, 'send', 'form')).toMatch(
      new RegExp(`^hash: .*\nsigs:\n {2}${CAROL.public}: null\n {2}${BOB.public}: [0-9a-f]{128}\ncmd: '`),
    );
    const both = addSignatures(named, keys);
    const json = formatForm(both, 'send', 'form');
    expect(formatForm(addSignatures({ ...named, form: second }, [keys[0]]), 'send', 'form')).toBe(json);
    const halves = [first, second].map((half, i) => ({ file: `${i}.yaml`, form: half }));
    expect(formatForm(combineForms(halves), 'send', 'form')).toBe(json);
    expect(formatForm(combineForms(halves.toReversed()), 'send', 'form')).toBe(json);
    // A file without a key or signature removes nothing that the form or another file has.
    for (const files of [halves, halves.toReversed()]) {
      const added = files.map(({ file, form: { sigs } }) => ({ file, sigs }));
      expect(formatForm(putSignatures(named, added), 'send', 'form')).toBe(json);
      expect(formatForm(putSignatures({ ...named, form: both }, added), 'send', 'form')).toBe(json);
      expect(putSignatures(named, [added[0]]).sigs).toEqual(added[0].sigs);
    }
    for (const signature of [null, both.sigs.get(BOB.public)!]) {
      const ofOthers = { file: 'alice.yaml', sigs: new Map([[ALICE.public, signature]]) };
      expect(() => putSignatures(named, [ofOthers])).toThrow(
        `alice.yaml: ${ALICE.public} is not a key that is to sign this command.`,
      );
    }
    const { cmds } = JSON.parse(json);
    expect(verifyCommand(cmds[0])).toEqual({ kind: 'valid' });
    // The signatures are in the order of the signers, not of the form.
    expect(parsePayload(cmds[0].cmd).signers.map(({ pubKey }) => pubKey)).toEqual([BOB.public, CAROL.public]);
    expect(cmds[0].sigs.map(({ sig }: { sig: string }) => sig)).toEqual(
      [BOB.public, CAROL.public].map((each) => both.sigs.get(each)),
    );
  });

  it('of a condensed form stays condensed', () => {
    const named = { file: 'unsigned2.yaml', form: form('add-sig.unsigned2.yaml') };
    const signed = addSignatures(named, [keyOf(BOB), keyOf(CAROL)]);
    expect(formatForm(signed, 'send', named.file)).toMatch(
      /^hash: [\w-]{43}\nsigs:\n( {2}[0-9a-f]{64}: [0-9a-f]{128}\n){2}$/,
    );
    expect(completed(signed, named.file)).toBeUndefined();
    const whole = combineForms([
      { file: 'a', form: signed },
      { file: 'b', form: form('add-sig.unsigned.yaml') },
    ]);
    expect(completed(whole, 'form')).toBeDefined();
  });

  it('by any signers, in any parts and any order, comes to the same command', () => {
    const people = [ALICE, BOB, CAROL].map(keyOf);
    const shares = fc.array(fc.record({ who: fc.subarray(people), isCondensed: fc.boolean() }), { maxLength: 4 });
    fc.assert(
      fc.property(fc.shuffledSubarray(people, { minLength: 3 }), shares, (signers, parts) => {
        const list = signers.map(({ publicKey }) => `  - public: ${publicKey}\n`).join('');
        const whole = unsignedForm(request(`code: "(+ 1 1)"\nnonce: one\nsigners:\n${list}`, 'unsigned'), 0);
        const text = (each: typeof whole) => formatUnsignedForm(each);
        const copies = [{ who: [], isCondensed: false }, ...parts].map(({ who, isCondensed }, i) => {
          const copy = parseUnsignedForm(text(isCondensed ? { ...whole, cmd: null } : whole), `${i}`);
          return {
            file: `${i}`,
            form: parseUnsignedForm(text(addSignatures({ file: `${i}`, form: copy }, who)), `${i}`),
          };
        });
        const all = addSignatures({ file: 'all', form: whole }, people);
        const combined = combineForms(copies);
        const have = new Set(parts.flatMap(({ who }) => who));
        if (have.size < people.length) expect(formatForm(combined, 'send', 'form')).toBe(text(combined));
        else expect(formatForm(combined, 'send', 'form')).toBe(formatForm(all, 'send', 'form'));
      }),
      { numRuns: 30 },
    );
  });
});
