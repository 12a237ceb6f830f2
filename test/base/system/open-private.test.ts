/** Which files are opened as private ones, and with which modes. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { chmodWhereModesAre, openPrivate, RENAMING } from '#pickaxe/base/system/files.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pickaxe-open-'));
  path = join(folder, 'file');
});
afterEach(() => rmSync(folder, { recursive: true }));

async function opened(reads?: boolean) {
  const handle = await openPrivate(path, reads);
  onTestFinished(() => handle.close());
  return handle;
}

const IRREGULAR = 'it exists and is not a regular file';

describe.skipIf(process.platform === 'win32')('a private file', () => {
  it('is created, and later appended to, and only its owner may read it', async () => {
    await (await opened()).write('one');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    writeFileSync(path, 'two', { mode: 0o644 });
    await (await opened()).write('three');
    expect(readFileSync(path, 'utf8')).toBe('twothree');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('can be read only if that is asked for', async () => {
    writeFileSync(path, 'text');
    expect(await (await opened(true)).readFile('utf8')).toBe('text');
    await expect((await opened()).readFile('utf8')).rejects.toMatchObject({ code: 'EBADF' });
  });

  it('is no symbolic link', async () => {
    const target = join(folder, 'target');
    writeFileSync(target, '');
    symlinkSync(target, path);
    await expect(openPrivate(path)).rejects.toThrow('it is a symbolic link. Name the file that it leads to');
  });

  it('is no folder, no pipe and no socket', async () => {
    mkdirSync(path);
    await expect(openPrivate(path)).rejects.toThrow(IRREGULAR);
    rmSync(path, { recursive: true });
    expect(spawnSync('mkfifo', [path]).status).toBe(0);
    await expect(openPrivate(path)).rejects.toThrow(IRREGULAR);
    // With the other end open, the pipe itself can be opened.
    await expect(openPrivate(path, true)).rejects.toThrow(IRREGULAR);
    rmSync(path);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path, resolve));
    onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
    await expect(openPrivate(path)).rejects.toThrow(IRREGULAR);
  });

  it('has the reason of the system, where that has no name of its own', async () => {
    await expect(openPrivate(join(folder, 'missing', 'file'))).rejects.toMatchObject({
      message: expect.stringContaining('ENOENT'),
      cause: { code: 'ENOENT' },
    });
  });

  it('belongs to this user', async () => {
    const { uid } = statSync(folder);
    const user = vi.spyOn(process as { geteuid(): number }, 'geteuid').mockReturnValue(uid + 1);
    onTestFinished(() => user.mockRestore());
    await expect(openPrivate(path)).rejects.toThrow(`it belongs to another user (uid ${uid})`);
  });
});

it('modes are set where the file system has some', async () => {
  const asked: number[] = [];
  const failing = (code: string | undefined) =>
    ({
      chmod: async (mode: number) => {
        asked.push(mode);
        if (code !== undefined) throw Object.assign(new Error(code), { code });
      },
    }) as never;
  await chmodWhereModesAre(failing(undefined));
  await chmodWhereModesAre(failing('EPERM'));
  await expect(chmodWhereModesAre(failing('EIO'))).rejects.toThrow('EIO');
  expect(asked).toEqual([0o600, 0o600, 0o600]);
});

it('between two attempts to rename a file, the thread waits', () => {
  const wait = vi.spyOn(Atomics, 'wait').mockReturnValue('timed-out');
  onTestFinished(() => wait.mockRestore());
  RENAMING.wait(20);
  expect(wait.mock.calls.map(([, index, value, ms]) => [index, value, ms])).toEqual([[0, 0, 20]]);
});
