/** The commands of `pickaxe tx` that ask a node, with a server that answers by each test's script. */

import { afterAll, describe, expect, it, test } from 'vitest';
import type { NodesInTurn } from '#pickaxe/app/nodes/nodes-in-turn.js';
import { UsageError } from '#pickaxe/app/process/exit.js';
import type { Prove } from '#pickaxe/cli/coins/tx/outcomes.js';
import { runTxLocal, runTxPoll, runTxSpv } from '#pickaxe/cli/coins/tx/poll.js';
import { ShownResults } from '#pickaxe/cli/coins/tx/results.js';
import { runTxPrivate, runTxSend } from '#pickaxe/cli/coins/tx/send.js';
import { onNodes } from '#pickaxe/cli/ledger/on-nodes.js';
import { cmdOf } from '#pickaxe/protocol/ledger/command/build.js';
import { commandJson, requestKeyOfCmd, sendJson } from '#pickaxe/protocol/ledger/command/command.js';
import { stringifyExactJson } from '#pickaxe/protocol/ledger/json.js';
import { parseRequest, signedCommand, unsignedForm } from '#pickaxe/protocol/ledger/request-file/request-file.js';
import { formatUnsignedForm } from '#pickaxe/protocol/ledger/request-file/unsigned-form.js';
import { RequestFileError } from '#pickaxe/protocol/ledger/request-file/yaml.js';
import { Folder } from '../../../app/config/folder.ts';
import { secondAddress } from '../../../node/client/second-address.ts';
import { type Behaviour, QUICK, type Seen, serve } from '../../../node/client/server.ts';
import { ALICE, results } from '../../../protocol/ledger/command-vectors.ts';
import { proofs } from '../../../protocol/ledger/vectors.ts';
import { type Pretended, pretendedIo } from '../../pretended-io.ts';

const folder = new Folder();
afterAll(() => folder.remove());

const NOW = 1_800_000_000_000;
const requestWith = (keys: string, nonce = 'one') => `code: "(+ 1 1)"
networkId: mainnet01
nonce: ${nonce}
publicMeta: {chainId: "3", sender: alice, gasLimit: 500, gasPrice: 1e-8, ttl: 600, creationTime: ${NOW / 1000 - 15}}
${keys}
    caps: [{name: coin.GAS, args: []}]
`;
const load = () => '';
const signed = (nonce?: string) => {
  const text = requestWith(`keyPairs:\n  - public: ${ALICE.public}\n    secret: ${ALICE.secret}`, nonce);
  return signedCommand(parseRequest(text, { file: 'r.yaml', kind: 'signed', load }), NOW);
};
const [command, second] = [signed(), signed('two')];
const file = folder.write('command.json', sendJson([command]));
const form = unsignedForm(
  parseRequest(requestWith(`signers:\n  - public: ${ALICE.public}`), { file: 'r.yaml', kind: 'unsigned', load }),
  NOW,
);
const KEY = command.hash;

const [{ result: someResult }] = results.commandResults;
const resultOf = (reqKey: string, more: object = {}) => {
  const plain = JSON.parse(stringifyExactJson(someResult));
  return { ...plain, reqKey, result: { status: 'success', data: 'Write succeeded' }, continuation: null, ...more };
};
const refusal = (reason: string, hash = KEY): Behaviour => ({
  status: 400,
  body: `One or more transactions were invalid: Transaction ${hash} at index 0 failed with: ${reason}`,
});

type Script = Readonly<Record<string, (request: Seen, before: number) => Behaviour>>;

/** Runs a command on a server that answers each endpoint by its script. */
async function run(
  script: Script,
  ask: (nodes: NodesInTurn, io: Pretended) => Promise<number>,
  { io = pretendedIo({ now: NOW }), node = {} as object, ledger = {} as object } = {},
) {
  const counts = new Map<string, number>();
  const server = await serve((request) => {
    const endpoint = /(\w+)(?:\?.*)?$/.exec(request.path)![1];
    const before = counts.get(endpoint) ?? 0;
    counts.set(endpoint, before + 1);
    return script[endpoint]?.(request, before) ?? { status: 404 };
  });
  const nodes = { urls: [`${server.url}/chainweb/0.0/mainnet01`], insecureTls: false, ...node };
  const settings = { node: nodes, ledger: { dialect: 'auto' as const, ...ledger } };
  const code = await onNodes(settings, io, (nodes) => ask(nodes, io), QUICK);
  return { code, io, seen: server.seen, stdout: io.stdout, stderr: io.stderr };
}

