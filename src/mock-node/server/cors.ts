/** Lets web pages read the service side, as real nodes do (Fetch standard, "CORS protocol"). */

import type { IncomingMessage } from 'node:http';

const ANY_ORIGIN = { 'access-control-allow-origin': '*' };
const PREFLIGHT = {
  ...ANY_ORIGIN,
  'access-control-allow-methods': 'GET, HEAD, POST',
  'access-control-allow-headers': 'Accept, Accept-Language, Content-Language, Content-Type',
};

/** @returns the headers by which a browser shows the answer to the page that has asked, if one has */
export function corsHeaders({ headers }: IncomingMessage): Record<string, string> {
  return headers.origin === undefined ? {} : ANY_ORIGIN;
}

/** @returns the headers for a browser that asks whether a page may send a request; undefined for all other requests */
export function preflightHeaders({ method, headers }: IncomingMessage): Record<string, string> | undefined {
  const isPreflight = method === 'OPTIONS' && headers.origin !== undefined;
  if (!isPreflight || headers['access-control-request-method'] === undefined) return undefined;
  return PREFLIGHT;
}
