import { X509Certificate } from 'node:crypto';
import dns, { type LookupAddress } from 'node:dns';
import type { TlsOptions } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fingerprintOf } from '#pickaxe/base/net/certificate.js';
import type { Trust } from '#pickaxe/base/net/tls-trust.js';
import type { MockNode } from '#pickaxe/mock-node/mock-node.js';
import { MiningClient } from '#pickaxe/node/client/mining.js';
import { NodeError } from '#pickaxe/node/http/node-error.js';
import { lookupOfStranger } from '#pickaxe/node/http/tls.js';
import { nodeAddress } from '#pickaxe/node/http/url.js';
import { examineNode } from '#pickaxe/rig/survey/examine-node.js';
import { eventually, mine } from '../../miner/source/follow.ts';
import { followNode, miner, nodesOf } from '../../miner/source/node/node.ts';
import { another, authority, expired, type Identity, selfSigned, signed } from '../client/certificates.ts';
import { TlsFront } from '../client/tls-front.ts';

const startNode = nodesOf('chainweb');

const fingerprint = ({ cert }: Identity) => fingerprintOf(new X509Certificate(cert).raw);
const only = (...identities: Identity[]): Trust => ({
  by: 'fingerprint',
  fingerprints: identities.map(fingerprint),
});
const authorities = (...identities: Identity[]): Trust => ({
  by: 'authority',
  authorities: identities.map(({ cert }) => cert),
});

async function startFront(identity: Identity, options?: TlsOptions): Promise<{ front: TlsFront; node: MockNode }> {
  const { node, url } = await startNode();
  return { node, front: await TlsFront.start(identity, url, options) };
}

const never = new AbortController().signal;

/** Closed after the test. */
function httpOf(front: TlsFront, trust: Trust): MiningClient {
  const address = nodeAddress(front.url, 'development');
  const http = new MiningClient({ address, userAgent: 'test', trust });
  onTestFinished(() => http.close());
  return http;
}

/** Checks that the server got several connections, and no HTTP at all. */
async function refused(front: TlsFront): Promise<void> {
  await eventually(() => expect(front.connections).toBeGreaterThan(4));
  expect(front.received).toBe(0);
}

