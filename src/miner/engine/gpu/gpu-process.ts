/**
 * The parent's side of a GPU's child process. WebGPU runs in the child, so that a crash of a driver or of Dawn does not
 * end the miner. The parent never imports `webgpu`.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { settledWithin } from '../../../base/system/abort.ts';
import { systemClock } from '../../../base/system/clock.ts';
import type { Puzzle } from '../../../protocol/chain/job.ts';
import type { DeviceFault, Telemetry } from '../device.ts';
import { DeviceError } from '../engine.ts';
import { type ToChild, type ToParent, toParent } from './protocol.ts';

const CHILD: ChildScript = { path: fileURLToPath(new URL('./child/child-main.js', import.meta.url)) };
/**
 * Maximum time without an answer or a message about progress while the GPU is opened, in ms. With a cold cache, the
 * driver's start and the compilation of the shaders take seconds.
 */
const OPEN_MS = 60_000;
/** Time limit for listing the GPUs, in ms. All drivers are started for that, and each can take seconds. */
const LIST_MS = 60_000;
/**
 * Default time without messages after which the driver or the process counts as hanging, in ms. It is longer than the 2
 * to 10 s after which drivers reset a hanging GPU.
 */
const SILENCE_MS = 20_000;
/** Time limit for closing, in ms: the last batches and the driver must end within this time. */
const CLOSE_MS = 5_000;
/**
 * Time limit for the rest of the output after the child has ended, in ms. A process that a driver has started may keep
 * the pipe open.
 */
const LAST_WORD_MS = 1_000;
/**
 * Maximum number of characters of the child's stderr that are kept, the latest ones. They are enough for the cause of a
 * failure, and for the table of Mesa's Vulkan layer.
 */
const LAST_WORDS_CHARS = 16_000;

/**
 * Matches a line with a warning or an error of Dawn or of a driver, except the warning that Dawn prints for every
 * healthy device.
 */
const COMPLAINT = /^(warning|error|fatal)(?!.*artificially reduced)/i;
/** Maximum number of characters of warnings and errors that an error's message quotes. */
const COMPLAINT_CHARS = 300;

export type Environment = Readonly<Record<string, string>>;
type SearchMessage = Extract<ToParent, { type: 'report' | 'ended' }>;
type Answer = Extract<ToParent, { type: 'opened' | 'listed' }>;
type OpenQuestion = Omit<Extract<ToChild, { type: 'open' }>, 'pulseMs'>;

export interface ChildScript {
  readonly path: string;
  readonly args?: readonly string[];
}

interface GpuProcessOptions {
  readonly child?: ChildScript | undefined;
  /**
   * Time in ms after which the child is killed if it sends no message although the GPU is open, or no message about any
   * search although a search waits for a message. The default is SILENCE_MS.
   */
  readonly silenceMs?: number | undefined;
  /** See `EngineListener.progress`. */
  readonly progress?: ((what: string, done: number) => void) | undefined;
  readonly telemetry?: ((telemetry: Telemetry) => void) | undefined;
  /** Called when the variants were measured while the GPU mined. */
  readonly tuned?: ((tuned: Extract<ToParent, { type: 'tuned' }>) => void) | undefined;
  /** Called once when an open GPU is lost or computes wrong hashes, unless it is being closed. */
  readonly lost?: ((fault: DeviceError) => void) | undefined;
}

export class GpuProcess {
  readonly #silenceMs: number;
  readonly #options: GpuProcessOptions;
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  /** The unread messages of each search. A search has an entry from `begin` until its message `ended` has been read. */
  readonly #inboxes = new Map<number, SearchMessage[]>();
  readonly #waiting: (() => void)[] = [];
  #answer: Answer | undefined;
  #messages = 0;
  #searchMessages = 0;
  #pulseWatch: NodeJS.Timeout | undefined;
  #answerTimer: NodeJS.Timeout | undefined;
  #trying: string | undefined;
  #gone: DeviceError | undefined;
  #closing = false;
  #lastWords = '';

