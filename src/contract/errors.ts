/** Failures of contract code. */

export type ErrorKind = 'eval' | 'args' | 'db' | 'tx-failure' | 'gas' | 'syntax' | 'continuation';

/** A place in a text: line from 1, column from 0 in characters, offset in UTF-16 code units. */
export interface Position {
  readonly line: number;
  readonly column: number;
  readonly offset: number;
}

/** A failure of contract code. The message is the one that nodes and the interactive interpreter show. */
export class ContractError extends Error {
  override readonly name = 'ContractError';
  readonly kind: ErrorKind;
  readonly position: Position | undefined;

  constructor(kind: ErrorKind, message: string, position?: Position) {
    super(message);
    this.kind = kind;
    this.position = position;
  }

  /** @returns itself if its place is known already, otherwise the same failure at this place */
  at(position: Position): ContractError {
    return this.position ? this : new ContractError(this.kind, this.message, position);
  }
}
