/**
 * The type of routes, the OpenAPI document about a server's routes, and the routes of the web page's files.
 */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { version } from '../../base/system/version.ts';
import { ErrorAnswer } from './api-answers.ts';

/** The media type of server-sent events (HTML Standard §9.2). */
export const EVENT_STREAM = 'text/event-stream';

interface Ask {
  /** Parameters of the query, checked with the route's schema; empty if the route has none. */
  readonly query: Record<string, unknown>;
  /** The JSON body, checked with the route's schema; empty if the route has none. */
  readonly body: Record<string, unknown>;
  /** The header If-None-Match. */
  readonly ifNoneMatch: string | undefined;
}

export interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly summary: string;
  /** Present if requests need no token. */
  readonly open?: true;
  /** Present if the route controls mining. Such a route is refused unless `ServerOptions.control` allows it. */
  readonly controls?: true;
  readonly query?: z.ZodType<Record<string, unknown>>;
  readonly body?: z.ZodType<Record<string, unknown>>;
  /** Maximum length of the body in bytes. Absent if the usual maximum is enough. */
  readonly mostBodyBytes?: number;
  /** The schema of the answer's JSON body, or the body's media type, by HTTP status; undefined for an empty body. */
  readonly answers: Readonly<Record<number, z.ZodType | string | undefined>>;
  /** @returns the body of the answer, or a promise of the body; or `reply` if the answer is sent through `reply` */
  answer(ask: Ask, reply: FastifyReply): unknown;
}

export function json<Schema extends z.ZodType>(
  path: string,
  summary: string,
  schema: Schema,
  answer: (ask: Ask) => z.infer<Schema> | Promise<z.infer<Schema>>,
): Route {
  return { method: 'GET', path, summary, answers: { 200: schema }, answer };
}

/**
 * @returns a route with an answer that never changes. Clients may cache the answer, but ask with its ETag each time
 *   whether it is still valid (RFC 9110 §13.1.2)
 */
