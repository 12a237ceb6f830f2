import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, test, vi } from 'vitest';
import { LogFile, openLogFile } from '#pickaxe/cli/log-file.js';

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

test('lines are in the file once it is closed, after what was there before, for its owner alone', async () => {
  const path = join(folder(), 'pickaxe.log');
  for (const text of ['first\n', 'second\n']) {
    const file = openLogFile({ path, size: '10k', keep: 5 })!;
    file.write(text);
    await file.close();
  }
  expect(lines(path)).toEqual(['first', 'second']);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a file that has reached its size is rotated, and so many old ones are kept', async () => {
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

test('a disk that cannot be written to is said once, tried again, and loses lines only', async () => {
  const where = folder();
  const path = join(where, 'pickaxe.log');
  // Where the old file is to go, something is in the way.
  mkdirSync(join(where, 'pickaxe.log.1', 'inside'), { recursive: true });
  const said: string[] = [];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const file = new LogFile(path, 1_024, 1, (line) => said.push(line));
  for (let i = 0; i < 20; i++) file.write(`${'x'.repeat(100)}\n`);
  await vi.waitUntil(() => said.length > 0, { timeout: 10_000 });
  expect(said[0]).toMatch(/^the log file cannot be written, mining goes on: E\w+: .*tried again every 60 s/);
  file.write('lost\n');

  // That it failed is seen in the timer of the next attempt: disks answer in their own time.
  const failed = () => vi.waitUntil(() => vi.getTimerCount() === 1, { timeout: 10_000 });
  await failed();
  await vi.advanceTimersByTimeAsync(60_000); // still in the way
  file.write('lost, too\n');
  await failed();
  rmSync(join(where, 'pickaxe.log.1'), { recursive: true });
  await vi.advanceTimersByTimeAsync(60_000);
  vi.useRealTimers();
  await vi.waitUntil(() => existsSync(`${path}.1`), { timeout: 10_000 });
  file.write('here again\n');
  await file.close();
  expect(said).toHaveLength(1);
  expect(lines(path)).toEqual(['here again']);
});

test('after it was closed, lines are nobody’s and nothing fails', async () => {
  const path = join(folder(), 'pickaxe.log');
  const file = new LogFile(path, 1_024, 1, () => {});
  await file.close();
  file.write('too late\n');
  await file.close();
  expect(lines(path)).toEqual([]);
});

describe('what cannot be a log file is refused at once', () => {
  const open = (path: string) => openLogFile({ path, size: '1k', keep: 1 });
  it('a file in a folder that is not there', () => {
    expect(() => open(join(root, 'nowhere', 'pickaxe.log'))).toThrow(/there is no directory .*nowhere\. Make it first/);
  });
  it('a folder', () => {
    expect(() => open(folder())).toThrow('no regular file');
  });
  it('a device', () => {
    expect(() => open('/dev/null')).toThrow('no regular file');
  });
  it('a file in a file', () => {
    const path = join(folder(), 'file');
    writeFileSync(path, '');
    expect(() => open(join(path, 'pickaxe.log'))).toThrow('there is no directory');
  });
  it('and none is none', () => {
    expect(openLogFile({ size: '1k', keep: 1 })).toBeUndefined();
  });
});
