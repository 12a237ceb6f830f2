import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { openNotifySocket } from '#pickaxe/app/process/systemd.js';
import { PATIENCE } from '../../../patience.ts';
import { receive, whyNoReceiver } from './receiver.ts';

const folder = mkdtempSync(join(tmpdir(), 'pickaxe-notify-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const skipped = whyNoReceiver !== undefined && !process.env.CI;

describe.skipIf(skipped)(`datagrams to a service manager${skipped ? `, not tried: ${whyNoReceiver}` : ''}`, () => {
  test.each([
    ['a path', join(folder, 'notify')],
    ['an abstract name', `@pickaxe/test/${process.pid}`],
    ['the longest path', join(folder, 'n'.repeat(107 - folder.length - 1))],
  ])('reach %s', async (_, address) => {
    const { messages } = await receive(address);
    const socket = await openNotifySocket(address);
    expect(socket.send({ READY: 1, STATUS: '1.2 GH/s, 3 accepted' })).toBeUndefined();
    expect(socket.send({ STATUS: 'so gut wie\nmöglich\tund\r\nEXTRA=1' })).toBeUndefined();
    await vi.waitFor(() => expect(messages).toHaveLength(2), PATIENCE);
    expect(messages[0]).toEqual(['READY=1', 'STATUS=1.2 GH/s, 3 accepted']);
    expect(messages[1].map((line) => Buffer.from(line, 'latin1').toString())).toEqual([
      'STATUS=so gut wie möglich und EXTRA=1',
    ]);
    socket.close();
  });

  test('that nobody receives are reported, and the next one is still sent', async () => {
    const address = join(folder, 'later');
    const socket = await openNotifySocket(address);
    expect(socket.send({ READY: 1 })).toMatch(/^cannot send to .*later \(error 2\)$/);
    const { messages } = await receive(address);
    expect(socket.send({ READY: 1 })).toBeUndefined();
    await vi.waitFor(() => expect(messages).toEqual([['READY=1']]), PATIENCE);
    socket.close();
  });
});

test.each(['', '/', '@', 'relative', 'vsock:2:1234', `/${'n'.repeat(107)}`, `@${'n'.repeat(108)}`, '/a\0b'])(
  '%j is not a valid address',
  async (address) => {
    await expect(openNotifySocket(address)).rejects.toThrow(/is neither a path nor @|longer than/);
  },
);
