import type { Reading } from '../../kernel/check.ts';
import type { TargetJudged } from '../install-manifest/index.ts';
import type { PreflightFacts } from '../survey/index.ts';

/** What the preflight knows: what every feature reads of a cluster, and what `apply` would stop at. */
export interface WholePreflight extends PreflightFacts {
  /** Undefined where `apply` evaluates it in the same chain, and on paths without a full manifest. */
  readonly ahead: Reading<TargetJudged> | undefined;
}
