import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ApiSettings, configuredNodes, describeServedNetwork, nodeApi } from '#pickaxe/app/nodes/node-clients.js';
import { NodesInTurn, OtherNetworkError, withNetwork } from '#pickaxe/app/nodes/nodes-in-turn.js';
import { UsageError } from '#pickaxe/app/process/exit.js';
import type { Clock } from '#pickaxe/base/system/clock.js';
import type { NodeApi } from '#pickaxe/node/client/node-api.js';
import { info } from '../../cli/ledger/ledger-node.ts';
import { secondAddress } from '../../node/client/second-address.ts';
import { QUICK, type Server, serve } from '../../node/client/server.ts';
import { PATIENCE } from '../../patience.ts';
import { FakeClock } from '../../rig/status/fakes.ts';

/** Nobody listens there. */
const DEAD = 'http://127.0.0.1:9';

const settingsOf = (urls: readonly string[], more: { network?: string; ledger?: object } = {}): ApiSettings => ({
  node: { urls, insecureTls: false, ...(more.network !== undefined && { network: more.network }) },
  ledger: { dialect: 'auto', ...more.ledger },
});

function inTurn(urls: readonly string[], network?: string, clock?: Clock) {
  const warnings: string[] = [];
  const settings = settingsOf(urls, network === undefined ? {} : { network });
  const nodes = new NodesInTurn(settings, (text) => warnings.push(text), { ...QUICK, ...(clock && { clock }) });
  onTestFinished(() => nodes.close());
  return { nodes, warnings };
}

/** A healthy node of this network. */
const healthy = (network = 'mainnet01', port?: number): Promise<Server> =>
  serve(
    ({ path }) => {
      if (path === '/info') return { body: { ...info, nodeVersion: network, nodeGraphHistory: [[0, [[0, []]]]] } };
      return path === '/health-check' ? { body: `health of ${network}` } : undefined;
    },
    port === undefined ? {} : { port },
  );
const health = (api: NodeApi) => api.health();

it('a node has one client for all questions', async () => {
  const { url } = await healthy();
  const { nodes } = inTurn([url]);
  const clientOf = () => nodes.ask(async (api) => api);
  const first = await clientOf();
  expect(await clientOf()).toBe(first);
});

describe('the configured nodes', () => {
  it('are those of the settings, and the P2P port is the first one’s', () => {
    const peerUrl = 'https://127.0.0.1:1789';
    expect(configuredNodes(settingsOf([DEAD, 'http://two'], { ledger: { peerUrl } }))).toEqual([
      { url: DEAD, p2pUrl: peerUrl },
      { url: 'http://two' },
    ]);
    expect(configuredNodes({ node: { insecureTls: false }, ledger: { dialect: 'auto', peerUrl } })).toEqual([
      { p2pUrl: peerUrl },
    ]);
    expect(configuredNodes(settingsOf([]))).toEqual([]);
  });

  it('are spoken to as the settings say', async () => {
    const { url, seen } = await healthy();
    const settings = settingsOf([url], { ledger: { dialect: 'document', commandPath: 'own' } });
    const api = nodeApi({ url }, 'mainnet01', settings, QUICK);
    onTestFinished(() => api.close());
    expect([api.network, await api.dialect()]).toEqual(['mainnet01', 'document']);
    await api.poll(3, ['A'.repeat(43)]).catch(() => {});
    expect(seen[0].path).toBe('/ledger/0.0/mainnet01/own/poll');
    expect(seen[0].headers['user-agent']).toMatch(/^pickaxe\/\d/);
  });
});

