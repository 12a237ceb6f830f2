/** Failures of contract code. */

export type ErrorKind = 'eval' | 'args' | 'db' | 'tx-failure' | 'gas' | 'syntax' | 'continuation';

/** A place in a text: line from 1, column from 0 in characters, offset in UTF-16 code units. */
export interface Position {
  /** The file, for a text that has one. */
  readonly file?: string;
  readonly line: number;
  readonly column: number;
  readonly offset: number;
}

/** A call through which a failure has come. */
export interface FailedCall {
  readonly position: Position | undefined;
  /** `(ns.m.f "a" 1)`. */
  readonly text: string;
}

/** A failure of contract code. The message is the one that nodes and the interactive interpreter show. */
export class ContractError extends Error {
  override readonly name = 'ContractError';
  readonly kind: ErrorKind;
  readonly position: Position | undefined;
  /** The code that has failed; empty if that is not known. */
  readonly code: string;
  /** The calls of functions of modules that have failed with it, the innermost first. */
  readonly calls: readonly FailedCall[];

  constructor(
    kind: ErrorKind,
    message: string,
    position?: Position,
    { code = '', calls = [] }: { readonly code?: string; readonly calls?: readonly FailedCall[] } = {},
  ) {
    super(message);
    this.kind = kind;
    this.position = position;
    this.code = code;
    this.calls = calls;
  }

  /** @returns itself if its place is known already, otherwise the same failure at this place */
  at(position: Position, code = ''): ContractError {
    return this.position ? this : new ContractError(this.kind, this.message, position, { code, calls: this.calls });
  }

  /** @returns the same failure, which has come through one more call */
  through(call: FailedCall): ContractError {
    return new ContractError(this.kind, this.message, this.position, { code: this.code, calls: [...this.calls, call] });
  }
}
