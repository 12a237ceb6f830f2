/** How commands are accepted, run without effect, found (document 2), and refused. */

import { describe, expect, it } from 'vitest';
import { parseLocalAnswer } from '#pickaxe/protocol/ledger/command/results.js';
import { BOB, banksOf, bob, coins, commandOf, GAS_OF_TRANSFER, type Terms, toBob } from '../execution/bank.ts';

const startBank = banksOf('document');

/** The part of a transfer's gas for its size. */
const GAS_OF_SIZE = 8;

describe('/send refuses', () => {
  const refusal = (reason: string) =>
    expect.stringMatching(
      new RegExp(`^One or more transactions were invalid: Transaction [\\w-]{43} at index 0 failed with: ${reason}`),
    );
  const nowS = () => Math.floor(Date.now() / 1000);
  const CANNOT_BUY = 'Attempt to buy gas failed with: "[\\w-]{43}" Failed to buy gas: ';
  const CANNOT_BUY_SIZE =
    'Attempt to buy gas failed with: "[\\w-]{43}" Failed to purchas gas: tx too big for gas limit';

  it.each<[string, () => Terms, string]>([
    [
      'another chain',
      () => ({ meta: { chainId: '1' } }),
      'Transaction metadata \\(chain id, chainweb version\\) conflicts with this endpoint$',
    ],
    ['another network', () => ({ networkId: 'mainnet01' }), 'Transaction metadata'],
    ['too much gas', () => ({ meta: { gasLimit: 150_001 } }), 'Transaction gas limit exceeds block gas limit'],
    [
      'too low a price',
      () => ({ meta: { gasPrice: coins('0.000000009') } }),
      'Transaction gas price \\(0\\.000000009\\) is below minimum gas price \\(0\\.00000001\\)$',
    ],
    [
      'what comes from the future',
      () => ({ meta: { creationTime: nowS() + 200 } }),
      'Transaction creation time too far',
    ],
    ['what is too old', () => ({ meta: { creationTime: nowS() - 700 } }), 'Transaction time-to-live is expired'],
    [
      'a sender that does not exist',
      () => ({ meta: { sender: 'nobody whose name is long' } }),
      `${CANNOT_BUY}No value found in table coin_coin-table for key: nobody whose name is long$`,
    ],
    ['gas that cannot be paid', () => ({ meta: { gasPrice: coins('1.0') } }), `${CANNOT_BUY}Insufficient funds$`],
    [
      'a sender who did not sign',
      () => ({ meta: { sender: bob } }),
      `${CANNOT_BUY}Keyset failure \\(keys-all\\): \\[${BOB.publicKey.slice(0, 8)}\\.\\.\\.\\]$`,
    ],
    ['too small a limit for its size', () => ({ meta: { gasLimit: 5 } }), `${CANNOT_BUY_SIZE}$`],
  ])('%s', async (_, terms, reason) => {
    const { send } = await startBank();
    const { status, text } = await send(0, commandOf(0, toBob('1.0'), terms()));
    expect([status, text]).toEqual([400, refusal(reason)]);
  });

  it('wrong hashes and signatures', async () => {
    const { send, poll, node } = await startBank();
    const command = commandOf(0, toBob('1.0'));
    const other = commandOf(0, toBob('1.0'));
    for (const [wrong, reason] of [
      [{ ...command, hash: other.hash }, 'Invalid transaction hash'],
      [{ ...command, cmd: other.cmd }, 'Invalid transaction hash'],
      [{ ...command, sigs: other.sigs }, 'Invalid transaction sigs'],
      [{ ...command, sigs: [] }, 'Invalid transaction sigs'],
    ] as const) {
      expect(await send(0, wrong)).toMatchObject({ status: 400, text: refusal(reason) });
    }
    expect((await send(0)).status).toBe(400);
    // One wrong command refuses the whole batch, and the message names all wrong ones.
    const { text } = await send(0, { ...other, sigs: [] }, command, { ...other, sigs: [] });
    const named = [0, 2].map(
      (index) => `Transaction ${other.hash} at index ${index} failed with: Invalid transaction sigs`,
    );
    expect(text).toMatch(new RegExp(`^One or more transactions were invalid: ${named[0]}.*, ${named[1]}`));
    node.ledger.advance(0);
    expect(await poll(0, command.hash)).toBeUndefined();
  });

  it('what is on the chain already', async () => {
    const { send, run } = await startBank();
    const command = commandOf(0, toBob('1.0'));
    await run(0, command);
    expect(await send(0, command)).toMatchObject({ text: refusal('Transaction already exists on chain') });
  });

  it('what is no payload, in the words of real nodes', async () => {
    const { send, local } = await startBank();
    const command = { ...commandOf(0, toBob('1.0')), cmd: '{}' };
    expect(await send(0, command)).toMatchObject({
      status: 400,
      text: expect.stringMatching(/^reading JSON for transaction failed: ./),
    });
    expect(await local(0, command)).toMatchObject({
      status: 400,
      text: expect.stringMatching(/^Validation failed: ./),
    });
  });

  it('what is not JSON, or no command', async () => {
    const { post } = await startBank();
    for (const body of ['{', '[]', '{"cmds":[]}', '{"cmds":[1]}', { cmds: [{ cmd: '{}', hash: 'x', sigs: [] }] }]) {
      expect((await post(0, 'api/v1/send', body)).status).toBe(400);
    }
  });
});