describe('a node that shows its certificate', () => {
  it('is mined on when it has the given fingerprint, even if it signed its own certificate', async () => {
    const { front, node } = await startFront(selfSigned);
    const { source, follower } = followNode(front.url, {}, { trust: only(selfSigned) });
    const work = await follower.work();
    expect(await source.submit(mine(work), follower.stop)).toEqual({ outcome: 'accepted', reason: '' });
    await eventually(() => expect(node.server.streams.open).toBeGreaterThan(0));
  });

  it('may have any one of several fingerprints, as while it changes its certificate', async () => {
    const { front } = await startFront(selfSigned);
    const { follower } = followNode(front.url, {}, { trust: only(another, selfSigned) });
    await follower.work();
  });

  it('is sent nothing if it has another fingerprint, and the error has both fingerprints', async () => {
    const { front } = await startFront(another);
    const { follower, recorder } = followNode(front.url, {}, { trust: only(selfSigned) });
    await refused(front);
    expect(follower.received).toHaveLength(0);
    const lost = recorder.of('source').filter(({ state }) => state === 'lost');
    expect(lost.map(({ reason }) => reason)).toEqual([
      expect.stringContaining(`expected ${fingerprint(selfSigned)}, presented ${fingerprint(another)}.`),
    ]);
  });

  it('is sent nothing if it has another fingerprint, even if an authority vouches for it', async () => {
    const { front } = await startFront(signed);
    followNode(front.url, {}, { trust: only(selfSigned) });
    await refused(front);
  });

  it('is sent nothing if no authority has signed it, and the error has its fingerprint and says what to do', async () => {
    const { front } = await startFront(selfSigned);
    const { follower } = followNode(front.url);
    await refused(front);
    const [{ reason }] = follower.of('lost');
    expect(reason).toContain('is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)');
    expect(reason).toContain(`give --node-fingerprint ${front.url}=${fingerprint(selfSigned)}`);
    expect(reason.indexOf('--node-fingerprint')).toBeLessThan(reason.indexOf('--insecure-tls'));
  });

  it('is trusted by its fingerprint only if it has expired', async () => {
    const { front } = await startFront(expired);
    const { follower } = followNode(front.url, {}, { trust: authorities(expired) });
    await refused(front);
    expect(follower.of('lost')[0].reason).toContain('(CERT_HAS_EXPIRED)');
    await followNode(front.url, {}, { trust: only(expired) }).follower.work();
  });

  it('is mined on if one of our authorities has signed it, and is otherwise sent nothing', async () => {
    const { front } = await startFront(signed);
    const { follower } = followNode(front.url, {}, { trust: authorities(selfSigned, another) });
    await refused(front);
    expect(follower.of('lost')[0].reason).toMatch(/not trusted \(UNABLE_TO_/);
    await followNode(front.url, {}, { trust: authorities(another, authority) }).follower.work();
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('has its name checked each time, %s', async (version) => {
    const { front } = await startFront(selfSigned, { maxVersion: version, minVersion: version });
    const { recorder } = followNode(front.url, {}, { trust: authorities(selfSigned) });
    await refused(front);
    const reasons = recorder.of('source').map(({ reason }) => reason);
    expect(reasons).toEqual([expect.stringContaining('not trusted (ERR_TLS_CERT_ALTNAME_INVALID)')]);
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'shows it on every connection, %s: no session is resumed',
    async (version) => {
      const { front } = await startFront(selfSigned, { maxVersion: version, minVersion: version });
      const http = httpOf(front, only(selfSigned));
      await http.work(miner, never);
      // Streams have connections of their own.
      await http.updates(0, never);
      expect(front.connections).toBeGreaterThanOrEqual(2);
      expect(front.resumed).toBe(0);
    },
  );

  it('is lost while it has another certificate, and so are its streams, until it has the right one again', async () => {
    const { front, node } = await startFront(selfSigned);
    const { follower, recorder } = followNode(front.url, { pollMs: 50 }, { trust: only(selfSigned) });
    const states = () => recorder.of('source').filter(({ state }) => state !== 'info');
    await follower.work();
    await eventually(() => expect(node.server.streams.open).toBeGreaterThan(0));

    front.restart(another);
    const message = `expected ${fingerprint(selfSigned)}, presented ${fingerprint(another)}.`;
    await eventually(() => expect(states().at(-1)?.reason).toContain(message));
    await eventually(() => expect(node.server.streams.open).toBe(0));
    const { received, connections } = front;
    await eventually(() => expect(front.connections).toBeGreaterThan(connections + 4));
    expect(front.received).toBe(received);

    front.restart(selfSigned);
    await eventually(() => expect(states().at(-1)?.state).toBe('connected'));
    await eventually(() => expect(node.server.streams.open).toBeGreaterThan(0));
  });

  it('is judged at each of its addresses by the certificate that it shows there', async () => {
    const { front } = await startFront(selfSigned);
    // Nothing listens at the first address.
    const addresses: LookupAddress[] = [
      { address: '::1', family: 6 },
      { address: '127.0.0.1', family: 4 },
    ];
    const lookup = vi
      .spyOn(dns, 'lookup')
      .mockImplementation(((_host: string, _options: unknown, done: (error: null, found: LookupAddress[]) => void) =>
        done(null, addresses)) as unknown as typeof dns.lookup);
    onTestFinished(() => lookup.mockRestore());
    const url = `https://node.example:${front.port}`;
    const { follower } = followNode(url, {}, { trust: only(another) });
    await refused(front);
    expect(follower.of('lost')[0].reason).toContain(`presented ${fingerprint(selfSigned)}`);
    await followNode(url, {}, { trust: only(selfSigned) }).follower.work();
    expect(lookup).toHaveBeenCalled();
  });
});

it.each([
  ['requests', (http: MiningClient) => http.work(miner, never)],
  ['solutions', (http: MiningClient) => http.submit(new Uint8Array(286), never)],
  ['update streams', (http: MiningClient) => http.updates(0, never)],
])('%s go only to the right certificate', async (_, ask) => {
  const { front } = await startFront(another);
  const fault = await ask(httpOf(front, only(selfSigned))).catch((error: unknown) => error);
  expect(fault).toBeInstanceOf(NodeError);
  expect(fault).toMatchObject({ kind: 'unreachable', fingerprint: fingerprint(another) });
  expect(front.received).toBe(0);
  await eventually(() => expect(front.open).toBe(0));
  await ask(httpOf(front, only(another)));
  expect(front.received).toBeGreaterThan(0);
});

describe('an examination', () => {
  it('reports the fingerprint of a certificate that is not trusted, and goes on once it is trusted', async () => {
    const { front } = await startFront(selfSigned);
    const question = { url: front.url, network: 'development', miner };
    const careful = await examineNode(question);
    expect(careful).toMatchObject({ untrusted: fingerprint(selfSigned), findings: [{ state: 'fault' }] });
    expect(careful.findings[0].what).toContain(fingerprint(selfSigned));
    expect(front.received).toBe(0);

    const { findings, untrusted } = await examineNode({ ...question, trust: only(selfSigned) });
    expect(findings.map(({ state }) => state)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok']);
    expect(untrusted).toBeUndefined();
  });
});

describe('the name of a node that only strangers have named', () => {
  const far = [
    { address: '198.51.100.7', family: 4 },
    { address: '2a00::7', family: 6 },
  ];

  /** What a connection gets that asks for one address or for all, where the name has these. */
  function looked(found: LookupAddress[] | Error, all: boolean) {
    const asked: unknown[] = [];
    const find = (name: string, options: object, done: (error: Error | null, found?: LookupAddress[]) => void) => {
      asked.push([name, options]);
      if (found instanceof Error) done(found);
      else done(null, found);
    };
    const answers: unknown[][] = [];
    const look = lookupOfStranger('https://node.example:1', find as unknown as typeof dns.lookup);
    look('node.example', { all, family: 0 }, (...answer) => answers.push(answer));
    expect(asked).toEqual([['node.example', { all: true, family: 0 }]]);
    expect(answers).toHaveLength(1);
    return answers[0];
  }

  it('is looked up with all of its addresses, or with the first one', () => {
    expect(looked(far, true)).toEqual([null, far]);
    expect(looked(far, false)).toEqual([null, '198.51.100.7', 4]);
  });

  it.each([true, false])('may have no address of this machine, all asked for: %s', (all) => {
    const [error, address] = looked([...far, { address: '127.0.0.1', family: 4 }], all);
    expect([error, address]).toMatchObject([
      { kind: 'unreachable', message: 'https://node.example:1 leads to 127.0.0.1, which no node can have.' },
      '',
    ]);
    const unknown = new Error('ENOTFOUND');
    expect(looked(unknown, all)).toEqual([unknown, '']);
  });
});
