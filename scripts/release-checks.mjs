// Checks that the parts of a release agree. Pure; used by scripts/release.mjs and its test.

/** Three numbers, and possibly the name of a pre-release (semver.org §9). */
const VERSION = /^\d+\.\d+\.\d+(-[0-9a-z.-]+)?$/;

/**
 * @param version the version in package.json
 * @param locked the version in package-lock.json
 * @param changelog the text of CHANGELOG.md
 * @param tags the tags of the repository
 * @param status the output of `git status --porcelain`
 * @returns for people: a sentence about each fault; empty without faults
 */
export function releaseFaults({ version, locked, changelog, tags, status }) {
  const [heading] = /^## .*$/m.exec(changelog) ?? ['## nothing'];
  const [, named, when] = /^## (\S+)(?: \((.*)\))?$/.exec(heading) ?? [];
  return [
    status.trim() !== '' && `the checkout is not clean:\n${status.trimEnd()}`,
    !VERSION.test(version) && `package.json: ${version} is not a version`,
    locked !== version && `package-lock.json says ${locked}, package.json ${version}: npm install --package-lock-only`,
    named !== version && `CHANGELOG.md begins with "${heading}", not with version ${version}`,
    named === version && !isDate(when) && `CHANGELOG.md: ${version} (${when}) needs the day of its release, YYYY-MM-DD`,
    tags.includes(`v${version}`) && `there is a tag v${version} already: raise the version`,
  ].filter(Boolean);
}

function isDate(text = '') {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(text).toJSON()?.startsWith(text) === true;
}