/** Time passes with each question. */
function hurryingIo(stepMs: number): Pretended {
  const io = pretendedIo();
  let now = NOW;
  io.now = () => {
    now += stepMs;
    return now;
  };
  return io;
}

/** The server has no blocks, so its claims are trusted here; outcomes.test.ts is about proofs. */
const prove: Prove = async ({ results }) => [...results];
const WAIT = { chain: null, timeoutMs: 600_000, pauseMs: 1, once: false, json: false, prove };
const LOCAL = { chain: null, preflight: false, signatureVerification: true, json: false };
const SEND = { chain: null, yes: false, json: false, prove };

describe('local', () => {
  it('prints what a command comes to, and a node’s warnings', async () => {
    const script: Script = {
      local: () => ({ body: { preflightResult: resultOf(KEY, { gas: 42 }), preflightWarnings: ['old words'] } }),
    };
    const { code, seen, stdout, stderr } = await run(script, (nodes, io) =>
      runTxLocal(file, { ...LOCAL, preflight: true, rewindDepth: 4 }, nodes, io),
    );
    expect(code).toBe(0);
    expect(seen[0].path).toBe('/chainweb/0.0/mainnet01/chain/3/pact/api/v1/local?preflight=true&rewindDepth=4');
    expect(seen[0].body).toBe(commandJson(command));
    expect(stdout).toMatch(/^result +success\ndata +"Write succeeded"\ngas +42 units$/m);
    expect(stderr).toContain('warning: old words');
  });

  it('exits with 1 for a run that fails', async () => {
    const failure = { status: 'failure', error: { message: 'Insufficient funds', type: 'TxFailure' } };
    const script: Script = { local: () => ({ body: resultOf(KEY, { result: failure }) }) };
    const { code, stdout } = await run(script, (nodes, io) => runTxLocal(file, { ...LOCAL, json: true }, nodes, io));
    expect(code).toBe(1);
    const { chain, results } = ShownResults.parse(JSON.parse(stdout));
    expect([chain, results]).toEqual([
      3,
      [expect.objectContaining({ status: 'failure', error: 'Insufficient funds' })],
    ]);
  });

  it('runs a form before it is signed, without verification of signatures', async () => {
    const script: Script = { local: () => ({ body: resultOf(form.hash) }) };
    const unsigned = folder.write('form.yaml', formatUnsignedForm(form));
    const { code, seen } = await run(script, (nodes, io) =>
      runTxLocal(unsigned, { ...LOCAL, signatureVerification: false }, nodes, io),
    );
    expect(code).toBe(0);
    expect(seen[0].path).toMatch(/local\?preflight=false&signatureVerification=false$/);
    expect(JSON.parse(seen[0].body)).toEqual({ cmd: form.cmd, hash: form.hash, sigs: [{ sig: 'noSig' }] });
    await expect(run(script, (nodes, io) => runTxLocal(unsigned, LOCAL, nodes, io))).rejects.toThrow(
      'lacks signatures: pickaxe tx show says which',
    );
    const again: Script = { local: () => ({ body: resultOf(KEY) }) };
    const unverified = { ...LOCAL, signatureVerification: false };
    const whole = await run(again, (nodes, io) => runTxLocal(file, unverified, nodes, io));
    expect(whole.seen[0].body).toBe(commandJson(command));
  });
});