  /** @param environment variables that are added to the environment of the child */
  constructor(environment: Environment = {}, options: GpuProcessOptions = {}) {
    this.#options = options;
    this.#silenceMs = options.silenceMs ?? SILENCE_MS;
    const { path, args = [] } = options.child ?? CHILD;
    this.#child = fork(path, args, {
      serialization: 'advanced',
      execArgv: [], // By default, the child would inherit --inspect and the flags of a test runner.
      // The child's stdout is dropped, because drivers may print to it. This process may print JSON to its own stdout,
      // which the child would share.
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // The Vulkan loader prints a warning without XDG_RUNTIME_DIR.
      env: { XDG_RUNTIME_DIR: tmpdir(), ...process.env, ...environment },
    });
    this.#child.on('message', (message) => this.#receive(message));
    const { stderr } = this.#child;
    stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-LAST_WORDS_CHARS);
    });
    const lastWord = new Promise<void>((resolve) => stderr?.once('close', resolve));
    // The event 'exit' is used, because 'close' never comes after the parent has disconnected.
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', async (code, signal) => {
        await settledWithin(systemClock, lastWord, LAST_WORD_MS);
        stderr?.destroy();
        this.#end(`its process ended with ${signal ?? `exit code ${code}`}${this.#complaints()}`);
        resolve();
      });
      this.#child.on('error', (error) => {
        this.#end(`its process failed: ${error.message}`);
        if (this.#child.pid === undefined) resolve(); // The child never started, so there will be no 'exit'.
      });
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Name of the variant that the child is trying, or was trying when it ended; undefined if it tries none. */
  get trying(): string | undefined {
    return this.#trying;
  }

  /** The end of the child's stderr. The text is complete once the process is closed. */
  get lastWords(): string {
    return this.#lastWords;
  }

  /** Lists the adapters. @throws DeviceError when there is no adapter, or no answer */
  list(): Promise<Extract<Answer, { type: 'listed' }>> {
    return this.#ask({ type: 'list' }, 'listed', LIST_MS);
  }

  /**
   * Opens the GPU. From then on the child must send pulses.
   * @throws DeviceError when there is no answer, or when the GPU is missing, is lost, or computes wrong hashes
   */
  async open(question: OpenQuestion): Promise<Extract<Answer, { type: 'opened' }>> {
    const answer = await this.#ask({ ...question, pulseMs: pulseWithin(this.#silenceMs) }, 'opened', OPEN_MS);
    if (this.#gone) throw this.#gone; // The child died right after its answer.
    this.#pulseWatch = this.#watch(() => this.#messages, 'its process hangs');
    return answer;
  }

  async #ask<Type extends Answer['type']>(
    question: Extract<ToChild, { type: 'open' | 'list' }>,
    type: Type,
    answerMs: number,
  ): Promise<Extract<Answer, { type: Type }>> {
    this.send(question);
    this.#answerTimer = setTimeout(() => this.#end(`it did not answer within ${answerMs / 1000} s`), answerMs);
    try {
      while (this.#answer?.type !== type) await this.#news();
      return this.#answer as Extract<Answer, { type: Type }>;
    } catch (error) {
      if (!(error instanceof DeviceError) || error.fault !== 'missing') throw error;
      await this.#exited; // After that, the output is complete. Only stderr has the reason why Dawn refused a driver.
      throw new DeviceError('missing', `${error.message}${this.#complaints()}`, { cause: error });
    } finally {
      clearTimeout(this.#answerTimer);
    }
  }

  send(message: ToChild): void {
    // Sending fails only if the child has ended. The event 'exit' reports that.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  begin(search: number, { midstate, tail, target }: Puzzle): void {
    this.#inboxes.set(search, []);
    this.send({ type: 'search', search, midstate, tail, target });
  }

  /**
   * Waits for the next message about a search. Call this only while a message is due, and not after `ended`.
   * @throws DeviceError when the child has ended or failed, or has sent no message about any search for too long
   */
  async next(search: number): Promise<SearchMessage> {
    const inbox = this.#inboxes.get(search) ?? [];
    const watch = this.#watch(() => this.#searchMessages, 'it reported nothing: its driver hangs');
    try {
      while (inbox.length === 0) await this.#news();
    } finally {
      clearInterval(watch);
    }
    const message = inbox.shift() as SearchMessage;
    if (message.type === 'ended') this.#inboxes.delete(search);
    return message;
  }

  /**
   * Ends all searches, and then the child. The end of the child frees the GPU. A child that does not end in time is
   * killed. Never throws.
   */
  async close(): Promise<void> {
    this.#closing = true;
    const timer = setTimeout(() => this.#end('it did not close in time'), CLOSE_MS);
    for (const search of this.#inboxes.keys()) this.send({ type: 'stop', search });
    const allEnded = () => [...this.#inboxes.values()].every((inbox) => inbox.at(-1)?.type === 'ended');
    while (!this.#gone && !allEnded()) await this.#news().catch(() => {});
    clearInterval(this.#pulseWatch);
    if (this.#child.connected) this.#child.disconnect();
    // A process that hangs in its driver may survive SIGKILL. It must not keep this process from ending.
    await settledWithin(systemClock, this.#exited, 2 * CLOSE_MS);
    clearTimeout(timer);
    this.#child.unref();
  }

  /**
   * Kills the child when the count of messages does not change for `silenceMs`. @returns the timer, for `clearInterval`
   */
  #watch(count: () => number, fault: string): NodeJS.Timeout {
    return watchSilence(count, this.#silenceMs, () => this.#end(`${fault} (for ${this.#silenceMs / 1000} s)`));
  }

  #receive(message: unknown): void {
    this.#messages++;
    const parsed = toParent.safeParse(message);
    if (!parsed.success) {
      this.#end(`its process sent a message that this version does not understand: ${z.prettifyError(parsed.error)}`);
      return;
    }
    const { data } = parsed;
    switch (data.type) {
      case 'failed':
        this.#end(data.message, data.fault);
        break;
      case 'progress':
        this.#answerTimer?.refresh();
        this.#options.progress?.(data.what, data.done);
        break;
      case 'trying':
        this.#answerTimer?.refresh();
        this.#trying = data.variant;
        break;
      case 'tuned':
        this.#options.tuned?.(data);
        break;
      case 'pulse':
        if (data.telemetry) this.#options.telemetry?.(data.telemetry);
        break;
      case 'report':
      case 'ended':
        this.#searchMessages++;
        this.#inboxes.get(data.search)?.push(data);
        break;
      default:
        this.#answer = data;
    }
    this.#wake();
  }

  /** Marks the GPU as failed and kills the child. Only the first reason is kept. */
  #end(reason: string, fault: DeviceFault = 'lost'): void {
    const message = fault === 'lost' ? `the GPU was lost: ${reason}` : reason;
    const first = this.#gone === undefined;
    this.#gone ??= new DeviceError(fault, message);
    clearInterval(this.#pulseWatch);
    this.#child.kill('SIGKILL');
    this.#wake();
    if (first && this.#answer && !this.#closing) this.#options.lost?.(this.#gone);
  }

  /** Waits for the next message, or for the end of the child. @throws DeviceError when the GPU has failed */
  async #news(): Promise<void> {
    if (this.#gone) throw this.#gone;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** @returns the warnings and errors in the output as a clause in parentheses; an empty text if there are none */
  #complaints(): string {
    const lines = this.#lastWords.split('\n').filter((line) => COMPLAINT.test(line));
    return lines.length > 0 ? ` (output: ${lines.join(' ').slice(0, COMPLAINT_CHARS)})` : '';
  }
}

/* Detection of a child that sends no messages */

/** Maximum time between pulses, in ms. */
const PULSE_MS = 1_000;

/**
 * @returns the time between pulses in ms. It is so short that each check of `watchSilence` finds a new pulse even if
 *   one pulse is late
 */
export function pulseWithin(silenceMs: number): number {
  return Math.min(PULSE_MS, silenceMs / 4);
}

/**
 * Calls `expired` when the count of messages has not changed for `silenceMs`, and again after each further half of that
 * time without a change. Two checks in a row must find the same count. One check is not enough after this process was
 * suspended, because it may come before the messages of a healthy child are received.
 * @returns the timer, for `clearInterval`
 */
export function watchSilence(count: () => number, silenceMs: number, expired: () => void): NodeJS.Timeout {
  let seen = count();
  let strikes = 0;
  return setInterval(() => {
    strikes = seen === count() ? strikes + 1 : 0;
    seen = count();
    if (strikes >= 2) expired();
  }, silenceMs / 2);
}
