/** What `pickaxe ledger` and `pickaxe nodes` print, to the last character. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { encodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import { nodesOf } from '../../miner/source/node/node.ts';
import { MockNode } from '../../mock-node/node.ts';
import { pickaxe } from '../in-process.ts';
import { cacheHome } from '../pickaxe.ts';
import { ANSWERS, chain, cut, hashes, id, info, node, page, payloadHash, peer } from './ledger-node.ts';

const startNode = nodesOf('chainweb');
const MINER = ['--network', 'development', '--public-key', 'a1'.repeat(32)];

const payload = encodeBase64url(payloadHash);
const LONG = 'x'.repeat(81);
const fewFields = { ...cut, hashes: { 0: { height: 7, hash: id } }, height: 7, id: undefined, instance: undefined };

/** @returns what a command on this node prints, with the exit code in front, and without what differs between runs */
async function shown(args: readonly string[], answers: typeof ANSWERS = []): Promise<string> {
  const { ask, url } = await node([...answers, ...ANSWERS]);
  const { code, stdout, stderr } = await ask(...args);
  return `${code}\n${stdout}\n${stderr}`.replaceAll(url, 'URL').replaceAll(cacheHome, 'FOLDER');
}

const file = (name: string, content: unknown) => {
  const path = join(cacheHome, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

describe('pickaxe ledger prints', () => {
  it('a cut, and what it does not say', async () => {
    expect(await shown(['cut'])).toMatchInlineSnapshot(`
      "0
        0     1800012  EsY_dANO0IBW9j1HqnK5V_7Kck1mxmykrUZMlGo8ov4
        1     1800012  XCqRZU-4HGOC-jQKOpadVROEDBWJdu7c7ajZ5kQst-o
        2     1800011  9Alaf3vX-7I5WSXN0gIXn8s79vG211rVKCc6UeqDQy0
        3     1800011  aivw-Z19-S78dT-ZzNUNw9mQRPjaet1YoxkcPrMPHUQ
        4     1800011  BQCSdxmaimdTLIgQq1fOK2UrbN33HclYsCjrJxYL0LM
        5     1800011  FzOk0z_sXo5pwBx-hokvmx3zwZ2TcyGr7-THtNMdr88
        6     1800011  JO33f23Kt_q4kd0SHenckey1Jpce43-y7Ph-UBV3DpI
        7     1800012  iR13ZYgfOFkGYxuTXVNaSdjghA43fi1TB0orouM7lmU
        8     1800011  Uc7-S8XTyQoG1ubilBajm-XgCoRNVArmCNJyMVV5DOE
        9     1800012  Zqglta5tY6uab1E0AWDHFyWkD4DqW57lvuJyaht_O94
       10     1800012  v_jDu5LlntRRH8ShbP1MxErb8DOIFnxmzaFjhY8Cyng
       11     1800011  5rLftsgTyhfl4c4SZ0dLi-0w5i98sPcrUxLuTAyoosI
       12     1800011  e40cdtqodSbQdpUynlCXwZm1gy9tTAgs9sVKZpn3GbY
       13     1800012  uzEFz_vDnDAO0iJVJSgfzWKCJlYJImXL9YRHzu6Aa80
       14     1800012  g6CswE6Yd_q75-HfY7IfiLSn2DyR4djd7OwMPcRlf-I
       15     1800012  07I9MRlXy57SOhNG2iEHBtR38kq9F470yN7e3aCwCuY
       16     1800012  l_10m46oblIDwSAPViWnsfLR9G8Cn1Y6hTOadRyG7-w
       17     1800012  wjHhaMptuJQ_wkKr-vcSMBj4QcM23fo2shBceljl5KM
       18     1800011  yNlvvadt6wVZVejeFz2EDy9eagWSEnCx2HRpQ6b62bM
       19     1800011  4n4HAry-dtV2ZcHRkk_2mmkX3KqzX8IjZKJVLXA6q1w
      height   36000230
      weight   iOt5SqCTILD_GQAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
      network  mainnet01
      id       iFKVOLL6VY_XFWS0jad_mqhXBDNPmGaw8TiNgpnP2QA
      origin   none
      "
    `);
    expect(await shown(['cut'], [[/\/cut$/, { body: { ...fewFields, origin: null } }]])).toMatchInlineSnapshot(`
      "0
        0           7  AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
      height   7
      weight   iOt5SqCTILD_GQAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
      network  not said
      id       none
      origin   none
      "
    `);
    const other = { ...fewFields, height: 8, origin: peer, id, instance: 'mainnet01' };
    expect(await shown(['cut'], [[/\/cut$/, { body: other }]])).toMatchInlineSnapshot(`
      "0
        0           7  AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
      height   8, but the heights of its chains add up to 7
      weight   iOt5SqCTILD_GQAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
      network  mainnet01
      id       AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
      origin   https://10.1.2.3:1789
      "
    `);
    expect(await shown(['cut', '--json', '--max-height', '9'], [[/\/cut/, { body: other }]])).toMatchInlineSnapshot(`
      "0
      {"origin":{"id":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","address":{"hostname":"10.1.2.3","port":1789}},"height":8,"weight":"iOt5SqCTILD_GQAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","hashes":{"0":{"height":7,"hash":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}},"instance":"mainnet01","id":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}
      "
    `);
  });

  it('peers, and those that are left out', async () => {
    const some = [peer, { id: null, address: { hostname: 'node.example', port: 35000 } }];
    const texts = some.map((each) => JSON.stringify(each));
    expect(await shown(['peers'], [[/\/peer/, page(texts)]])).toMatchInlineSnapshot(`
      "0
      AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA  10.1.2.3  1789
      certificate of an authority                  node.example  35000
      "
    `);
    expect(await shown(['peers', '--json'], [[/\/peer/, page(texts)]])).toMatchInlineSnapshot(`
      "0
      {"id":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","address":{"hostname":"10.1.2.3","port":1789}}
      {"id":null,"address":{"hostname":"node.example","port":35000}}
      "
    `);
    expect(await shown(['peers'], [[/\/peer/, page([])]])).toMatchInlineSnapshot(`
      "0

      The node knows no peers.
      "
    `);
    expect(await shown(['peers'], [[/\/peer/, page(['{}'])]])).toMatchInlineSnapshot(`
      "0

      warning: URL names a peer that is not understood: peer.id: Invalid input: expected string, received undefined.
      "
    `);
  });

  it('the configuration and the information of the node', async () => {
    const body = { short: { a: [1] }, [LONG]: LONG };
    expect(await shown(['config'], [[/^\/config$/, { body }]])).toMatchInlineSnapshot(`
      "0
      short                                                                             {"a":[1]}
      xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
      "
    `);
    const graphs = [
      [9, [[0, []]]],
      [
        0,
        [
          [0, [1]],
          [1, [0]],
        ],
      ],
    ];
    const told = { ...info, nodeGraphHistory: graphs };
    expect(await shown(['info'], [[/^\/info$/, { body: told }]])).toMatchInlineSnapshot(`
      "0
      network      mainnet01
      chains       1
      API version  0.0
      software     2.31
      graph        of 1 chains from height 9 on
      graph        of 2 chains from height 0 on
      "
    `);
    expect(await shown(['info', '--json'], [[/^\/info$/, { body: told }]])).toMatchInlineSnapshot(`
      "0
      {"network":"mainnet01","apiVersion":"0.0","version":"2.31","chains":[0],"graphs":[{"fromHeight":9,"neighbours":[[]]},{"fromHeight":0,"neighbours":[[1],[0]]}]}
      "
    `);
  });

  it('blocks, payloads and hashes, and that there are none or more', async () => {
    const at = `${chain}`;
    expect(await shown(['block', at])).toMatchInlineSnapshot(`
      "0
      1800003  WlSP4PfYO3khwGFnvR20No9VY3eB68fwcwfnb3nYczM  2021-07-16T02:01:32.772Z    1 tx  99cb7008d7d70c94f138cc366a825f0d9c83a8a2f4ba82c86c666e0ab6fecf3a
      "
    `);
    expect(await shown(['payload', at, payload, '--outputs'])).toMatchInlineSnapshot(`
      "0
      payload hash       SNXpFIRIZfOqu67toYz3GxySWC671Trq-BRBmwrz8yI
      transactions hash  pP2_anqwlT4hoHlvIRQ4_KjiFNJXu9RpZpN2rKXJ_Ks
      outputs hash       YiwDgDgZt_GLi-OIwpllCOcUp0dCH9HKJSVdAM8UIeo
      miner              99cb7008d7d70c94f138cc366a825f0d9c83a8a2f4ba82c86c666e0ab6fecf3a
      transactions       1
      coinbase           paid, 1.0875895 to 99cb7008d7d70c94f138cc366a825f0d9c83a8a2f4ba82c86c666e0ab6fecf3a
      "
    `);
    expect(await shown(['payload', at, payload])).toMatchInlineSnapshot(`
      "0
      payload hash       SNXpFIRIZfOqu67toYz3GxySWC671Trq-BRBmwrz8yI
      transactions hash  pP2_anqwlT4hoHlvIRQ4_KjiFNJXu9RpZpN2rKXJ_Ks
      outputs hash       YiwDgDgZt_GLi-OIwpllCOcUp0dCH9HKJSVdAM8UIeo
      miner              99cb7008d7d70c94f138cc366a825f0d9c83a8a2f4ba82c86c666e0ab6fecf3a
      transactions       1
      "
    `);
    expect(await shown(['block', at], [[/\/block/, page([])]])).toMatchInlineSnapshot(`
      "0

      There are no blocks in this range.
      "
    `);
    expect(await shown(['block', at, '--verify'], [[/\/block/, page([])]])).toMatchInlineSnapshot(`
      "0

      There are no blocks in this range.
      "
    `);
    expect(await shown(['hash', at, '--limit', '1'])).toBe(
      `0\n${hashes[0]}\nThere are more hashes: --limit says how many are printed.\n`,
    );
    const one = page([JSON.stringify(hashes[0])]);
    expect(await shown(['hash', at, '--limit', '1'], [[/\/hash/, one]])).toBe(`0\n${hashes[0]}\n`);
  });

  it('what it has told a node, or why it does not', async () => {
    const lines = [];
    const where = ['put-peer', '10.1.2.3:1789'];
    for (const args of [
      ['put-cut', file('good-cut.json', { ...cut, origin: peer })],
      [...where, '--id', id],
      [...where, '--chain', '3'],
      ['put-cut', file('no-origin.json', { ...cut, origin: null })],
      ['put-cut', file('broken-cut.json', '{')],
      ['put-cut', join(cacheHome, 'none')],
      ['put-peer', '10.1.2.3'],
      ['put-peer', '10.1.2.3:1789x'],
      ['put-peer', '10.1.2.3:0'],
      [...where, '--id', 'short'],
      ['payload', '0', `${'A'.repeat(42)}B`],
    ])
      lines.push(await shown(args));
    expect(lines.join('---\n')).toMatchInlineSnapshot(`
      "0

      Warning: the node will try to take this cut for the state of the ledger, and will fetch its blocks from the origin that the cut names.
      The node has taken the cut to look at it. That does not say that it has accepted it.
      ---
      0

      Warning: the node will pass this peer on to its network, which will then connect to it.
      The node has reached the peer, and added it.
      ---
      0

      Warning: the node will pass this peer on to its network, which will then connect to it.
      The node has reached the peer, and added it.
      ---
      2

      error: The cut must name its origin, the node that has its blocks: "origin": {"id": …, "address": …}.
      ---
      2

      error: FOLDER/broken-cut.json is not a cut: This is not JSON: the end cannot be at position 1.
      ---
      2

      error: FOLDER/none is not a cut: ENOENT: no such file or directory, open 'FOLDER/none'.
      ---
      2

      error: "10.1.2.3" is not an address: write it like 203.0.113.7:1789.
      ---
      2

      error: "10.1.2.3:1789x" is not an address: write it like 203.0.113.7:1789.
      ---
      2

      error: 10.1.2.3:0 is not a peer: peer.address.port: must not be 0.
      ---
      2

      error: 10.1.2.3:1789 is not a peer: peer.id: must be 43 characters of base64url.
      ---
      2

      error: command-argument value 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB' is invalid for argument 'hash'. Give 43 characters of base64url.
      (run with --help for the options)
      "
    `);
  });
});

describe('pickaxe nodes prints', () => {
  it('the facts of each node, and null for what nobody knows', async () => {
    const [old, late] = [await startNode({ chains: 4, firstBlockAgeMs: 7_300_000 }), await startNode({ chains: 4 })];
    for (let i = 0; i < 8; i++) for (const chain of [0, 1, 2, 3]) late.node.ledger.advance(chain);
    const shownOf = async (...args: string[]) => {
      const { code, stdout } = await pickaxe('nodes', '--node', old.url, '--node', late.url, ...args);
      return `${code}\n${stdout.replaceAll(old.url, 'OLD').replaceAll(late.url, 'LATE')}`;
    };
    expect((await shownOf()).replace(/\d+(?= s old)/g, 'AGE')).toMatchInlineSnapshot(`
      "0
      fault    OLD: cut height 20000000, 8 behind, newest block AGE s old, software 2.24.1
               is 8 blocks behind on each chain
               stands still: no chain has grown for 2 hours
      ok       LATE: cut height 20000032, newest block AGE s old, software 2.24.1"
    `);
    const report = await shownOf('--json', '--node', 'http://127.0.0.1:9', ...MINER);
    const known = { network: 'development', software: '2.24.1', clockAheadSeconds: expect.closeTo(0, -1) };
    const problems = ['is 8 blocks behind on each chain', 'stands still: no chain has grown for 2 hours'];
    const unknown = { network: null, software: null, cutHeight: null, blocksBehind: null, givesWork: null };
    const dead = {
      ...{ name: 'http://127.0.0.1:9', state: 'fault', newestBlockAgeSeconds: null, clockAheadSeconds: null },
      problems: [{ state: 'fault', what: expect.stringMatching(/^does not answer: cannot reach /) }],
    };
    expect(JSON.parse(report.slice(2))).toEqual({
      network: 'development',
      nodes: [
        {
          ...{ ...known, name: 'OLD', state: 'fault', cutHeight: 20_000_000, blocksBehind: 8, givesWork: true },
          newestBlockAgeSeconds: expect.closeTo(7_300, -3),
          problems: problems.map((what) => ({ state: 'fault', what })),
        },
        {
          ...{ ...known, name: 'LATE', state: 'ok', cutHeight: 20_000_032, blocksBehind: 0, givesWork: true },
          newestBlockAgeSeconds: expect.closeTo(0, -3),
          problems: [],
        },
        { ...unknown, ...dead },
      ],
    });
  });

  it('no age below zero, where the newest block is of the future', async () => {
    const clock = { ...systemClock, nowUs: () => systemClock.nowUs() + 600_000_000n };
    const node = new MockNode({ dialect: 'chainweb', chains: 1, difficulty: 1 }, { clock });
    onTestFinished(() => node.close());
    const { url } = await node.start();
    node.ledger.advance(0);
    const { stdout } = await pickaxe('nodes', '--node', url, '--json');
    expect(JSON.parse(stdout).nodes[0].newestBlockAgeSeconds).toBe(0);
  });
});
