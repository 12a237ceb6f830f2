import { X509Certificate } from 'node:crypto';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fingerprintOf } from '#pickaxe/base/net/certificate.js';
import { examinePool, type PoolExamination } from '#pickaxe/rig/survey/examine-pool.js';
import { eventually } from '../../miner/source/follow.ts';
import { MockPool } from '../../miner/source/pool/mock-pool.ts';
import {
  AUTHORIZED,
  GREETING,
  jobLine,
  makeHeader,
  SUBSCRIBED,
  targetLine,
  USER,
} from '../../miner/source/pool/pool.ts';
import { selfSigned } from '../../node/client/certificates.ts';

const account = { user: USER, password: 'x' };
const brief = ({ findings }: PoolExamination) => findings.map(({ about, state }) => `${state} ${about}`);

describe('an examination of a pool', () => {
  it('finds nothing wrong with a good pool', async () => {
    const { url } = await MockPool.start([...GREETING, jobLine('a', makeHeader())]);
    expect(brief(await examinePool({ url, account }))).toEqual(['ok connection', 'ok user', 'ok work']);
  });

  it('takes a millisecond at least, as it says', async () => {
    vi.useFakeTimers({ toFake: ['hrtime'] });
    onTestFinished(() => void vi.useRealTimers());
    const { url } = await MockPool.start([...GREETING, jobLine('a', makeHeader())]);
    const said = (await examinePool({ url, account })).findings.map(({ what }) => what).join('\n');
    expect(said.match(/[^ ]+ ms\b/g)).toEqual(['1 ms', '1 ms', '1 ms', '1 ms']);
  });

  it('sends nothing without a user, and reports whether the pool can be reached', async () => {
    const pool = await MockPool.start([SUBSCRIBED, AUTHORIZED]);
    expect(brief(await examinePool({ url: pool.url }))).toEqual(['ok connection']);
    await eventually(() => expect(pool.open).toBe(0));
    expect(pool.log.filter((line) => line.startsWith('>'))).toEqual([]);
    expect(brief(await examinePool({ url: 'stratum+tcp://127.0.0.1:9' }))).toEqual(['fault connection']);
  });

  it('reports the fingerprint of a certificate that is not trusted', async () => {
    const { url } = await MockPool.start([], selfSigned);
    const { untrusted, ...examination } = await examinePool({ url, account });
    expect(brief(examination)).toEqual(['fault connection']);
    expect(untrusted).toBe(fingerprintOf(new X509Certificate(selfSigned.cert).raw));
    const trust = { by: 'fingerprint', fingerprints: [untrusted ?? ''] } as const;
    expect(await examinePool({ url, trust })).toEqual({
      findings: [{ about: 'connection', state: 'ok', what: expect.stringMatching(/^can be reached, in \d+ ms$/) }],
    });
  });

  const JOB = jobLine('a', makeHeader({ chain: 3, height: 7, difficulty: 1e12 }));
  const [user, ANSWERS] = ['ok user', /^answers mining.subscribe in \d+ ms and mining.authorize in \d+ ms$/];
  const sends = (target: string) =>
    new RegExp(`^sends a job \\(chain 3, height 7\\) in \\d+ ms, ${target}; nonce1 has 2 bytes$`);

  it.each<[string, readonly string[], readonly [string, RegExp][]]>([
    [
      'no target',
      [...GREETING, JOB],
      [
        [user, ANSWERS],
        ['ok work', sends('and no target, so only blocks count: 1.0+ T hashes')],
      ],
    ],
    [
      'a target',
      [...GREETING, targetLine(64_000), JOB],
      [
        [user, ANSWERS],
        ['ok work', sends('and a target: 64.0+ k hashes for a share, 1.0+ T for a block')],
      ],
    ],
    [
      'a message',
      [...GREETING, '< {"id":null,"method":"client.show_message","params":["hello"]}', JOB],
      [
        [user, ANSWERS],
        ['ok work', sends('and no target.*')],
        ['ok message', /hello/],
      ],
    ],
    [
      'no place for the user',
      [...GREETING.slice(0, -1), '< {"id":2,"result":false,"error":[24,"unknown user",null]}'],
      [
        [user, /^answers mining.subscribe in \d+ ms$/],
        ['fault user', /unknown user/],
      ],
    ],
    [
      'an end of the connection',
      [...GREETING.slice(0, -1), '* close'],
      [
        [user, /^answers mining.subscribe in \d+ ms$/],
        ['fault user', /closed|broke/],
      ],
    ],
    ['no answer but the end', ['* close'], [['fault user', /closed|broke/]]],
  ])('says what it knows of a pool that has %s', async (_, script, expected) => {
    const pool = await MockPool.start(script);
    const { findings, work } = await examinePool({ url: pool.url, account });
    const [connection, ...others] = findings.map(({ about, state, what }) => [`${state} ${about}`, what]);
    expect(connection[0]).toBe('ok connection');
    expect(others).toEqual(expected.map(([which, what]) => [which, expect.stringMatching(what)]));
    expect(work?.height).toBe(script.includes(JOB) ? 7n : undefined);
    await eventually(() => expect(pool.open).toBe(0));
  });
});
