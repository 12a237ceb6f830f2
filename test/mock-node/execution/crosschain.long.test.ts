/** Transfers to another chain: the first step, the proof, the second step, and who may send it. */

import { describe, expect, it } from 'vitest';
import { GAS_STATION } from '#pickaxe/mock-node/execution/genesis.js';
import { isAlreadyCompleted, readProofRefusal } from '#pickaxe/protocol/ledger/command/results.js';
import { distance } from '#pickaxe/protocol/ledger/graphs.js';
import { decodeBase64url, JsonNumber } from '#pickaxe/protocol/ledger/json.js';
import { checkSpvProof, parseSpvProof, spvRoot } from '#pickaxe/protocol/ledger/spv-proof.js';
import { at } from '../ask.ts';
import type { OtherOptions } from '../node.ts';
import { alice, arrival, banksOf, bob, coins, commandOf, feeOf, toBob, toChain } from './bank.ts';

const startBank = banksOf('document');

const SOURCE = 0;

async function started(target: number, options: OtherOptions = {}) {
  const bank = await startBank(options);
  const { run, post, node } = bank;
  const first = await run(SOURCE, commandOf(SOURCE, toChain(target, '91.0')));
  const askProof = (targetChain = target, requestKey = first.reqKey) =>
    post(SOURCE, 'spv', { requestKey, targetChainId: String(targetChain) });
  /** Adds the blocks to the target chain that a proof needs. */
  const growTarget = () => {
    const { blockHeight } = first.metaData!;
    node.ledger.advanceTo(target, BigInt(blockHeight! + distance(node.ledger.chains.graph, SOURCE, target)));
  };
  const proof = async (): Promise<string> => {
    growTarget();
    const answer = await askProof();
    expect(answer.status).toBe(200);
    return answer.json as string;
  };
  return { ...bank, first, askProof, growTarget, proof };
}

describe('the first step', () => {
  it('takes the coins from the chain, and says for whom they are', async () => {
    const { first, balance } = await started(1);
    expect(first).toMatchObject({
      result: { status: 'success', data: { receiver: bob, amount: new JsonNumber('91'), 'source-chain': '0' } },
    });
    expect(first.continuation).toMatchObject({
      pactId: first.reqKey,
      step: 0,
      stepCount: 2,
      yield: { source: '0', provenance: { targetChainId: '1' } },
    });
    expect(first.events.map(({ name }) => name)).toEqual(['TRANSFER_XCHAIN', 'TRANSFER', 'X_YIELD', 'TRANSFER']);
    expect(await balance(SOURCE, alice)).toBe(coins('9.0') - feeOf(first));
    expect(await balance(1, bob)).toBe(0n);
  });
});

describe('a proof', () => {
  // Chains 2, 3 and 5 are neighbours of chain 0 in the graph of 10 chains; all others are at distance 2.
  it.each([2, 9])('leads to a block of chain %i, once that has grown', async (target) => {
    const { askProof, proof, node } = await started(target);
    const early = await askProof();
    expect([early.status, readProofRefusal(early.text)]).toEqual([400, { reason: early.text, wait: true }]);
    const parsed = parseSpvProof(await proof());
    const hash = spvRoot(parsed);
    expect(() => checkSpvProof(parsed, { chain: target, hash: node.ledger.chains.tip(target).hash })).not.toThrow();
    expect(Buffer.compare(hash, node.ledger.chains.tip(target).hash)).toBe(0);
  });

  it('stays right among other transactions of the block', async () => {
    const { send, post, node, poll } = await startBank();
    const commands = [toBob('0.1'), toBob('0.2'), toChain(2, '1.0'), toBob('0.3')].map((call) => commandOf(0, call));
    await send(0, ...commands);
    node.ledger.advance(0);
    const { payload } = node.ledger.chains.tip(0);
    expect(payload.transactions).toHaveLength(4);
    node.ledger.advanceTo(2, node.ledger.chains.heightOf(0) + 1n);
    for (const [index, { hash }] of commands.entries()) {
      const { json } = await post(0, 'spv', { requestKey: hash, targetChainId: '2' });
      const proof = parseSpvProof(json as string);
      expect(proof.position).toBe(BigInt(index + 1));
      expect(() => checkSpvProof(proof, { chain: 2, hash: node.ledger.chains.tip(2).hash })).not.toThrow();
      expect(await poll(0, hash)).toBeDefined();
    }
  });

  it('is refused for what is not there', async () => {
    const { askProof, growTarget } = await started(1);
    growTarget();
    const unknown = await askProof(1, 'A'.repeat(43));
    expect([unknown.status, readProofRefusal(unknown.text).wait]).toEqual([400, true]);
    expect(unknown.text).toBe(`Transaction hash not found: "${'A'.repeat(43)}"`);
    expect((await askProof(SOURCE)).status).toBe(400);
    expect((await askProof(99)).status).toBe(400);
  });
});

