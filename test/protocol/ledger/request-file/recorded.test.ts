/** Request files and unsigned commands with a typo: what is read, or what is said of them. */

import { describe, it } from 'vitest';
import { requestKeyOfCmd } from '#pickaxe/protocol/ledger/command/command.js';
import { JsonNumber } from '#pickaxe/protocol/ledger/json.js';
import { parseRequest, type RequestKind } from '#pickaxe/protocol/ledger/request-file/request-file.js';
import { parseUnsignedForm } from '#pickaxe/protocol/ledger/request-file/unsigned-form.js';
import { RequestFileError } from '#pickaxe/protocol/ledger/request-file/yaml.js';
import { type Recorded, recordIn } from '../../../recorded.ts';
import { typosIn } from '../../../variants.ts';
import { ALICE, BOB } from '../command-vectors.ts';

const TYPOS = 100;
const LOADED: Readonly<Record<string, string>> = {
  'code.pact': '(+ 1 1)\n',
  'data.json': '{"a": 1.50, "b": [true, null]}',
};
const load = (path: string) => {
  if (Object.hasOwn(LOADED, path)) return LOADED[path];
  throw new Error(`${path} cannot be read: there is no such file.`);
};

const META = `publicMeta:
  chainId: "0"
  sender: k:${ALICE.public}
  gasLimit: 1000
  gasPrice: 0.0000010
  ttl: 7200
  creationTime: 1700000000
networkId: testnet04
nonce: "2026-01-01"
`;
const FILES: Readonly<Record<string, readonly [text: string, ...kinds: RequestKind[]]>> = {
  'a call that is signed': [
    `# A payment.
code: |-
  (coin.transfer "a" "b" 1.0)
data: { who: &a [1, 2.50, yes, ~, 0x1F], again: *a, text: 'it''s' }
keyPairs:
  - public: ${ALICE.public}
    secret: ${ALICE.secret}
    caps:
      - name: coin.TRANSFER
        args: [ "a", "b", 1.0 ]
      - { name: coin.GAS, args: [] }
${META}`,
    'signed',
  ],
  'a call that is not signed': [
    `codeFile: code.pact
dataFile: data.json
signers:
  - public: ${ALICE.public}
    scheme: ED25519
    caps: [ { name: "coin.GAS", args: [] } ]
  - public: ${BOB.public}
${META}type: exec
`,
    'unsigned',
  ],
  'a continuation': [
    `type: cont
pactTxHash: TNgO7o8nSZILVCfJPcg5IjHADy-XKvQ7o5RfAieJvwY
step: 1
rollback: false
proof: null
data: {}
keyPairs: [ { public: ${ALICE.public}, secret: ${ALICE.secret} } ]
${META}`,
    'signed',
  ],
};
const CMD = '{"networkId":"testnet04"}';
const SIGNATURES = `"sigs": { "${ALICE.public}": null, "${BOB.public}": "${'0'.repeat(128)}" }`;
const FORM = `{ "cmd": ${JSON.stringify(CMD)}, "hash": "${requestKeyOfCmd(CMD)}",\n  ${SIGNATURES} }\n`;

function outcomeOf(input: string, read: (text: string) => unknown): Recorded {
  const plain = (_: string, value: unknown) => {
    if (value instanceof JsonNumber) return `number ${value.text}`;
    return typeof value === 'bigint' ? `${value}n` : value instanceof Map ? [...value] : value;
  };
  try {
    return { input, outcome: JSON.stringify(read(input), plain) };
  } catch (fault) {
    if (!(fault instanceof RequestFileError)) throw fault;
    return { input, outcome: fault.message };
  }
}

const expectRecorded = recordIn(new URL('recorded.json', import.meta.url));

describe('with typos, the recorded outcome has', () => {
  const requests = Object.entries(FILES).flatMap(([name, [text, ...kinds]]) =>
    kinds.map((kind) => ({ name, text, kind })),
  );
  it.each(requests)('$name, as a $kind command', ({ name, text, kind }) => {
    const read = (each: string) => parseRequest(each, { file: 'r.yaml', kind, load });
    expectRecorded(
      `${name}, ${kind}`,
      [text, ...typosIn(text, TYPOS)].map((each) => outcomeOf(each, read)),
    );
  });

  it('an unsigned command', () => {
    const read = (each: string) => parseUnsignedForm(each, 'f.yaml');
    expectRecorded(
      'form',
      [FORM, ...typosIn(FORM, TYPOS)].map((each) => outcomeOf(each, read)),
    );
  });
});
