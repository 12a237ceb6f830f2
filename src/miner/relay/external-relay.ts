/**
 * An external worker as a relay. The worker is a program written for the reference mining client. It is started for
 * each work, reads the header from stdin, and prints a nonce, which this relay verifies. The numbers of hashes that the
 * worker prints are not verified.
 */

import type { ChildProcess } from 'node:child_process';
import { type Clock, LONGEST_TIMER_MS, systemClock, type Timer } from '../../base/system/clock.ts';
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

/**
 * Pause after a worker's first failure. The pause doubles with each further failure in a row, up to `LONGEST_REST_MS`.
 */
const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 300_000;
const NONCES = 2 ** 64;
/**
 * Minimum time before a worker is restarted with a later creation time, whatever rate it claims. Within this time, only
 * a worker of more than 300 PH/s uses up all nonces.
 */
const LEAST_RENEWAL_MS = 60_000;

export interface ExternalRelayOptions {
  readonly command: Command;
  readonly source: WorkSource;
  readonly emit: Listener;
  readonly clock: Clock;
  readonly log: RelayLog;
  /** Pause after the first failure, in ms. The default is one second. */
  readonly firstRestMs?: number;
  /** Minimum time before a worker is restarted with a later creation time, in ms. The default is one minute. */
  readonly leastRenewalMs?: number;
}

export class ExternalRelay implements Relay {
  readonly name = 'external-worker';
  readonly #options: ExternalRelayOptions;
  readonly #works: RelayedWorks;
  #account: LoneWorker | undefined;
  readonly #runs = new Set<WorkerRun>();
  #run: WorkerRun | undefined;
  #rest: Timer | undefined;
  #renewal: Timer | undefined;
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

  /** Does nothing, because the command cannot be tried without work. */
  async open(): Promise<void> {}

  async run(stop: AbortSignal): Promise<void> {
    const { emit, clock } = this.#options;
    this.#account = new LoneWorker({ relay: this.name, worker: this.name, emit, clock, hashes: true });
    try {
      await this.#works.follow(stop);
    } finally {
      this.#isOver = true;
      this.#end();
      this.#rest?.cancel();
      await Promise.all(Array.from(this.#runs, ({ gone }) => gone));
      this.#account.end();
      if (this.#wrong > 0) this.#options.log.warn(`gave ${this.#wrong} wrong nonces in all`);
    }
  }

  /**
   * Ends the run of the old work and starts a run of the new work. After a failure, the new run starts only when the
   * pause is over.
   */
  #change(work: Work | undefined): void {
    this.#end();
    if (work && !this.#rest) this.#start(work);
  }

  /**
   * Starts a run with the latest valid creation time.
   * @param earlier the last job of the same work; it is searched again if no later creation time is valid
   */
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

  /**
   * A worker chooses all 8 bytes of a nonce. If the source fixes some of these bytes, as a pool does, almost all of the
   * worker's nonces would be invalid.
   */
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

  /**
   * Plans a restart with a later creation time for the moment at which a worker of the claimed rate has searched all
   * nonces of this job. Does nothing if the worker has claimed no rate, or if that moment is too far away for a timer.
   */
  #renewInTime(job: Job): void {
    const { leastRenewalMs = LEAST_RENEWAL_MS } = this.#options;
    const claimedMs = this.#claimedRate ? (1000 * NONCES) / this.#claimedRate : Number.POSITIVE_INFINITY;
    if (claimedMs > LONGEST_TIMER_MS) return;
    this.#renewal = this.#options.clock.setTimeout(
      () => {
        if (!this.#works.jobOf(job.work, job)) return;
        this.#end();
        this.#start(job.work, job);
      },
      Math.max(leastRenewalMs, claimedMs),
    );
  }

  #end(): void {
    this.#renewal?.cancel();
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
      // A pool's work goes on after a solution. A node's work ends with its first solution, and the source gives other
      // work.
      if (job.work.until === 'replaced' && this.#works.current === job.work) this.#start(job.work, job);
    }
  }

  /** Logs a failure and, after a pause, starts the worker again with the work that is current by then. */
  #fail(why: string, job: Job): void {
    const { log, firstRestMs = FIRST_REST_MS } = this.#options;
    const ms = Math.min(LONGEST_REST_MS, firstRestMs * 2 ** this.#failures);
    this.#failures++;
    log.warn(`${why}; it is started again in ${ms / 1000} s`);
    this.#rest = this.#options.clock.setTimeout(() => {
      this.#rest = undefined;
      const work = this.#works.current;
      if (work) this.#start(work, work === job.work ? job : undefined);
    }, ms);
  }
}

