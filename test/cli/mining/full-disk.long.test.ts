import { type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isolated, MAIN } from '../pickaxe.ts';

const noFull = process.platform !== 'linux';

describe.skipIf(noFull)(`lines that cannot be written${noFull ? ' (skipped: it takes Linux’s /dev/full)' : ''}`, () => {
  it.each([
    ['the log', ['pipe', 'full']],
    ['events', ['full', 'pipe']],
    ['both', ['full', 'full']],
  ])('do not disturb mining: %s', async (_, [out, err]) => {
    const full = openSync('/dev/full', 'w');
    const stdio = [out, err].map((stream) => (stream === 'full' ? full : 'ignore'));
    const args = ['demo', '--devices', 'cpu', '--threads', '1', '--blocks', '3', '--json', '--log-format', 'text'];
    const options = { ...isolated, stdio: ['ignore', ...stdio] as StdioOptions };
    const child = spawn(process.execPath, [MAIN, ...args], options);
    const [code, signal] = await once(child, 'exit');
    closeSync(full);
    expect([code, signal]).toEqual([0, null]);
  });

  it('end any other command, with an error on stderr', () => {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [MAIN, 'config', 'example'], {
      ...isolated,
      encoding: 'utf8',
      stdio: ['ignore', full, 'pipe'],
    });
    closeSync(full);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^error: what is printed cannot be written: .*\n$/)]);
  });
});
