/** Routes, from which the server and the OpenAPI document are made, and the routes of the web page's files. */

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
  /** The query and the body, checked against the route's schemas. */
  readonly query: Record<string, unknown>;
  readonly body: Record<string, unknown>;
  readonly ifNoneMatch: string | undefined;
}

export interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly summary: string;
  /** Set if the route needs no token. */
  readonly open?: true;
  /** Set if the route changes something, which has to be allowed. */
  readonly controls?: true;
  readonly query?: z.ZodType<Record<string, unknown>>;
  readonly body?: z.ZodType<Record<string, unknown>>;
  /** Maximum length of the body in bytes, where it can be longer than that of most routes. */
  readonly mostBodyBytes?: number;
  /** By HTTP status: a schema for JSON, a media type, or undefined for an empty body. */
  readonly answers: Readonly<Record<number, z.ZodType | string | undefined>>;
  /** @returns the JSON to answer with; undefined when `reply` was used */
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

/** A route whose answer clients cache and revalidate with its ETag (RFC 9110 §13.1.2). */
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
    // Without a token in the settings, none is required.
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

/** Named schemas become references to the components. */
function schemaOf(schema: z.ZodType): object {
  const id = schema.meta()?.id;
  return id === undefined ? z.toJSONSchema(schema) : { $ref: `#/components/schemas/${id}` };
}

/**
 * @returns the named schemas that the paths refer to, directly or through other schemas. zod also knows unused ones
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

/** The document changes only with the version of pickaxe. */
export function openApiRoute(routes: readonly Route[]): Route {
  const path = '/api/v1/openapi.json';
  const route: Route = {
    ...keptRoute(path, 'this document', 'application/json; charset=utf-8', () => document),
    answers: { 200: 'application/json' },
  };
  const document = JSON.stringify(openApi([...routes, route]));
  return route;
}

/*
 * The files of the web page, which need no token. They are listed at the start, so that no request's path reaches the
 * file system.
 */

/** Media types by file extension. Other files are not served. */
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const built = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const library = (name: string) => createRequire(import.meta.url).resolve(`uplot/dist/${name}`);

/** The folder of the rig's page, whose styles and modules other pages use. */
const RIG_PAGE = 'rig/page';
/** The modules of the server that the pages import. */
const SHARED = [
  'base/text/quantities.js',
  'miner/events/vocabulary.js',
  'rig/status/figures.js',
  'rig/status/units.js',
];

/** @returns the files by URL path. Most URL paths are the paths in dist/, so that the imports of modules resolve */
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
