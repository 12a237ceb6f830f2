import { describe, expect, it } from 'vitest';
import { ProofRefusedError, SendRefusedError } from '#pickaxe/node/client/commands.js';
import { parseExactJson, stringifyExactJson } from '#pickaxe/protocol/ledger/json.js';
import { commands, results } from '../../protocol/ledger/command-vectors.ts';
import { proofs } from '../../protocol/ledger/vectors.ts';
import { apiOf, apiWith, type Behaviour, errorOf, QUICK, serve } from './server.ts';

const [{ command }, { command: second }] = commands.filter(({ hashMatches }) => hashMatches);
const body = (json: unknown) => ({ body: stringifyExactJson(json as never) });
const KEY = 'bKT10kNSeAyE4LgfFInhorKpK_tNLcNjsaWgug4v82s';
const existing = `One or more transactions were invalid: Transaction ${command.hash} at index 0 failed with: Transaction already exists on chain`;

describe('the requests', () => {
  it.each([
    ['chainweb', 'pact'],
    ['document', 'flow'],
  ] as const)('in the dialect %s', async (dialect, name) => {
    const answers: Record<string, Behaviour> = {
      local: body(results.local),
      send: { body: { requestKeys: [command.hash] } },
      private: { body: { requestKeys: [command.hash] } },
      poll: { body: {} },
      listen: body(results.listen),
      spv: { body: JSON.stringify(proofs[0].proof) },
    };
    const { api, seen } = await apiWith(({ path }) => answers[/(\w+)(?:\?.*)?$/.exec(path)![1]], { dialect });
    await api.local(3, command, { preflight: true, rewindDepth: 2, signatureVerification: false });
    await api.send(3, [command]);
    await api.sendPrivate(3, command);
    await api.poll(3, [KEY], { confirmationDepth: 6 });
    await api.listen(3, KEY);
    await api.proof(3, KEY, 19);
    const root = `/${dialect === 'chainweb' ? 'chainweb' : 'ledger'}/0.0/mainnet01/chain/3/${name}`;
    expect(seen.map(({ method, path }) => [method, path])).toEqual([
      ['POST', `${root}/api/v1/local?preflight=true&rewindDepth=2&signatureVerification=false`],
      ['POST', `${root}/api/v1/send`],
      ['POST', `${root}/api/v1/private`],
      ['POST', `${root}/api/v1/poll?confirmationDepth=6`],
      ['POST', `${root}/api/v1/listen`],
      ['POST', `${root}/spv`],
    ]);
    expect(seen.map((it) => JSON.parse(it.body))).toEqual([
      command,
      { cmds: [command] },
      command,
      { requestKeys: [KEY] },
      { listen: KEY },
      { requestKey: KEY, targetChainId: '19' },
    ]);
    expect(new Set(seen.map(({ headers }) => headers['content-type']))).toEqual(new Set(['application/json']));
  });

  it('without a body name no type of it', async () => {
    const { api, seen } = await apiWith(() => ({}));
    await api.cut().catch(() => {});
    expect(seen.map(({ headers }) => headers['content-type'])).toEqual([undefined]);
  });

  it('are not made for what is no request key', async () => {
    const { api, seen } = await apiWith(() => ({}));
    for (const call of [api.poll(0, ['x']), api.listen(0, ''), api.proof(0, `${KEY}=`, 1), api.send(0, [])]) {
      await expect(call).rejects.toThrow(RangeError);
    }
    expect(await api.poll(0, [])).toEqual(new Map());
    expect(seen).toEqual([]);
  });
});

describe('local', () => {
  it('reads a result, and one of a preflight', async () => {
    const { api } = await apiWith((_, before) =>
      before === 0 ? body(results.local) : body({ preflightResult: results.local, preflightWarnings: ['old'] }),
    );
    const plain = await api.local(0, command);
    expect(plain.result?.gas).toBe(6);
    const preflight = await api.local(0, command, { preflight: true });
    expect(preflight).toEqual({ ...plain, warnings: ['old'] });
  });

  it('keeps decimals exact', async () => {
    const exact = '{"status":"success","data":0.12345678901234567890}';
    const { api } = await apiWith(() => ({
      body: stringifyExactJson(results.local).replace(/"result":\{[^}]*\}/, `"result":${exact}`),
    }));
    const { outcome } = await api.local(0, command);
    expect(outcome).toEqual(parseExactJson(exact));
  });

  it('refuses with the text of the node', async () => {
    const { api } = await apiWith(() => ({ status: 400, body: 'Validation failed: Invalid gas payer' }));
    expect(await errorOf(api.local(0, command))).toMatchObject({
      kind: 'bad request',
      text: 'Validation failed: Invalid gas payer',
    });
  });

  it('is answered by a stand-alone server, now and of old', async () => {
    const { url, seen } = await serve(
      (_, before) =>
        before === 0 ? body(results.local) : { body: { status: 'success', response: { status: 'success', data: 3 } } },
      { headers: {} },
    );
    const api = apiOf({ url, commandPath: '/api/v1' });
    const now = await api.local(0, command);
    expect(now.outcome.status).toBe('success');
    const old = await api.local(0, command);
    expect(old).toMatchObject({ outcome: { status: 'success' }, warnings: [] });
    expect(seen.map(({ path }) => path)).toEqual(['/api/v1/local', '/api/v1/local']);
  });
});

