/** Failures of contract code, and the places in a text where they arise. */

/** The generation of the contract language whose rules and messages hold. */
export type Dialect = 4 | 5;

/** A place in a source text. The file's name is not part of it. */
export interface Position {
  /** From 1. */
  readonly line: number;
  /** From 0, in characters (code points). */
  readonly column: number;
  /** From the beginning of the text, in UTF-16 code units. */
  readonly offset: number;
}

/** What failed. A `tx-failure` is the only kind that `try` and `enforce-one` catch. */
export type FailureKind = 'eval' | 'args' | 'db' | 'tx-failure' | 'gas' | 'syntax' | 'continuation';

/** A failure of contract code. The message is what the language's own tools print, without the position. */
export class ContractError extends Error {
  override readonly name = 'ContractError';
  readonly kind: FailureKind;
  /** Absent if the failure belongs to no place in a text. */
  readonly position: Position | undefined;

  constructor(kind: FailureKind, message: string, position?: Position) {
    super(message);
    this.kind = kind;
    this.position = position;
  }
}