describe('send', () => {
  it('shows the command, sends its very bytes, and says what to do next', async () => {
    const script: Script = { send: () => ({ body: { requestKeys: [KEY] } }), poll: () => ({ body: {} }) };
    const { code, seen, stdout, stderr, io } = await run(script, (nodes, io) => runTxSend(file, SEND, nodes, io));
    expect(code).toBe(0);
    expect(seen[0].body).toBe(sendJson([command]));
    expect(seen.map(({ path }) => /\w+$/.exec(path)![0])).toEqual(['send', 'poll']);
    expect(stdout).toBe(`command    ${KEY}\nresult     none yet\n`);
    expect(stderr).toContain(`cmd        ${command.cmd}`);
    expect(stderr).toContain(`Sent. See what becomes of it: pickaxe tx poll ${file}`);
    expect(io.questions).toEqual(['Send this?']);
  });

  it('sends nothing when a person says no', async () => {
    const io = pretendedIo({ now: NOW });
    io.answer = false;
    const { code, seen } = await run({}, (nodes, io) => runTxSend(file, SEND, nodes, io), { io });
    expect([code, seen, io.stderr]).toEqual([1, [], expect.stringContaining('Nothing was sent.')]);
  });

  it('takes a command that is on the chain already for sent, and prints its result', async () => {
    const script: Script = {
      send: () => refusal('Transaction already exists on chain'),
      poll: () => ({ body: { [KEY]: resultOf(KEY) } }),
    };
    const { code, stdout } = await run(script, (nodes, io) => runTxSend(file, { ...SEND, json: true }, nodes, io));
    expect(code).toBe(0);
    expect(ShownResults.parse(JSON.parse(stdout)).results).toMatchObject([{ requestKey: KEY, status: 'success' }]);
  });

  it('leaves out of a batch what is on the chain already', async () => {
    const both = folder.write('both.json', sendJson([command, second]));
    const script: Script = {
      send: (_, before) =>
        before === 0 ? refusal('Transaction already exists on chain') : { body: { requestKeys: [second.hash] } },
      poll: () => ({ body: { [KEY]: resultOf(KEY) } }),
    };
    const { code, seen, stdout } = await run(script, (nodes, io) => runTxSend(both, SEND, nodes, io));
    expect(code).toBe(0);
    expect(seen.slice(0, 2).map(({ body }) => body)).toEqual([sendJson([command, second]), sendJson([second])]);
    expect(stdout).toMatch(new RegExp(`${KEY}\nresult +success[^]*${second.hash}\nresult +none yet`));
  });

  it('after a lost answer sends the same bytes again', async () => {
    const script: Script = {
      send: (_, before) => (before === 0 ? 'break' : refusal('Transaction already exists on chain')),
      poll: () => ({ body: {} }),
    };
    const { code, seen } = await run(script, (nodes, io) => runTxSend(file, SEND, nodes, io));
    expect(code).toBe(0);
    expect(seen[1].body).toBe(seen[0].body);
  });

  it.each([
    ['Transaction time-to-live is expired', 'Build the command again'],
    ['Attempt to buy gas failed with: no coins', 'enough coins'],
  ])('says what to do when it is refused: %s', async (reason, message) => {
    const { code, stdout, stderr } = await run({ send: () => refusal(reason) }, (nodes, io) =>
      runTxSend(file, SEND, nodes, io),
    );
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(reason);
    expect(stderr).toContain(message);
  });

  it('says that it may have been taken when it is stopped while it is sent', async () => {
    const stop = new AbortController();
    const io = pretendedIo({ now: NOW, stop: stop.signal });
    const script: Script = {
      send: () => {
        stop.abort();
        return 'silence';
      },
    };
    const { code, stderr } = await run(script, (nodes, io) => runTxSend(file, SEND, nodes, io), { io });
    expect([code, stderr]).toEqual([
      130,
      expect.stringContaining('The node may have taken it all the same. Send the same file again: that does no harm.'),
    ]);
  });

  it('sends nothing that is wrong, incomplete, for several chains, or for another network', async () => {
    const elsewhere = signed('three');
    const cmd = cmdOf(
      JSON.parse(
        '{"networkId":"mainnet01","payload":{"exec":{"code":"1","data":null}},"signers":[],"nonce":"","meta":{"chainId":"4","sender":"","gasLimit":1,"gasPrice":0,"ttl":1,"creationTime":1}}',
        (key, value) => (key === 'gasPrice' ? 0n : value),
      ),
    );
    const onFour = { cmd, hash: requestKeyOfCmd(cmd), sigs: [] };
    const [signature] = command.sigs;
    for (const [name, text, message] of [
      ['wrong.json', sendJson([{ ...elsewhere, sigs: [signature] }]), 'does not sign the hash'],
      ['form.yaml', formatUnsignedForm(form), 'lacks signatures'],
      [
        'condensed.yaml',
        formatUnsignedForm({ ...form, cmd: null }),
        'is condensed: put it together with the whole form',
      ],
      ['two.json', sendJson([command, onFour]), 'several chains or networks'],
    ]) {
      const sent = run({}, (nodes, io) => runTxSend(folder.write(name, text), SEND, nodes, io));
      await expect(sent, name).rejects.toThrow(message);
    }
    const asked = run({}, (nodes, io) => runTxSend(file, { ...SEND, chain: 4 }, nodes, io));
    await expect(asked).rejects.toThrow('is for chain 3, not for chain 4');
    const node = { urls: ['http://127.0.0.1:9'], network: 'testnet04' };
    const other = run({}, (nodes, io) => runTxSend(file, SEND, nodes, io), { node });
    await expect(other).rejects.toThrow('is for the network mainnet01, but http://127.0.0.1:9 is asked for testnet04');
  });
});

