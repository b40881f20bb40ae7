import type { Context } from 'mocha';
import { type HelmMajor, resolveHelm } from '../helm/programs.ts';
import { lacking } from './needs.ts';

/** The chart tool of this version; skips the suite with the reason where it cannot be built, and fails where tests must not be skipped. */
export async function needsHelm(suite: Context, major: HelmMajor): Promise<string> {
  try {
    return await resolveHelm(major);
  } catch (thrown) {
    const because = thrown instanceof Error ? thrown.message : String(thrown);
    if (process.env.CI === 'true') throw thrown;
    return lacking(suite, because);
  }
}
