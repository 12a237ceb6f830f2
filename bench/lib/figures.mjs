// Small helpers for all benchmarks.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { thisMachine } from '#pickaxe/base/system/machine.js';

export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

export const median = (values) => quantile(values, 0.5);

/** @returns the quantiles that tables show, and the number of values; the quantiles are undefined without values */
export function quantiles(values) {
  const [p50, p90, p99, most] = [0.5, 0.9, 0.99, 1].map((q) => quantile(values, q));
  return { p50, p90, p99, most, n: values.length };
}

/** Prints the command and the machine, at the beginning of every benchmark. */
export function printHeading() {
  const { cpu, cores, os, node, pickaxe } = thisMachine();
  console.log(
    `$ node ${process.argv
      .slice(1)
      .map((part) => part.replace(`${process.cwd()}/`, ''))
      .join(' ')}`,
  );
  console.log(`${cpu}, ${cores} cores, ${os}, Node ${node}, pickaxe ${pickaxe}\n`);
}

/** Prints a table in Markdown. */
export function printTable(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows];
  console.log(`${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`);
}

/** Writes a result with a description of the machine, if a file is named. */
export function save(file, result) {
  if (!file) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${readable({ machine: thisMachine(), ...result })}\n`);
}

/** Maximum length of a line. The rows of most results fit. */
const LINE_CHARS = 200;

/** @returns JSON in which each part that fits is one line, so that a round or a row is one line */
export function readable(value, indent = '') {
  const line = JSON.stringify(value);
  if (line === undefined || indent.length + line.length <= LINE_CHARS || typeof value !== 'object') return line;
  const deeper = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((each) => readable(each, deeper) ?? 'null')
    : Object.entries(value)
        .filter(([, each]) => each !== undefined)
        .map(([name, each]) => `${JSON.stringify(name)}: ${readable(each, deeper)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${parts.map((part) => deeper + part).join(',\n')}\n${indent}${close}`;
}