describe('poll', () => {
  it('waits for a block, and for as many above it as are asked for, and says so', async () => {
    const script: Script = {
      poll: ({ path }, before) => {
        const isDeep = path.endsWith('confirmationDepth=3');
        const there = isDeep ? before >= 4 : before >= 3;
        return { body: there ? { [KEY]: resultOf(KEY) } : {} };
      },
    };
    const { code, stderr, stdout } = await run(script, (nodes, io) =>
      runTxPoll(file, { ...WAIT, confirmationDepth: 3 }, nodes, io),
    );
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^Waiting for a block with the command\.\nIn a block.*\. Waiting for 3 blocks above it\.\n$/,
    );
    expect(stdout).toMatch(/^result +success$/m);
  });

  it('gives up in time, with an exit code of its own', async () => {
    const options = { ...WAIT, chain: 7, confirmationDepth: 0, json: true };
    const script: Script = { poll: () => ({ body: {} }) };
    const { code, stdout, stderr, seen } = await run(script, (nodes, io) => runTxPoll(KEY, options, nodes, io), {
      io: hurryingIo(200_000),
    });
    expect(code).toBe(4);
    expect(seen[0].path).toContain('/chain/7/');
    expect(ShownResults.parse(JSON.parse(stdout)).results).toMatchObject([{ requestKey: KEY, status: 'pending' }]);
    expect(stderr).toContain('There is no result after 10 min');
    const once = await run(script, (nodes, io) => runTxPoll(KEY, { ...options, once: true }, nodes, io));
    expect([once.code, once.seen.length]).toEqual([4, 1]);
  });

  it('says that it was stopped, and not that the time is over', async () => {
    const stop = new AbortController();
    const io = pretendedIo({ now: NOW, stop: stop.signal });
    io.say = (line) => {
      io.stderr += `${line}\n`;
      stop.abort();
    };
    const options = { ...WAIT, confirmationDepth: 0, pauseMs: 60_000 };
    const between = await run({ poll: () => ({ body: {} }) }, (nodes, io) => runTxPoll(file, options, nodes, io), {
      io,
    });
    const stopped = 'Stopped waiting: there is no result yet, but it may still come. Ask again, and do not build';
    expect([between.code, between.stderr, between.stdout]).toEqual([
      4,
      expect.stringMatching(new RegExp(`^Waiting for a block with the command\\.\n${stopped} the command again\\.\n$`)),
      `command    ${KEY}\nresult     none yet\n`,
    ]);
  });

  it('says so, too, when it is stopped while a node is asked', async () => {
    const stop = new AbortController();
    const io = pretendedIo({ now: NOW, stop: stop.signal });
    const script: Script = {
      poll: () => {
        stop.abort();
        return 'silence';
      },
    };
    const options = { ...WAIT, confirmationDepth: 0, json: true };
    const { code, stdout, stderr } = await run(script, (nodes, io) => runTxPoll(file, options, nodes, io), { io });
    expect([code, stderr]).toEqual([4, expect.stringMatching(/^Stopped waiting: there is no result yet/)]);
    expect(JSON.parse(stdout).results).toMatchObject([{ requestKey: KEY, status: 'pending' }]);
  });

  it('says when a command can no longer get a result', async () => {
    const io = pretendedIo({ now: NOW + 3_600_000 });
    const script: Script = { poll: () => ({ body: {} }) };
    const { code, stdout } = await run(
      script,
      (nodes, io) => runTxPoll(file, { ...WAIT, confirmationDepth: 0 }, nodes, io),
      { io },
    );
    expect(code).toBe(1);
    expect(stdout).toContain('build the command again');
  });

  it('names the next step of a transfer to another chain', async () => {
    const continuation = {
      ...{ pactId: KEY, step: 0, stepCount: 2, stepHasRollback: false, executed: null },
      yield: { data: {}, source: '3', provenance: { targetChainId: '5', moduleHash: KEY } },
      continuation: { def: 'coin.transfer-crosschain', args: [] },
    };
    const script: Script = { poll: () => ({ body: { [KEY]: resultOf(KEY, { continuation }) } }) };
    const { stdout } = await run(script, (nodes, io) => runTxPoll(file, { ...WAIT, confirmationDepth: 0 }, nodes, io));
    expect(stdout).toContain(`pickaxe tx spv ${KEY} --chain 3 --target-chain 5`);
  });

  it('needs a chain for a request key', async () => {
    await expect(run({}, (nodes, io) => runTxPoll(KEY, { ...WAIT, confirmationDepth: 0 }, nodes, io))).rejects.toThrow(
      UsageError,
    );
  });
});