describe('the second step', () => {
  it('brings the coins, once', async () => {
    const { run, proof, first, balance } = await started(9);
    const text = await proof();
    const second = await run(9, commandOf(9, arrival(first.reqKey, text)));
    expect(second).toMatchObject({ result: { status: 'success' } });
    // Real nodes need a little more gas for the second step, and gas stations pay for at most 850.
    expect(second.gas).toBeLessThan(850);
    expect(second.continuation).toMatchObject({ pactId: first.reqKey, step: 1, yield: null });
    expect(second.events.map(({ name }) => name)).toEqual(['TRANSFER', 'TRANSFER_XCHAIN_RECD', 'X_RESUME', 'TRANSFER']);
    expect(await balance(9, bob)).toBe(coins('91.0'));
    const again = await run(9, commandOf(9, arrival(first.reqKey, text)));
    expect(isAlreadyCompleted(again.result)).toBe(true);
    const id = `${first.reqKey.slice(0, 20)}...`;
    expect(again.result).toMatchObject({
      error: { message: `Requested defpact execution already completed for defpact id: ${id}` },
    });
    expect(await balance(9, bob)).toBe(coins('91.0'));
  });

  it('fails with the proof of another transfer, on another chain, and with a proof that was changed', async () => {
    const { run, proof, first } = await started(9);
    const text = await proof();
    const failure = async (chain: number, pactId: string, its: string) => {
      const { result } = await run(chain, commandOf(chain, arrival(pactId, its)));
      return result.status === 'failure' ? result.error.message : '';
    };
    expect(await failure(9, 'A'.repeat(43), text)).toBe(
      `Requested defpact id: ${'A'.repeat(20)}... does not match context defpact id: ${first.reqKey.slice(0, 20)}...`,
    );
    expect(await failure(8, first.reqKey, text)).toContain('wrong targget chain');
    const json = JSON.parse(Buffer.from(decodeBase64url(text)).toString());
    const input = Buffer.from(json.subject.input, 'base64url').toString().replaceAll('91', '92');
    const changed = { ...json, subject: { input: Buffer.from(input).toString('base64url') } };
    const forged = Buffer.from(JSON.stringify(changed)).toString('base64url');
    expect(await failure(9, first.reqKey, forged)).toContain('target header is not in the chain');
  });

  it('cannot be tried before the block to which its proof leads', async () => {
    const { local, proof, first, node } = await started(9);
    const command = commandOf(9, arrival(first.reqKey, await proof()));
    node.ledger.advance(9);
    const tried = async (depth: number) => at((await local(9, command, `?rewindDepth=${depth}`)).json, 'result');
    expect(await tried(1)).toMatchObject({ status: 'success' });
    expect(await tried(2)).toMatchObject({
      error: {
        message: 'Continuation error: spv verification failed: target header is not in the chain or is out of bounds',
      },
    });
  });

  it('needs a new proof when the block to which the first one leads is gone', async () => {
    const { run, proof, askProof, first, node, balance } = await started(9);
    const stale = await proof();
    node.ledger.reorganise(node.ledger.chains.tip(9));
    const refused = await run(9, commandOf(9, arrival(first.reqKey, stale)));
    expect(refused.result).toMatchObject({ status: 'failure' });
    const fresh = (await askProof()).json as string;
    expect(fresh).not.toBe(stale);
    await run(9, commandOf(9, arrival(first.reqKey, fresh)));
    expect(await balance(9, bob)).toBe(coins('91.0'));
  });

  it('can be paid by the gas station, within its limits', async () => {
    const { send, run, proof, first, balance } = await started(9, { gasStation: true });
    const text = await proof();
    const byStation = (gasLimit: number, gasPrice = '0.00000001') => ({
      meta: { sender: GAS_STATION, gasLimit, gasPrice: coins(gasPrice) },
      signers: [],
    });
    const call = arrival(first.reqKey, text);
    for (const terms of [byStation(851), byStation(850, '0.00000002')]) {
      expect((await send(9, commandOf(9, call, terms))).text).toContain('the gas station does not pay for this');
    }
    const other = commandOf(9, { ...toBob('1.0'), capabilities: [] }, byStation(850));
    expect((await send(9, other)).text).toContain('the gas station does not pay for this');
    await run(9, commandOf(9, call, byStation(850)));
    expect(await balance(9, bob)).toBe(coins('91.0'));
  });

  it('can be sent by somebody else', async () => {
    const { node, first, balance, poll, run, proof } = await started(9, { contractDialect: 4 });
    // On older nodes, the event of the fee comes first.
    expect(first.events.map(({ name }) => name)).toEqual(['TRANSFER', 'TRANSFER_XCHAIN', 'TRANSFER', 'X_YIELD']);
    const requestKey = node.commands.finishTransfer(SOURCE, first.reqKey);
    expect(await poll(9, requestKey)).toMatchObject({ result: { status: 'success' } });
    expect(await balance(9, bob)).toBe(coins('91.0'));
    const late = await run(9, commandOf(9, arrival(first.reqKey, await proof())));
    expect(late.result).toMatchObject({ error: { message: `resumePact: pact completed: ${first.reqKey}` } });
    expect(isAlreadyCompleted(late.result)).toBe(true);
    expect(() => node.commands.finishTransfer(SOURCE, 'A'.repeat(43))).toThrow('is no transfer to another chain');
  });
});
