/** Failures of contract code. */

export type ErrorKind = 'eval' | 'args' | 'db' | 'tx-failure' | 'gas' | 'syntax' | 'continuation';

/** A place in the text of a program. */
export interface Position {
  /** The path of the file with the text; undefined for a text that is not read from a file. */
  readonly file?: string;
  /** From 1. */
  readonly line: number;
  /** From 0, in code points since the beginning of the line. */
  readonly column: number;
  /** From 0, in UTF-16 code units since the beginning of the text. */
  readonly offset: number;
}

/** A call that has ended because of a failure. The callee is a function, a capability or a defpact. */
export interface FailedCall {
  readonly position: Position | undefined;
  /** The call with its arguments, as messages show it: `(ns.m.f "a" 1)`. */
  readonly text: string;
}

interface FailureDetails {
  readonly code?: string;
  readonly calls?: readonly FailedCall[];
  readonly stored?: string | undefined;
  readonly subject?: string | undefined;
}

/**
 * A failure of contract code. The interactive interpreter shows `message`, and nodes of dialect 4 store it in blocks.
 */
export class ContractError extends Error {
  override readonly name = 'ContractError';
  readonly kind: ErrorKind;
  readonly position: Position | undefined;
  /** The source of the innermost application that failed; empty if it is not known. */
  readonly code: string;
  /**
   * The calls that have ended because of the failure, the innermost first. Empty on nodes since version 4.7 of the
   * language (see `hidesValues`).
   */
  readonly calls: readonly FailedCall[];
  /** The message that nodes of dialect 5 store in blocks; undefined if they store `message`. */
  readonly stored: string | undefined;
  /** What the message is about, in words that are not in it: `the result of m.f`; undefined if it is not known. */
  readonly subject: string | undefined;

  constructor(
    kind: ErrorKind,
    message: string,
    position?: Position,
    { code = '', calls = [], stored, subject }: FailureDetails = {},
  ) {
    super(message);
    this.kind = kind;
    this.position = position;
    this.code = code;
    this.calls = calls;
    this.stored = stored;
    this.subject = subject;
  }

  /** @returns this failure if it has a position already, otherwise a copy with the given position and source */
  at(position: Position, code = ''): ContractError {
    if (this.position) return this;
    const { kind, message, calls, stored, subject } = this;
    return new ContractError(kind, message, position, { code, calls, stored, subject });
  }

  /** @returns a copy of this failure that says what it is about */
  about(subject: string): ContractError {
    const { kind, message, position, code, calls, stored } = this;
    return new ContractError(kind, message, position, { code, calls, stored, subject });
  }

  /** @returns a copy of this failure with one more call at the end of `calls` */
  through(call: FailedCall): ContractError {
    const { kind, message, position, code, stored, subject } = this;
    return new ContractError(kind, message, position, { code, calls: [...this.calls, call], stored, subject });
  }
}

/** Maximum number of code points of a key in a message that nodes store, without the `...` of a shortened key. */
export const STORED_KEY_LENGTH = 10;
/** Maximum number of code points of a pact id in a message that nodes store, without the `...` of a shortened id. */
export const STORED_ID_LENGTH = 20;

/**
 * @param length number of code points
 * @returns the text; if it has more code points than `length`, only the first `length` of them, followed by `...`
 */
export function shortened(text: string, length: number): string {
  const characters = Array.from(text);
  return characters.length > length ? `${characters.slice(0, length).join('')}...` : text;
}