function keptRoute(path: string, summary: string, type: string, read: () => string | Buffer): Route {
  let kept: { readonly body: string | Buffer; readonly etag: string } | undefined;
  return {
    method: 'GET',
    path,
    summary,
    answers: { 200: type },
    answer: ({ ifNoneMatch }, reply) => {
      if (!kept) {
        const body = read();
        kept = { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` };
      }
      reply.headers({ etag: kept.etag, 'cache-control': 'no-cache' });
      if (ifNoneMatch === kept.etag) return reply.code(304).send();
      return reply.type(type).send(kept.body);
    },
  };
}

/* The OpenAPI 3.1 document, made from the routes and their schemas */

interface OpenApi {
  readonly openapi: string;
  readonly info: object;
  readonly paths: Record<string, Record<string, object>>;
  readonly components: { readonly schemas: Record<string, object>; readonly securitySchemes: Record<string, object> };
}

const MEANINGS: Readonly<Record<number, string>> = { 200: 'OK', 204: 'done', 503: 'not ready' };

function openApi(routes: readonly Route[]): OpenApi {
  const paths: OpenApi['paths'] = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'pickaxe',
      version,
      description: 'A name ends with its unit. Null stands for what is not known; xMillis are since the UNIX epoch.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    paths,
    components: {
      schemas: componentsOf(paths),
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function operationOf({ path, summary, open, query, body, answers }: Route): object {
  return {
    operationId: path.replace(/^\/(api\/v1\/)?/, '').replaceAll(/\W(\w)/g, (_, letter: string) => letter.toUpperCase()),
    summary,
    // The token is optional in this document, because a server without a token in its settings requires none.
    security: open ? [] : [{}, { token: [] }],
    ...(query && { parameters: parametersOf(query) }),
    ...(body && { requestBody: { required: false, content: { 'application/json': { schema: schemaOf(body) } } } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, answer]) => [status, response(Number(status), answer)]),
      ),
      default: response(undefined, ErrorAnswer),
    },
  };
}

function response(status: number | undefined, answer: z.ZodType | string | undefined): object {
  const description = status === undefined ? 'what went wrong' : MEANINGS[status];
  if (answer === undefined) return { description };
  const media = typeof answer === 'string' ? answer : 'application/json';
  const schema = typeof answer === 'string' ? { type: 'string' } : schemaOf(answer);
  return { description, content: { [media]: { schema } } };
}

function parametersOf(query: z.ZodType): object[] {
  const { properties = {} } = z.toJSONSchema(query, { io: 'input' });
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', required: false, schema }));
}

/** @returns the JSON Schema; for a schema with an id, a reference to its component in the document */
function schemaOf(schema: z.ZodType): object {
  const id = schema.meta()?.id;
  return id === undefined ? z.toJSONSchema(schema) : { $ref: `#/components/schemas/${id}` };
}

/**
 * @returns the schemas that have an id and to which the paths refer, directly or through other schemas. The registry of
 *   zod also contains schemas to which no path refers
 */
function componentsOf(paths: OpenApi['paths']): Record<string, object> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, { uri: (id) => `#/components/schemas/${id}` });
  const found = new Map<string, object>();
  const follow = (part: unknown) => {
    for (const [, id] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (found.has(id)) continue;
      const { $schema: _, $id: __, id: ___, ...schema } = schemas[id];
      found.set(id, schema);
      follow(schema);
    }
  };
  follow(paths);
  return Object.fromEntries(found);
}

/**
 * @returns the route of the OpenAPI document, which describes `routes` and this route. The document is made when it is
 *   first asked for, and only once, because it does not change while the server runs
 */
export function openApiRoute(routes: readonly Route[]): Route {
  const path = '/api/v1/openapi.json';
  const document = () => JSON.stringify(openApi([...routes, route]));
  const route: Route = {
    ...keptRoute(path, 'this document', 'application/json; charset=utf-8', document),
    answers: { 200: 'application/json' },
  };
  return route;
}

/*
 * The files of the web page. Requests for these files need no token. The files are listed when the server starts, so
 * that the path of a request is never used as a path in the file system.
 */

/** Media types by file extension. Files with other extensions are not served. */
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const built = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const library = (name: string) => createRequire(import.meta.url).resolve(`uplot/dist/${name}`);

/** The folder in dist/ of the rig's page. Other pages use its styles and modules, too. */
const RIG_PAGE = 'rig/page';
/** Paths in dist/ of modules that pages import from outside of their folders. They are served with every page. */
const SHARED = [
  'base/text/quantities.js',
  'miner/events/vocabulary.js',
  'rig/status/figures.js',
  'rig/status/units.js',
];

/** @returns paths of files by URL path. Most URL paths equal the paths in dist/, so that imports of modules resolve */
function files(folder: string, modules: readonly string[]): Map<string, string> {
  const own = [...new Set([RIG_PAGE, `${RIG_PAGE}/style`, folder])].flatMap((each) =>
    readdirSync(built(each))
      .filter((name) => extname(name) in TYPES && extname(name) !== '.html')
      .map((name) => `${each}/${name}`),
  );
  return new Map([
    ['/', built(`${folder}/index.html`)],
    ...[...own, ...SHARED, ...modules].map((path) => [`/${path}`, built(path)] as const),
    [`/${RIG_PAGE}/uplot.js`, library('uPlot.esm.js')],
    [`/${RIG_PAGE}/uplot.css`, library('uPlot.min.css')],
  ]);
}

/**
 * @param folder the folder in dist/ with the page; its `index.html` is served at `/`
 * @param modules the paths in dist/ of further modules that the page imports
 * @throws Error when the page was not built
 */
export function pageRoutes(folder = RIG_PAGE, modules: readonly string[] = []): Route[] {
  return Array.from(files(folder, modules), ([path, file]) => ({
    ...keptRoute(path, 'a file of the web page', TYPES[extname(file)], () => readFileSync(file)),
    open: true,
  }));
}
