/**
 * The parent's side of a GPU's child process, which runs WebGPU, so that a crash of a driver or of Dawn does not end
 * the miner. The parent never imports `webgpu`.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { settledWithin } from '../../../base/system/abort.ts';
import type { Puzzle } from '../../../protocol/chain/job.ts';
import type { DeviceFault, Telemetry } from '../device.ts';
import { DeviceError } from '../engine.ts';
import { type ToChild, type ToParent, toParent } from './protocol.ts';

const CHILD: ChildScript = { path: fileURLToPath(new URL('./child/child-main.js', import.meta.url)) };
/** Time limit for starting the driver and compiling the shaders, which takes seconds on a cold cache. */
const OPEN_MS = 60_000;
/** Time limit for the start of all drivers, each of which can take seconds. */
const LIST_MS = 60_000;
/**
 * Time without messages after which the driver or the process counts as hanging. Drivers reset a GPU that hangs after 2
 * to 10 s.
 */
const SILENCE_MS = 20_000;
/** Time limit for the last dispatches and the driver at closing. */
const CLOSE_MS = 5_000;
/** Time limit for output after the child's end: a process that a driver started may keep the pipe open. */
const LAST_WORD_MS = 1_000;
/**
 * Number of characters of the latest output that are kept: enough for the cause of a failure, and for the table of
 * Mesa's Vulkan layer.
 */
const LAST_WORDS_CHARS = 16_000;

/** A warning or error of Dawn or a driver, except the one that Dawn prints for every healthy device. */
const COMPLAINT = /^(warning|error|fatal)(?!.*artificially reduced)/i;
/** Maximum number of characters of complaints that an error quotes. */
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
  /** Time after which the child is killed if it sends no pulse, or no report while a search waits for one. */
  readonly silenceMs?: number | undefined;
  /** See `EngineListener.progress`. */
  readonly progress?: ((what: string, done: number) => void) | undefined;
  readonly telemetry?: ((telemetry: Telemetry) => void) | undefined;
  /** Called when all variants have been measured while the device mined. */
  readonly tuned?: ((tuned: Extract<ToParent, { type: 'tuned' }>) => void) | undefined;
  /** Called once when an open device is lost. */
  readonly lost?: ((fault: DeviceError) => void) | undefined;
}

export class GpuProcess {
  readonly #silenceMs: number;
  readonly #options: GpuProcessOptions;
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  /** The unread messages of each search, until its `ended` has been read. */
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

  /** @param environment is added to that of this process */
  constructor(environment: Environment = {}, options: GpuProcessOptions = {}) {
    this.#options = options;
    this.#silenceMs = options.silenceMs ?? SILENCE_MS;
    const { path, args = [] } = options.child ?? CHILD;
    this.#child = fork(path, args, {
      serialization: 'advanced',
      execArgv: [], // Without --inspect or a test runner's flags.
      // stdout is ignored: drivers may print to it, and this process may print JSON.
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: { XDG_RUNTIME_DIR: tmpdir(), ...process.env, ...environment }, // The Vulkan loader warns without XDG_RUNTIME_DIR.
    });
    this.#child.on('message', (message) => this.#receive(message));
    const { stderr } = this.#child;
    stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-LAST_WORDS_CHARS);
    });
    const lastWord = new Promise<void>((resolve) => stderr?.once('close', resolve));
    // The event 'close' never comes once the parent has disconnected.
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', async (code, signal) => {
        await settledWithin(lastWord, LAST_WORD_MS);
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

  /** The variant that the child tries, or tried when it ended; undefined while it tries none. */
  get trying(): string | undefined {
    return this.#trying;
  }

  /** The end of stderr, complete once the process is closed. */
  get lastWords(): string {
    return this.#lastWords;
  }

  /** @throws DeviceError when there is no answer */
  list(): Promise<Extract<Answer, { type: 'listed' }>> {
    return this.#ask({ type: 'list' }, 'listed', LIST_MS);
  }

  /**
   * Opens the device. From then on the child must send pulses.
   * @throws DeviceError when there is no answer, or no device
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
      await this.#exited; // For the complete output: the reason why Dawn refused a driver is only on stderr.
      throw new DeviceError('missing', `${error.message}${this.#complaints()}`, { cause: error });
    } finally {
      clearTimeout(this.#answerTimer);
    }
  }

  send(message: ToChild): void {
    // An error means that the child has ended, which the event 'exit' reports.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  begin(search: number, { midstate, tail, target }: Puzzle): void {
    this.#inboxes.set(search, []);
    this.send({ type: 'search', search, midstate, tail, target });
  }

  /**
   * Waits for the next message about a search. Call this only while a message is due, and not after `ended`.
   * @throws DeviceError when the child has died, or has sent nothing for too long
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

  /** Ends all searches and the child, which frees the device. A slow child is killed. Never throws. */
  async close(): Promise<void> {
    this.#closing = true;
    const timer = setTimeout(() => this.#end('it did not close in time'), CLOSE_MS);
    for (const search of this.#inboxes.keys()) this.send({ type: 'stop', search });
    const allEnded = () => [...this.#inboxes.values()].every((inbox) => inbox.at(-1)?.type === 'ended');
    while (!this.#gone && !allEnded()) await this.#news().catch(() => {});
    clearInterval(this.#pulseWatch);
    if (this.#child.connected) this.#child.disconnect();
    // A process that is stuck in its driver may survive SIGKILL, and must not keep this process from ending.
    await settledWithin(this.#exited, 2 * CLOSE_MS);
    clearTimeout(timer);
    this.#child.unref();
  }

  /** Kills the child when the count of messages does not change for too long. */
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

  /** Takes the device out of service and kills the child. Only the first reason counts. */
  #end(reason: string, fault: DeviceFault = 'lost'): void {
    const message = fault === 'lost' ? `the GPU was lost: ${reason}` : reason;
    const first = this.#gone === undefined;
    this.#gone ??= new DeviceError(fault, message);
    clearInterval(this.#pulseWatch);
    this.#child.kill('SIGKILL');
    this.#wake();
    if (first && this.#answer && !this.#closing) this.#options.lost?.(this.#gone);
  }

  /** @throws DeviceError once the device is out of service */
  async #news(): Promise<void> {
    if (this.#gone) throw this.#gone;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #complaints(): string {
    const lines = this.#lastWords.split('\n').filter((line) => COMPLAINT.test(line));
    return lines.length > 0 ? ` (output: ${lines.join(' ').slice(0, COMPLAINT_CHARS)})` : '';
  }
}

/* Detection of a child that sends nothing */

/** Maximum time between pulses. */
const PULSE_MS = 1_000;

/** @returns time between pulses, such that each check finds a new pulse even if one is late */
export function pulseWithin(silenceMs: number): number {
  return Math.min(PULSE_MS, silenceMs / 4);
}

/**
 * Calls `expired` when the count of messages has not changed for `silenceMs`, and again after each half of that time.
 * Two checks in a row must find the same count: the first check after this process was suspended finds no new message
 * even from a healthy child.
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
