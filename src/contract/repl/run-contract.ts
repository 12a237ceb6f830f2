/** Runs contract code with its tests, in the package's API. The language is loaded only when code runs. */

import { chosenDialect, DEFAULT_DIALECT, type Dialect } from '../dialect.ts';
import type { Session } from './repl-session.ts';
import { type Expectation, type Failure, positionText } from './result.ts';

/** A signature of the transaction. */
export interface ContractSignature {
  /** The public key, or any other text that the code takes for a key. */
  readonly key: string;
  /**
   * The capabilities to which it is limited, as code: `(coin.TRANSFER "alice" "bob" 1.0)`. Without any, it has no
   * limits. Their modules must be loaded, so name them with `setUp`.
   */
  readonly caps?: readonly string[];
}

export interface ContractOptions {
  /** The language's generation; by default, what a comment at the beginning chooses (`;; dialect: 4`), or else 5. */
  readonly dialect?: Dialect;
  /** What natives such as `read-msg` read: anything that JSON can express. */
  readonly data?: unknown;
  readonly sigs?: readonly ContractSignature[];
  /** Code that runs before `sigs` are set, such as that of the modules whose capabilities they name. */
  readonly setUp?: string;
  /** The texts of the files that `load` finds, by their paths: `{ 'contracts/bank.pact': '(module …)' }`. */
  readonly files?: Readonly<Record<string, string>>;
  /** The path of the code, from which `load` begins, and which places name; `test.repl` by default. */
  readonly name?: string;
  /** Maximum number of evaluation steps of each top-level form; 20 million by default. */
  readonly maxSteps?: number;
}

export interface ContractResult {
  readonly dialect: Dialect;
  /** Whether no form has failed, and every expectation was met. */
  readonly passed: boolean;
  /** A line for the error, if there is one, and for each expectation that was not met: `test.repl:3:0: FAILURE: …`. */
  readonly failures: readonly string[];
  /** The calls of `expect`, `expect-failure` and `expect-that`, in order. */
  readonly expectations: readonly Expectation[];
  /** Why the run has ended early; undefined if it has not. */
  readonly error: Failure | undefined;
  /** The value of each top-level form of the code, as the interpreter prints it. */
  readonly values: readonly string[];
  /** What the code has printed. */
  readonly printed: readonly string[];
}

const SET_UP = 'the set-up';

/**
 * Runs code as `pickaxe repl` runs a file, with the functions for tests. Faults of the code are in the result.
 * @throws TypeError for data that JSON cannot express
 */
export async function runContract(text: string, options: ContractOptions = {}): Promise<ContractResult> {
  const { files = {}, maxSteps } = options;
  const name = normalized(options.name ?? 'test.repl');
  const dialect = options.dialect ?? chosenDialect(text) ?? DEFAULT_DIALECT;
  const texts = new Map(Object.entries(files).map(([path, content]) => [normalized(path), content]));
  texts.set(name, text);
  const before = setUpOf(options);
  texts.set(SET_UP, before);
  const values: string[] = [];
  const printed: string[] = [];
  const { Session } = await import('./repl-session.ts');
  const session: Session = new Session({
    dialect,
    maxSteps,
    readFile: (path) => {
      const found = texts.get(path);
      if (found === undefined) throw new Error('it is not among the files');
      return found;
    },
    resolvePath: (from, path) => normalized(`${from}/../${path}`),
    onPrint: (line) => printed.push(line),
    onTrace: ({ file }, value) => {
      if (file === name) values.push(value);
    },
  });
  const prepared = before === '' ? undefined : session.runFile(SET_UP);
  const { expectations, error } = prepared?.error ? prepared : session.runFile(name);
  const failures = [
    ...(error === undefined ? [] : [`${placeOf(error.place)}${error.message}`]),
    ...expectations.filter(({ passed }) => !passed).map((each) => `${placeOf(each.place)}${each.text}`),
  ];
  return { dialect, passed: failures.length === 0, failures, expectations, error, values, printed };
}

function setUpOf({ data, sigs, setUp }: ContractOptions): string {
  const json = data === undefined ? undefined : JSON.stringify(data);
  if (data !== undefined && json === undefined) throw new TypeError('the data has no form in JSON');
  const signatures = sigs?.map(({ key, caps = [] }) => `{"key": ${quoted(key)}, "caps": [${caps.join(' ')}]}`);
  return [
    ...(setUp === undefined ? [] : [setUp]),
    ...(json === undefined ? [] : [`(env-data ${quoted(json)})`]),
    ...(signatures === undefined ? [] : [`(env-sigs [${signatures.join(' ')}])`]),
  ].join('\n');
}

/** @returns the path without `.` and `..`, where it does not lead out of the folder in which all files are */
function normalized(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

/** @returns a text in the contract language */
function quoted(text: string): string {
  return JSON.stringify(text);
}

function placeOf(place: Failure['place']): string {
  return place === undefined ? '' : `${positionText({ ...place.position, file: place.file })}: `;
}
