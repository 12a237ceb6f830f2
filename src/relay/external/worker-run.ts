/** One run of an external worker: the process that searches one header. */

import type { ChildProcess } from 'node:child_process';
import { type Command, endWithPickaxe, killGroup, startGroup, withArgument } from '../../system/process-group.ts';
import { oneLine } from '../../text/one-line.ts';
import { type ExternalAnswer, parseAnswer, targetArgument } from '../../wire/external-worker.ts';
import { LenientLines, TOO_LONG } from '../../wire/lenient-lines.ts';

/** A nonce and two numbers have 60. */
const MOST_ANSWER_BYTES = 1_024;
/** The longest line of its stderr that is logged: more is no message for people. */
const MOST_LOG_BYTES = 8_192;
/** How long to wait for the rest of the output after the worker's end: a process that it left behind may keep it open. */
const OUTPUT_MS = 200;
/** How much of a wrong answer is quoted. */
const MOST_QUOTED = 80;

/** How a run has ended by itself. */
export type RunEnd =
  | { readonly kind: 'answer'; readonly answer: ExternalAnswer }
  /** It gave no nonce. `why` is a clause for people. */
  | { readonly kind: 'failed'; readonly why: string };

export interface WorkerRunOptions {
  readonly command: Command;
  /** 32 bytes, little-endian. */
  readonly target: Uint8Array;
  /** 286 bytes. */
  readonly header: Uint8Array;
  /** Called with each line that the worker writes to stderr. */
  readonly log: (line: string) => void;
  /** Called once, unless the run was killed before. */
  readonly ended: (end: RunEnd) => void;
}

export class WorkerRun {
  /** Undefined when it could not even be tried to start it. */
  readonly #child: ChildProcess | undefined;
  readonly #ended: (end: RunEnd) => void;
  readonly #answerLines = new LenientLines(MOST_ANSWER_BYTES);
  #isOver = false;
  /** Settles when the process has ended. */
  readonly gone: Promise<void>;

  constructor({ command, target, header, log, ended }: WorkerRunOptions) {
    this.#ended = ended;
    const cannotStart = ({ message }: Error) => this.#end({ kind: 'failed', why: `cannot be started: ${message}` });
    let child: ChildProcess;
    try {
      child = startGroup(withArgument(command, targetArgument(target)), { stdio: 'pipe' });
    } catch (fault) {
      // For most faults `spawn` throws; for a missing program and a few others it emits 'error'. Both are told later.
      this.gone = Promise.resolve();
      queueMicrotask(() => cannotStart(fault as Error));
      return;
    }
    this.#child = child;
    endWithPickaxe(child);
    const { stdin, stdout, stderr } = child;
    for (const stream of [stdin, stdout, stderr]) stream?.on('error', () => {}); // It may close them, or not read.
    stdout?.on('data', (chunk: Buffer) => this.#read(this.#answerLines.push(chunk)));
    const logLines = new LenientLines(MOST_LOG_BYTES);
    stderr?.on('data', (chunk: Buffer) => {
      for (const line of logLines.push(chunk)) if (line !== TOO_LONG && line.trim() !== '') log(oneLine(line));
    });
    stdin?.end(header);
    this.gone = new Promise((resolve) => {
      // A process that cannot be killed causes another error, which nobody waits for.
      child.on('error', (fault) => {
        resolve();
        cannotStart(fault);
      });
      child.once('exit', (code, signal) => {
        resolve();
        this.#conclude(child, signal ? `was ended by ${signal}` : `ended with exit code ${code}`);
      });
    });
  }

  /** Ends the process and all that it has started. Nothing more is heard of the run. */
  kill(): void {
    this.#isOver = true;
    if (!this.#child) return;
    killGroup(this.#child);
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  /** @param how the process has ended */
  #conclude(child: ChildProcess, how: string): void {
    const end = () => {
      clearTimeout(timer);
      this.#read(this.#answerLines.end());
      this.#end({ kind: 'failed', why: `${how}, without a nonce` });
    };
    const timer = setTimeout(end, OUTPUT_MS);
    child.once('close', end);
  }

  /** The first line that is not empty counts. */
  #read(lines: readonly (string | typeof TOO_LONG)[]): void {
    for (const line of lines) {
      if (line !== TOO_LONG && line.trim() === '') continue;
      const answer = line === TOO_LONG ? undefined : parseAnswer(line);
      const what = line === TOO_LONG ? 'a line that is too long' : `“${oneLine(line, MOST_QUOTED)}”`;
      this.#end(answer ? { kind: 'answer', answer } : { kind: 'failed', why: `printed no nonce but ${what}` });
    }
  }

  #end(end: RunEnd): void {
    if (this.#isOver) return;
    this.kill();
    this.#ended(end);
  }
}
