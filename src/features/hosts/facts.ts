import type { Reading } from '../../kernel/check.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { Kind, KubeObject } from '../../kernel/object.ts';
import type { KeptItem } from '../../kernel/ports.ts';
import type { RolloutProgress } from '../../kernel/rollout.ts';
import type { AfterRemoval, AutomaticSettings, ChangedForOthers, FailsafePorts, HostEndpoint, NodeVerdict } from '../policy-rules/index.ts';
import type { NoCli, ServiceCli } from '../service-cli/index.ts';
import type { Override } from './override.ts';
import type { JudgedBy } from './successor-stands.ts';

export interface HepFacts {
  readonly installation: Installation;
  readonly cli: ServiceCli | NoCli;
  /** Nodes as read, for guarded patches. */
  readonly nodes: readonly KubeObject[];
  /** The same as endpoints name them: in a key-value store they may have other names. */
  readonly hosts: readonly string[];
  /** Host endpoints as stored, for the undo. */
  readonly stored: readonly KubeObject[];
  /** Kind under which the API stores endpoints; undefined in key-value mode. */
  readonly kind?: Kind;
  /** The same of the controllers' configuration. */
  readonly settingsKind?: Kind;
  readonly settings: AutomaticSettings;
  /** The controllers' configuration; undefined before controllers have ever run. */
  readonly configuration?: KubeObject;
  readonly controllers?: KubeObject;
  readonly override: Override;
  /** The agents' DaemonSet: the controllers may wait for it. */
  readonly agents?: KubeObject;
  /** Unread if a policy could not be understood: no verdict then. */
  readonly verdicts: Reading<readonly NodeVerdict[]>;
  /** Policies in whose rules addresses of hosts come or go, for pods and for endpoints that stay. */
  readonly ruleChanges: Reading<readonly ChangedForOthers[]>;
  /** What the verdicts go by, as it was read: right before an old endpoint is deleted it is looked at once more. */
  readonly judgedBy: readonly JudgedBy[];
  /** Hosts whose old endpoints this command deleted, and which are policed otherwise since than by them. */
  readonly after: Reading<readonly AfterRemoval[]>;
  /** True if this command deleted old endpoints: their hosts are evaluated once more. */
  readonly judgesEnd: boolean;
  /** Endpoints of nodes that are not in the cluster. */
  readonly elsewhere: readonly HostEndpoint[];
  /** What the latest migration on this cluster kept before it changed things, in however many runs. */
  readonly kept: readonly KeptItem[];
  /** Those of them that another machine kept; empty unless the migration is taken back. */
  readonly keptElsewhere: readonly KeptItem[];
  readonly rollouts: Reading<readonly RolloutProgress[]>;
  /** Ports that stay open in any case; undefined where nothing tells. */
  readonly failsafe: Reading<FailsafePorts | undefined>;
}
