/** Reads secrets from the files that settings name. */

import { readSecretFile } from '../config/secrets.ts';
import { UsageError } from './exit-codes.ts';

/**
 * @param option the option's name for error messages: `--http-token-file`
 * @throws UsageError that says what is wrong with the file, without quoting its content
 */
export function secretIn(file: string, option: string): string {
  try {
    return readSecretFile(file, option);
  } catch (fault) {
    throw new UsageError((fault as Error).message);
  }
}
