/** The P2P side, which nodes serve to each other: its certificate, its endpoints and its limits. */

import { connect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { cutFromJson, cutToJson, peerIdOf } from '#pickaxe/protocol/ledger/cut.js';
import { stringifyExactJson } from '#pickaxe/protocol/ledger/json.js';
import { mocksOf } from '../ask.ts';

const startMock = mocksOf('chainweb');

describe('two sides', () => {
  it('serve what real nodes serve on each', async () => {
    const { url, p2pUrl, ask, p2p, askUrl, grow, tip } = await startMock({ chains: 10, p2p: 'plain' });
    grow(25);
    const { id } = tip(0);
    const branch = { method: 'POST', body: { upper: [id], lower: [] } } as const;
    for (const path of ['/cut/peer', '/chain/0/mempool/peer']) {
      expect([(await ask(path)).status, (await p2p(path)).status]).toEqual([404, 200]);
    }
    for (const path of ['/chain/0/block', '/chain/0/hash']) {
      expect([(await ask(path)).status, (await p2p(path)).status]).toEqual([200, 404]);
    }
    expect([(await askUrl(`${url}/config`)).status, (await askUrl(`${p2pUrl}/config`)).status]).toEqual([404, 200]);
    expect([(await askUrl(`${url}/info`)).status, (await askUrl(`${p2pUrl}/info`)).status]).toEqual([200, 404]);
    for (const [path, more] of [
      ['/cut', {}],
      [`/chain/0/header/${id}`, {}],
      ['/chain/0/header/branch', branch],
    ] as const) {
      expect([(await ask(path, more)).status, (await p2p(path, more)).status]).toEqual([200, 200]);
    }
    expect((await p2p('/chain/0/header')).plain).toMatchObject({ limit: 20 });
    expect((await ask('/chain/0/header')).plain).toMatchObject({ limit: 26 });
    const upTo = (most: number) => ({ method: 'POST', body: { upper: Array(most).fill(id), lower: [] } }) as const;
    expect((await p2p('/chain/0/header/branch', upTo(4))).status).toBe(200);
    const bounds = upTo(5);
    const many = [await ask('/chain/0/header/branch', bounds), await p2p('/chain/0/header/branch', bounds)];
    expect(many.map(({ status }) => status)).toEqual([200, 400]);
    const batch = await p2p('/chain/0/payload/batch', { method: 'POST', body: [] });
    expect([batch.status, batch.plain]).toEqual([404, 'payload batch limit is 0']);
    expect((await p2p('/cut')).headers['x-peer-addr']).toMatch(/^127\.0\.0\.1:\d+$/);
    expect((await ask('/cut')).headers['x-peer-addr']).toBeUndefined();
  });

  it('come and go together', async () => {
    const { node, ask, p2p } = await startMock({ p2p: 'plain' });
    await node.goAway();
    await expect(ask('/cut')).rejects.toThrow(/ECONNREFUSED/);
    await expect(p2p('/cut')).rejects.toThrow(/ECONNREFUSED/);
    await node.comeBack();
    expect([(await ask('/cut')).status, (await p2p('/cut')).status]).toEqual([200, 200]);
  });
});

describe('a certificate of its own', () => {
  it('has the fingerprint that cuts name', async () => {
    const { node, p2p, p2pUrl } = await startMock({ p2p: 'tls' });
    const { origin } = cutFromJson((await p2p('/cut')).json);
    const { port } = new URL(p2pUrl!);
    const certificate = await new Promise<Buffer>((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false }, () => {
        resolve(socket.getPeerCertificate().raw);
        socket.destroy();
      });
      socket.on('error', reject);
    });
    expect(origin).toEqual({ id: peerIdOf(certificate), address: { hostname: '127.0.0.1', port: Number(port) } });
    expect(node.identity?.peerId).toBe(origin?.id);
    const other = await startMock({ p2p: 'tls' });
    expect(other.node.identity?.peerId).not.toBe(origin?.id);
  });

  it('is not named in the cuts of a bootstrap node', async () => {
    const { ask } = await startMock({ p2p: 'tls', bootstrap: true });
    expect(cutFromJson((await ask('/cut')).json).origin).toBeNull();
  });
});

describe('peers', () => {
  const peer = (port: number) => ({ id: null, address: { hostname: '127.0.0.1', port } });

  it('are listed in pages whose cursors are numbers', async () => {
    const { node, p2p } = await startMock({ p2p: 'plain' });
    for (let port = 1; port <= 70; port++) node.peers.add('cut', peer(port));
    expect((await p2p('/cut/peer')).plain).toMatchObject({ limit: 64, next: 'inclusive:64' });
    const rest = { items: [65, 66, 67, 68, 69, 70].map(peer), limit: 6, next: null };
    expect((await p2p('/cut/peer?next=inclusive:64')).plain).toEqual(rest);
    expect((await p2p('/cut/peer?next=exclusive:63')).plain).toEqual(rest);
    expect((await p2p('/cut/peer?limit=1000')).plain).toMatchObject({ limit: 70, next: null });
    expect((await p2p('/cut/peer?next=inclusive:x')).status).toBe(400);
    expect((await p2p('/chain/3/mempool/peer')).plain).toEqual({ items: [], limit: 0, next: null });
  });

  it('are added if they can be reached', async () => {
    const { p2p, url } = await startMock({ p2p: 'plain' });
    const reached = peer(Number(new URL(url).port));
    const put = (body: unknown, path = '/cut/peer') => p2p(path, { method: 'PUT', body });
    expect(await put(reached)).toMatchObject({ status: 204, text: '' });
    expect(await put(reached, '/chain/3/mempool/peer')).toMatchObject({ status: 204 });
    expect((await p2p('/cut/peer')).plain).toMatchObject({ items: [reached] });
    expect((await p2p('/chain/3/mempool/peer')).plain).toMatchObject({ items: [reached] });
    expect((await p2p('/chain/4/mempool/peer')).plain).toMatchObject({ items: [] });
    for (const wrong of [peer(1), peer(0), { address: {} }, { ...reached, address: { hostname: 'a.test', port: 1 } }]) {
      const { status, text } = await put(wrong);
      expect([status, text]).toEqual([400, expect.stringMatching(/^Invalid hostaddress: ./)]);
    }
  });

  it('may publish cuts, and nobody else', async () => {
    const { node, p2p, ask, url } = await startMock({ p2p: 'plain' });
    const cut = cutFromJson((await ask('/cut')).json);
    const put = (origin: ReturnType<typeof peer> | null) => {
      return p2p('/cut', { method: 'PUT', body: stringifyExactJson(cutToJson({ ...cut, origin })) });
    };
    const stranger = peer(Number(new URL(url).port));
    expect(await put(null)).toMatchObject({ status: 400, text: 'Cut is missing an origin entry' });
    expect(await put(stranger)).toMatchObject({ status: 401, text: 'Unknown peer' });
    node.peers.add('cut', stranger);
    expect(await put(stranger)).toMatchObject({ status: 204, text: '' });
    expect((await p2p('/cut', { method: 'PUT', body: '{}' })).status).toBe(400);
  });
});
