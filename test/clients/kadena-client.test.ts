/**
 * Tests that the network's own package `@kadena/client`, unchanged, sends commands to the mock node, and that commands made by it
 * and by pickaxe are the same to both.
 */

import { createClient, type ICommand, type IUnsignedCommand, Pact } from '@kadena/client';
import { describe, expect, it } from 'vitest';
import { decodeBase64url } from '#pickaxe/ledger/base64url.js';
import { type Command, parseCommand, verifyCommand } from '#pickaxe/ledger/command/command.js';
import { requestKeyOfCmd } from '#pickaxe/ledger/command/hash.js';
import { parseExactJson } from '#pickaxe/ledger/exact-json.js';
import { checkSpvProof, parseSpvProof } from '#pickaxe/ledger/spv-proof.js';
import { ALICE, alice, BOB, bob, coins, commandOf, startBank, toBob } from '../mock-node/contract/bank.ts';

const NETWORK = 'development';
/** How long their client waits for a block. */
const WAIT = { timeout: 60_000, interval: 50 };
const withKeyset = { keys: [BOB.publicKey], pred: 'keys-all' as const };

async function startNode() {
  const bank = await startBank({ dialect: 'chainweb' });
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
