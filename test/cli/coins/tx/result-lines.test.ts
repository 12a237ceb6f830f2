/** The lines that people read about the results of nodes. */

import { describe, expect, it } from 'vitest';
import {
  plainJson,
  printResults,
  resultLines,
  type ShownResult,
  showResult,
  without,
} from '#pickaxe/cli/coins/tx/results.js';
import { parseCommandResult } from '#pickaxe/protocol/ledger/command/results.js';
import { parseExactJson } from '#pickaxe/protocol/ledger/json.js';
import { pretendedIo } from '../../pretended-io.ts';

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

const NONE = without(KEY, 'pending');
const RESULTS: [string, Partial<ShownResult>][] = [
  ['nothing yet', {}],
  ['nobody tells its key', { requestKey: null, doubt: 'why not' }],
  ['expired', { status: 'expired', provenBy: 'work' }],
  ['failed', { status: 'failure', error: 'no\ngas', gas: 0, provenBy: 'nodes' }],
  [
    'succeeded',
    {
      ...{ status: 'success', data: { a: 1 }, gas: 7, provenBy: 'node' },
      block: { hash: KEY, height: 5, timeMillis: 1 },
      events: [{ name: 'coin.TRANSFER', parameters: ['a', 1.5] }],
      continuation: { requestKey: KEY, step: 0, stepCount: 2, targetChain: null },
    },
  ],
  [
    'of an unknown block, with its last step',
    {
      ...{ status: 'success', data: null, block: { hash: null, height: null, timeMillis: null } },
      continuation: { requestKey: KEY, step: 1, stepCount: 2, targetChain: '3' },
    },
  ],
  [
    'failed in a step',
    { status: 'failure', continuation: { requestKey: KEY, step: 0, stepCount: 2, targetChain: '3' } },
  ],
  [
    'with a step of three',
    { status: 'success', continuation: { requestKey: KEY, step: 1, stepCount: 3, targetChain: '3' } },
  ],
];

it('each kind of result has its lines', () => {
  const text = RESULTS.map(([name, more]) => [`# ${name}`, ...resultLines({ ...NONE, ...more }, 4)].join('\n'));
  expect(text.join('\n\n')).toMatchInlineSnapshot(`
    "# nothing yet
    command    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
    result     none yet

    # nobody tells its key
    result     none yet
               why not

    # expired
    command    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
    result     none, and the time to live is over: there will be none, so build the command again if you still want it
               proven by the work of its blocks

    # failed
    command    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
    result     failure: no gas
               by the word of the nodes
    gas        0 units

    # succeeded
    command    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
    result     success
               by the word of one node
    data       {"a":1}
    gas        7 units
    block      height 5, AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
    event      (coin.TRANSFER "a" 1.5)
    steps      1 of 2 done

    # of an unknown block, with its last step
    command    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
    result     success
    data       null
    block      height unknown
    steps      all 2 are done

    # failed in a step
    command    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
    result     failure

    # with a step of three
    command    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
    result     success
    data       null
    steps      2 of 3 done
    next       runs on chain 3, with the proof of: pickaxe tx spv AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA --chain 4 --target-chain 3"
  `);
});

it('results are printed with their warnings, and have a code', () => {
  const print = (statuses: ShownResult['status'][], json = false) => {
    const io = pretendedIo();
    const results = statuses.map((status) => without(KEY, status));
    const code = printResults({ chain: 4, results, ...(!json && { warnings: ['a\nb'] }) }, json, io);
    return { code, stdout: io.stdout, stderr: io.stderr };
  };
  const pending = `command    ${KEY}\nresult     none yet\n`;
  expect(print(['pending', 'pending'])).toEqual({
    code: 4,
    stdout: `${pending}\n${pending}`,
    stderr: 'warning: a b\n',
  });
  expect(print(['pending'], true)).toEqual({
    code: 4,
    stdout: `${JSON.stringify({ chain: 4, results: [NONE], warnings: [] })}\n`,
    stderr: '',
  });
  expect(print(['success']).code).toBe(0);
  for (const bad of ['failure', 'expired'] as const) expect(print(['pending', bad, 'success']).code).toBe(1);
});

it('a result keeps every field that the node tells', () => {
  const continuation = {
    ...{ pactId: KEY, step: 1, stepCount: 3, stepHasRollback: false, executed: null },
    ...{ yield: null, continuation: { def: 'coin.transfer-crosschain', args: [] } },
  };
  const event = (namespace: string | null) => ({
    ...{ name: 'TRANSFER', params: ['a', 1.5], moduleHash: 'm' },
    module: { namespace, name: 'coin' },
  });
  const shown = (more: object) => {
    const json = { reqKey: KEY, gas: 3, txId: 1, logs: null, metaData: null, continuation: null, events: [], ...more };
    return showResult(parseCommandResult(parseExactJson(JSON.stringify(json))));
  };
  const success = { status: 'success', data: { n: 1234567890123456 } };
  const metaData = { blockHash: KEY, blockHeight: 7, blockTime: 1_700_000_000_999_999 };
  expect(
    shown({ result: success, metaData, continuation, events: [event(null), event('free')] }),
  ).toMatchInlineSnapshot(`
    {
      "block": {
        "hash": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "height": 7,
        "timeMillis": 1700000000999,
      },
      "continuation": {
        "requestKey": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "step": 1,
        "stepCount": 3,
        "targetChain": null,
      },
      "data": {
        "n": "1234567890123456",
      },
      "doubt": null,
      "error": null,
      "events": [
        {
          "name": "coin.TRANSFER",
          "parameters": [
            "a",
            1.5,
          ],
        },
        {
          "name": "free.coin.TRANSFER",
          "parameters": [
            "a",
            1.5,
          ],
        },
      ],
      "gas": 3,
      "provenBy": null,
      "requestKey": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
      "status": "success",
    }
  `);
  const failure = { status: 'failure', error: { message: 'no', type: 'TxFailure' } };
  expect(shown({ result: failure, metaData: { blockHeight: 7 } })).toMatchInlineSnapshot(`
    {
      "block": {
        "hash": null,
        "height": 7,
        "timeMillis": null,
      },
      "continuation": null,
      "data": null,
      "doubt": null,
      "error": "no",
      "events": [],
      "gas": 3,
      "provenBy": null,
      "requestKey": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
      "status": "failure",
    }
  `);
  expect(shown({ result: failure }).block).toBeNull();
});

it.each([
  ['123456789012345', 123456789012345],
  ['1234567890123456', '1234567890123456'],
  ['0.123456789012345', 0.123456789012345],
  ['0.1234567890123456', '0.1234567890123456'],
  ['0', 0],
  ['0e999', 0],
  ['1e308', 1e308],
  ['1e309', '1e309'],
  ['-1e309', '-1e309'],
  ['2.3e-308', 2.3e-308],
  ['2.2e-308', '2.2e-308'],
  ['-2.2e-308', '-2.2e-308'],
])('the number %s is printed as %j', (text, expected) => {
  expect(plainJson(parseExactJson(`[{"a":${text}},"x",true,null]`))).toEqual([{ a: expected }, 'x', true, null]);
});
