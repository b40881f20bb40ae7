import type { Installation } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { NoCli, ServiceCli } from '../service-cli/index.ts';
import type { RemovalJudged } from './removal-checks.ts';
import type { RemovedPolicy } from './removed.ts';

export interface PolicyFacts extends RemovalJudged {
  readonly installation: Installation;
  /** Every stored object of the temporary policy: there may be two (host endpoint notes 5). */
  readonly found: readonly KubeObject[];
  readonly call: ServiceCli | NoCli;
  /** What the latest removal deleted, or was about to. */
  readonly removed: readonly RemovedPolicy[];
}
