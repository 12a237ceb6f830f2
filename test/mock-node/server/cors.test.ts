/** Web pages may read the answers of the service side, as with real nodes, and no others. */

import { request } from 'undici';
import { expect, it } from 'vitest';
import { mocksOf } from '../ask.ts';

const startMock = mocksOf('chainweb');

const origin = 'https://wallet.example';

it('lets web pages read the service side, and not the P2P side', async () => {
  const { url, p2pUrl } = await startMock({ chains: 10, p2p: 'plain' });
  const get = async (side: string, headers: Record<string, string>) => {
    const answer = await request(`${side}/chainweb/0.0/development/cut`, { headers });
    await answer.body.dump();
    return answer.headers['access-control-allow-origin'];
  };
  expect([await get(url, { origin }), await get(url, {}), await get(p2pUrl!, { origin })]).toEqual([
    '*',
    undefined,
    undefined,
  ]);
});

it('answers a browser that asks before it sends a command', async () => {
  const { url, p2pUrl } = await startMock({ chains: 10, p2p: 'plain' });
  const ask = async (side: string) => {
    const headers = { origin, 'access-control-request-method': 'POST' };
    const answer = await request(`${side}/chainweb/0.0/development/chain/0/pact/api/v1/local`, {
      method: 'OPTIONS',
      headers,
    });
    await answer.body.dump();
    return [answer.statusCode, answer.headers['access-control-allow-headers']];
  };
  expect(await ask(url)).toEqual([200, expect.stringContaining('Content-Type')]);
  expect(await ask(p2pUrl!)).toEqual([404, undefined]);
});

it('answers no other request of the method OPTIONS, and nothing of another network', async () => {
  const { url } = await startMock({ chains: 10 });
  const statusOf = async (method: 'OPTIONS' | 'GET', headers: Record<string, string>, network = 'development') => {
    const answer = await request(`${url}/chainweb/0.0/${network}/cut`, { method, headers });
    await answer.body.dump();
    return answer.statusCode;
  };
  const asks = { 'access-control-request-method': 'GET' };
  expect([
    await statusOf('OPTIONS', { origin, ...asks }),
    await statusOf('OPTIONS', { origin }),
    await statusOf('OPTIONS', asks),
    await statusOf('GET', { origin, ...asks }),
    await statusOf('GET', {}, 'mainnet01'),
  ]).toEqual([200, 405, 405, 200, 404]);
});

it('refuses bodies that real nodes refuse, and no shorter ones', async () => {
  const { ask } = await startMock({ chains: 10 });
  const batch = (characters: number) => {
    return ask('/chain/0/payload/batch', { method: 'POST', body: `[]${' '.repeat(characters - 2)}` });
  };
  expect((await batch(2 * 1024 * 1024)).status).toBe(200);
  expect((await batch(2 * 1024 * 1024 + 1)).status).toBe(413);
});
