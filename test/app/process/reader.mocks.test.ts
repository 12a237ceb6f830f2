/** What a command does when what it prints cannot be written. */

import { afterEach, expect, it, onTestFinished, vi } from 'vitest';

afterEach(() => {
  vi.restoreAllMocks();
});

/** @param mines whether the command handles SIGTERM, as a miner does */
async function printing({ mines }: { readonly mines: boolean }) {
  vi.resetModules();
  const { exit, stopWithReader } = await import('#pickaxe/app/process/exit.js');
  const did: string[] = [];
  const before = [process.stdout, process.stderr].map((stream) => stream.listeners('error'));
  stopWithReader();
  const stopped = () => did.push('SIGTERM');
  const terminators = process.listeners('SIGTERM');
  for (const each of terminators) process.off('SIGTERM', each);
  if (mines) process.on('SIGTERM', stopped);
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    did.push(`exit ${code}`);
    throw new Error('nothing comes after the end');
  });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => did.push(String(text).trim()) > 0);
  onTestFinished(() => {
    process.off('SIGTERM', stopped);
    for (const each of terminators) process.on('SIGTERM', each);
    for (const [at, stream] of [process.stdout, process.stderr].entries()) {
      for (const each of stream.listeners('error')) {
        if (!before[at].includes(each)) stream.off('error', each as () => void);
      }
    }
  });
  const fails = (code: string, stream: NodeJS.WriteStream = process.stdout) => {
    try {
      stream.emit('error', Object.assign(new Error(`it is ${code}`), { code }));
    } catch (error) {
      expect(error).toMatchObject({ message: 'nothing comes after the end' });
    }
    return did.splice(0);
  };
  return { fails, exit, did };
}

const COMPLAINT = 'error: what is printed cannot be written: it is ENOSPC';

it.each([
  ['its reader has gone', 'EPIPE', ['exit 0']],
  ['its reader has gone, on Windows', 'EOF', ['exit 0']],
  ['the disk is full', 'ENOSPC', [COMPLAINT, 'exit 1']],
])('a command that only prints ends when %s', async (_, code, expected) => {
  const { fails } = await printing({ mines: false });
  expect(fails(code)).toEqual(expected);
});

it('a miner whose reader has gone stops once, as at a signal', async () => {
  const { fails } = await printing({ mines: true });
  expect(fails('EPIPE')).toEqual(['SIGTERM']);
  expect(fails('EPIPE')).toEqual([]);
});

it('a miner goes on without lines when the disk is full, says so once, and its exit code stays', async () => {
  const { fails, exit } = await printing({ mines: true });
  expect(fails('ENOSPC')).toEqual([COMPLAINT]);
  expect(fails('ENOSPC')).toEqual([]);
  expect(fails('EPIPE')).toEqual([]);
  vi.useFakeTimers();
  const exitCode = process.exitCode;
  onTestFinished(() => {
    vi.useRealTimers();
    process.exitCode = exitCode;
  });
  const done: ((fault?: Error) => void)[] = [];
  const wait = (_: unknown, then?: unknown) => done.push(then as () => void) > 0;
  vi.spyOn(process.stderr, 'write').mockImplementation(wait);
  vi.spyOn(process.stdout, 'write').mockImplementation(wait);
  exit(3);
  done[0]();
  expect(() => done[1](Object.assign(new Error('full'), { code: 'ENOSPC' }))).toThrow('nothing comes after');
  expect(vi.mocked(process.exit).mock.calls).toEqual([[3]]);
});

it('an error of what only people read changes nothing', async () => {
  const { fails } = await printing({ mines: false });
  expect(fails('EPIPE', process.stderr)).toEqual([]);
});
