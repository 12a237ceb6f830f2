/** Files of tokens for the HTTP API, in a folder that is removed after the tests. */

import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const TOKEN = '0123456789abcdef';
export const folder = mkdtempSync(join(tmpdir(), 'pickaxe-http-'));

let files = 0;
export function tokenFile(content: string | Buffer, mode = 0o600): string {
  const path = join(folder, `token-${files++}`);
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}
