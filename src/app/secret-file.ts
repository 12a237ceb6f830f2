/** Reads secrets from the files that settings name. */

import { readSecretFile, readSecretText } from '../config/secrets.ts';
import { UsageError } from './exit-codes.ts';

/**
 * @param option the option's name for error messages: `--http-token-file`
 * @throws UsageError that says what is wrong with the file, without quoting its content
 */
export function secretIn(file: string, option: string): string {
  return orUsageError(() => readSecretFile(file, option));
}

/** The same for a secret of several lines, such as a key in PEM. */
export function secretTextIn(file: string, option: string): string {
  return orUsageError(() => readSecretText(file, option));
}

function orUsageError(read: () => string): string {
  try {
    return read();
  } catch (fault) {
    throw new UsageError((fault as Error).message);
  }
}
