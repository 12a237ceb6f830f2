/**
 * An impossible account, or a contract that cannot be loaded. The message of a contract begins with `file:line:column`.
 */
export class GenesisError extends Error {
  override readonly name = 'GenesisError';
}
