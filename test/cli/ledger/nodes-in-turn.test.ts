/** All commands that ask a node go on to the next one in the same way. */

import { describe, expect, it } from 'vitest';
import { nodesOf } from '../../miner/source/node/node.ts';
import { pickaxe } from '../in-process.ts';
import { id } from './ledger-node.ts';

const startNode = nodesOf('chainweb');

/** Nobody listens at these addresses. */
const [DEAD, DEAD_TOO] = ['http://127.0.0.1:9', 'http://127.0.0.1:7'];
const ACCOUNT = `k:${'a1'.repeat(32)}`;
const accounts = [{ account: ACCOUNT, balance: '12.5' }];

const on = (...urls: string[]) => urls.flatMap((url) => ['--node', url]);

describe.each([
  { command: ['ledger', 'cut'] },
  { command: ['ledger', 'block', '0', '--limit', '1', '--json'] },
  { command: ['balance', ACCOUNT] },
  { command: ['sweep', '--to-chain', '0', '--account', ACCOUNT, '--json'] },
  { command: ['tx', 'poll', 'A'.repeat(43), '--chain', '0', '--once', '--json'], usual: 4 },
])('pickaxe $command.0 $command.1', ({ command, usual = 0 }) => {
  it('asks the next node when one cannot be reached, and says so', async () => {
    const { url } = await startNode({ chains: 4, accounts });
    const alone = await pickaxe(...command, ...on(url));
    expect([alone.code, alone.stderr]).toEqual([usual, expect.not.stringContaining('next node')]);
    const second = await pickaxe(...command, ...on(DEAD, url));
    expect([second.code, second.stdout]).toEqual([usual, alone.stdout]);
    expect(second.stderr).toMatch(/^warning: cannot reach http:\/\/127\.0\.0\.1:9 .* The next node is asked\.$/m);
  });

  it('fails when none can be reached', async () => {
    const { code, stdout, stderr } = await pickaxe(...command, ...on(DEAD, DEAD_TOO));
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^(?:the node is .*\n)?warning: cannot reach http:\/\/127\.0\.0\.1:9 .*\nerror: cannot reach http:\/\/127\.0\.0\.1:7 .*\n$/,
    );
  });

  it('takes no node of another network instead', async () => {
    const { node, url } = await startNode({ chains: 4, accounts });
    const urls = [`${DEAD}/chainweb/0.0/mainnet01`, `${url}/chainweb/0.0/development`];
    const { code, stdout, stderr } = await pickaxe(...command, ...on(...urls));
    expect([code, stdout]).toEqual([expect.any(Number), '']);
    expect(code).not.toBe(0);
    expect(stderr).toContain(`${urls[0]} is for the network mainnet01, but ${urls[1]} is asked for development`);
    expect(Object.values(node.server.stats.requests).reduce((a, b) => a + b)).toBe(0);
  });
});

it.each([[['put-peer', '10.1.2.3:1789', '--id', id]]])(
  'pickaxe ledger %s asks one node, and no other',
  async (command) => {
    const { node, url } = await startNode({ chains: 4 });
    const { code, stderr } = await pickaxe('ledger', ...command, ...on(DEAD, url), '--network', 'development');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/\nerror: cannot reach http:\/\/127\.0\.0\.1:9 /)]);
    expect(Object.values(node.server.stats.requests).reduce((a, b) => a + b)).toBe(0);
  },
);
