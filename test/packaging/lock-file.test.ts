/** What `npm ci` installs, by the lock file alone: nothing is installed here. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** The used functions of the package, which has no types of its own. */
interface SemVer {
  minVersion(range: string): { version: string };
  satisfies(version: string, range: string): boolean;
}

interface Package {
  readonly engines?: { readonly node?: string };
  readonly hasInstallScript?: boolean;
}

const semver: SemVer = createRequire(import.meta.url)('semver');
const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
const manifest = JSON.parse(read('package.json'));
const packages = Object.entries(JSON.parse(read('package-lock.json')).packages as Record<string, Package>);

// light-my-request is a dependency only for this: fastify alone would get a version of it that brings a package for
// Node.js 22.
test('every package runs on the oldest Node.js that pickaxe promises', () => {
  const oldest = semver.minVersion(manifest.engines.node).version;
  expect(oldest).toBe('20.19.0');
  const tooNew = packages
    .filter(([, { engines }]) => engines?.node !== undefined && !semver.satisfies(oldest, engines.node))
    .map(([path, { engines }]) => `${path}: ${engines!.node}`);
  expect(tooNew).toEqual([]);
  expect(packages.length).toBeGreaterThan(100);
});

test('no package runs an install script, nor has one that is not known to be needless', () => {
  // koffi's script compiles what a package of its own has prebuilt; webgpu's script removes a mark that browsers leave
  // on downloads.
  const known = ['node_modules/koffi', 'node_modules/webgpu'];
  expect(packages.filter(([, each]) => each.hasInstallScript).map(([path]) => path)).toEqual(known);
  const denied = Object.entries(manifest.allowScripts).map(([name, isAllowed]) => [`node_modules/${name}`, isAllowed]);
  expect(denied).toEqual(known.map((path) => [path, false]));
  // The script that installs the packages for `npm start` and `npm test` denies install scripts to every version of
  // npm.
  expect(read('scripts/ready.mjs')).toMatch(/'ci', '--include=dev', '--ignore-scripts'/);
});

test('npm pack runs the script that refuses a package without its native addons', () => {
  expect(manifest.scripts.prepack).toBe('node scripts/ready.mjs && node scripts/build-addons.mjs --check');
  // With this setting npm would pack without building.
  expect(read('.npmrc')).not.toMatch(/^ignore-scripts/m);
});
