import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, onTestFinished, test, vi } from 'vitest';
import { LogFile, openLogFile } from '#pickaxe/app/process/log-file.js';
import { PATIENCE } from '../../patience.ts';

const root = mkdtempSync(join(tmpdir(), 'pickaxe-log-'));
let folders = 0;
function folder(): string {
  const made = join(root, String(folders++));
  mkdirSync(made);
  return made;
}

afterEach(() => {
  vi.useRealTimers();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const lines = (path: string) => readFileSync(path, 'utf8').split('\n').filter(Boolean);

test('lines that were appended are in the file when it is closed, and only its owner may read it', async () => {
  const path = join(folder(), 'pickaxe.log');
  for (const text of ['first\n', 'second\n']) {
    const file = (await openLogFile({ path, size: 10_240, keep: 5 }))!;
    file.write(text);
    await file.close();
  }
  expect(lines(path)).toEqual(['first', 'second']);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a file that has reached its size limit is rotated, and only as many old files are kept as asked for', async () => {
  const where = folder();
  const path = join(where, 'pickaxe.log');
  const file = new LogFile(path, 1_024, 2, () => {});
  for (let i = 0; i < 100; i++) file.write(`line ${String(i).padStart(95, '0')}\n`);
  await file.close();
  expect(readdirSync(where).sort()).toEqual(['pickaxe.log', 'pickaxe.log.1', 'pickaxe.log.2']);
  const kept = [`${path}.2`, `${path}.1`, path].flatMap(lines).map((line) => Number(line.slice(5)));
  expect(kept.at(-1)).toBe(99);
  expect(kept).toEqual(Array.from(kept, (_, i) => kept[0] + i));
  for (const name of readdirSync(where)) {
    expect(statSync(join(where, name)).size).toBeLessThan(1_024 + 101);
    expect(statSync(join(where, name)).mode & 0o777).toBe(0o600);
  }
});

test('a file is rotated at exactly its size, even if an earlier start wrote a part of it', async () => {
  const path = join(folder(), 'pickaxe.log');
  for (const part of ['x'.repeat(999), 'y'.repeat(23)]) {
    const file = new LogFile(path, 1_024, 1, () => {});
    file.write(`${part}\n`);
    await file.close();
  }
  expect([`${path}.1`, path].map((name) => statSync(name).size)).toEqual([1_024, 0]);
});

describe.skipIf(process.platform !== 'linux')('a file is closed', () => {
  /** The files that this process has open in a folder, or with a name. */
  const openIn = (path: string) =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(join('/proc/self/fd', fd)).startsWith(path);
      } catch {
        return false; // This descriptor belonged to the folder that is being read.
      }
    });

  it('when it is rotated, and when the log ends', async () => {
    const where = folder();
    const file = new LogFile(join(where, 'pickaxe.log'), 1_024, 2, () => {});
    for (let i = 0; i < 40; i++) file.write(`${'x'.repeat(99)}\n`);
    await file.close();
    expect(readdirSync(where)).toContain('pickaxe.log.2');
    expect(openIn(where)).toEqual([]);
  });

  it('when it is refused', async () => {
    await expect(openLogFile({ path: '/dev/full', size: 1024, keep: 1 })).rejects.toThrow('not a regular file');
    expect(openIn('/dev/full')).toEqual([]);
  });
});

test('a file that cannot be written is reported once and tried again, and its lines wait', async () => {
  const path = join(folder(), 'pickaxe.log');
  mkdirSync(path); // A folder is in the file's place.
  const said: string[] = [];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const file = new LogFile(path, 1_024, 1, (line) => said.push(line));
  file.write('waits\n');
  // The timer of the next attempt shows that this attempt has failed. How long that takes depends on the disk.
  const failed = () => vi.waitUntil(() => vi.getTimerCount() === 1, PATIENCE);
  await failed();
  expect(said[0]).toMatch(/^the log file cannot be written, mining goes on: .+ \(trying again every 60 s\)\n$/);
  await vi.advanceTimersByTimeAsync(60_000); // The folder is still there.
  file.write('waits, too\n');
  await failed();
  rmSync(path, { recursive: true });
  await vi.advanceTimersByTimeAsync(60_000);
  vi.useRealTimers();
  await vi.waitUntil(() => existsSync(path), PATIENCE);
  file.write('here again\n');
  await file.close();
  expect(said).toHaveLength(1);
  expect(lines(path)).toEqual(['waits', 'waits, too', 'here again']);
});

