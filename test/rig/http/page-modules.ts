/** The modules of a page, as a browser loads them from the server. */

import { expect } from 'vitest';

interface Answer {
  readonly status: number;
  readonly text: string;
}

/**
 * Asks for some modules, and for all that these import.
 * @param ask asks the server for a path
 * @param first paths of the modules that the page itself names
 * @returns the paths of all modules, each of which the server has
 */
export async function modulesOf(
  ask: (path: string) => Promise<Answer>,
  first: readonly string[],
): Promise<Set<string>> {
  const modules = new Set(first);
  for (const module of modules) {
    const { status, text } = await ask(module);
    expect([module, status]).toEqual([module, 200]);
    for (const [, imported] of text.matchAll(/^(?:import|export) (?:[^'"]+ from )?['"](\.[^'"]+)['"]/gm)) {
      // Modules with faults (scripts/mutations.mjs) import a switch, which browsers do without.
      if (!imported.endsWith('/fault-switch.js')) modules.add(new URL(imported, `http://rig${module}`).pathname);
    }
  }
  return modules;
}
