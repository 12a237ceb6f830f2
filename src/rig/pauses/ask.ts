/** Runs a program of the system and returns its output. */

import { execFile } from 'node:child_process';

/** Time limit for a program. Usually, the system's programs end within milliseconds. */
const TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 1_048_576;

/**
 * @returns the text on stdout, in English
 * @throws Error when the program does not exist, fails, takes too long, or writes more than `MAX_ANSWER_BYTES`
 */
export function ask(program: string, ...args: string[]): Promise<string> {
  const options = {
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_ANSWER_BYTES,
    env: { ...process.env, LC_ALL: 'C' },
  } as const;
  return new Promise((resolve, reject) => {
    execFile(program, args, options, (fault, stdout, stderr) => {
      if (!fault) resolve(stdout);
      else if (fault.killed) reject(new Error(`${program} did not answer`));
      else reject(new Error(`${program}: ${stderr.trim().split('\n')[0] || fault.message}`));
    });
  });
}
