/** pickaxe's version, and Node.js's diagnostic report. Every hashing thread loads this file, so its imports are few. */

import { readFileSync } from 'node:fs';

interface SystemReport {
  readonly header: {
    /** Version of glibc, such as `2.36`; absent with another C library, such as Alpine's musl. */
    readonly glibcVersionRuntime?: string;
  };
  /** The limits that `ulimit` prints; absent on Windows. */
  readonly userLimits?: { readonly open_files?: { readonly soft: number | string } };
}

/** @returns Node.js's report without its network section, which can take seconds while a name server does not answer */
export function systemReport(): SystemReport {
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork: boolean };
  const { excludeNetwork } = report;
  report.excludeNetwork = true;
  try {
    return report.getReport() as SystemReport;
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export { version };
