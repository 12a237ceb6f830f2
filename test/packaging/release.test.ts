import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { releaseFaults } from '../../scripts/release-checks.mjs';

const good = {
  version: '1.2.3',
  locked: '1.2.3',
  changelog: '# Changelog\n\nNewest first.\n\n## 1.2.3 (2026-02-28)\n\n- All.\n\n## 1.2.2 (2026-01-01)\n',
  tags: ['v1.2.2', ''],
  status: '',
};

describe('before a release', () => {
  test('everything agrees', () => {
    expect(releaseFaults(good)).toEqual([]);
  });

  test.each([
    [
      'something is not committed',
      { status: ' M src/index.ts\n?? notes\n' },
      /not clean:\n M src\/index\.ts\n\?\? notes$/,
    ],
    [
      'the version is none',
      { version: '1.2', locked: '1.2', changelog: '## 1.2 (2026-02-28)\n' },
      /1\.2 is not a version/,
    ],
    [
      'the lock file has another version',
      { locked: '1.2.2' },
      /package-lock\.json says 1\.2\.2, package\.json 1\.2\.3/,
    ],
    ['the changelog has another version', { changelog: '## 1.2.2 (2026-02-28)\n' }, /begins with "## 1\.2\.2/],
    ['the changelog has none', { changelog: '# Changelog\n' }, /begins with "## nothing"/],
    ['the changelog has no day', { changelog: '## 1.2.3\n' }, /needs the day/],
    ['the day has not come', { changelog: '## 1.2.3 (unreleased)\n' }, /needs the day/],
    ['the day is none', { changelog: '## 1.2.3 (2026-02-31)\n' }, /needs the day/],
    ['the tag is there', { tags: ['v1.2.3'] }, /tag v1\.2\.3 already/],
  ])('it is said when %s', (_, changed, says) => {
    const faults = releaseFaults({ ...good, ...changed });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(says);
  });
});

test('the release script knows its own flags only', () => {
  for (const args of [['--publish'], ['--make', '--publish']]) {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/release.mjs', ...args], { encoding: 'utf8' });
    expect(stderr).toContain('--dry-run | --make');
    expect(status).toBe(2);
  }
});
