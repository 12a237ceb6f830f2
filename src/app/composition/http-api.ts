/** `--http`: the HTTP API and metrics beside the miner. */

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

/** A token is too long to be guessed, far shorter than the limit on headers, and printable (RFC 6750 §2.1). */
const TOKEN = /^[\x21-\x7e]{16,512}$/;

/** @param serves called once the server listens @throws UsageError when the token file cannot be used */
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

/** @returns undefined when nothing is to be served @throws UsageError when the token file cannot be used */
export function httpOptions({ listen, tokenFile, control }: Config['http']): ServerOptions | undefined {
  if (!listen) return undefined;
  return { ...listen, control, ...(tokenFile !== undefined && { token: readToken(tokenFile) }) };
}

/**
 * Starts a server and logs where it listens.
 * @param controls what clients may do if control is allowed @throws UsageError when it cannot listen there
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
