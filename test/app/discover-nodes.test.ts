import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { withDiscovered } from '#pickaxe/app/discover-nodes.js';
import { nodeTrust } from '#pickaxe/app/node-api.js';
import { DEFAULTS } from '#pickaxe/config/settings.js';
import { peerIdOf } from '#pickaxe/ledger/cut.js';
import type { MockNodeOptions } from '#pickaxe/mock-node/options.js';
import { another, selfSigned } from '../node/certificates.ts';
import { TlsFront } from '../node/tls-front.ts';
import { miner, startNode } from '../source/node/node.ts';

/** A node that knows these peers, each a node of its own with TLS. */
async function withPeers(...peers: MockNodeOptions[]) {
  const { node, url } = await startNode();
  const urls: string[] = [];
  for (const [i, options] of peers.entries()) {
    const peer = await startNode({ p2p: 'tls', seed: i, ...options });
    const { identity, p2p } = peer.node;
    node.peers.add('cut', { id: identity!.peerId, address: { hostname: '127.0.0.1', port: p2p!.port } });
    urls.push(`https://127.0.0.1:${p2p!.port}`);
  }
  const settings = {
    node: { ...DEFAULTS.node, urls: [url], network: 'development', insecureTls: true },
    ledger: DEFAULTS.ledger,
    miner: { ...DEFAULTS.miner, publicKeys: miner.publicKeys },
  };
  return { node, url, urls, settings };
}

describe('discovered nodes', () => {
  it('are not used when they give no work, and the configuration stays as it is', async () => {
    // Its P2P port serves no mining, as that of a real node.
    const { url, settings } = await withPeers({});
    const { node, notes } = await withDiscovered(settings);
    expect(node.urls).toEqual([url]);
    expect(notes).toEqual([{ level: 'warn', text: '0 of 1 discovered nodes can be mined on' }]);
  });

  it('are not asked for when the nodes cannot be reached', async () => {
    const { settings } = await withPeers();
    const urls = ['http://127.0.0.1:9'];
    const { node, notes } = await withDiscovered({ ...settings, node: { ...settings.node, urls } });
    expect(node.urls).toEqual(urls);
    expect(notes).toEqual([
      { level: 'warn', text: expect.stringMatching(/cannot reach/) },
      { level: 'warn', text: '0 of 0 discovered nodes can be mined on' },
    ]);
  });

  it('are used after the configured ones, and only with the certificates of their ids', async () => {
    const { node, url, settings } = await withPeers();
    const front = await TlsFront.start(selfSigned, url);
    const stranger = await TlsFront.start(another, (await startNode({ network: 'testnet04' })).url);
    const changed = await TlsFront.start(another, url);
    const id = peerIdOf(new X509Certificate(selfSigned.cert).raw);
    for (const [{ port }, ownId] of [
      [front, id],
      [stranger, peerIdOf(new X509Certificate(another.cert).raw)],
      [changed, id],
    ] as const) {
      node.peers.add('cut', { id: ownId, address: { hostname: '127.0.0.1', port } });
    }
    const found = await withDiscovered(settings);
    expect(found.node.urls).toEqual([url, `${front.url}/ledger/0.0/development`]);
    expect(nodeTrust(found.node.urls![1], found.node)).toEqual({ by: 'fingerprint', fingerprints: [id] });
    expect(nodeTrust(url, found.node)).toEqual({ by: 'nothing' });
    expect(found.notes).toEqual([{ level: 'info', text: `1 of 3 discovered nodes can be mined on: ${front.url}` }]);
  });
});
