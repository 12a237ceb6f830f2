// Checks that the parts of a release agree. Pure; used by scripts/release.mjs and its test.

/** Three numbers, and possibly the name of a pre-release (semver.org §9). */
const VERSION = /^\d+\.\d+\.\d+(-[0-9a-z.-]+)?$/;

/** How SECURITY.md names a key. */
const KEY_LINE = 'the line pickaxe namespaces="pickaxe-release" ssh-ed25519 AAAA…';

/**
 * @param version the version in package.json
 * @param locked the version in package-lock.json
 * @param changelog the text of CHANGELOG.md
 * @param tags the tags of the repository
 * @param status the output of `git status --porcelain`
 * @param signers the lines of SECURITY.md that name a key
 * @param signs whether a key was given
 * @returns for people: a sentence about each fault; empty without faults
 */
export function releaseFaults({ version, locked, changelog, tags, status, signers, signs }) {
  const [heading] = /^## .*$/m.exec(changelog) ?? ['## nothing'];
  const [, named, when] = /^## (\S+)(?: \((.*)\))?$/.exec(heading) ?? [];
  return [
    status.trim() !== '' && `the checkout is not clean:\n${status.trimEnd()}`,
    !VERSION.test(version) && `package.json: ${version} is not a version`,
    locked !== version && `package-lock.json says ${locked}, package.json ${version}: npm install --package-lock-only`,
    named !== version && `CHANGELOG.md begins with "${heading}", not with version ${version}`,
    named === version && !isDate(when) && `CHANGELOG.md: ${version} (${when}) needs the day of its release, YYYY-MM-DD`,
    signers.length > 0 && !signs && 'SECURITY.md names a key, so releases are signed: give it with --sign KEY',
    signers.length === 0 && signs && `SECURITY.md names no key: add ${KEY_LINE}`,
    tags.includes(`v${version}`) && `there is a tag v${version} already: raise the version`,
  ].filter(Boolean);
}

function isDate(text = '') {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(text).toJSON()?.startsWith(text) === true;
}

/** npm attests where a package was made only in CI that proves who runs it: on GitHub Actions and on GitLab. */
const PROVENANCE = ['ACTIONS_ID_TOKEN_REQUEST_URL', 'SIGSTORE_ID_TOKEN'];

/** @returns instructions for publishing what is in release/ */
export function howToPublish({ version, signed, environment }) {
  const files = `release/pickaxe-${version}`;
  const attests = PROVENANCE.some((name) => environment[name]);
  return [
    `git tag -s v${version} && git push origin v${version}`,
    `npm publish${attests ? ' --provenance' : ''} ${files}.tgz`,
    ...(attests ? [] : ['(on GitHub Actions or GitLab CI add --provenance: only there npm attests where it was made)']),
    `the archives, ${files}.sha256${signed ? ` and ${files}.sha256.sig` : ''} belong to the release of this tag`,
    ...(signed
      ? []
      : ['(not signed: whoever replaces an archive can replace its checksum; see --sign in packaging/README.md)']),
  ];
}
