/** A transfer to another chain on the mock node, by the commands that a person would run. */

import { afterAll, expect, test } from 'vitest';
import type { NodesInTurn } from '#pickaxe/app/nodes/nodes-in-turn.js';
import { runTxBuild } from '#pickaxe/cli/coins/tx/build.js';
import { proverOf } from '#pickaxe/cli/coins/tx/outcomes.js';
import { runTxLocal, runTxPoll, runTxSpv } from '#pickaxe/cli/coins/tx/poll.js';
import { runTxSend } from '#pickaxe/cli/coins/tx/send.js';
import { runTxAddSig } from '#pickaxe/cli/coins/tx/sign.js';
import { onNodes } from '#pickaxe/cli/ledger/on-nodes.js';
import { KnownWork } from '#pickaxe/node/blocks/known-work.js';
import { distance } from '#pickaxe/protocol/ledger/graphs.js';
import { Folder } from '../../../app/config/folder.ts';
import { ALICE, alice, BOB, banksOf, bob, coins } from '../../../mock-node/execution/bank.ts';
import { QUICK } from '../../../node/client/server.ts';
import { type Pretended, pretendedIo } from '../../pretended-io.ts';

const folder = new Folder();
afterAll(() => folder.remove());

const SECRET = 'a1'.repeat(32);
const [SOURCE, TARGET] = [0, 9];
const meta = (chain: number) =>
  `{chainId: "${chain}", sender: "${alice}", gasLimit: 1000, gasPrice: 0.000001, ttl: 600, creationTime: ${Math.floor(Date.now() / 1000) - 15}}`;
const signers = (...caps: string[]) =>
  `signers:\n  - public: ${ALICE.publicKey}\n    caps:\n${['{name: coin.GAS, args: []}', ...caps].map((cap) => `      - ${cap}\n`).join('')}`;
const LEAVE = `code: (coin.transfer-crosschain "${alice}" "${bob}" (read-keyset "guard") "${TARGET}" 91.0)
data: {guard: {keys: [${BOB.publicKey}], pred: keys-all}}
networkId: development
publicMeta: ${meta(SOURCE)}
${signers(`{name: coin.TRANSFER_XCHAIN, args: ["${alice}", "${bob}", 91.0, "${TARGET}"]}`)}`;

test('coins go to another chain', async () => {
  const { node, url, balance } = await banksOf('chainweb')();
  const settings = {
    node: { urls: [url], network: 'development', insecureTls: false },
    ledger: { dialect: 'auto' },
  } as const;
  const io = () => pretendedIo({ now: Date.now() });
  const signed = async (name: string, request: string) => {
    const built = io();
    runTxBuild(folder.write(`${name}.yaml`, request), { unsigned: true, local: false }, built);
    const key = folder.write('alice.yaml', `public: ${ALICE.publicKey}\nsecret: ${SECRET}\n`);
    const whole = io();
    await runTxAddSig(folder.write(`${name}.form.yaml`, built.stdout), [key], { local: false, yes: false }, whole);
    return folder.write(`${name}.json`, whole.stdout);
  };
  const asked = async (command: (nodes: NodesInTurn, io: Pretended) => Promise<number>) => {
    const its = io();
    const code = await onNodes(settings, its, (nodes) => command(nodes, its), QUICK);
    return { code, stdout: its.stdout, stderr: its.stderr };
  };
  const prove = proverOf(async () => new KnownWork(), false);
  const wait = { chain: null, timeoutMs: 0, pauseMs: 1, once: true, json: false, prove };
  const pollOnce = (file: string, confirmationDepth = 0) =>
    asked((nodes, io) => runTxPoll(file, { ...wait, confirmationDepth }, nodes, io));
  const send = (file: string) =>
    asked((nodes, io) => runTxSend(file, { chain: null, yes: true, json: false, prove }, nodes, io));

  const leave = await signed('leave', LEAVE);
  const local = { chain: null, preflight: true, signatureVerification: true, json: false };
  expect(await asked((nodes, io) => runTxLocal(leave, local, nodes, io))).toMatchObject({ code: 0 });
  expect((await send(leave)).stdout).toContain('none yet');
  expect((await pollOnce(leave)).code).toBe(4);
  node.ledger.advance(SOURCE);
  expect((await pollOnce(leave, 3)).code).toBe(4);
  const there = await pollOnce(leave);
  expect(there).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`--chain ${SOURCE} --target-chain ${TARGET}`),
  });
  expect((await send(leave)).stdout).toContain('success');

  const [, key] = /command +(\S+)/.exec(there.stdout)!;
  const ask = (nodes: NodesInTurn, io: Pretended) =>
    runTxSpv(key, { ...wait, chain: SOURCE, targetChain: TARGET }, nodes, io);
  expect((await asked(ask)).code).toBe(4);
  const height = node.ledger.chains.heightOf(SOURCE);
  node.ledger.advanceTo(TARGET, height + BigInt(distance(node.ledger.chains.graph, SOURCE, TARGET)));
  const { code, stdout: proof } = await asked(ask);
  expect(code).toBe(0);

  const ARRIVE = `type: cont\npactTxHash: ${key}\nstep: 1\nrollback: false\nproof: ${proof}networkId: development\npublicMeta: ${meta(TARGET)}\n${signers()}`;
  const arrive = await signed('arrive', ARRIVE);
  expect((await send(arrive)).code).toBe(0);
  node.ledger.advance(TARGET);
  expect((await pollOnce(arrive)).stdout).toContain('success');
  expect(await balance(TARGET, bob)).toBe(coins('91.0'));
});
