/**
 * Tests that the network's own package `@kadena/client`, unchanged, sends commands to the mock node, and that commands
 * made by it and by pickaxe are the same to both.
 */

import {
  createClient,
  createSignWithKeypair,
  createTransaction,
  type ICommand,
  type IUnsignedCommand,
  Pact,
} from '@kadena/client';
import { describe, expect, it } from 'vitest';
import {
  type Command,
  parseCommand,
  requestKeyOfCmd,
  verifyCommand,
} from '#pickaxe/protocol/ledger/command/command.js';
import { isAlreadyCompleted } from '#pickaxe/protocol/ledger/command/results.js';
import { decodeBase64url, parseExactJson } from '#pickaxe/protocol/ledger/json.js';
import { checkSpvProof, parseSpvProof } from '#pickaxe/protocol/ledger/spv-proof.js';
import {
  ALICE,
  alice,
  arrival,
  BOB,
  banksOf,
  bob,
  coins,
  commandOf,
  SECRET_OF_ALICE,
  toBob,
  toChain,
} from '../mock-node/execution/bank.ts';
import { PATIENCE } from '../patience.ts';

const startBank = banksOf('chainweb');

const NETWORK = 'development';
/** How long their client waits for a block. */
const WAIT = { ...PATIENCE, interval: 50 };
const KEYS_OF_ALICE = { publicKey: ALICE.publicKey, secretKey: SECRET_OF_ALICE };
const withKeyset = { keys: [BOB.publicKey], pred: 'keys-all' as const };

async function startNode() {
  const bank = await startBank();
  const host = new URL(bank.baseUrl).origin;
  const client = createClient(({ chainId }) => `${host}/chainweb/0.0/${NETWORK}/chain/${chainId}/pact`);
  return { ...bank, client, chains: bank.node.ledger.chains };
}

const terms = (chain: number, gasLimit = 1_000) => ({
  chainId: String(chain) as '0',
  senderAccount: alice,
  gasLimit,
  gasPrice: 1e-6,
  ttl: 600,
  creationTime: Math.floor(Date.now() / 1000) - 15,
});

/** Signs what their client has built with our key. */
function signed(unsigned: IUnsignedCommand): ICommand {
  const sig = ALICE.sign(decodeBase64url(unsigned.hash, 32));
  return { ...unsigned, sigs: [{ sig }] } as ICommand;
}

function transferOf(amount: string): IUnsignedCommand {
  return Pact.builder
    .execution(`(coin.transfer "${alice}" "${bob}" ${amount})`)
    .addSigner(ALICE.publicKey, (signFor) => [
      signFor('coin.GAS'),
      signFor('coin.TRANSFER', alice, bob, { decimal: amount }),
    ])
    .setMeta(terms(0))
    .setNetworkId(NETWORK)
    .createTransaction();
}

const asOurs = (command: ICommand): Command => parseCommand(parseExactJson(JSON.stringify(command)));

