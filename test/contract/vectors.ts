/** Reads `vectors.json`: expressions of the contract language with their results. Its field `about` explains more. */

import { readFileSync } from 'node:fs';

export interface ExpressionVector {
  code: string;
  /** What the interactive interpreter prints. */
  prints?: string;
  /** An expression with an equal value. */
  equals?: string;
  /** A part of the error. */
  error?: string;
  /** It fails with a message that the source does not state. */
  fails?: boolean;
  dialects: ('4' | '5')[];
}

export interface JsonVector {
  /** Code, or a description. */
  value: string;
  json: string;
  hash?: string;
}

/** One input of a dialogue: what it prints, or a part of its message. */
export interface SessionStep {
  code: string;
  prints?: string;
  prints_begin?: string;
  prints_end?: string;
  error?: string;
}

interface Vectors {
  /** By native. */
  expressions: Record<string, ExpressionVector[]>;
  sessions: { name: string; dialects: ('4' | '5')[]; steps: SessionStep[] }[];
  syntax_errors: { code: string; dialect: '4' | '5'; error: string }[];
  json_forms: JsonVector[];
  module_hashes: { texts: { text: string; hash: string }[] };
  /** One dialogue. Each line has its cost in the table model of dialect 4, in units. */
  gas: { setup: string; data: string; lines: { code: string; gas: number }[] };
}

export const vectors: Vectors = JSON.parse(readFileSync(new URL('./vectors.json', import.meta.url), 'utf8'));

/** All well-formed code of a dialect, each text once. */
export function codeOf(dialect: 4 | 5): string[] {
  const isIn = ({ dialects }: { dialects: ('4' | '5')[] }) => dialects.includes(`${dialect}`);
  const expressions = Object.values(vectors.expressions).flat().filter(isIn);
  const steps = vectors.sessions.filter(isIn).flatMap(({ steps }) => steps);
  return [...new Set([...expressions, ...steps].map(({ code }) => code))];
}
