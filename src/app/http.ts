/** `--http`: the HTTP API and metrics beside the miner. */

import type { Logger } from 'pino';
import type { Config } from '../config/settings.ts';
import { serveHttp } from '../report/http/api.ts';
import { pageRoutes, type Route } from '../report/http/route.ts';
import type { ServedPage } from '../terminal/pages.ts';
import { formatHttpAddress } from '../text/addresses.ts';
import { UsageError, whyNotListening } from './exit.ts';
import { secretIn } from './node-api.ts';
import type { Sidecar } from './run-miner.ts';

/** Long enough not to be guessed, far below the server's limit on headers, and printable (RFC 6750 §2.1). */
const TOKEN = /^[\x21-\x7e]{16,512}$/;

/** @param serves called once the server listens @throws UsageError when the token file cannot be used */
export function httpSidecar(
  { listen, tokenFile, control }: Config['http'],
  serves: (page: ServedPage) => void = () => {},
): Sidecar | undefined {
  if (!listen) return undefined;
  const token = tokenFile === undefined ? undefined : readToken(tokenFile);
  return async (miner) => {
    const { log } = miner;
    const options = { ...listen, control, ...(token !== undefined && { token }) };
    const { url, reachableUrl, close } = await serveHttp(miner, options, pageOf(log)).catch((fault) => {
      throw new UsageError(
        `cannot listen on --http ${formatHttpAddress(listen)}: ${whyNotListening(fault, listen.port)}.`,
      );
    });
    const rights = control ? 'pause, resume and stop allowed' : 'read-only';
    const where = reachableUrl === undefined ? url : `${url} (from other machines: ${reachableUrl})`;
    log.info({ tag: 'http' }, `listening at ${where}, ${rights}${token === undefined ? '' : ', token required'}`);
    serves({ url: reachableUrl ?? url, token });
    return close;
  };
}

/** @throws UsageError about the file, without quoting its content */
function readToken(file: string): string {
  const token = secretIn(file, '--http-token-file');
  if (TOKEN.test(token)) return token;
  throw new UsageError(
    `--http-token-file: ${file} must contain one token of 16 to 512 printable characters and nothing else. ` +
      `Make one with: ${makeToken(file)}`,
  );
}

/** @returns a command for the shell */
function makeToken(file: string): string {
  // Windows may lack openssl but has Node.js, and only the user can read files in the user's folders.
  if (process.platform === 'win32') return `node -p "crypto.randomBytes(32).toString('hex')" > "${file}"`;
  return `(umask 077; openssl rand -hex 32 > ${file})`;
}

/** Without the built web page, mining and the rest of the API still work. */
function pageOf(log: Logger): Route[] {
  try {
    return pageRoutes();
  } catch (fault) {
    log.warn(
      { tag: 'http' },
      `there is no web page, because it is not built (npm run build): ${(fault as Error).message}`,
    );
    return [];
  }
}