describe('a command of the package @kadena/client', () => {
  it('has the hash that pickaxe computes, and a signature that pickaxe accepts', () => {
    const unsigned = transferOf('2.5');
    expect(requestKeyOfCmd(unsigned.cmd)).toBe(unsigned.hash);
    expect(verifyCommand(asOurs(signed(unsigned)))).toEqual({ kind: 'valid' });
    const wrong = { ...signed(unsigned), cmd: unsigned.cmd.replace('2.5', '9.5') };
    expect(verifyCommand(asOurs(wrong as ICommand))).toMatchObject({ kind: 'wrong', part: 'cmd' });
  });

  it('that their package signs has the signature that pickaxe makes', async () => {
    const unsigned = transferOf('2.5');
    const theirs = await createSignWithKeypair(KEYS_OF_ALICE)(unsigned);
    expect(theirs).toMatchObject(signed(unsigned));
    expect(verifyCommand(asOurs(theirs as ICommand))).toEqual({ kind: 'valid' });
  });

  it('is refused in words when it is forged, and when it is on the chain already', async () => {
    const { client, node } = await startNode();
    const command = signed(transferOf('2.5'));
    const forged = { ...command, sigs: [{ sig: '00'.repeat(64) }] };
    await expect(client.submit(forged)).rejects.toThrow(/Invalid transaction sigs/);
    await expect(client.signatureVerification(forged)).rejects.toThrow(
      /Metadata validation failed: \["The signature at position 0 is invalid/,
    );
    expect((await client.dirtyRead(forged)).result.status).toBe('success');
    await client.submitOne(command);
    node.ledger.advance(0);
    await expect(client.submitOne(command)).rejects.toThrow(/Transaction already exists on chain/);
  });

  it('that fails is told with its reason', async () => {
    const { client, node } = await startNode();
    const sent = await client.submit(signed(transferOf('999.0')));
    node.ledger.advance(0);
    const { result } = await client.pollOne(sent, WAIT);
    expect(result).toMatchObject({ status: 'failure', error: { message: 'Insufficient funds' } });
  });

  it('has a status once it is in a block, and one at a depth later', async () => {
    const { client, node } = await startNode();
    const commands = ['0.5', '0.25'].map((amount) => signed(transferOf(amount)));
    const sent = await client.submit(commands);
    expect(sent.map(({ requestKey }) => requestKey)).toEqual(commands.map(({ hash }) => hash));
    expect(await client.getStatus(sent)).toEqual({});
    const deep = client.pollStatus(sent[0], { ...WAIT, confirmationDepth: 2 });
    node.ledger.advance(0);
    expect(Object.keys(await client.getStatus(sent)).sort()).toEqual(commands.map(({ hash }) => hash).sort());
    node.ledger.advance(0);
    node.ledger.advance(0);
    expect(await deep).toMatchObject({ [commands[0].hash]: { result: { status: 'success' } } });
  });

  it('reads a balance without a signature', async () => {
    const { client } = await startNode();
    const query = (account: string) =>
      client.dirtyRead(
        Pact.builder
          .execution(`(coin.get-balance "${account}")`)
          .setMeta({ chainId: '0' })
          .setNetworkId(NETWORK)
          .createTransaction(),
      );
    expect((await query(alice)).result).toMatchObject({ status: 'success', data: 100 });
    expect((await query('k:nobody')).result).toMatchObject({ status: 'failure' });
  });

  it('is run, sent, and followed until its block', async () => {
    const { client, node, balance } = await startNode();
    const command = signed(transferOf('2.5'));
    const tried = await client.local(command, { preflight: true });
    expect(tried.result).toMatchObject({ status: 'success' });
    const sent = await client.submit(command);
    expect(sent.requestKey).toBe(command.hash);
    node.ledger.advance(0);
    const result = await client.listen(sent);
    expect([result.reqKey, result.result.status]).toEqual([command.hash, 'success']);
    expect(await client.pollStatus(sent, WAIT)).toMatchObject({ [command.hash]: { reqKey: command.hash } });
    expect(await balance(0, bob)).toBe(coins('3.5'));
  });

  it('brings coins to another chain with a proof that pickaxe accepts', async () => {
    const { client, node, chains, balance } = await startNode();
    const unsigned = Pact.builder
      .execution(`(coin.transfer-crosschain "${alice}" "${bob}" (read-keyset "receiver-guard") "2" 4.0)`)
      .addData('receiver-guard', withKeyset)
      .addSigner(ALICE.publicKey, (signFor) => [
        signFor('coin.GAS'),
        signFor('coin.TRANSFER_XCHAIN', alice, bob, { decimal: '4.0' }, '2'),
      ])
      .setMeta(terms(0))
      .setNetworkId(NETWORK)
      .createTransaction();
    const sent = await client.submit(signed(unsigned));
    node.ledger.advance(0);
    expect(await client.listen(sent)).toMatchObject({ result: { status: 'success' } });
    await expect(client.createSpv(sent, '2')).rejects.toThrow(/SPV target not reachable/);
    node.ledger.advanceTo(2, chains.heightOf(0) + 1n);
    // Their client hands on the answer with its quotation marks, and takes these away where it uses it.
    const proof = await client.pollCreateSpv(sent, '2', WAIT);
    expect(() => checkSpvProof(parseSpvProof(JSON.parse(proof)), { chain: 2, hash: chains.tip(2).hash })).not.toThrow();
    const arrival = Pact.builder
      .continuation({ pactId: sent.requestKey, rollback: false, step: 1, proof })
      .addSigner(ALICE.publicKey, (signFor) => [signFor('coin.GAS')])
      .setMeta(terms(2))
      .setNetworkId(NETWORK)
      .createTransaction();
    const arrived = await client.submit(signed(arrival));
    node.ledger.advance(2);
    expect(await client.listen(arrived)).toMatchObject({ result: { status: 'success' } });
    expect(await balance(2, bob)).toBe(coins('4.0'));
  });
});

describe('a command of pickaxe', () => {
  it('has the hash and the signature that the package @kadena/client makes for the same text', async () => {
    // With this price, JavaScript writes every number as the contract tool does.
    const ours = commandOf(0, toBob('1.25'), { meta: { gasPrice: coins('0.25') } });
    const theirs = createTransaction(JSON.parse(ours.cmd));
    expect([theirs.cmd, theirs.hash]).toEqual([ours.cmd, ours.hash]);
    expect(await createSignWithKeypair(KEYS_OF_ALICE)(theirs)).toMatchObject({ hash: ours.hash, sigs: ours.sigs });
  });

  it('finishes a transfer that their package has begun, and the other way round', async () => {
    const { client, node, chains, run, balance } = await startNode();
    const first = commandOf(0, toChain(2, '3.0'));
    await run(0, first);
    node.ledger.advanceTo(2, chains.heightOf(0) + 1n);
    const proof = await client.createSpv({ requestKey: first.hash, chainId: '0', networkId: NETWORK }, '2');
    const theirs = Pact.builder
      .continuation({ pactId: first.hash, rollback: false, step: 1, proof })
      .addSigner(ALICE.publicKey, (signFor) => [signFor('coin.GAS')])
      .setMeta(terms(2))
      .setNetworkId(NETWORK)
      .createTransaction();
    const ours = commandOf(2, arrival(first.hash, JSON.parse(proof)));
    const sent = await client.submit(signed(theirs));
    node.ledger.advance(2);
    expect(await client.listen(sent)).toMatchObject({ result: { status: 'success' } });
    expect(await balance(2, bob)).toBe(coins('3.0'));
    const late = await run(2, ours);
    expect(isAlreadyCompleted(late.result)).toBe(true);
  });

  it('is accepted by the package @kadena/client, which sends it as it is', async () => {
    const { client, node, balance } = await startNode();
    const { cmd, hash, sigs } = commandOf(0, toBob('1.25'));
    const command = { cmd, hash, sigs } as unknown as ICommand;
    expect((await client.local(command)).result).toMatchObject({ status: 'success' });
    const sent = await client.submit(command);
    expect(sent.requestKey).toBe(hash);
    node.ledger.advance(0);
    expect(await client.listen(sent)).toMatchObject({ reqKey: hash, result: { status: 'success' } });
    expect(await balance(0, bob)).toBe(coins('2.25'));
  });
});
