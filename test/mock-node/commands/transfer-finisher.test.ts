import { expect, it } from 'vitest';
import { FINISHER_ACCOUNT, finishingCommand } from '#pickaxe/mock-node/commands/transfer-finisher.js';
import { verifyCommand } from '#pickaxe/protocol/ledger/command/command.js';
import { parsePayload, publicMetaOf } from '#pickaxe/protocol/ledger/command/command-payload.js';

const STEP = { requestKey: 'A'.repeat(43), proof: 'proof', target: 2, network: 'development' };

it.each([
  [9_999n, 10_000n],
  [10_001n, 10_001n],
])('the second step of a transfer pays the least price of %i at least', (minGasPrice, gasPrice) => {
  const command = finishingCommand({ ...STEP, minGasPrice, lastTimeUs: 1_700_000_000_999_999n });
  expect(verifyCommand(command)).toEqual({ kind: 'valid' });
  const { meta, networkId, payload } = parsePayload(command.cmd);
  expect(networkId).toBe('development');
  expect(payload).toMatchObject({ cont: { pactId: STEP.requestKey, proof: 'proof', step: 1, rollback: false } });
  expect(publicMetaOf(meta)).toEqual({
    chainId: '2',
    sender: FINISHER_ACCOUNT,
    gasLimit: 1_000,
    gasPrice,
    ttl: 600,
    creationTime: 1_700_000_000,
  });
});
