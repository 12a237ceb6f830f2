/** The lines that people read about the results of nodes. */

import { describe, expect, it } from 'vitest';
import { resultLines, showResult } from '#pickaxe/cli/coins/tx/results.js';
import { parseCommandResult } from '#pickaxe/protocol/ledger/command/results.js';
import { parseExactJson } from '#pickaxe/protocol/ledger/json.js';

const KEY = 'A'.repeat(43);

/** @returns lines about the first of two steps, of which the second runs on chain 2 */
function lines(more: object) {
  const continuation = {
    pactId: KEY,
    step: 0,
    stepCount: 2,
    stepHasRollback: false,
    executed: null,
    yield: { data: {}, source: '0', provenance: { targetChainId: '2', moduleHash: 'm' } },
    continuation: { def: 'coin.transfer-crosschain', args: [] },
    ...more,
  };
  const result = { status: 'success', data: 'done' };
  const metaData = { blockHash: 'pactId' in more ? more.pactId : KEY, blockHeight: 7 };
  const json = { reqKey: KEY, result, gas: 1, txId: null, logs: null, metaData, continuation };
  return resultLines(showResult(parseCommandResult(parseExactJson(JSON.stringify(json)))), 0);
}

describe('a command with another step', () => {
  it('names the command that gets its proof', () => {
    expect(lines({}).at(-1)).toBe(
      `next       runs on chain 2, with the proof of: pickaxe tx spv ${KEY} --chain 0 --target-chain 2`,
    );
  });

  it('names none whose words a node has chosen', () => {
    const evil = '\u001b[2J; reboot';
    const provenance = { targetChainId: '2; reboot', moduleHash: 'm' };
    for (const more of [{ pactId: evil }, { yield: { data: {}, source: null, provenance } }]) {
      const text = lines(more).join('\n');
      expect(text).not.toMatch(/spv.*reboot/);
      expect(text).not.toMatch(/[^\P{C}\n]/u);
    }
  });
});