describe('nodes in turn', () => {
  it('need a node', () => {
    expect(() => inTurn([])).toThrow(UsageError);
    expect(() => inTurn([])).toThrow('No node is configured. Name one with --node URL');
  });

  it('ask the next one when one cannot be reached, and stay with it', async () => {
    const { url, seen } = await healthy();
    const { nodes, warnings } = inTurn([DEAD, url], 'mainnet01');
    expect(await nodes.ask(health)).toBe('health of mainnet01');
    expect(warnings).toEqual([
      expect.stringMatching(/^cannot reach http:\/\/127\.0\.0\.1:9 .* The next node is asked\.$/),
    ]);
    expect(await nodes.ask(health)).toBe('health of mainnet01');
    expect([warnings.length, seen.length]).toEqual([1, 2]);
  });

  it('fail as the last one does when none can be reached', async () => {
    const { nodes, warnings } = inTurn([DEAD, 'http://127.0.0.1:7'], 'mainnet01');
    await expect(nodes.ask(health)).rejects.toThrow('cannot reach http://127.0.0.1:7');
    expect(warnings).toHaveLength(1);
  });

  it('begin again with the first one after the last one', async () => {
    const there = await healthy();
    const { url, goAway } = await secondAddress(there.url);
    const { nodes, warnings } = inTurn([DEAD, url, there.url], 'mainnet01');
    await nodes.ask(health);
    await goAway();
    expect(await nodes.ask(health)).toBe('health of mainnet01');
    expect(warnings).toHaveLength(2);
  });

  it('ask the first one again after the last one, although there is only one, or none of them is there', async () => {
    const { url } = await healthy();
    const last = await secondAddress(url);
    const { nodes } = inTurn([DEAD, last.url], 'mainnet01');
    await nodes.ask(health);
    await last.goAway();
    await expect(nodes.askOne(health)).rejects.toThrow(`cannot reach ${last.url}`);
    await expect(nodes.askOne(health)).rejects.toThrow(`cannot reach ${DEAD}`);
  });

  it('ask one that was away at first once it is there', async () => {
    const gone = createServer();
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    // Nothing names the network, so the node is asked for it first.
    const { nodes } = inTurn([`http://127.0.0.1:${port}`]);
    await expect(nodes.ask(health)).rejects.toThrow('cannot reach');
    await healthy('mainnet01', port);
    expect(await nodes.ask(health)).toBe('health of mainnet01');
  });

  it('ask another one beside the one whose turn it is, which keeps its turn', async () => {
    const [first, silent, other] = [await healthy(), await serve(() => ({ status: 500 })), await healthy()];
    const { nodes, warnings } = inTurn([first.url, DEAD, silent.url, other.url], 'mainnet01');
    expect(await nodes.askOther(async (api, name) => [await api.health(), name])).toEqual([
      'health of mainnet01',
      other.url,
    ]);
    expect(await nodes.askOther(async () => undefined)).toBeUndefined();
    expect([first.seen.length, warnings]).toEqual([0, []]);
    expect(await nodes.ask(health)).toBe('health of mainnet01');
    expect(first.seen).toHaveLength(1);
    await expect(
      nodes.askOther(async () => {
        throw new Error('a fault of ours');
      }),
    ).rejects.toThrow('a fault of ours');
    const { nodes: alone } = inTurn([first.url], 'mainnet01');
    expect(await alone.askOther(health)).toBeUndefined();
  });

  it('can be stopped while another one is opened, which does not say its network', async () => {
    const [first, silent] = [await healthy(), await serve(() => 'silence')];
    const { nodes } = inTurn([first.url, silent.url]);
    await nodes.ask(health);
    const stop = new AbortController();
    const asked = nodes.askOther(health, stop.signal);
    await vi.waitFor(() => expect(silent.seen).toHaveLength(1), PATIENCE);
    stop.abort();
    // A stopped request must reject: undefined would mean that no other node answers.
    await expect(asked).rejects.toThrow();
    const { nodes: one } = inTurn([silent.url]);
    const next = new AbortController();
    const askedOne = one.askOne(health, next.signal);
    await vi.waitFor(() => expect(silent.seen).toHaveLength(2), PATIENCE);
    next.abort();
    await expect(askedOne).rejects.toThrow();
  });

  it('do not try another one that cannot be reached again within a minute', async () => {
    const clock = new FakeClock();
    const [first, there] = [await healthy(), await healthy()];
    const { url, goAway } = await secondAddress(there.url);
    await goAway();
    const { nodes } = inTurn([first.url, url], 'mainnet01', clock);
    const tries = { made: 0 };
    const ask = () =>
      nodes.askOther(async (api) => {
        tries.made += 1;
        return await api.health();
      });
    for (const [secondsLater, made] of [
      [0, 1],
      [0, 1],
      [59, 1],
      [2, 2],
      [30, 2],
    ]) {
      clock.advance(secondsLater * 1000);
      expect(await ask()).toBeUndefined();
      expect(tries.made).toBe(made);
    }
  });

  it('do not ask another one when a node has answered, whatever it has answered', async () => {
    const refusing = await serve(() => ({ status: 400 }));
    const other = await healthy();
    const { nodes } = inTurn([refusing.url, other.url], 'mainnet01');
    await expect(nodes.ask(health)).rejects.toThrow('cannot do what was asked for');
    expect(other.seen).toEqual([]);
  });

  it('do not ask a question again of which a part was answered', async () => {
    const there = await healthy();
    const { url, goAway } = await secondAddress(there.url);
    const { nodes, warnings } = inTurn([url, there.url], 'mainnet01');
    const printed: string[] = [];
    const twice = async (api: NodeApi) => {
      for (let i = 0; i < 2; i++) {
        printed.push(await api.health());
        if (i === 0) await goAway();
      }
    };
    await expect(nodes.ask(twice)).rejects.toThrow(`cannot reach ${url}`);
    expect([printed.length, warnings]).toEqual([1, []]);
    expect(await nodes.ask(health)).toBe('health of mainnet01');
  });

  it('ask one alone where that is wanted, and the next one the next time', async () => {
    const { url, seen } = await healthy();
    const { nodes, warnings } = inTurn([DEAD, url], 'mainnet01');
    const asked = await Promise.allSettled([nodes.askOne(health), nodes.askOne(health)]);
    expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect([seen, warnings]).toEqual([[], []]);
    expect(await nodes.askOne(health)).toBe('health of mainnet01');
  });

  it('ask each node for its network when nothing names it, and stay with the first one’s', async () => {
    const [one, other, same] = [await healthy(), await healthy('testnet04'), await healthy()];
    const { url, goAway } = await secondAddress(one.url);
    const { nodes, warnings } = inTurn([DEAD, url, other.url, same.url]);
    expect(await nodes.ask(async (api) => api.network)).toBe('mainnet01');
    await goAway();
    expect(await nodes.ask(health)).toBe('health of mainnet01');
    expect(warnings.slice(1)).toEqual([
      expect.stringContaining(`cannot reach ${url}`),
      `${url} is for the network mainnet01, but ${other.url} is asked for testnet04: name a node of the right network. ` +
        'The next node is asked.',
    ]);
    expect(other.seen.map(({ path }) => path)).toEqual(['/info']);
  });

  it('take no node of another network in place of one that cannot be reached', async () => {
    const other = await healthy();
    const { nodes } = inTurn([`${DEAD}/chainweb/0.0/mainnet01`, `${other.url}/chainweb/0.0/testnet04`]);
    await expect(nodes.ask(health)).rejects.toThrow(OtherNetworkError);
    expect(other.seen).toEqual([]);
  });

  it('ask only nodes of the network that the question is about', async () => {
    const { url, seen } = await healthy();
    const { nodes } = inTurn([`${url}/chainweb/0.0/testnet04`]);
    const asked = nodes.ask(health, { name: 'a.json', network: 'mainnet01' });
    await expect(asked).rejects.toThrow(
      `a.json is for the network mainnet01, but ${url}/chainweb/0.0/testnet04 is asked`,
    );
    expect(seen).toEqual([]);
  });

  it('want the network to be named where a node does not say it', async () => {
    const { url } = await serve(() => undefined);
    await expect(inTurn([url]).nodes.ask(health)).rejects.toThrow(
      `${url} does not say which network it serves: give it with --network`,
    );
  });

  it('tell the network that settings leave open', async () => {
    const { url } = await healthy();
    const warnings: string[] = [];
    const named = await withNetwork(settingsOf([DEAD, url]), (text) => warnings.push(text));
    expect([named.node.network, warnings.length]).toEqual(['mainnet01', 1]);
    const path = settingsOf([`${DEAD}/chainweb/0.0/mainnet01`]);
    expect(await withNetwork(path, () => {})).toBe(path);
  });
});

