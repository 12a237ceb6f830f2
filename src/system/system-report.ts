/** What Node.js's diagnostic report says about the system. */

export interface SystemReport {
  readonly header: {
    /** Like `2.36`; absent where the C library is another one, such as Alpine's musl. */
    readonly glibcVersionRuntime?: string;
  };
  /** What `ulimit` shows; absent on Windows. */
  readonly userLimits?: { readonly open_files?: { readonly soft: number | string } };
}

/** Does without the report's network section, which can wait seconds for a name server. */
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
