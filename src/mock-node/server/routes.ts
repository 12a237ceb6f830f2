/** Finds the route of a request, among the endpoints of documents 1 and 2. */

import type { IncomingMessage } from 'node:http';
import type { Dialect } from '../../protocol/ledger/header.ts';
import type { ServerSettings } from '../options.ts';
import { type Backend, isOfType, type Message, preferred, type Route } from './route.ts';
import { blockRoutes, blockStreamRoutes, cutRoutes, hashRoutes, headerRoutes } from './routes/blocks.ts';
import { commandRoutes } from './routes/commands.ts';
import { configRoutes, infoRoutes } from './routes/info.ts';
import { miningRoutes } from './routes/mining.ts';
import { payloadRoutes } from './routes/payloads.ts';
import { mempoolRoutes, peerRoutes } from './routes/peers.ts';

const ROUTES: readonly Route[] = [
  ...miningRoutes,
  ...configRoutes,
  ...infoRoutes,
  ...cutRoutes,
  ...peerRoutes,
  ...mempoolRoutes,
  ...payloadRoutes,
  ...blockRoutes,
  ...hashRoutes,
  ...headerRoutes,
  ...blockStreamRoutes,
  ...commandRoutes,
];

export interface Found {
  /** The route for the path and the method; undefined if the path has no route for this method. */
  readonly route: Route | undefined;
  /** A route for the path, of whatever method. */
  readonly anyRoute: Route;
  readonly params: Readonly<Record<string, string>>;
  readonly chain: number;
}

/**
 * @returns the API to which an answer belongs. If the node serves both APIs, the beginning of the path decides. Paths
 *   that begin with neither API's name belong to the API of document 1
 */
export function dialectOf(settings: Pick<ServerSettings, 'dialect'>, path: string): Dialect {
  if (settings.dialect !== 'both') return settings.dialect;
  return path.startsWith('/chainweb/') ? 'chainweb' : 'document';
}

/** @returns the route, or an answer with 404 if the path or its chain does not exist */
export function routeOf(backend: Backend, method: string | undefined, path: string): Found | Message {
  const place = placeOf(backend, path);
  const nowhere: Message = { status: 404, text: `no such path: ${path}` };
  if (!place) return nowhere;
  const dialect = dialectOf(backend.settings, path);
  const matching = ROUTES.filter((route) => isServed(backend, dialect, route)).flatMap((route) => {
    const match = (route.atRoot === true) === place.atRoot && route.path.exec(place.path);
    return match ? [{ route, params: { ...match.groups } }] : [];
  });
  if (matching.length === 0) return nowhere;
  // Real nodes answer HEAD like GET (RFC 9110 §9.3.2); Node.js omits the body.
  const served = method === 'HEAD' ? 'GET' : method;
  const found = matching.find(({ route }) => route.method === served);
  const [{ route: anyRoute, params }] = matching;
  const chain = Number(params.chain ?? 0);
  if (chain >= backend.ledger.settings.chains) return { status: 404, text: 'no such chain' };
  return { route: found?.route, anyRoute, params: found?.params ?? params, chain };
}

/**
 * @returns the answer to a request with a wrong method, `accept` or `content-type`; undefined for all other requests.
 *   The order of the checks is that of real nodes
 */
export function refusalOf({ route }: Found, request: IncomingMessage): Message | undefined {
  const { accept, 'content-type': contentType } = request.headers;
  if (!route) return { status: 405, text: 'Method Not Allowed' };
  const { takes, gives } = route;
  if (gives && preferred(accept, gives) === undefined) {
    return { status: 406, text: `this endpoint answers with ${gives.join(' or ')}` };
  }
  if (takes && !isOfType(contentType, takes)) return { status: 415, text: `content-type must be ${takes}` };
  return undefined;
}

function isServed(backend: Backend, asked: Dialect, { side, dialect, when }: Route): boolean {
  const isHere = side === undefined || backend.side === 'both' || backend.side === side;
  return isHere && (dialect === undefined || dialect === asked) && (when?.(backend) ?? true);
}

function placeOf({ ledger, settings }: Backend, path: string): { path: string; atRoot: boolean } | undefined {
  const [, api, version, network, ...rest] = path.split('/');
  const segments = { both: ['ledger', 'chainweb'], document: ['ledger'], chainweb: ['chainweb'] }[settings.dialect];
  if (version !== '0.0') return { path, atRoot: true };
  if (!segments.includes(api) || network !== ledger.settings.network) return undefined;
  return { path: `/${rest.join('/')}`, atRoot: false };
}
