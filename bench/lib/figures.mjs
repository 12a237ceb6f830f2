// Small helpers that all benchmarks share.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { thisMachine } from '#pickaxe/system/machine.js';

export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

export const median = (values) => quantile(values, 0.5);

/** Prints the command and the machine; every benchmark begins with it. */
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

/** Prints a table that is one in Markdown, too. */
export function printTable(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows];
  console.log(`${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`);
}

/** Writes a result with the machine in it, when a file is named. */
export function save(file, result) {
  if (!file) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ machine: thisMachine(), ...result }, undefined, 2)}\n`);
}
