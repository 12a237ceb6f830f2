import { expect, it } from 'vitest';
import { nodesOf } from '../../miner/source/node/node.ts';
import { pickaxe } from '../in-process.ts';

const startNode = nodesOf('chainweb');

it('pickaxe blocks --refresh finds out the network', async () => {
  const { url } = await startNode({ chains: 4 });
  const { code, stderr } = await pickaxe('blocks', '--refresh', '--node', 'http://127.0.0.1:9', '--node', url);
  expect(stderr).toMatch(/^warning: cannot reach http:\/\/127\.0\.0\.1:9 .* The next node is asked\.$/m);
  expect(code).toBe(0);
});
