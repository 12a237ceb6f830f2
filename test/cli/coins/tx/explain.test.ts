/** What `tx show` says about commands, to the last character, at the limits of each warning. */

import { describe, expect, it } from 'vitest';
import { explain } from '#pickaxe/cli/coins/tx/explain.js';
import { explainedLines } from '#pickaxe/cli/coins/tx/show.js';
import { requestKeyOfCmd } from '#pickaxe/protocol/ledger/command/command.js';

const NOW = 1_800_000_000_000;
const S = NOW / 1000;
const [KEY, OTHER] = ['a1'.repeat(32), 'b2'.repeat(32)];
const META = { chainId: '3', sender: 'alice', gasLimit: 500, gasPrice: 1e-8, ttl: 600, creationTime: S - 15 };
const GAS = { name: 'coin.GAS', args: [] };
const RUNS = { exec: { code: '(+ 1 1)', data: null } };
const CONTINUES = { cont: { pactId: 'P'.repeat(43), step: 1, rollback: false, proof: null, data: {} } };
const signer = (...clist: object[]) => ({ pubKey: KEY, clist });
const cap = (name: string, ...args: unknown[]) => ({ name, args });

function explained(changes: object = {}, sigs: (string | null)[] = [null], now = NOW) {
  const signers = [signer(GAS)];
  const cmd = JSON.stringify({ networkId: 'mainnet01', payload: RUNS, signers, meta: META, nonce: 'n', ...changes });
  const command = { cmd, hash: requestKeyOfCmd(cmd), sigs };
  return explain({ kind: 'command', file: 'c.json', command } as never, now);
}

/** @returns the lines for people, without the command's hash */
const lines = (changes: object, sigs?: (string | null)[]) =>
  explainedLines(explained(changes, sigs), NOW).slice(1).join('\n');
const meta = (changes: object) => ({ meta: { ...META, ...changes } });
const warnings = (changes: object) => explained(changes).warnings;

describe('the report of a command', () => {
  it('has every field', () => {
    const { hash, ...report } = explained(
      {
        signers: [signer(GAS, cap('coin.TRANSFER', 'alice', 'bob', 1.5)), { pubKey: OTHER }],
        payload: { exec: { code: '(coin.transfer "alice" "bob" 1.5)', data: { a: 1 } } },
      },
      [null, null],
    );
    expect(hash).toMatch(/^[\w-]{43}$/);
    expect(report).toMatchInlineSnapshot(`
      {
        "content": {
          "continues": null,
          "meta": {
            "chain": "3",
            "createdMillis": 1799999985000,
            "endsMillis": 1800000585000,
            "gasLimit": 500,
            "gasPayer": "alice",
            "gasPrice": "0.00000001",
            "isOver": false,
            "mostGasCost": "0.000005",
          },
          "network": "mainnet01",
          "nonce": "n",
          "runs": {
            "code": "(coin.transfer "alice" "bob" 1.5)",
            "data": {
              "a": 1,
            },
          },
        },
        "file": "c.json",
        "reason": "The signature of a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1 is missing.",
        "signers": [
          {
            "capabilities": [
              {
                "amount": null,
                "arguments": [],
                "name": "coin.GAS",
              },
              {
                "amount": "1.5",
                "arguments": [
                  "alice",
                  "bob",
                  1.5,
                ],
                "name": "coin.TRANSFER",
              },
            ],
            "isSigned": false,
            "publicKey": "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1",
            "signsForEverything": false,
          },
          {
            "capabilities": [],
            "isSigned": false,
            "publicKey": "b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2",
            "signsForEverything": true,
          },
        ],
        "verdict": "signatures-missing",
        "warnings": [
          "b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2 signs for everything that the code does: name capabilities (caps) for this key.",
        ],
      }
    `);
  });

  it('has those of one that continues another', () => {
    const { content, signers } = explained({ payload: CONTINUES, signers: [], meta: {} });
    expect({ content, signers }).toMatchInlineSnapshot(`
      {
        "content": {
          "continues": {
            "data": {},
            "hasProof": false,
            "requestKey": "PPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPP",
            "rollsBack": false,
            "step": 1,
          },
          "meta": null,
          "network": "mainnet01",
          "nonce": "n",
          "runs": null,
        },
        "signers": [],
      }
    `);
  });

  it.each([
    [cap('coin.TRANSFER', 'a', 'b', 2), '2.0'],
    [cap('coin.TRANSFER', 'a', 'b', { decimal: '0.5' }), '0.5'],
    [cap('coin.TRANSFER', 'a', 'b', { int: 3 }), '3.0'],
    [cap('coin.TRANSFER_XCHAIN', 'a', 'b', 2, '7'), '2.0'],
    [cap('coin.TRANSFER', 'a', 'b'), null],
    [cap('coin.TRANSFER', 'a', 'b', 2, '7'), null],
    [cap('coin.TRANSFER_XCHAIN', 'a', 'b', 2), null],
    [cap('coin.TRANSFER', 1, 'b', 2), null],
    [cap('coin.TRANSFER', 'a', 1, 2), null],
    [cap('coin.TRANSFER', 'a', 'b', 'two'), null],
    [cap('coin.TRANSFERS', 'a', 'b', 2), null],
    [cap('coin.DEBIT', 'a', 'b', 2), null],
  ])('names the amount of a transfer alone: %j', (capability, amount) => {
    expect(explained({ signers: [signer(capability)] }).signers[0].capabilities[0].amount).toBe(amount);
  });
});

