/** `--http`: the HTTP API and metrics beside the miner. */

import type { Logger } from 'pino';
import { isLoopback } from '../../report/http/hosts.ts';
import { serveHttp } from '../../report/http/http.ts';
import { pageRoutes } from '../../report/http/page.ts';
import type { Route } from '../../report/http/route.ts';
import { UsageError } from '../exit-codes.ts';
import { httpAddress } from '../http-address.ts';
import type { Companion } from '../run-miner.ts';
import { readTokenFile } from '../token-file.ts';

export interface HttpOptions {
  /** `[HOST:]PORT`; left out, nothing is served. */
  readonly http?: string;
  readonly httpTokenFile?: string;
  /** Whether clients may pause, resume and stop. */
  readonly httpControl?: boolean;
}

/** @throws UsageError when an option makes no sense. */
export function httpCompanion({ http, httpTokenFile, httpControl: control = false }: HttpOptions): Companion {
  if (http === undefined) throw new UsageError('--http-token-file and --http-control need --http [HOST:]PORT.');
  const { host, port } = httpAddress(http);
  const { token, warning } = httpTokenFile === undefined ? {} : readTokenFile(httpTokenFile);
  if (token === undefined && !isLoopback(host)) {
    throw new UsageError(
      `--http ${http} can be reached by other machines: name a --http-token-file FILE with a token.`,
    );
  }
  return async (miner) => {
    const { log } = miner;
    if (warning !== undefined) log.warn({ tag: 'http' }, warning);
    const options = { host, port, control, ...(token !== undefined && { token }) };
    const { url, close } = await serveHttp(miner, options, log, pageOf(log)).catch((fault) => {
      throw new UsageError(`--http ${http} cannot be listened on: ${(fault as Error).message}.`);
    });
    const rights = control ? 'pause, resume and stop allowed' : 'read-only';
    log.info({ tag: 'http' }, `listening at ${url}, ${rights}${token === undefined ? '' : ', with the token'}`);
    return close;
  };
}

/** Mining and the rest of the API do without it. */
function pageOf(log: Logger): Route[] {
  try {
    return pageRoutes();
  } catch (fault) {
    log.warn({ tag: 'http' }, `no web page, it is not built (npm run build): ${(fault as Error).message}`);
    return [];
  }
}
