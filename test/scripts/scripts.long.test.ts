/** Starts every script of scripts/ in its shortest form and checks the result. */

import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ROOT, scratch } from './run.ts';
import { positive, testScripts } from './starts.ts';

/** @returns a folder with this checkout in its node_modules */
function asIfInstalled(): string {
  const modules = join(scratch, 'installed/node_modules');
  mkdirSync(modules, { recursive: true });
  symlinkSync(ROOT, join(modules, 'pickaxe'));
  return join(scratch, 'installed');
}

testScripts('scripts', {
  'scripts/build-addons.mjs': { startedBy: 'test/native/addons.long.test.ts' },
  'scripts/build-archives.mjs': { startedBy: 'test/packaging/archives.long.test.ts' },
  'scripts/build-native.mjs': { startedBy: 'test/native/fresh-copy.ts' },
  'scripts/build-wasm.mjs': {
    args: ['--check'],
    needs: ['clang'],
    check: ({ stderr }) => expect(stderr).toMatch(/^(scan\S*\.wasm: other bytes, right answers\n)*$/),
  },
  'scripts/build.mjs': { startedBy: 'test/scripts/ready.long.test.ts' },
  'scripts/check-earned.mjs': {
    args: ['--minutes', '0.3', '--json'],
    check: ({ stdout }) => {
      const { blocks, answersLost, coins } = JSON.parse(stdout);
      expect(blocks).toMatchObject({ accepted: positive, won: positive, orphaned: positive, pending: 0 });
      expect(blocks.accepted).toBe(blocks.won + blocks.orphaned);
      expect(answersLost).toMatchObject({ unanswered: positive, found: positive });
      expect(coins.earned).toMatch(/^\d+\.\d{1,12}$/);
      expect(coins).toMatchObject({ balance: coins.earned, onMockNode: coins.earned });
    },
  },
  'scripts/check-package.mjs': {
    // Without a package registry: the checkout takes the place of the installed package.
    args: ['--installed', asIfInstalled()],
    check: ({ stderr }) =>
      expect(stderr).toMatch(/^pickaxe [\d.]+\n {2}cpu {5}.*kernel [\s\S]* {2}mined {3}[1-9]\d* accepted, /),
  },
  'scripts/compile-addon.mjs': { startedBy: 'scripts/build-native.mjs' },
  'scripts/elf.mjs': { startedBy: 'scripts/build-addons.mjs' },
  'scripts/fresh-machine.sh': { startedBy: 'test/scripts/fresh-machine.long.test.ts' },
  'scripts/house.mjs': {
    args: ['--json'],
    check: ({ stdout }) =>
      expect(JSON.parse(stdout)).toMatchObject({ names: 10, twoWay: [], lines: { src: positive } }),
  },
  'scripts/journeys.mjs': { startedBy: 'scripts/house.mjs' },
  'scripts/mingw.mjs': { startedBy: 'scripts/build-addons.mjs' },
  'scripts/mutations.mjs': {
    args: ['--sample', '8', '--seed', '1', '--tests', 'test/base/text', '--json', 'src/base/text'],
    check: ({ stdout }) => {
      const { putIn, noticed, notNoticed, notJudged, failing, wings } = JSON.parse(stdout);
      const rest = { putIn, notJudged, failing, base: wings.base.putIn };
      expect(rest).toEqual({ putIn: 8, notJudged: [], failing: [], base: 8 });
      expect(noticed).toBeGreaterThan(3);
      expect(notNoticed).toHaveLength(8 - noticed);
    },
  },
  'scripts/mutations/campaign.mjs': { startedBy: 'scripts/mutations.mjs' },
  'scripts/mutations/places.mjs': { startedBy: 'scripts/mutations.mjs' },
  'scripts/mutations/runner.mjs': { startedBy: 'scripts/mutations/vitest.config.mjs' },
  'scripts/mutations/selection.mjs': { startedBy: 'scripts/mutations.mjs' },
  'scripts/mutations/switch.mjs': { startedBy: 'scripts/mutations.mjs' },
  'scripts/mutations/vitest.config.mjs': { startedBy: 'scripts/mutations/campaign.mjs' },
  'scripts/native-sources.mjs': { startedBy: 'scripts/compile-addon.mjs' },
  'scripts/node-sums.mjs': { startedBy: 'scripts/build-archives.mjs' },
  'scripts/npm.mjs': { startedBy: 'scripts/ready.mjs' },
  'scripts/old-faults.mjs': {
    args: ['--world', 'solo', '--seeds', '1', '--minutes', '0.5', '--json', 'leaves a timer'],
    check: ({ stdout }) =>
      expect(JSON.parse(stdout)).toMatchObject([{ worlds: [{ world: 'solo', seeds: 1, found: 1 }] }]),
  },
  'scripts/pe.mjs': { startedBy: 'scripts/build-addons.mjs' },
  'scripts/ready.mjs': { startedBy: 'test/scripts/ready.long.test.ts' },
  'scripts/release-checks.mjs': { startedBy: 'scripts/release.mjs' },
  'scripts/release-signing.mjs': { startedBy: 'scripts/release.mjs' },
  // The script's dry run takes five minutes. Its answer to wrong usage comes after its imports.
  'scripts/release.mjs': { startedBy: 'test/packaging/release.test.ts' },
  'scripts/replace-files.mjs': { startedBy: 'scripts/build.mjs' },
  'scripts/screenshots.mjs': {
    args: ['--minutes', '0.02', '--devices', 'cpu', '--to', scratch],
    needs: ['chromium'],
    check: ({ stdout }) => {
      const pictures = ['page-light', 'page-dark', 'page-phone'].map((name) => join(scratch, `${name}.png`));
      for (const path of pictures) {
        expect(stdout).toContain(`${path}: `);
        expect(readFileSync(path).toString('latin1', 1, 4)).toBe('PNG');
      }
    },
  },
  'scripts/shrink-png.mjs': { startedBy: 'scripts/screenshots.mjs' },
  'scripts/simulate.mjs': {
    args: ['--world', 'solo', '--seeds', '1', '--minutes', '0.5', '--json'],
    check: ({ stdout }) =>
      expect(JSON.parse(stdout)).toMatchObject([
        { world: 'solo', seeds: 1, accepted: positive, lost: 0, violations: [] },
      ]),
  },
  'scripts/stamp.mjs': { startedBy: 'scripts/ready.mjs' },
  'scripts/test-seconds.mjs': { startedBy: 'test/longest-first.test.ts' },
});
