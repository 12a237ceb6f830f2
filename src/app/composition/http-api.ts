/** Serves the web page, the HTTP API and the metrics of a miner (`--http`). */

import type { Logger } from 'pino';
import { formatHttpAddress } from '../../base/text/addresses.ts';
import { serveHttp } from '../../rig/http/api.ts';
import type { Http, ServerOptions } from '../../rig/http/http-server.ts';
import { pageRoutes, type Route } from '../../rig/http/route.ts';
import type { ServedPage } from '../../rig/terminal/pages.ts';
import type { Config } from '../config/settings.ts';
import { secretIn } from '../nodes/node-clients.ts';
import { UsageError, whyNotListening } from '../process/exit.ts';
import type { Sidecar } from './run-miner.ts';

/**
 * Matches tokens of visible ASCII characters, because a token is sent in a header (RFC 6750 §2.1). A random token of 16
 * characters cannot be guessed. 512 characters are far below the limit on headers.
 */
const TOKEN = /^[\x21-\x7e]{16,512}$/;

/**
 * @param serves called with the page's address and token once the server listens
 * @returns undefined without `--http` @throws UsageError when the token file cannot be used
 */
export function httpSidecar(
  settings: Config['http'],
  serves: (page: ServedPage) => void = () => {},
): Sidecar | undefined {
  const options = httpOptions(settings);
  if (!options) return undefined;
  return async (miner) => {
    const { log } = miner;
    const serve = () => serveHttp(miner, options, pageOf(log));
    const { url, reachableUrl, close } = await listenHttp(serve, options, 'pause, resume and stop', log);
    serves({ url: reachableUrl ?? url, token: options.token });
    return close;
  };
}

/** @returns undefined without `--http` @throws UsageError when the token file cannot be used */
export function httpOptions({ listen, tokenFile, control }: Config['http']): ServerOptions | undefined {
  if (!listen) return undefined;
  return { ...listen, control, ...(tokenFile !== undefined && { token: readToken(tokenFile) }) };
}

/**
 * Starts a server and logs where it listens.
 * @param controls what clients may do if `control` is set, for the log
 * @throws UsageError when the server cannot listen at the address
 */
export async function listenHttp(
  serve: () => Promise<Http>,
  { host, port, control, token }: ServerOptions,
  controls: string,
  log: Logger,
): Promise<Http> {
  const http = await serve().catch((fault) => {
    throw new UsageError(
      `cannot listen on --http ${formatHttpAddress({ host, port })}: ${whyNotListening(fault, port)}.`,
    );
  });
  const { url, reachableUrl } = http;
  const rights = control ? `${controls} allowed` : 'read-only';
  const where = reachableUrl === undefined ? url : `${url} (from other machines: ${reachableUrl})`;
  log.info({ tag: 'http' }, `listening at ${where}, ${rights}${token === undefined ? '' : ', token required'}`);
  return http;
}

/** @throws UsageError about the file; the message does not repeat its content */
function readToken(file: string): string {
  const token = secretIn(file, '--http-token-file');
  if (TOKEN.test(token)) return token;
  throw new UsageError(
    `--http-token-file: ${file} must contain one token of 16 to 512 printable characters and nothing else. ` +
      `Make one with: ${makeToken(file)}`,
  );
}

/** @returns a shell command that writes a new token to the file */
function makeToken(file: string): string {
  // Windows may have no openssl. No umask is needed there, because only the user can read files in the user's folders.
  if (process.platform === 'win32') return `node -p "crypto.randomBytes(32).toString('hex')" > "${file}"`;
  return `(umask 077; openssl rand -hex 32 > ${file})`;
}

/** @returns the routes of the web page. If the page is not built, a warning is logged, and there are no such routes */
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
