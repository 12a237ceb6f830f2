/** Failures of contract code. */

export type ErrorKind = 'eval' | 'args' | 'db' | 'tx-failure' | 'gas' | 'syntax' | 'continuation';

/** A place in a text: line from 1, column from 0 in characters, offset in UTF-16 code units. */
export interface Position {
  /** The file's path; undefined for typed input. */
  readonly file?: string;
  readonly line: number;
  readonly column: number;
  readonly offset: number;
}

/** A call that a failure has passed through. */
export interface FailedCall {
  readonly position: Position | undefined;
  /** `(ns.m.f "a" 1)`. */
  readonly text: string;
}

interface FailureDetails {
  readonly code?: string;
  readonly calls?: readonly FailedCall[];
  readonly stored?: string | undefined;
}

/** A failure of contract code. The message is the one that nodes and the interactive interpreter show. */
export class ContractError extends Error {
  override readonly name = 'ContractError';
  readonly kind: ErrorKind;
  readonly position: Position | undefined;
  /** The code of the failed application; empty if it is not known. */
  readonly code: string;
  /** The failed calls of functions of modules, the innermost first. */
  readonly calls: readonly FailedCall[];
  /** The shorter message that nodes of dialect 5 store in blocks, if there is one. */
  readonly stored: string | undefined;

  constructor(
    kind: ErrorKind,
    message: string,
    position?: Position,
    { code = '', calls = [], stored }: FailureDetails = {},
  ) {
    super(message);
    this.kind = kind;
    this.position = position;
    this.code = code;
    this.calls = calls;
    this.stored = stored;
  }

  /** @returns this failure if it has a position already, otherwise a copy with the given position and code */
  at(position: Position, code = ''): ContractError {
    if (this.position) return this;
    return new ContractError(this.kind, this.message, position, { code, calls: this.calls, stored: this.stored });
  }

  /** @returns a copy of this failure with one more call that it has passed through */
  through(call: FailedCall): ContractError {
    const { kind, message, position, code, stored } = this;
    return new ContractError(kind, message, position, { code, calls: [...this.calls, call], stored });
  }
}

/** Maximum numbers of characters of a key and of a pact id, without `...`, in messages that nodes store. */
export const STORED_KEY_LENGTH = 10;
export const STORED_ID_LENGTH = 20;

/** @returns the text; if it is longer than `length` characters, only the first of them and `...` */
export function shortened(text: string, length: number): string {
  const characters = Array.from(text);
  return characters.length > length ? `${characters.slice(0, length).join('')}...` : text;
}
