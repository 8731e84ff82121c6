import { RunReport } from '@valley/bus/run-report.ts'
import { streams } from '@valley/bus/streams.ts'

export interface ReadReports {
  readonly reports: readonly RunReport[]
  /** Why the others could not be read. */
  readonly faults: readonly unknown[]
}

/** The reports in a message. One that has the wrong shape does not take the others with it. */
export function readReports(json: () => unknown): ReadReports {
  try {
    const value = json()
    const whole = streams.RUNS.shape.safeParse(value)
    return whole.success ? { reports: whole.data.reports, faults: [] } : readEach(value)
  } catch (error) {
    return { reports: [], faults: [error] }
  }
}

function readEach(value: unknown): ReadReports {
  if (typeof value !== 'object' || value === null || !('reports' in value) || !Array.isArray(value.reports)) {
    return { reports: [], faults: [new Error('The message holds no reports.')] }
  }
  const read = value.reports.map((report) => RunReport.safeParse(report))
  return {
    reports: read.flatMap(({ data }) => data ?? []),
    faults: read.flatMap(({ error }) => error ?? []),
  }
}