describe('/local', () => {
  it('has no effect', async () => {
    const { local, balance } = await startBank();
    const { json } = await local(0, commandOf(0, toBob('2.0')));
    expect(parseLocalAnswer(json)).toMatchObject({
      outcome: { status: 'success' },
      result: { gas: GAS_OF_TRANSFER - GAS_OF_SIZE, txId: null },
    });
    expect(await balance(0, bob)).toBe(coins('1.0'));
  });

  it('with preflight pays for gas, and checks the metadata', async () => {
    const { local } = await startBank();
    const { result } = parseLocalAnswer((await local(0, commandOf(0, toBob('2.0')), '?preflight=true')).json);
    expect(result).toMatchObject({ gas: GAS_OF_TRANSFER, result: { status: 'success' } });
    expect(result?.events).toHaveLength(2);
    const nowS = Math.floor(Date.now() / 1000);
    const meta = { chainId: '7', gasLimit: 150_001, creationTime: nowS - 700 };
    const everything = { meta, networkId: 'mainnet01' };
    const wrong = await local(0, commandOf(0, toBob('2.0'), everything), '?preflight=true');
    const faults = [
      'Chain id mismatch',
      'Transaction Gas limit exceeds block gas limit',
      'Network id mismatch',
      'Tx time outside of valid range',
    ];
    expect([wrong.status, wrong.text]).toEqual([400, `Metadata validation failed: ${JSON.stringify(faults)}`]);
    // Only /send checks these.
    for (const meta of [{ gasPrice: coins('0.000000009') }, { creationTime: nowS + 200 }]) {
      const command = commandOf(0, toBob('2.0'), { meta });
      const { outcome } = parseLocalAnswer((await local(0, command, '?preflight=true')).json);
      expect(outcome.status).toBe('success');
    }
  });

  it('checks signatures unless it is told not to', async () => {
    const { local } = await startBank();
    const unsigned = { ...commandOf(0, toBob('2.0')), sigs: [] };
    expect((await local(0, unsigned)).text).toBe(
      'Metadata validation failed: ["The number of signers and signatures do not match. Number of signers: 1. Number of signatures: 0."]',
    );
    const forged = { ...unsigned, sigs: commandOf(0, toBob('2.0')).sigs };
    expect((await local(0, forged)).text).toMatch(
      /^Metadata validation failed: \["The signature at position 0 is invalid: .*"\]$/,
    );
    expect((await local(0, unsigned, '?signatureVerification=true')).status).toBe(400);
    const { json } = await local(0, unsigned, '?signatureVerification=false');
    expect(parseLocalAnswer(json).outcome.status).toBe('success');
    expect((await local(0, unsigned, '?preflight=perhaps')).status).toBe(400);
    // The hash is always checked.
    const changed = { ...commandOf(0, toBob('2.0')), hash: 'A'.repeat(43) };
    expect((await local(0, changed)).text).toBe('Metadata validation failed: ["The hash of the payload was invalid."]');
    expect((await local(0, changed, '?signatureVerification=false')).text).toMatch(
      /^Validation failed: Hash Mismatch, received A{43} but our hashing resulted in [\w-]{43}$/,
    );
  });

  it('takes flags and lists only as they are defined', async () => {
    const { local, post } = await startBank();
    const statusOf = async (query: string) => (await local(0, commandOf(0, toBob('2.0')), query)).status;
    for (const query of ['?preflight=false', '?preflight=true', '?rewindDepth=0'])
      expect(await statusOf(query)).toBe(200);
    for (const query of ['?preflight=1', '?signatureVerification=', '?rewindDepth=-1', '?rewindDepth=x']) {
      expect(await statusOf(query)).toBe(400);
    }
    for (const [path, body] of [
      ['send', { cmds: [] }],
      ['poll', { requestKeys: [] }],
      ['listen', { listen: 'x' }],
    ] as const) {
      expect(await post(0, `api/v1/${path}`, body)).toMatchObject({
        status: 400,
        text: expect.stringMatching(/^Error in \$: /),
      });
    }
  });

  it('looks back by some blocks', async () => {
    const { run, balance } = await startBank();
    await run(0, commandOf(0, toBob('2.0')));
    expect(await balance(0, bob, '?rewindDepth=1')).toBe(coins('1.0'));
    expect(await balance(0, bob, '?rewindDepth=0')).toBe(coins('3.0'));
    for (const depth of [2, 999_999_999]) expect(await balance(0, bob, `?rewindDepth=${depth}`)).toBe(coins('1.0'));
  });
});

