/** The simulated hasher: for which networks it is made, and what it says of itself. */

import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemContext } from '#pickaxe/app/composition/context.js';
import { simulatedHasher } from '#pickaxe/app/composition/relays.js';
import type { Simulation } from '#pickaxe/app/config/setting-types/rig.js';
import { DEFAULTS } from '#pickaxe/app/config/settings.js';
import { UsageError } from '#pickaxe/app/process/exit.js';
import { FakeSource } from '../../../fakes.ts';
import { nodesOf } from '../../../miner/source/node/node.ts';
import { serve } from '../../../node/client/server.ts';
import { listeningLog } from '../../../rig/pauses/fakes.ts';

const startNode = nodesOf('chainweb');
const DELAY: Simulation = { kind: 'delay', seconds: 1 };
const nodeAt = (urls: readonly string[], network?: string) => ({
  ...DEFAULTS.node,
  urls: [...urls],
  ...(network !== undefined && { network }),
});

async function made(how: Simulation, node: Parameters<typeof simulatedHasher>[1], asks = false) {
  const { log, said } = listeningLog();
  const make = await simulatedHasher(how, node, log, asks);
  const relay = make({ source: new FakeSource(), emit: () => {}, ...systemContext, lane: 0 });
  return { relay, said };
}

const WARNING = 'Its blocks have no proof of work: only a test network that checks none accepts them';

describe('a simulated hasher', () => {
  it.each<[how: Simulation, what: RegExp]>([
    [DELAY, /^simulates .*1 s/],
    [{ kind: 'hashrate', hashesPerSecond: 1e9 }, /^simulates a hashrate of 1000000000 H\/s/],
    [{ kind: 'on-demand', address: { host: '127.0.0.1', port: 0 } }, /^simulates .*127\.0\.0\.1/],
  ])('says that its blocks are worth nothing: %j', async (how, what) => {
    const { relay, said } = await made(how, nodeAt(['http://127.0.0.1:1'], 'development'));
    await relay.open();
    await relay.run(AbortSignal.abort());
    expect(said).toEqual([{ level: 'warn', msg: expect.stringMatching(what) }]);
    expect(said[0].msg).toContain(WARNING);
  });

  it('says if it cannot listen', async () => {
    const occupied = createServer();
    await new Promise<void>((resolve) => occupied.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void occupied.close());
    const { port } = occupied.address() as { port: number };
    const how: Simulation = { kind: 'on-demand', address: { host: '127.0.0.1', port } };
    const { relay } = await made(how, nodeAt([], 'development'));
    await expect(relay.open()).rejects.toThrow(
      new UsageError(
        `cannot listen for --simulate: port ${port} is in use, perhaps by another pickaxe. Stop that program, or give another port.`,
      ),
    );
  });

  it.each([
    ['the settings name it', nodeAt([], 'mainnet01')],
    ['a URL names it', nodeAt(['http://127.0.0.1:1', 'http://one/chainweb/0.0/Mainnet01'], 'development')],
  ])('is not made for the main network, where %s', async (_, node) => {
    const refused = made(DELAY, node, true);
    await expect(refused).rejects.toThrow(UsageError);
    await expect(refused).rejects.toThrow(/which is for test networks only; mainnet is none/i);
  });

  it('is not made where a node says that it serves the main network, or says nothing', async () => {
    const { url } = await startNode({ network: 'mainnet01', chains: 4 });
    await expect(made(DELAY, nodeAt([url]), true)).rejects.toThrow(/says that it serves mainnet01\. Name a node/);
    await expect(made(DELAY, nodeAt(['http://127.0.0.1:1'], 'development'), true)).rejects.toThrow(
      /^--simulate needs to know which network http:\/\/127\.0\.0\.1:1 serves: /,
    );
    // A dry run asks nobody.
    expect((await made(DELAY, nodeAt([url]))).said).toEqual([]);
  });

  it('is made on a node that does not say which network it serves, with a warning', async () => {
    const { url } = await serve(() => ({ status: 404 }));
    const { said } = await made(DELAY, nodeAt([url], 'development'), true);
    expect(said).toEqual([{ level: 'warn', msg: `${url} does not say which network it serves` }]);
  });

  it('is made where each node serves a test network', async () => {
    const [one, two] = [await startNode({ chains: 4 }), await startNode({ network: 'mainnet01', chains: 4 })];
    expect((await made(DELAY, nodeAt([one.url]), true)).said).toEqual([]);
    await expect(made(DELAY, nodeAt([one.url, two.url]), true)).rejects.toThrow('serves mainnet01');
  });
});
