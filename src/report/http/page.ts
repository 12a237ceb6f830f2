/**
 * The web page's files. They are listed when pickaxe starts, so that no request's path gets near the file system.
 */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Ask, Route } from './route.ts';

/** Media types by the end of a file's name. Files with another end are not served. */
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const built = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const library = (name: string) => createRequire(import.meta.url).resolve(`uplot/dist/${name}`);

/** The files, by path. Modules lie as they do in dist/, so that they find each other. */
function files(): Map<string, string> {
  const own = readdirSync(built('web')).filter((name) => name !== 'index.html' && extname(name) in TYPES);
  return new Map([
    ['/', built('web/index.html')],
    ...own.map((name) => [`/web/${name}`, built(`web/${name}`)] as const),
    ['/report/figures.js', built('report/figures.js')],
    ['/report/units.js', built('report/units.js')],
    ['/source/vocabulary.js', built('source/vocabulary.js')],
    ['/text/quantities.js', built('text/quantities.js')],
    ['/web/uplot.js', library('uPlot.esm.js')],
    ['/web/uplot.css', library('uPlot.min.css')],
  ]);
}

/** @throws Error when the page was not built */
export function pageRoutes(): Route[] {
  return Array.from(files(), ([path, file]) => fileRoute(path, file));
}

/** `open`: the page itself asks for the token. */
function fileRoute(path: string, file: string): Route {
  const type = TYPES[extname(file)];
  let kept: { body: Buffer; etag: string } | undefined;
  return {
    method: 'GET',
    path,
    summary: 'a file of the web page',
    open: true,
    answers: { 200: type },
    answer: ({ ifNoneMatch }: Ask, reply) => {
      kept ??= read(file);
      const { body, etag } = kept;
      reply.headers({ etag, 'cache-control': 'no-cache' });
      if (ifNoneMatch === etag) return reply.code(304).send();
      return reply.type(type).send(body);
    },
  };
}

function read(file: string): { body: Buffer; etag: string } {
  const body = readFileSync(file);
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` };
}