describe('send', () => {
  it('is sent again with the very same bytes when its answer is lost', async () => {
    const lost: Behaviour[] = ['break', { status: 502 }, { body: { requestKeys: [command.hash] } }];
    const { api, seen } = await apiWith((_, before) => lost[before]);
    expect(await api.send(0, [command])).toEqual([command.hash]);
    expect(new Set(seen.map((it) => it.body)).size).toBe(1);
    expect(seen).toHaveLength(3);
  });

  it('has succeeded if the command is on the chain already', async () => {
    const { api } = await apiWith((_, before) => (before === 0 ? 'break' : { status: 400, body: existing }));
    expect(await api.send(0, [command])).toEqual([command.hash]);
  });

  it('of several commands is refused as a whole for one of them', async () => {
    const { api, seen } = await apiWith(() => ({ status: 400, body: existing }));
    const error = await errorOf(api.send(0, [command, second]));
    expect(error).toBeInstanceOf(SendRefusedError);
    expect(error).toMatchObject({
      name: 'SendRefusedError',
      kind: 'bad request',
      status: 400,
      text: existing,
      retryable: false,
      mayHaveBeenTaken: false,
      refusal: { reqKey: command.hash, reason: 'Transaction already exists on chain', isKnown: true },
    });
    expect(seen).toHaveLength(1);
  });

  it.each([[[]], [['A'.repeat(43)]], [[command.hash, command.hash]]])(
    'with other keys in the answer, %j',
    async (keys) => {
      const { api } = await apiWith(() => ({ body: { requestKeys: keys } }));
      expect(await errorOf(api.send(0, [command]))).toMatchObject({ kind: 'not understood', mayHaveBeenTaken: true });
    },
  );

  it('of a private command is never sent twice', async () => {
    const { api, seen } = await apiWith(() => ({ status: 503 }));
    expect(await errorOf(api.sendPrivate(0, command))).toMatchObject({ kind: 'failed', retryable: true });
    expect(seen).toHaveLength(1);
  });
});

describe('poll', () => {
  it('reads results, and an empty object for what is unknown or pending', async () => {
    const { api } = await apiWith((_, before) => (before === 0 ? { body: {} } : body(results.poll)));
    const keys = Object.keys(results.poll);
    expect(await api.poll(0, keys)).toEqual(new Map());
    expect([...(await api.poll(0, keys)).keys()]).toEqual(keys);
  });

  it('does not take results that were not asked for', async () => {
    const { api } = await apiWith(() => body(results.poll));
    expect((await errorOf(api.poll(0, [KEY]))).message).toMatch(/was not asked for/);
  });
});

describe('listen', () => {
  it('reads a result', async () => {
    const { api } = await apiWith(() => body(results.listen));
    expect((await api.listen(0, KEY))?.gas).toBe(607);
  });

  it.each([
    ['a real node', { status: 504, body: 'Gateway Timeout' }],
    ['a stand-alone server', { body: { status: 'timeout', 'timeout-micros': 120_000_000 } }],
  ] as const)('has no result when %s gives up', async (_, answer) => {
    const { api, seen } = await apiWith(() => answer);
    expect(await api.listen(0, KEY)).toBeUndefined();
    expect(seen).toHaveLength(1);
  });

  it('is not tried again, which would take minutes', async () => {
    const { api, seen } = await apiWith(() => 'break');
    expect(await errorOf(api.listen(0, KEY))).toMatchObject({ kind: 'broken', retryable: true });
    expect(seen).toHaveLength(1);
  });

  it('waits longer than other requests', async () => {
    const limits = { ...QUICK.limits, answerTimeoutMs: 1, listenTimeoutMs: 60_000 };
    const { url } = await serve(() => body(results.listen));
    const api = apiOf({ url, dialect: 'chainweb' }, { limits });
    expect((await api.listen(0, KEY))?.reqKey).toBe(KEY);
  });

  it('does not take another result', async () => {
    const { api } = await apiWith(() => body(results.listen));
    expect((await errorOf(api.listen(0, 'A'.repeat(43)))).message).toMatch(/was not asked for/);
  });
});

describe('a cross-chain proof', () => {
  it('is the text of the answer', async () => {
    const { api } = await apiWith(() => ({ body: JSON.stringify(proofs[0].proof) }));
    expect(await api.proof(0, KEY, 1)).toBe(proofs[0].proof);
  });

  it.each([
    ['SPV target not reachable: target chain not reachable. Chainweb instance is too young', true],
    ['"Transaction hash not found"', true],
    ['Exception: no such thing', false],
  ])('may have to be waited for: %s', async (text, wait) => {
    const { api } = await apiWith(() => ({ status: 400, body: text }));
    const error = await errorOf(api.proof(0, KEY, 1));
    expect(error).toBeInstanceOf(ProofRefusedError);
    expect(error).toMatchObject({ kind: 'bad request', refusal: { wait, reason: text.replaceAll('"', '') } });
  });
});
