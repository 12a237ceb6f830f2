/** A parent of the built `pickaxe worker`: starts it, or connects to its socket, and speaks its protocol. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { vi } from 'vitest';
import { Answer } from '#pickaxe/protocol/wire/worker.js';
import { PATIENCE } from '../../patience.ts';
import { type ExitCode, isolated, MAIN } from '../pickaxe.ts';

export class WorkerParent {
  readonly answers: Answer[] = [];
  /** The lines as they came. */
  readonly lines: string[] = [];
  /** Resolves when the worker has ended its side. */
  readonly ended: Promise<unknown>;
  readonly #output: Readable;
  readonly #input: Writable;
  #rest = '';

  constructor(input: Writable, output: Readable, reads = true) {
    this.#input = input;
    this.#output = output;
    this.ended = new Promise((resolve) => output.once('end', resolve));
    input.on('error', () => {});
    output.on('error', () => {});
    if (reads) this.read();
  }

  read(): void {
    this.#output.on('data', (chunk: Buffer) => {
      const lines = (this.#rest + chunk).split('\n');
      this.#rest = lines.pop() as string;
      for (const line of lines) {
        this.lines.push(line);
        this.answers.push(Answer.parse(JSON.parse(line)));
      }
    });
  }

  say(...messages: (object | string)[]): void {
    for (const message of messages) {
      this.#input.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
    }
  }

  /** Ends the parent's side, which still reads. */
  end(): void {
    this.#input.end();
  }

  die(): void {
    this.#input.destroy();
    this.#output.destroy();
  }

  of<Type extends Answer['type']>(type: Type): Extract<Answer, { type: Type }>[] {
    return this.answers.filter((answer) => answer.type === type) as Extract<Answer, { type: Type }>[];
  }

  /** @returns the first answers of a type, once this number of them has come */
  async next<Type extends Answer['type']>(type: Type, count = 1) {
    return await vi.waitFor(() => {
      const all = this.of(type);
      if (all.length < count) throw new Error(`${all.length} of ${count} ${type} lines`);
      return all;
    }, PATIENCE);
  }
}

export interface RunningWorker {
  readonly child: ChildProcess;
  readonly parent: WorkerParent;
  readonly stderr: () => string;
  readonly code: Promise<ExitCode>;
}

const children = new Set<ChildProcess>();

/** @param reads whether its stdout is read from the start */
export function startWorker(args: string[] = [], reads = true): RunningWorker {
  const devices = args.includes('--devices') ? [] : ['--devices', 'cpu', '--threads', '1', '--kernel', 'wasm'];
  const command = [MAIN, 'worker', ...devices, ...args];
  const child = spawn(process.execPath, command, { ...isolated, stdio: ['pipe', 'pipe', 'pipe'] });
  children.add(child);
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const code = once(child, reads ? 'close' : 'exit').then(([code, signal]) => (code ?? signal) as ExitCode);
  return { child, parent: new WorkerParent(child.stdin, child.stdout, reads), stderr: () => stderr, code };
}

/** @param reads whether it reads from the start */
export async function connectTo(path: string, reads = true): Promise<WorkerParent> {
  const socket = await vi.waitFor(async () => {
    const socket = connect({ path, allowHalfOpen: true });
    await once(socket, 'connect');
    return socket;
  }, PATIENCE);
  return new WorkerParent(socket, socket, reads);
}

export async function killWorkers(): Promise<void> {
  for (const child of children) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  }
  children.clear();
}