describe('a file that cannot be rotated', () => {
  it('grows on, is reported once for each time that it begins, and is rotated when that is possible again', async () => {
    const path = join(folder(), 'pickaxe.log');
    // The name for the rotated file is taken.
    mkdirSync(join(`${path}.1`, 'inside'), { recursive: true });
    const said: string[] = [];
    const file = new LogFile(path, 1_000, 1, (line) => said.push(line));
    const line = (i: number) => `line ${String(i).padStart(94, '0')}`;
    for (let i = 0; i < 25; i++) file.write(`${line(i)}\n`);
    await vi.waitUntil(() => existsSync(path) && statSync(path).size === 2_500, PATIENCE);
    rmSync(`${path}.1`, { recursive: true });
    for (let i = 25; i < 31; i++) file.write(`${line(i)}\n`);
    await vi.waitUntil(() => existsSync(path) && statSync(path).size === 100, PATIENCE);
    expect(lines(`${path}.1`)).toEqual(Array.from({ length: 30 }, (_, i) => line(i)));
    expect(lines(path)).toEqual([line(30)]);
    const reported = 'the log file cannot be rotated and keeps growing';
    expect(said.map((text) => text.replace(/: .*/s, ''))).toEqual([reported]);
    rmSync(`${path}.1`);
    mkdirSync(join(`${path}.1`, 'inside'), { recursive: true });
    for (let i = 31; i < 45; i++) file.write(`${line(i)}\n`);
    await file.close();
    expect(said.map((text) => text.replace(/: .*/s, ''))).toEqual([reported, reported]);
  });
});

test('rotated files are renamed only up to the first free name', async () => {
  const path = join(folder(), 'pickaxe.log');
  for (const old of [1, 3]) writeFileSync(`${path}.${old}`, `was ${old}\n`);
  const file = new LogFile(path, 1_000, 4, () => {});
  file.write(`${'x'.repeat(999)}\n`);
  await file.close();
  expect([`${path}.2`, `${path}.3`].flatMap(lines)).toEqual(['was 1', 'was 3']);
  expect(existsSync(`${path}.4`)).toBe(false);
  expect(lines(`${path}.1`)).toHaveLength(1);
});

test('writing after the end does nothing and does not fail', async () => {
  const path = join(folder(), 'pickaxe.log');
  const file = new LogFile(path, 1_024, 1, () => {});
  await file.close();
  file.write('too late\n');
  await file.close();
  expect(existsSync(path)).toBe(false);
});

test('lines that wait for a slow disk are bounded, and further ones are dropped', async () => {
  const path = join(folder(), 'pickaxe.log');
  const file = new LogFile(path, 2 ** 30, 1, () => {});
  // No write ends before this loop, since disks answer later.
  const line = `${'x'.repeat(65_535)}\n`;
  for (let i = 0; i < 100; i++) file.write(line);
  await file.close();
  expect(statSync(path).size).toBe(16 * 65_536);
});