describe('the lines about a command', () => {
  const CASES: [string, object][] = [
    ['runs code', {}],
    [
      'pays',
      {
        signers: [
          signer(
            GAS,
            cap('coin.TRANSFER', 'alice', 'bob', 1.5),
            cap('coin.TRANSFER_XCHAIN', 'alice', 'bob', 2, '7'),
            cap('free.GAS', 1),
            cap('free.DO', 'x', { a: 1 }),
          ),
          { pubKey: OTHER },
        ],
        payload: { exec: { code: '(one)\n(two)', data: { a: [1] } } },
      },
    ],
    ['continues another', { payload: CONTINUES, networkId: null, ...meta({ sender: '' }) }],
    [
      'rolls another back',
      {
        payload: { cont: { ...CONTINUES.cont, rollback: true, proof: 'x', data: { a: 1 } } },
        ...meta({ chainId: '' }),
      },
    ],
    ['is over this very second', meta({ ttl: 15 })],
    ['has a second left', meta({ ttl: 16 })],
    ['has no metadata', { meta: {} }],
    ['ends after all times', meta({ creationTime: 9e12, ttl: 86400 })],
  ];

  it('say all that it does', () => {
    const text = CASES.map(([what, changes]) => `# ${what}\n${lines(changes)}`).join('\n\n');
    expect(text.replaceAll(KEY, 'KEY').replaceAll(OTHER, 'OTHER')).toMatchInlineSnapshot(`
      "# runs code
      state      1 signature is missing; all else is right
      network    mainnet01, chain 3
      runs       (+ 1 1)
      gas        at most 0.000005, paid by alice (500 units at 0.00000001)
      valid      from 2027-01-15 07:59:45 UTC to 2027-01-15 08:09:45 UTC (9 min 45 s left)
      signer     KEY has NOT signed
                   pays for gas (coin.GAS)

      # pays
      state      2 signatures are missing; all else is right
      network    mainnet01, chain 3
      runs       (one)
                 (two)
      data       {"a":[1]}
      gas        at most 0.000005, paid by alice (500 units at 0.00000001)
      valid      from 2027-01-15 07:59:45 UTC to 2027-01-15 08:09:45 UTC (9 min 45 s left)
      signer     KEY has NOT signed
                   pays for gas (coin.GAS)
                   pays at most 1.5 from alice to bob (coin.TRANSFER)
                   pays at most 2.0 from alice to bob on chain 7 (coin.TRANSFER_XCHAIN)
                   (free.GAS 1)
                   (free.DO "x" {"a":1})
      signer     OTHER has NOT signed, for EVERYTHING that the command does
      warning    OTHER signs for everything that the code does: name capabilities (caps) for this key.

      # continues another
      state      1 signature is missing; all else is right
      network    none, chain 3
      continues  runs step 1 of PPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPP
      gas        at most 0.000005, paid by nobody (500 units at 0.00000001)
      valid      from 2027-01-15 07:59:45 UTC to 2027-01-15 08:09:45 UTC (9 min 45 s left)
      signer     KEY has NOT signed
                   pays for gas (coin.GAS)
      warning    The command names no network (networkId), so nodes refuse it.
      warning    Nobody pays for gas: name an account (publicMeta.sender).

      # rolls another back
      state      1 signature is missing; all else is right
      network    mainnet01
      continues  rolls back step 1 of PPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPP, with a proof
      data       {"a":1}
      gas        at most 0.000005, paid by alice (500 units at 0.00000001)
      valid      from 2027-01-15 07:59:45 UTC to 2027-01-15 08:09:45 UTC (9 min 45 s left)
      signer     KEY has NOT signed
                   pays for gas (coin.GAS)
      warning    The command names no chain (publicMeta.chainId), so nodes refuse it.

      # is over this very second
      state      1 signature is missing; all else is right
      network    mainnet01, chain 3
      runs       (+ 1 1)
      gas        at most 0.000005, paid by alice (500 units at 0.00000001)
      valid      from 2027-01-15 07:59:45 UTC to 2027-01-15 08:00:00 UTC (over since 0.0 s)
      signer     KEY has NOT signed
                   pays for gas (coin.GAS)
      warning    The time to live is over, so nodes refuse the command: build it again.

      # has a second left
      state      1 signature is missing; all else is right
      network    mainnet01, chain 3
      runs       (+ 1 1)
      gas        at most 0.000005, paid by alice (500 units at 0.00000001)
      valid      from 2027-01-15 07:59:45 UTC to 2027-01-15 08:00:01 UTC (1 s left)
      signer     KEY has NOT signed
                   pays for gas (coin.GAS)

      # has no metadata
      state      1 signature is missing; all else is right
      network    mainnet01
      runs       (+ 1 1)
      signer     KEY has NOT signed
                   pays for gas (coin.GAS)
      warning    The metadata are not public ones, so only /private takes them.

      # ends after all times
      state      1 signature is missing; all else is right
      network    mainnet01, chain 3
      runs       (+ 1 1)
      gas        at most 0.000005, paid by alice (500 units at 0.00000001)
      valid      from 9000000000000 s to 9000000086400 s (285000 y left)
      signer     KEY has NOT signed
                   pays for gas (coin.GAS)
      warning    The creation time is in the future, so nodes refuse the command until then: is the clock right?"
    `);
  });
});

