import { expect, it, onTestFinished, vi } from 'vitest';
import { Progress } from '#pickaxe/cli/ledger/ledger-client.js';
import { serve } from '../../node/client/server.ts';
import { pickaxe } from '../in-process.ts';
import { pretendedIo } from '../pretended-io.ts';
import { info } from './ledger-node.ts';

it.each([
  ['2.31', { version: '2.31' }],
  [undefined, {}],
])('a node whose version is %s is shown with it, or without', async (version, more) => {
  const headers: Record<string, string> = version === undefined ? {} : { 'x-chainweb-node-version': version };
  const answer = { body: { ...info, nodeGraphHistory: [[0, [[0, []]]]] } };
  const { url } = await serve(({ path }) => (path === '/info' ? answer : undefined), { headers });
  const ask = (...args: string[]) => pickaxe('ledger', 'info', '--node', url, ...args);
  const { code, stdout } = await ask('--json');
  expect(code).toBe(0);
  const graphs = [{ fromHeight: 0, neighbours: [[]] }];
  expect(JSON.parse(stdout)).toEqual({ network: 'mainnet01', apiVersion: '0.0', ...more, chains: [0], graphs });
  expect((await ask()).stdout).toMatch(new RegExp(`^software +${version ?? 'not said'}$`, 'm'));
});

it('a long command says every two seconds how far it is, on a terminal only', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const io = { ...pretendedIo(), showsProgress: true, lines: [] as string[] };
  io.say = (line) => void io.lines.push(line);
  const progress = new Progress(io);
  const after = (ms: number) => {
    vi.advanceTimersByTime(ms);
    progress.show(() => `${performance.now()}`);
    return io.lines.length;
  };
  expect([after(0), after(1_999), after(1), after(1_999), after(1), after(10_000)]).toEqual([0, 0, 1, 1, 2, 3]);
  io.showsProgress = false;
  expect(after(10_000)).toBe(3);
});
