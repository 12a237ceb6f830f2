/** Bytes or values that are not what the ledger's formats allow. The message says what is wrong, and where. */
export class LedgerFormatError extends Error {
  override readonly name = 'LedgerFormatError';
}

/** @returns the beginning of a foreign text, quoted, for a message */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
