/** The OpenAPI document of a server, in the parts that a record compares. */

import { type Recorded, recordIn, written } from '../../recorded.ts';
import type { Answer } from './serving.ts';

/**
 * Compares a document with the one recorded, so that no change of a path, a summary, a status or a schema goes unseen.
 * @param file the record
 * @param ask asks the server
 */
export async function expectDocument(file: URL, ask: (path: string) => Promise<Answer>): Promise<void> {
  const expectRecorded = recordIn(file);
  const { paths, components, ...about } = (await ask('/api/v1/openapi.json')).json;
  const parts = (all: object): Recorded[] =>
    Object.entries(all).map(([input, part]) => ({ input, outcome: written(part) }));
  const { version: _, ...info } = about.info;
  expectRecorded('about', parts({ ...about, info }));
  expectRecorded('paths', parts(paths));
  expectRecorded('schemas', parts(components.schemas));
  expectRecorded('security', parts(components.securitySchemes));
}
