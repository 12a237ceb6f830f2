// A block of transfers on a mock node, for contract.mjs.

import { buildCommand } from '#pickaxe/protocol/ledger/command/build.js';
import { gasCapability, transfer } from '#pickaxe/protocol/ledger/command/coin.js';
import { KeyPair } from '#pickaxe/protocol/ledger/command/command.js';
import { ONE, parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { parseExactJson } from '#pickaxe/protocol/ledger/json.js';
import { MockNode } from '../lib/mock-node.mjs';

const NETWORK = 'development';
const CHAIN = 0;
const ALICE = new KeyPair('a1'.repeat(32));
const BOB = new KeyPair('b0'.repeat(32));
const [sender, receiver] = [ALICE, BOB].map(({ publicKey }) => `k:${publicKey}`);

function command(number) {
  const { message, capabilities } = transfer({ module: 'coin', sender, receiver, amount: ONE });
  const creationTime = Math.floor(Date.now() / 1000) - 15;
  const meta = {
    chainId: `${CHAIN}`,
    sender,
    gasLimit: 1_000,
    gasPrice: parseDecimal('0.00000001'),
    ttl: 600,
    creationTime,
  };
  const signers = [{ pubKey: ALICE.publicKey, clist: [gasCapability('coin'), ...capabilities] }];
  return buildCommand({ networkId: NETWORK, payload: message, signers, meta, nonce: `${number}` }, [ALICE]);
}

/**
 * @param commands how many commands a block has
 * @param blocks how many blocks are measured
 * @returns the milliseconds that each block took: the payment of its miner, and its commands with their gas
 */
export function transferBlocks(commands, blocks) {
  const accounts = [sender, receiver].map((account) => ({ account, balance: '1000000.0' }));
  const { ledger, commands: service } = new MockNode({ chains: 4, network: NETWORK, accounts });
  let number = 0;
  return Array.from({ length: blocks }, () => {
    const texts = Array.from({ length: commands }, () => JSON.stringify(command(number++)));
    service.send(
      CHAIN,
      texts.map((text) => parseExactJson(text)),
    );
    const begun = performance.now();
    ledger.advance(CHAIN);
    const ms = performance.now() - begun;
    const { length } = ledger.chains.tip(CHAIN).payload.transactions;
    if (length !== commands) throw new Error(`the block has ${length} commands instead of ${commands}`);
    return ms;
  });
}
