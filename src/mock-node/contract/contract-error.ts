/** Why a command failed, in the words of the contract language. */
export class ContractError extends Error {
  override readonly name = 'ContractError';
}

/** Whose words: the contract language's before its last version, or since. */
export type Words = 'old' | 'new';

export function noSuchAccount(account: string, words: Words): ContractError {
  return new ContractError(
    words === 'old'
      ? `with-read: row not found: ${account}`
      : `No value found in table coin_coin-table for key: ${account}`,
  );
}

export function alreadyCompleted(pactId: string, words: Words): ContractError {
  return new ContractError(
    words === 'old'
      ? `resumePact: pact completed: ${pactId}`
      : `Requested defpact execution already completed for defpact id: ${pactId}`,
  );
}
