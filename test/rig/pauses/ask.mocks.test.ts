/** How a program of the system is asked, without starting one. */

import { type ExecFileException, type ExecFileOptions, execFile } from 'node:child_process';
import { expect, it, vi } from 'vitest';
import { ask } from '#pickaxe/rig/pauses/ask.js';

vi.mock('node:child_process');

type End = (fault: Partial<ExecFileException> | null, stdout: string, stderr: string) => void;

/** Asks a program that ends like this. @returns its answer or why there is none, and how it was started */
async function asked(fault: Partial<ExecFileException> | null, stdout = '', stderr = '') {
  const started: unknown[] = [];
  vi.mocked(execFile).mockImplementation(((program: string, args: string[], options: ExecFileOptions, end: End) => {
    started.push(program, args, options);
    end(fault, stdout, stderr);
  }) as never);
  const answer = await ask('ioreg', '-c', 'IOHIDSystem').catch((error: Error) => `error: ${error.message}`);
  return { answer, started };
}

it('a program answers in English, in five seconds, and not with more than a mebibyte', async () => {
  const { answer, started } = await asked(null, 'idle for 5 s\n', 'a warning\n');
  expect(answer).toBe('idle for 5 s\n');
  const [program, args, options] = started;
  expect([program, args]).toEqual(['ioreg', ['-c', 'IOHIDSystem']]);
  const limits = { timeout: 5_000, killSignal: 'SIGKILL', maxBuffer: 1_048_576 };
  expect(options).toMatchObject({ ...limits, env: { PATH: process.env.PATH, LC_ALL: 'C' } });
});

it.each([
  ['is killed', { killed: true, message: 'Command failed' }, 'a warning', 'ioreg did not answer'],
  ['fails', { message: 'Command failed' }, '\nno such class\nand more\n', 'ioreg: no such class'],
  ['does not exist', { message: 'spawn ioreg ENOENT' }, '', 'ioreg: spawn ioreg ENOENT'],
])('of a program that %s is said why there is no answer', async (_, fault, stderr, why) => {
  expect((await asked(fault, 'a part', stderr)).answer).toBe(`error: ${why}`);
});
