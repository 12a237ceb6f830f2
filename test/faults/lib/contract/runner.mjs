// The thread in which contract-fuzz.mjs runs programs of the contract language.

import { basename } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { Session } from '#pickaxe/contract/repl/repl-session.js';
import { FILES, GROUP, programOf, stepsOf } from './programs.mjs';

/**
 * The number of the program that runs, and the process's time when it began. The parent can read both when the thread
 * hangs.
 */
const running = new Float64Array(workerData.running);

/** Milliseconds of the processors that the process has taken. A busy machine does not lengthen it. */
function processorMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function newSession(dialect, maxSteps) {
  const readFile = (path) => {
    const text = FILES.get(path);
    if (text === undefined) throw new Error('no such file');
    return text;
  };
  return new Session({ dialect, maxSteps, readFile, resolvePath: (_, path) => basename(path) });
}

/** @returns the fault that is no ContractError, if there is one, and the longest time of a program in milliseconds */
function run(session, texts) {
  let longest = 0;
  for (const text of texts) {
    const begun = processorMs();
    running[1] = begun;
    try {
      const { values, error } = session.runText(text);
      if (!values.every((value) => typeof value === 'string')) throw new Error('a value is no text');
      if (error && typeof error.message !== 'string') throw new Error('a failure has no message');
      session.names();
    } catch (fault) {
      return { fault: `${fault?.stack ?? fault}`.slice(0, 2000), longest };
    }
    longest = Math.max(longest, processorMs() - begun);
  }
  return { longest };
}

parentPort.on('message', ({ texts, dialect, from, to, seed, maxSteps }) => {
  if (texts) {
    parentPort.postMessage(run(newSession(dialect, maxSteps), texts));
    return;
  }
  const findings = [];
  const slow = [];
  let session;
  for (let number = from; number < to; number++) {
    const program = programOf(number, seed);
    if (!program.shared || number % GROUP === 0 || !session)
      session = newSession(program.dialect, stepsOf(number, maxSteps));
    running[0] = number;
    const { fault, longest } = run(session, program.texts);
    if (fault !== undefined) findings.push({ number, fault });
    slow.push({ number, longest });
  }
  slow.sort((a, b) => b.longest - a.longest);
  parentPort.postMessage({ findings, slow: slow.slice(0, 3) });
});