describe('a command is warned about', () => {
  const everything = `${KEY} signs for everything that the code does: name capabilities (caps) for this key.`;
  const noGas = 'No signature allows to pay for gas: one key needs the capability GAS of the token, such as coin.GAS.';

  it('not at all if there is nothing', () => {
    expect(warnings({})).toEqual([]);
  });

  it.each<[object, string[]]>([
    [{ signers: [{ pubKey: KEY }] }, [everything]],
    [{ signers: [signer()] }, [everything]],
    [{ signers: [] }, []],
    [{ signers: [signer(cap('coin.GAS_PAYER', 'x', { int: 1 }, 1))] }, []],
    [{ signers: [signer(cap('coin.GASOLINE'))] }, [noGas]],
    [{ signers: [signer(cap('coin.OTHER')), { pubKey: OTHER, clist: [GAS] }] }, []],
    [
      { signers: [{ ...signer(GAS), scheme: 'ETH' }] },
      [`${KEY} signs with the scheme ETH, which pickaxe does not check.`],
    ],
    [{ signers: [{ ...signer(GAS), scheme: 'ED25519', addr: KEY }] }, []],
    [
      { signers: [{ ...signer(GAS), addr: OTHER }] },
      [`${KEY} has the address ${OTHER}, which is not this key, so nodes refuse the command.`],
    ],
    [{ networkId: null }, ['The command names no network (networkId), so nodes refuse it.']],
    [{ networkId: '' }, ['The command names no network (networkId), so nodes refuse it.']],
    [{ networkId: 'own' }, []],
    [{ networkId: `a${'b'.repeat(63)}` }, []],
    [{ networkId: 'mainnet1' }, ['The network mainnet1 (networkId) is not known. Did you mean mainnet01?']],
    [
      { networkId: 'main net01' },
      ['No network has a name like main net01 (networkId), so nodes refuse the command. Did you mean mainnet01?'],
    ],
    [
      { networkId: `a${'b'.repeat(64)}` },
      [`No network has a name like a${'b'.repeat(64)} (networkId), so nodes refuse the command.`],
    ],
    [meta({ chainId: '' }), ['The command names no chain (publicMeta.chainId), so nodes refuse it.']],
    [meta({ sender: '' }), ['Nobody pays for gas: name an account (publicMeta.sender).']],
    [meta({ gasLimit: 0 }), ['The gas limit is 0, so nothing can run: set publicMeta.gasLimit.']],
    [meta({ gasLimit: 1 }), []],
    [meta({ ttl: 172_800 }), []],
    [meta({ ttl: 172_801 }), ['Nodes take a time to live (publicMeta.ttl) of at most 172800 seconds.']],
    [meta({ ttl: 16 }), []],
    [meta({ ttl: 15 }), ['The time to live is over, so nodes refuse the command: build it again.']],
    [meta({ creationTime: S + 95 }), []],
    [
      meta({ creationTime: S + 96 }),
      ['The creation time is in the future, so nodes refuse the command until then: is the clock right?'],
    ],
    [{ meta: {} }, ['The metadata are not public ones, so only /private takes them.']],
    [
      meta({ chainId: '', sender: '', gasLimit: 0, creationTime: 0 }),
      ['The command has no metadata (publicMeta), so only servers without chains take it.'],
    ],
    [{ more: 1 }, ['The command has more, which pickaxe does not know, and which is signed, too: 1']],
    [
      { more: 'x'.repeat(198) },
      [`The command has more, which pickaxe does not know, and which is signed, too: "${'x'.repeat(198)}"`],
    ],
    [
      { more: 'x'.repeat(199) },
      [
        `The command has more, which pickaxe does not know, and which is signed, too: "${'x'.repeat(199)}… (201 characters)`,
      ],
    ],
    [{ signers: Array.from({ length: 100 }, () => signer(GAS)) }, []],
    [{ signers: Array.from({ length: 101 }, () => signer(GAS)) }, ['Nodes take at most 100 signatures.']],
    [
      {
        signers: [signer(GAS, cap('coin.TRANSFER', 'a', 'b', 1))],
        payload: { exec: { code: '(coin.transfer "a" "b" 1)', data: null } },
      },
      [`coin.TRANSFER of ${KEY}: the amount 1 in the code needs a point: 1.0.`],
    ],
  ])('case %#', (changes, expected) => {
    expect(warnings(changes)).toEqual(expected);
  });
});