describe('private', () => {
  it('sends one command once', async () => {
    const script: Script = { private: () => ({ body: { requestKeys: [KEY] } }) };
    const { code, stdout, seen } = await run(script, (nodes, io) =>
      runTxPrivate(file, { chain: null, json: false }, nodes, io),
    );
    expect([code, stdout, seen.length]).toEqual([0, `${KEY}\n`, 1]);
  });

  it('says that it may have been taken when the answer is lost', async () => {
    const { code, stderr, seen } = await run({ private: () => 'break' }, (nodes, io) =>
      runTxPrivate(file, { chain: null, json: false }, nodes, io),
    );
    expect([code, seen.length]).toEqual([1, 1]);
    expect(stderr).toContain('The node may have taken it all the same. Look for it before you send it again');
  });
});

describe('spv', () => {
  const [{ proof }] = proofs;
  const { chain: target } = JSON.parse(Buffer.from(proof, 'base64url').toString());
  const options = { ...WAIT, chain: 3, targetChain: target };
  const soon: Behaviour = {
    status: 400,
    body: 'SPV target not reachable: target chain not reachable. Chain instance too young',
  };

  it('waits until there is a proof, and prints it', async () => {
    const script: Script = { spv: (_, before) => (before < 2 ? soon : { body: JSON.stringify(proof) }) };
    const { code, stdout, stderr, seen } = await run(script, (nodes, io) => runTxSpv(KEY, options, nodes, io));
    expect([code, stdout]).toEqual([0, `${proof}\n`]);
    expect(stderr.match(/Waiting for the proof/g)).toHaveLength(1);
    expect(JSON.parse(seen[0].body)).toEqual({ requestKey: KEY, targetChainId: `${target}` });
  });

  it('gives up in time, and at once when there will be none', async () => {
    const late = await run({ spv: () => soon }, (nodes, io) => runTxSpv(KEY, options, nodes, io), {
      io: hurryingIo(300_000),
    });
    expect([late.code, late.stdout, late.stderr]).toEqual([4, '', expect.stringContaining('There is no proof yet')]);
    const never = { status: 400, body: 'Transaction is not a cross-chain transfer' };
    const refused = await run({ spv: () => never }, (nodes, io) => runTxSpv(KEY, options, nodes, io));
    expect([refused.code, refused.seen.length]).toEqual([1, 1]);
  });

  it('says that it was stopped, between two questions and during one', async () => {
    for (const answer of [soon, 'silence'] as const) {
      const stop = new AbortController();
      const io = pretendedIo({ now: NOW, stop: stop.signal });
      const script: Script = {
        spv: () => {
          if (answer === 'silence') stop.abort();
          else setTimeout(() => stop.abort());
          return answer;
        },
      };
      const waiting = { ...options, pauseMs: 60_000 };
      const { code, stderr } = await run(script, (nodes, io) => runTxSpv(KEY, waiting, nodes, io), { io });
      expect([code, stderr]).toEqual([4, expect.stringContaining('Stopped waiting: there is no proof yet.')]);
    }
  });

  it('refuses a proof for another chain', async () => {
    const other = { ...options, targetChain: target + 1, chain: target };
    await expect(
      run({ spv: () => ({ body: JSON.stringify(proof) }) }, (nodes, io) => runTxSpv(KEY, other, nodes, io)),
    ).rejects.toThrow(`is for chain ${target}, not for chain ${target + 1}`);
  });
});

