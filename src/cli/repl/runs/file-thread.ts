/** The script of a thread that runs files. Piscina calls the default export for each file. */

import { workerData } from 'node:worker_threads';
import { UsageError } from '../../../app/process/exit.ts';
import { resultsMeter, Session } from '../../../contract/repl/repl-session.ts';
import { AllowedFiles } from '../../included-files.ts';
import { SourceFiles } from '../source-files.ts';
import type { FileTask, ThreadData } from './file-threads.ts';
import { type FileRun, notRun, runFile } from './run-file.ts';

const { options, allowed, stdin, code, end, reported } = workerData as ThreadData;
const meter = resultsMeter(reported);
const allowedFiles = new AllowedFiles(allowed);
const now = () => performance.timeOrigin + performance.now();

export default async function work({ name, filter }: FileTask): Promise<FileRun> {
  const printed: string[] = [];
  const files = new SourceFiles({ allowed: allowedFiles, stdin, code });
  try {
    files.name(name);
  } catch (fault) {
    // The file has been removed since the threads were started.
    if (fault instanceof UsageError) return notRun(name, fault.message, options.dialect);
    throw fault;
  }
  const run = await runFile(
    name,
    files,
    { ...options, filter },
    {
      makeSession: (given) => new Session({ reported: meter, ...given }),
      print: (line) => printed.push(line),
      ...(end && { whyEnd: () => (now() < end.atMs ? undefined : end.why) }),
      clock: () => performance.now(),
    },
  );
  return { ...run, printed };
}
