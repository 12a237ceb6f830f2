/**
 * An account that cannot be created, or a contract that cannot be loaded. The message begins with the account, or with
 * the contract's file and, if it is known, the position: `file:line:column`.
 */
export class GenesisError extends Error {
  override readonly name = 'GenesisError';
}