/* One run of an external worker: a process that searches the nonces of one header. */

/** Maximum length of a line on stdout, in bytes. A nonce and two numbers take about 60 bytes. */
const MOST_ANSWER_BYTES = 1_024;
/** Maximum length of a line on stderr, in bytes. Longer lines are not logged. */
const MOST_LOG_BYTES = 8_192;
/**
 * Time for which output is still read after the worker's exit. Without a limit, a child process of the worker could
 * keep the pipe open for ever.
 */
const OUTPUT_MS = 200;
/** Maximum number of characters of a wrong answer that a log line quotes. */
const MOST_QUOTED = 80;

type RunEnd =
  | { readonly kind: 'answer'; readonly answer: ExternalAnswer }
  /**
   * The worker could not be started, has ended without a nonce, or has printed something else. `why` is a clause for
   * people.
   */
  | { readonly kind: 'failed'; readonly why: string };

interface WorkerRunOptions {
  readonly command: Command;
  /** The target of a solution: 32 bytes, little-endian. */
  readonly target: Uint8Array;
  /** The header to search: 286 bytes. */
  readonly header: Uint8Array;
  /** Called with each line that the worker writes to stderr, except empty lines and lines that are too long. */
  readonly log: (line: string) => void;
  /** Called once, when the run has an answer or has failed; never after `kill`. */
  readonly ended: (end: RunEnd) => void;
}

class WorkerRun {
  /** Undefined if `startGroup` threw an error. */
  readonly #child: ChildProcess | undefined;
  readonly #ended: (end: RunEnd) => void;
  readonly #answerLines = new LenientLines(MOST_ANSWER_BYTES);
  #isOver = false;
  /** Resolves when the process has ended, or could not be started. */
  readonly gone: Promise<void>;

  constructor({ command, target, header, log, ended }: WorkerRunOptions) {
    this.#ended = ended;
    const cannotStart = ({ message }: Error) => this.#end({ kind: 'failed', why: `cannot be started: ${message}` });
    let child: ChildProcess;
    try {
      child = startGroup(withArgument(command, targetArgument(target)), { stdio: 'pipe' });
    } catch (fault) {
      // Some faults make `spawn` throw; for others, such as a missing program, the child emits 'error'. Faults of both
      // kinds are reported only after the constructor has returned.
      this.gone = Promise.resolve();
      queueMicrotask(() => cannotStart(fault as Error));
      return;
    }
    this.#child = child;
    endWithPickaxe(child);
    const { stdin, stdout, stderr } = child;
    for (const stream of [stdin, stdout, stderr]) stream?.on('error', () => {}); // The worker may close them.
    stdout?.on('data', (chunk: Buffer) => this.#read(this.#answerLines.push(chunk)));
    const logLines = new LenientLines(MOST_LOG_BYTES);
    stderr?.on('data', (chunk: Buffer) => {
      for (const line of logLines.push(chunk)) if (line !== TOO_LONG && line.trim() !== '') log(oneLine(line));
    });
    stdin?.end(header);
    this.gone = new Promise((resolve) => {
      // A process that cannot be killed emits a second error. It is ignored, because the run is over by then.
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

  /** Ends the process and its process group. The `ended` callback is not called after this. */
  kill(): void {
    this.#isOver = true;
    if (!this.#child) return;
    killGroup(this.#child);
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  /**
   * Reads the rest of the output after the process has ended.
   * @param how a clause about the end of the process, such as `ended with exit code 1`
   */
  #conclude(child: ChildProcess, how: string): void {
    const end = () => {
      timer.cancel();
      this.#read(this.#answerLines.end());
      this.#end({ kind: 'failed', why: `${how}, without a nonce` });
    };
    const timer = systemClock.setTimeout(end, OUTPUT_MS);
    child.once('close', end);
  }

  /** Takes the first line that is not empty as the worker's answer. */
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