describe.skipIf(process.platform === 'win32')('the log file belongs to its owner alone', () => {
  const open = (path: string) => openLogFile({ path, size: 1024, keep: 2 });
  const modeOf = (path: string) => statSync(path).mode & 0o777;

  it('even if it and old log files existed before', async () => {
    const path = join(folder(), 'pickaxe.log');
    const old = [`${path}.1`, `${path}.2`, `${path}.17`];
    const others = [`${path}.gz`, `${path}.1.bak`, join(path, '..', 'pickaxe.logs')];
    for (const file of [path, ...old, ...others]) {
      writeFileSync(file, 'before\n');
      chmodSync(file, 0o666);
    }
    await (await open(path))!.close();
    expect([path, ...old].map(modeOf)).toEqual([0o600, 0o600, 0o600, 0o600]);
    expect(others.map(modeOf)).toEqual([0o666, 0o666, 0o666]);
    expect(lines(path)).toEqual(['before']);
  });

  it('even if it had another mode when it was rotated', async () => {
    const path = join(folder(), 'pickaxe.log');
    const file = (await open(path))!;
    for (let i = 0; i < 20; i++) file.write(`${'x'.repeat(99)}\n`);
    await file.close();
    expect([`${path}.1`, path].map(modeOf)).toEqual([0o600, 0o600]);
    chmodSync(path, 0o644);
    await (await open(path))!.close();
    expect(modeOf(path)).toBe(0o600);
  });

  it.each(['another file', 'nowhere'])('and is not opened through a link to %s', async (target) => {
    const where = folder();
    const path = join(where, 'pickaxe.log');
    const led = join(where, 'led to');
    if (target === 'another file') writeFileSync(led, 'mine\n', { mode: 0o644 });
    symlinkSync(led, path);
    await expect(open(path)).rejects.toThrow(
      /^--log-file: \S+ cannot be written: it is a symbolic link\. Name the file/,
    );
    expect(existsSync(led) ? [readFileSync(led, 'utf8'), modeOf(led)] : 'nothing').toEqual(
      target === 'another file' ? ['mine\n', 0o644] : 'nothing',
    );
  });

  it('and is not opened again through a link that has taken its place', async () => {
    const where = folder();
    const path = join(where, 'pickaxe.log');
    const led = join(where, 'led to');
    const said: string[] = [];
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    mkdirSync(path);
    const file = new LogFile(path, 1_024, 1, (line) => said.push(line));
    file.write('waits\n');
    await vi.waitUntil(() => vi.getTimerCount() === 1, PATIENCE);
    rmSync(path, { recursive: true });
    symlinkSync(led, path);
    await vi.advanceTimersByTimeAsync(60_000);
    await vi.waitUntil(() => vi.getTimerCount() === 1, PATIENCE); // The file was not opened.
    vi.useRealTimers();
    await file.close();
    expect(existsSync(led)).toBe(false);
    expect(said).toHaveLength(1);
  });

  it('and an old log file that is a link is left unchanged', async () => {
    const where = folder();
    const path = join(where, 'pickaxe.log');
    const led = join(where, 'led to');
    writeFileSync(led, '');
    chmodSync(led, 0o644);
    symlinkSync(led, `${path}.1`);
    await (await open(path))!.close();
    expect(modeOf(led)).toBe(0o644);
  });

  it('and an old log file that cannot be opened, such as a socket, is named', async () => {
    const path = join(folder(), 'pickaxe.log');
    const server = createServer().listen(`${path}.1`);
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    await expect(open(path)).rejects.toThrow(/^--log-file: \S+ cannot be written: E\w+: .*pickaxe\.log\.1'\.$/);
  });

  it('as far as its file system has modes', async () => {
    const path = join(folder(), 'pickaxe.log');
    writeFileSync(`${path}.1`, '');
    const handle = await openFile(path, 'w');
    await handle.close();
    const unable = Object.assign(new Error('EPERM: operation not permitted, fchmod'), { code: 'EPERM' });
    const chmod = vi.spyOn(Object.getPrototypeOf(handle), 'chmod').mockRejectedValue(unable);
    onTestFinished(() => chmod.mockRestore());
    const file = (await open(path))!;
    file.write('on FAT\n');
    await file.close();
    expect(chmod).toHaveBeenCalledTimes(3); // The file is changed twice and the rotated one once.
    expect(lines(path)).toEqual(['on FAT']);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'and is refused if it belongs to another user (tried as root alone)',
    async () => {
      const path = join(folder(), 'pickaxe.log');
      writeFileSync(path, '');
      chownSync(path, 12_345, 12_345);
      await expect(open(path)).rejects.toThrow('it belongs to another user (uid 12345)');
    },
  );
});

describe('what cannot be a log file is refused at once', () => {
  const open = (path: string) => openLogFile({ path, size: 1024, keep: 1 });
  it('such as a file in a folder that does not exist', async () => {
    await expect(open(join(root, 'nowhere', 'pickaxe.log'))).rejects.toThrow(
      /there is no directory .*nowhere\. Make it first/,
    );
  });
  it('such as a folder', async () => {
    await expect(open(folder())).rejects.toThrow('not a regular file');
  });
  it('such as a device', async () => {
    await expect(open('/dev/null')).rejects.toThrow('not a regular file');
  });
  it('such as a pipe, whose reader is not waited for', async () => {
    const path = join(folder(), 'pipe');
    execFileSync('mkfifo', [path]);
    await expect(open(path)).rejects.toThrow('not a regular file');
  });
  it('such as a file in a file', async () => {
    const path = join(folder(), 'file');
    writeFileSync(path, '');
    await expect(open(join(path, 'pickaxe.log'))).rejects.toThrow('there is no directory');
  });
  it('but no log file at all is fine', async () => {
    expect(await openLogFile({ size: 1024, keep: 1 })).toBeUndefined();
  });
});
