import type { Check, Evidence, Reading } from '../../kernel/check.ts';
import type { ComponentVersion } from '../../kernel/installation.ts';
import type { RolloutProgress } from '../../kernel/rollout.ts';
import type { JudgedCli } from '../service-cli/index.ts';

/** What the migration does to one host, in the worse of its two moments. */
export interface HostVerdict {
  readonly node: string;
  readonly verdict: 'OPEN' | 'NEWLY POLICED' | 'CHANGED';
  /** When, and what applies before and after, lane by lane. */
  readonly detail: string;
  /** True if its old endpoint is gone already. */
  readonly removed?: true;
  /** The same with the first policies only; absent where it would be no shorter. */
  readonly brief?: string;
}

/** A policy in whose rules addresses of hosts come or go, for pods or endpoints that are subject to it. */
export interface RuleChange {
  readonly policy: string;
  /** When, in which rule, which addresses. */
  readonly detail: string;
  readonly brief?: string;
}

/** What happens to an unclear endpoint: it stays, it stays and blocks its node's automatic one, or the controllers delete it. */
export type UnclearFate = 'stays' | 'blocks' | 'deleted';

/** An old endpoint that is gone, and that the undo does not simply create again. */
export interface GoneEndpoint {
  readonly name: string;
  readonly node: string;
  /** `untold`: it is created again, lest something of the user's is lost. */
  readonly remover: 'migration' | 'other' | 'untold';
  /** The object as JSON, for whoever wants to create it manually. */
  readonly asItWas: string;
}

/** What the checks of `hep` look at. */
export interface HepJudged {
  /** True if automatic endpoints are enabled. */
  readonly enabled: boolean;
  /** Nodes of the cluster. */
  readonly nodes: number;
  readonly verdicts: Reading<readonly HostVerdict[]>;
  readonly ruleChanges: Reading<readonly RuleChange[]>;
  /** Labels of old endpoints that cannot be copied to their node. */
  readonly labelProblems: readonly { readonly node: string; readonly text: string; readonly severity: 'error' | 'warning' }[];
  /** Endpoints with one sign of an automatic one but not both. */
  readonly unclear: readonly { readonly name: string; readonly detail: string; readonly fate: UnclearFate }[];
  /** All-interfaces endpoints of nodes that are not in the cluster: `name (node)`. */
  readonly elsewhere: readonly string[];
  /** Old endpoints with named ports. */
  readonly namedPorts: readonly string[];
  readonly rollouts: Reading<readonly RolloutProgress[]>;
  /** What endpoints pass through on their way to the hosts. A finished rollout shows no release: operator paths have no manifest. */
  readonly components: readonly ComponentVersion[];
  /** What keeps automatic endpoints from following the setting: from being made, or, where the migration is taken back, from going. */
  readonly obstacles: readonly { readonly text: string; readonly detail: string; readonly hint: string }[];
  /** The file of the service's CLI, or why none can be used. */
  readonly cli: JudgedCli;
  /** True if what is to be done, the undo included, cannot be done without it. */
  readonly needsCli: boolean;
  /** True if nothing is left to migrate, or an earlier migration is taken back: most gates do not apply then. */
  readonly idle: boolean;
  /** True if old endpoints were deleted by this command: the verdicts are told once more, whatever is left to do. */
  readonly judgesEnd: boolean;
  /** Old endpoints that were kept and are gone; undefined unless the migration is taken back. */
  readonly gone: readonly GoneEndpoint[] | undefined;
  /** What the record asks the undo to do, and that it does not; empty unless the migration is taken back. */
  readonly refusedBack: readonly Evidence[];
  /** What the undo does by what another machine kept; empty unless the migration is taken back. */
  readonly backFromElsewhere: readonly Evidence[];
}

export type HepCheck = Check<HepJudged>;
