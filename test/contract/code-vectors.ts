/** The parts of `vectors.json` that are about the form of contract code. */

import { readFileSync } from 'node:fs';

interface CodeVectors {
  /** By native. */
  expressions: Record<string, { code: string; dialects: ('4' | '5')[] }[]>;
  sessions: { name: string; dialects: ('4' | '5')[]; steps: { code: string }[] }[];
  syntax_errors: { code: string; dialect: '4' | '5'; error: string }[];
  module_hashes: { texts: { text: string; hash: string }[] };
}

const vectors: CodeVectors = JSON.parse(readFileSync(new URL('./vectors.json', import.meta.url), 'utf8'));

export const { syntax_errors: syntaxErrors, module_hashes: moduleHashes } = vectors;

/** All code that is well formed in a dialect, each text once. */
export function codeOf(dialect: 4 | 5): string[] {
  const isIn = ({ dialects }: { dialects: ('4' | '5')[] }) => dialects.includes(`${dialect}`);
  const expressions = Object.values(vectors.expressions).flat().filter(isIn);
  const steps = vectors.sessions.filter(isIn).flatMap(({ steps }) => steps);
  return [...new Set([...expressions, ...steps].map(({ code }) => code))];
}
