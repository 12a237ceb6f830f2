/**
 * An external worker as a relay: a program written for the reference mining client, started for each work. It gets the
 * header on stdin and prints a nonce, which is verified here. Its figures about its own work are unproven.
 */

import type { ChildProcess } from 'node:child_process';
import { LONGEST_TIMER_MS } from '../../base/system/abort.ts';
import type { Clock } from '../../base/system/clock.ts';
import { type Command, endWithPickaxe, killGroup, startGroup, withArgument } from '../../base/system/process-group.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import type { Job } from '../../protocol/chain/job.ts';
import type { Work } from '../../protocol/chain/work.ts';
import { type ExternalAnswer, parseAnswer, targetArgument } from '../../protocol/wire/external-worker.ts';
import { LenientLines, TOO_LONG } from '../../protocol/wire/lines.ts';
import type { Listener } from '../events/events.ts';
import type { WorkSource } from '../source/source.ts';
import { LoneWorker } from './accounts.ts';
import { type Relay, RelayedWorks, type RelayLog } from './relay.ts';

/** Pause after a worker's first failure. It doubles with each further failure in a row. */
const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 300_000;
const NONCES = 2 ** 64;
/** Minimum time before a worker gets a new header, whatever its claimed rate: 300 PH/s use up all nonces. */
const LEAST_RENEWAL_MS = 60_000;

export interface ExternalRelayOptions {
  readonly command: Command;
  readonly source: WorkSource;
  readonly emit: Listener;
  readonly clock: Clock;
  readonly log: RelayLog;
  /** The default is a second. */
  readonly firstRestMs?: number;
  /** The default is a minute. */
  readonly leastRenewalMs?: number;
}

export class ExternalRelay implements Relay {
  readonly name = 'external-worker';
  readonly #options: ExternalRelayOptions;
  readonly #works: RelayedWorks;
  #account: LoneWorker | undefined;
  readonly #runs = new Set<WorkerRun>();
  #run: WorkerRun | undefined;
  #rest: NodeJS.Timeout | undefined;
  #renewal: NodeJS.Timeout | undefined;
  #failures = 0;
  #wrong = 0;
  #loggedNonce1 = false;
  #claimedRate: number | undefined;
  #isOver = false;

  constructor(options: ExternalRelayOptions) {
    this.#options = options;
    const { source, emit, clock } = options;
    const changed = (work: Work | undefined) => this.#change(work);
    this.#works = new RelayedWorks({ name: this.name, source, emit, clock, changed });
  }

  /** Prepares nothing: without work the command cannot be tried. */
  async open(): Promise<void> {}