describe('whoever has named no network', () => {
  const asked = async (urls: string[]) => describeServedNetwork(settingsOf(urls), QUICK);

  it('is told which one the node serves, and that it is to be named', async () => {
    const { url } = await healthy('testnet04');
    expect(await asked([url])).toBe(
      `No network is configured. ${url} serves testnet04: if that is the one you mean, add --network testnet04.`,
    );
    expect(await asked([DEAD, url])).toContain(`${url} serves testnet04`);
  });

  it('is told why that is not known', async () => {
    const silent = await serve(() => ({ status: 404 }));
    const odd = await healthy('main\u001b[31m net');
    const says = await asked([DEAD, silent.url, odd.url]);
    expect(says).toMatch(
      /^No network is configured\. Give it with --network, like --network mainnet01\. Asking for it failed: /,
    );
    expect(says).toContain(`cannot reach ${DEAD}`);
    expect(says).toContain(`${silent.url} does not say which one it serves`);
    expect(says).not.toContain('\u001b');
  });

  it('is told that a file of certificates cannot be read, beside which network is missing', async () => {
    const { node, ledger } = settingsOf(['https://127.0.0.1:9']);
    const says = await describeServedNetwork(
      { node: { ...node, caFiles: [{ value: '/nonexistent.pem' }] }, ledger },
      QUICK,
    );
    expect(says).toMatch(/^No network is configured\. .* Asking for it failed: .*\/nonexistent\.pem/);
  });
});
