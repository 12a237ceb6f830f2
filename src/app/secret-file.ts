/** Secrets of settings that name a file. */

import { readSecretFile } from '../config/secrets.ts';
import { UsageError } from './exit-codes.ts';

/**
 * @param option as people write it: `--http-token-file`
 * @throws UsageError that says what is wrong with the file, and nothing of what is in it
 */
export function secretIn(file: string, option: string): string {
  try {
    return readSecretFile(file, option);
  } catch (fault) {
    throw new UsageError((fault as Error).message);
  }
}