it.each([
  [[null], 'signatures-missing', '1 signature is missing; all else is right'],
  [[], 'wrong', 'WRONG: There are 0 signatures for 1 signers.'],
  [['0'.repeat(128)], 'wrong', `WRONG: The signature of ${KEY} does not sign the hash.`],
])('case %#: of the signatures the verdict is told', (sigs, verdict, state) => {
  expect([explained({}, sigs).verdict, lines({}, sigs).split('\n')[0]]).toEqual([verdict, `state      ${state}`]);
});

it('a hash that is wrong is worse than a signature that is missing', () => {
  const { cmd } = {
    cmd: JSON.stringify({ networkId: 'mainnet01', payload: RUNS, signers: [signer(GAS)], meta: META, nonce: 'n' }),
  };
  const command = { cmd, hash: 'A'.repeat(43), sigs: [null] };
  expect(explain({ kind: 'command', file: 'c.json', command }, NOW)).toMatchObject({
    verdict: 'wrong',
    reason: 'hash is not that of cmd: one of them was changed.',
  });
});

it('a command may be created up to 95 seconds ahead, to the millisecond', () => {
  const ahead = (now: number) => explained(meta({ creationTime: S + 96 }), [null], now).warnings.length;
  expect([ahead(NOW + 999), ahead(NOW + 1_000)]).toEqual([1, 0]);
});

it('of a text that is no command, nothing is said but that', () => {
  const command = { cmd: '{}', hash: requestKeyOfCmd('{}'), sigs: [] };
  expect(explain({ kind: 'command', file: 'c.json', command }, NOW)).toEqual({
    ...{ file: 'c.json', hash: command.hash, verdict: 'wrong', signers: [], content: null, warnings: [] },
    reason: 'cmd.payload: Invalid input: expected object, received undefined.',
  });
});
