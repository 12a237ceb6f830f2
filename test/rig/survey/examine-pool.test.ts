import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '#pickaxe/base/net/certificate.js';
import { examinePool, type PoolExamination } from '#pickaxe/rig/survey/examine-pool.js';
import { eventually } from '../../miner/source/follow.ts';
import { MockPool } from '../../miner/source/pool/mock-pool.ts';
import { AUTHORIZED, GREETING, jobLine, makeHeader, SUBSCRIBED, USER } from '../../miner/source/pool/pool.ts';
import { selfSigned } from '../../node/client/certificates.ts';

const account = { user: USER, password: 'x' };
const brief = ({ findings }: PoolExamination) => findings.map(({ about, state }) => `${state} ${about}`);

describe('an examination of a pool', () => {
  it('finds nothing wrong with a good pool', async () => {
    const { url } = await MockPool.start([...GREETING, jobLine('a', makeHeader())]);
    expect(brief(await examinePool({ url, account }))).toEqual(['ok connection', 'ok user', 'ok work']);
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
});