  async run(stop: AbortSignal): Promise<void> {
    const { emit, clock } = this.#options;
    this.#account = new LoneWorker({ relay: this.name, worker: this.name, emit, clock, hashes: true });
    try {
      await this.#works.follow(stop);
    } finally {
      this.#isOver = true;
      this.#end();
      clearTimeout(this.#rest);
      await Promise.all(Array.from(this.#runs, ({ gone }) => gone));
      this.#account.end();
      if (this.#wrong > 0) this.#options.log.warn(`gave ${this.#wrong} wrong nonces in all`);
    }
  }

  /** Ends the run of the old work at once. After a failure, the new work waits until the pause is over. */
  #change(work: Work | undefined): void {
    this.#end();
    if (work && !this.#rest) this.#start(work);
  }

  /** @param earlier the last job of the same work */
  #start(work: Work, earlier?: Job): void {
    if (this.#isOver || !this.#canSearch(work)) return;
    const job = this.#works.jobOf(work, earlier) ?? earlier;
    if (!job) return;
    const { command, log } = this.#options;
    const run = new WorkerRun({
      command,
      target: work.target,
      header: job.header,
      log: (line) => log.debug(line),
      ended: (end) => this.#apply(end, job),
    });
    this.#run = run;
    this.#account?.works(work.target);
    this.#runs.add(run);
    void run.gone.then(() => this.#runs.delete(run));
    this.#renewInTime(job);
  }

  /** A worker chooses all 8 bytes of a nonce, so almost all would be outside the part that a pool assigns. */
  #canSearch({ nonce1 }: Work): boolean {
    if (nonce1.bytes === 0) return true;
    if (!this.#loggedNonce1) {
      this.#options.log.warn(
        'gets no work: the source has fixed a part of the nonce, which an external worker cannot know',
      );
    }
    this.#loggedNonce1 = true;
    return false;
  }

  /** Plans a job with a later creation time if the worker is so fast that it would run out of nonces. */
  #renewInTime(job: Job): void {
    const { leastRenewalMs = LEAST_RENEWAL_MS } = this.#options;
    const claimedMs = this.#claimedRate ? (1000 * NONCES) / this.#claimedRate : Number.POSITIVE_INFINITY;
    if (claimedMs > LONGEST_TIMER_MS) return;
    this.#renewal = setTimeout(
      () => {
        if (!this.#works.jobOf(job.work, job)) return;
        this.#end();
        this.#start(job.work, job);
      },
      Math.max(leastRenewalMs, claimedMs),
    );
  }

  #end(): void {
    clearTimeout(this.#renewal);
    this.#run?.kill();
    this.#run = undefined;
    this.#account?.works(undefined);
  }

  #apply(end: RunEnd, job: Job): void {
    this.#end();
    if (end.kind === 'failed') this.#fail(end.why, job);
    else this.#judge(end.answer, job);
  }

  #judge(answer: ExternalAnswer, job: Job): void {
    const { log } = this.#options;
    const { nonce, hashes, hashesPerSecond } = answer;
    this.#claimedRate = hashesPerSecond;
    const claim = hashesPerSecond === undefined ? '' : `; it claims ${hashes} hashes, ${hashesPerSecond} a second`;
    const { solution, verdict } = this.#works.judge(job, nonce);
    if (!solution) {
      this.#wrong++;
      this.#account?.wasWrong('rejected');
      this.#fail(`gave a wrong nonce, ${nonce} (${this.#wrong} wrong so far)${claim}`, job);
    } else if (!verdict) {
      this.#account?.wasWrong('duplicate');
      this.#fail(`gave the nonce ${nonce} again`, job);
    } else {
      this.#failures = 0;
      void verdict.then(({ outcome }) => this.#account?.brought(solution, outcome));
      log.debug(`found the nonce ${nonce}${claim}`);
      // A node's work ends with its first solution, and other work follows.
      if (job.work.until === 'replaced' && this.#works.current === job.work) this.#start(job.work, job);
    }
  }

  /** Starts the worker again after a pause, with the work current by then. */
  #fail(why: string, job: Job): void {
    const { log, firstRestMs = FIRST_REST_MS } = this.#options;
    const ms = Math.min(LONGEST_REST_MS, firstRestMs * 2 ** this.#failures);
    this.#failures++;
    log.warn(`${why}; it is started again in ${ms / 1000} s`);
    this.#rest = setTimeout(() => {
      this.#rest = undefined;
      const work = this.#works.current;
      if (work) this.#start(work, work === job.work ? job : undefined);
    }, ms);
  }
}

/* One run of an external worker: a process that searches one header. */

/** Maximum length of an answer line. A nonce and two numbers take 60 bytes. */
const MOST_ANSWER_BYTES = 1_024;
/** Maximum length of a logged stderr line. Longer lines are dropped. */
const MOST_LOG_BYTES = 8_192;
/** Time for the rest of the output after the worker's exit: a child process of the worker may keep the pipe open. */
const OUTPUT_MS = 200;
/** Maximum length of a quoted wrong answer, in characters. */
const MOST_QUOTED = 80;

type RunEnd =
  | { readonly kind: 'answer'; readonly answer: ExternalAnswer }
  /** The worker has ended without a nonce. `why` is a clause for people. */
  | { readonly kind: 'failed'; readonly why: string };

interface WorkerRunOptions {
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

class WorkerRun {
  /** Undefined if spawn itself failed. */
  readonly #child: ChildProcess | undefined;
  readonly #ended: (end: RunEnd) => void;
  readonly #answerLines = new LenientLines(MOST_ANSWER_BYTES);
  #isOver = false;
  /** Resolves when the process has ended. */
  readonly gone: Promise<void>;

  constructor({ command, target, header, log, ended }: WorkerRunOptions) {
    this.#ended = ended;
    const cannotStart = ({ message }: Error) => this.#end({ kind: 'failed', why: `cannot be started: ${message}` });
    let child: ChildProcess;
    try {
      child = startGroup(withArgument(command, targetArgument(target)), { stdio: 'pipe' });
    } catch (fault) {
      // For some faults `spawn` throws; for others, such as a missing program, the child emits 'error'. Both are
      // reported after the constructor.
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
      // A process that cannot be killed emits a second error, which is ignored.
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

  /** Ends the process and all its children. `ended` is not called afterwards. */
  kill(): void {
    this.#isOver = true;
    if (!this.#child) return;
    killGroup(this.#child);
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  /** @param how a clause about the end of the process, such as `ended with exit code 1` */
  #conclude(child: ChildProcess, how: string): void {
    const end = () => {
      clearTimeout(timer);
      this.#read(this.#answerLines.end());
      this.#end({ kind: 'failed', why: `${how}, without a nonce` });
    };
    const timer = setTimeout(end, OUTPUT_MS);
    child.once('close', end);
  }

  /** The first non-empty line counts. */
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
