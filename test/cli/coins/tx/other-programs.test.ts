/** Unsigned commands of wallets and of the network's client library, from the first signature to the batch to send. */

import { afterAll, expect, it } from 'vitest';
import { parseTransactions, readBatch } from '#pickaxe/cli/coins/tx/command-files.js';
import { ShownTransactions } from '#pickaxe/cli/coins/tx/explain.js';
import { runTxShow } from '#pickaxe/cli/coins/tx/show.js';
import { runTxAddSig } from '#pickaxe/cli/coins/tx/sign.js';
import { parseUnsignedForm } from '#pickaxe/protocol/ledger/request-file/unsigned-form.js';
import { Folder } from '../../../app/config/folder.ts';
import { BOB, CAROL, requestFile } from '../../../protocol/ledger/command-vectors.ts';
import { pretendedIo } from '../../pretended-io.ts';

const folder = new Folder();
afterAll(() => folder.remove());

const tool = parseUnsignedForm(requestFile('add-sig.unsigned.yaml'), 'form.yaml');
const { cmd, hash } = tool;
const keys = [...tool.sigs.keys()];
const keyFileOf = ({ public: key, secret }: typeof BOB) => folder.write(key, `public: ${key}\nsecret: ${secret}\n`);

async function addSig(json: string, by: typeof BOB) {
  const io = pretendedIo();
  const form = folder.write('form.json', json);
  expect(await runTxAddSig(form, [keyFileOf(by)], { local: false, yes: false }, io)).toBe(0);
  return io;
}

async function verdictOn(json: string) {
  const io = pretendedIo();
  await runTxShow(folder.write('shown.json', json), { json: true }, io);
  return ShownTransactions.parse(JSON.parse(io.stdout)).transactions[0].verdict;
}

it.each([
  ['a wallet', { cmd, sigs: keys.map((pubKey) => ({ pubKey, sig: null })) }],
  ['the client library', { cmd, hash, sigs: keys.map(() => null) }],
  ['the client library, with keys', { cmd, hash, sigs: keys.map((pubKey) => ({ pubKey })) }],
])('a form of %s is shown, signed by both, and read as a command', async (_, form) => {
  const unsigned = JSON.stringify(form);
  expect(await verdictOn(unsigned)).toBe('signatures-missing');
  const one = await addSig(unsigned, BOB);
  expect(one.stderr).toContain(`These keys have not signed yet: ${CAROL.public}`);
  expect(() => readBatch({ file: 'one.json', text: one.stdout }, { chain: 0, signed: true })).toThrow(
    /lacks signatures|is missing/,
  );
  const { stdout } = await addSig(one.stdout, CAROL);
  expect(await verdictOn(stdout)).toBe('valid');
  const { commands } = readBatch({ file: 'both.json', text: stdout }, { chain: 0, signed: true });
  expect(commands.map((command) => command.hash)).toEqual([hash]);
});

it('signatures that are wrong are refused in the words of each form', () => {
  const sig = 'ab'.repeat(64);
  const wrong = (form: object) => () =>
    readBatch({ file: 'form.json', text: JSON.stringify(form) }, { chain: 0, signed: true });
  expect(wrong({ cmd, sigs: keys.map((pubKey) => ({ pubKey, sig })) })).toThrow('does not sign the hash');
  expect(wrong({ cmd, hash, sigs: keys.map(() => ({ sig })) })).toThrow('form.json');
});

it('a form is told from a command by what nodes do not take', () => {
  const kindOf = (form: object) => parseTransactions({ file: '', text: JSON.stringify(form) })[0].kind;
  expect(kindOf({ cmd, hash, sigs: [null, null] })).toBe('command');
  expect(kindOf({ cmd, sigs: [null, null] })).toBe('form');
  expect(kindOf({ cmd, hash, sigs: [null, { pubKey: keys[1] }] })).toBe('form');
});
