/** A session that gives results which a test has prepared, in place of those of real code. */

import type { ContractSession } from '#pickaxe/cli/repl/runs/run-file.js';
import type { SessionOptions } from '#pickaxe/contract/repl/repl-session.js';
import type { Expectation, FileResult } from '#pickaxe/contract/repl/result.js';

export function expectation(text: string, line = 1, file = 'a.repl'): Expectation {
  return { place: { file, position: { line, column: 2, offset: 0 } }, passed: !text.startsWith('FAILURE'), text };
}

export function resultOf(result: Partial<FileResult> = {}): FileResult {
  return { file: 'a.repl', expectations: [], error: undefined, notes: [], ...result };
}

/** What the code of an input or of a file does. */
type Script = Partial<Omit<FileResult, 'file'>> & {
  readonly values?: readonly string[];
  readonly prints?: string;
  readonly traces?: string;
  readonly throws?: Error;
};

/** A session to which an input is the name of what it does, and a file of text is, too. */
export class FakeSession implements ContractSession {
  readonly options: SessionOptions;
  readonly #scripts: Readonly<Record<string, Script>>;
  /** Inputs so far. */
  readonly inputs: string[] = [];

  constructor(options: SessionOptions, scripts: Readonly<Record<string, Script>> = {}) {
    this.options = options;
    this.#scripts = scripts;
  }

  runFile(file: string): FileResult {
    const { values: _, ...rest } = this.#run(this.options.readFile(file).trim(), file);
    return resultOf({ file, ...rest });
  }

  runText(text: string) {
    this.inputs.push(text);
    const { values = [`value of ${text}`], expectations = [], error } = this.#run(text, '<input>');
    return { values, expectations, error };
  }

  names(): readonly string[] {
    return ['expect-that', 'expect', 'env-data', 'coin', 'coin.transfer'];
  }

  #run(name: string, file: string): Omit<Script, 'prints' | 'traces' | 'throws'> {
    const { prints, traces, throws, ...rest } = this.#scripts[name] ?? {};
    const { onPrint, onTrace } = this.options;
    if (prints !== undefined) onPrint?.(prints);
    if (traces !== undefined) onTrace?.({ file, position: { line: 7, column: 0, offset: 0 } }, traces);
    if (throws !== undefined) throw throws;
    return rest;
  }
}