describe('results', () => {
  it('wait for a depth', async () => {
    const { run, poll, node } = await startBank();
    const { reqKey } = await run(0, commandOf(0, toBob('2.0')));
    expect(await poll(0, reqKey, '?confirmationDepth=1')).toBeUndefined();
    node.ledger.advance(0);
    expect(await poll(0, reqKey, '?confirmationDepth=1')).toBeDefined();
    expect(await poll(1, reqKey)).toBeUndefined();
  });

  it('come to /listen with the block', async () => {
    const { send, post, node } = await startBank();
    const command = commandOf(0, toBob('2.0'));
    await send(0, command);
    const listened = post(0, 'api/v1/listen', { listen: command.hash });
    const soon = setInterval(() => node.ledger.advance(0), 50);
    expect((await listened).plain).toMatchObject({ reqKey: command.hash, gas: GAS_OF_TRANSFER });
    clearInterval(soon);
    expect((await post(0, 'api/v1/listen', { listen: command.hash })).status).toBe(200);
  });

  it('do not come in time to /listen, which then gives up', async () => {
    const listen = { listen: 'A'.repeat(43) };
    const real = await startBank({ listenMs: 50 });
    expect((await real.post(0, 'api/v1/listen', listen)).status).toBe(504);
    const alone = await startBank({ listenMs: 50, listenTimeout: 'object' });
    const { status, plain } = await alone.post(0, 'api/v1/listen', listen);
    expect([status, plain]).toEqual([200, { status: 'timeout', 'timeout-micros': 50_000 }]);
  });

  it('survive a reorganisation, in another block', async () => {
    const { run, poll, node, balance, tip } = await startBank();
    const { reqKey, metaData } = await run(0, commandOf(0, toBob('2.0')));
    node.ledger.advance(0);
    node.ledger.reorganise(node.ledger.chains.blocksOf(0).parentOf(tip(0))!);
    const again = await poll(0, reqKey);
    expect(again?.metaData?.blockHash).not.toBe(metaData?.blockHash);
    expect(again?.metaData?.blockHeight).toBe(metaData?.blockHeight);
    expect(await balance(0, bob)).toBe(coins('3.0'));
  });

  it('of a badlisted command are failures, and it runs in no block', async () => {
    const { send, poll, node, balance } = await startBank();
    const command = commandOf(0, toBob('2.0'));
    await send(0, command);
    node.commands.badlist(command.hash);
    node.ledger.advance(0);
    expect((await poll(0, command.hash))?.result).toMatchObject({
      status: 'failure',
      error: { message: expect.stringContaining('badlisted') },
    });
    expect((await send(0, command)).text).toContain('badlisted');
    expect(await balance(0, bob)).toBe(coins('1.0'));
  });
});

describe('the stand-alone server', () => {
  it('wraps its answers', async () => {
    const { askUrl, url, node } = await startBank();
    const command = commandOf(0, toBob('2.0'));
    const post = (path: string, body: unknown) => askUrl(`${url}/api/v1/${path}`, { method: 'POST', body });
    const local = await post('local', command);
    expect(local.plain).toEqual({ status: 'success', response: { status: 'success', data: 'Write succeeded' } });
    expect(parseLocalAnswer(local.json).outcome.status).toBe('success');
    const sent = await post('send', { cmds: [command] });
    expect(sent.plain).toEqual({ status: 'success', response: { requestKeys: [command.hash] } });
    node.ledger.advance(0);
    const polled = await post('poll', { requestKeys: [command.hash] });
    expect(polled.plain).toMatchObject({ response: { [command.hash]: { gas: GAS_OF_TRANSFER } } });
  });

  it('takes private commands with private metadata only', async () => {
    const { post } = await startBank();
    const command = commandOf(0, toBob('2.0'));
    expect((await post(0, 'api/v1/private', command)).status).toBe(400);
    const cmd = JSON.stringify({ ...JSON.parse(command.cmd), meta: { address: { from: 'a', to: ['b'] } } });
    const { status, plain } = await post(0, 'api/v1/private', { ...command, cmd });
    expect([status, plain]).toEqual([200, { requestKeys: [command.hash] }]);
  });
});