describe('the nodes', () => {
  it('are asked in their order, the next one when one cannot be reached', async () => {
    const server = await serve(() => ({ body: { [KEY]: resultOf(KEY) } }));
    const io = pretendedIo({ now: NOW });
    const node = { urls: ['http://127.0.0.1:9', server.url], network: 'mainnet01', insecureTls: false };
    const settings = { node, ledger: { dialect: 'auto' as const } };
    const ask = (nodes: NodesInTurn) => runTxPoll(file, { ...WAIT, confirmationDepth: 0 }, nodes, io);
    expect(await onNodes(settings, io, ask, QUICK)).toBe(0);
    expect(io.stderr).toMatch(/^warning: .*127\.0\.0\.1:9.* The next node is asked\.$/m);
    expect(await onNodes({ ...settings, node: { ...node, urls: ['http://127.0.0.1:9'] } }, io, ask, QUICK)).toBe(1);
  });

  it('go on waiting in place of one that goes away', async () => {
    const io = pretendedIo({ now: NOW });
    const last = await serve(() => ({ body: { [KEY]: resultOf(KEY) } }));
    const first = await secondAddress((await serve(() => ({ body: {} }))).url);
    const node = { urls: [first.url, last.url], network: 'mainnet01', insecureTls: false };
    const say = io.say;
    io.say = (line) => {
      say(line);
      if (line.startsWith('Waiting')) leaving = first.goAway();
    };
    let leaving: Promise<void> | undefined;
    const ask = (nodes: NodesInTurn) => runTxPoll(file, { ...WAIT, confirmationDepth: 0 }, nodes, io);
    expect(await onNodes({ node, ledger: { dialect: 'auto' } }, io, ask, QUICK)).toBe(0);
    await leaving;
    expect(io.stderr).toMatch(/^Waiting for a block with the command\.\nwarning: .* The next node is asked\.\n$/);
  });

  it('of another network are not sent anything', async () => {
    const [right, wrong] = [await serve(() => ({ body: { requestKeys: [KEY] } })), await serve(() => undefined)];
    const io = pretendedIo({ now: NOW });
    const urls = [`${wrong.url}/chainweb/0.0/testnet04`, `${right.url}/chainweb/0.0/mainnet01`];
    const send = (nodes: NodesInTurn) => runTxSend(file, SEND, nodes, io);
    await onNodes({ node: { urls, insecureTls: false }, ledger: { dialect: 'auto' } }, io, send, QUICK);
    expect([wrong.seen, right.seen[0].body]).toEqual([[], sendJson([command])]);
    expect(io.stderr).toContain('is for the network mainnet01, but');
  });

  it('must be named', async () => {
    const settings = { node: { insecureTls: false }, ledger: { dialect: 'auto' as const } };
    await expect(onNodes(settings, pretendedIo(), async () => 0)).rejects.toThrow('No node is configured');
  });

  it('may have another path of commands, or be a server without chains', async () => {
    const ledger = { commandPath: '/api/v1' };
    const script: Script = { poll: () => ({ body: { status: 'success', response: { [KEY]: resultOf(KEY) } } }) };
    const { code, seen } = await run(
      script,
      (nodes, io) => runTxPoll(file, { ...WAIT, confirmationDepth: 0 }, nodes, io),
      { ledger },
    );
    expect([code, seen[0].path]).toEqual([0, '/api/v1/poll']);
  });
});

test('a file without commands is refused before anything is asked', async () => {
  const empty = folder.write('empty.json', '{"cmds":[]}');
  const sent = run({}, (nodes, io) => runTxSend(empty, SEND, nodes, io));
  await expect(sent).rejects.toThrow(RequestFileError);
});
