/** What a started program tells systemd. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { start } from '../../../cli/pickaxe.ts';
import { PATIENCE } from '../../../patience.ts';
import { receive, whyNoReceiver } from './receiver.ts';

const folder = mkdtempSync(join(tmpdir(), 'pickaxe-systemd-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let sockets = 0;
const newAddress = () => join(folder, `notify${sockets++}`);

const skipped = whyNoReceiver !== undefined && !process.env.CI;

describe.skipIf(skipped)(`a service of systemd${skipped ? `, not tried: ${whyNoReceiver}` : ''}`, () => {
  test('reports its state from its start to its end', async () => {
    const NOTIFY_SOCKET = newAddress();
    const { messages } = await receive(NOTIFY_SOCKET);
    const args = ['demo', '--devices', 'cpu', '--threads', '1', '--duration', '120', '--json'];
    const run = start(args, { NOTIFY_SOCKET, WATCHDOG_USEC: '400000' });
    const mines = () =>
      messages.some((lines) => lines.some((line) => /^STATUS=[\d.]+ .?H\/s, [1-9]\d* accepted/.test(line)));
    await vi.waitFor(() => expect(mines()).toBe(true), PATIENCE);
    run.child.kill('SIGTERM');
    expect(await run.code).toBe(0);
    await vi.waitFor(() => expect(messages.at(-1)).toContain('STOPPING=1'), PATIENCE);
    const first = (line: string) => messages.findIndex((lines) => lines.includes(line));
    expect(first('READY=1')).toBeGreaterThanOrEqual(0);
    expect(messages.slice(first('READY=1')).some((lines) => lines.includes('WATCHDOG=1'))).toBe(true);
    expect(messages.filter((lines) => lines.includes('STOPPING=1'))).toHaveLength(1);
  });
});
