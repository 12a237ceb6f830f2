/** HEAD is answered like GET, without the body, as real nodes do. */

import { expect, it } from 'vitest';
import { nodesOf } from '../../miner/source/node/node.ts';

const startNode = nodesOf('chainweb');

/** The other headers contain the time and the client's port, which change. */
const headOf = ({ status, headers }: Response) => [status, headers.get('content-type')];

it.each([
  '/health-check',
  '/config',
  '/info',
  '/chainweb/0.0/development/cut',
  '/chainweb/0.0/development/chain/0/hash',
  '/chainweb/0.0/development/chain/99/hash',
  '/chainweb/0.0/elsewhere/cut',
  '/chainweb/0.0/development/mining/solved',
])('HEAD of %s', async (path) => {
  const { url } = await startNode();
  const get = await fetch(url + path);
  const head = await fetch(url + path, { method: 'HEAD' });
  expect(headOf(head)).toEqual(headOf(get));
  expect(await get.text()).not.toBe('');
  expect(await head.text()).toBe('');
});

it('HEAD of a stream ends at once, and leaves no stream open', async () => {
  const { node, url } = await startNode({ headerStream: true });
  const answer = await fetch(`${url}/chainweb/0.0/development/header/updates`, { method: 'HEAD' });
  expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
    200,
    'text/event-stream',
    '',
  ]);
  expect(node.server.streams.open).toBe(0);
});
