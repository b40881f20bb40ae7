import type { Reading } from '../../kernel/check.ts';
import { command } from '../../kernel/command.ts';
import type { Context, Options } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import { areAlike, choiceFlag, type Detection, type Installation } from '../../kernel/installation.ts';
import { textAt } from '../../kernel/json.ts';
import { type KubeObject, refText } from '../../kernel/object.ts';
import type { OtherProducts } from '../../kernel/operator-names.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { parseImage } from '../../kernel/release.ts';
import { look, text } from '../../kernel/step.ts';
import { isNamed } from '../../kube/workload.ts';
import { type Agent, type Agents, agentText, findAgents } from './components.ts';
import { managers } from './installed-sign.ts';
import { type Inventory, readInventory } from './inventory.ts';
import { detectManifest, takeVariant } from './manifest-path.ts';
import { detectHalfMigrated, detectOperated } from './operator-path.ts';
import { findOperator, operatorRelease } from './release-evidence.ts';
import { type Seen, seenIn } from './seen.ts';

/** What the user said about their installation (`--path`, `--variant`). */
export type Choice = Pick<Options, 'path' | 'variant'>;

/**
 * What is installed, and by which path (§1/2), in the order of domain §2.1: first match wins. Two possible answers are
 * reported as ambiguous, and the user's choice decides.
 */
export function detect(inventory: Inventory, profile: Profile, choice: Choice = {}): Detection {
  const seen = seenIn(inventory, profile);
  if ('unread' in seen) return ambiguous(`what is installed could not be read (${seen.unread.join('; ')})`, [], []);
  const agents = findAgents(seen.daemonSets, profile);
  const installation = seen.installations[0];
  const other = otherProduct(seen.installations, agents, profile);
  if (other) return other;
  const half = detectHalfMigrated(installation, agents, seen);
  if (half) return half;
  const answer = installation ? detectOperated(installation, agents, seen, choice.path) : detectAgents(agents, seen, choice);
  return agreeing(answer, choice);
}

/** The same, or the reason why it cannot be told: agents that were not read, or what this account may not read. */
export function detectReading(inventory: Inventory, profile: Profile, choice: Choice): Reading<Detection> {
  const readings: readonly Reading<unknown>[] = Object.values(inventory);
  const agents = [inventory.daemonSets, inventory.deployments].find((reading) => 'unread' in reading);
  if (agents) return agents;
  const detection = detect(inventory, profile, choice);
  const forbidden = readings.find((reading) => 'unread' in reading && reading.needs !== undefined);
  // Nothing that the user could name would tell more.
  const isUnknown = detection.type === 'ambiguous' && detection.candidates.length === 0;
  return isUnknown && forbidden && 'unread' in forbidden ? forbidden : { value: detection };
}

function detectAgents(agents: Agents, seen: Seen, choice: Choice): Detection {
  const { profile } = seen;
  const all = [...agents.named, ...agents.custom, ...agents.operated];
  const chosen = profile.variants.find(({ id }) => id === choice.variant);
  const meant = chosen ? all.filter(({ object }) => isNamed(object, chosen.agent)) : [];
  const [agent, second] = meant.length > 0 ? meant : all;
  if (!agent) return nothing(seen);
  if (second) return several(all, profile);
  if (chosen) return takeVariant(agent, chosen, seen);
  const variants = profile.variants.map(({ id }) => id);
  if (choice.variant !== undefined) return ambiguous(`there is no variant ${choice.variant} in profile ${profile.name}`, variants, []);
  if (agents.named.length === 1) return detectManifest(agent, seen);
  return odd(agent, agents, seen);
}

function several(agents: readonly Agent[], profile: Profile): Detection {
  const candidates = profile.variants.filter((variant) => agents.some(({ object }) => isNamed(object, variant.agent))).map(({ id }) => id);
  return ambiguous(`several DaemonSets run the agent: ${agents.map(agentText).join(', ')}`, candidates, []);
}

/** Agents that no variant of the manifests has under this name, in this place (domain §2.1/5). */
function odd(agent: Agent, agents: Agents, seen: Seen): Detection {
  const { profile } = seen;
  const { kind } = profile.operator.installationKind;
  const because =
    agents.operated.length > 0
      ? `${agentText(agent)} is the operator's, but there is no ${kind}`
      : `${agentText(agent)} runs the agent, but no install manifest calls it so`;
  const candidates = profile.variants.map(({ id }) => id);
  const evidence = [`agents: ${agentText(agent)}, image ${agent.container.image ?? 'unknown'}`];
  return { type: 'ambiguous', because, candidates, evidence, managedBy: managers({ agent }, seen) };
}

function nothing({ deployments, profile }: Seen): Detection {
  const operator = findOperator(deployments, profile);
  if (!operator) return { type: 'none', because: `no DaemonSet runs the agent of ${profile.title}` };
  return { type: 'none', because: idleOperator(operator, profile) };
}

function idleOperator(operator: KubeObject, profile: Profile): string {
  const known = operatorRelease(operator, profile);
  const { kind, metadata } = operator;
  const brings = known?.release ?? known?.line;
  const release = brings === undefined ? '' : ` (it installs ${brings})`;
  const where = refText({ kind, namespace: metadata.namespace, name: metadata.name });
  return `the operator ${where}${release} has nothing to do: there is no ${profile.operator.installationKind.kind}, and no agents run`;
}

/** A found installation must be what the user said it is. */
function agreeing(answer: Detection, { path, variant }: Choice): Detection {
  if (answer.type !== 'found') return answer;
  const { installation } = answer;
  const said = path ?? installation.path;
  if (said !== installation.path && !areAlike(said, installation.path)) {
    return ambiguous(`it is an install of path ${installation.path}, not ${said}`, [installation.path], installation.evidence);
  }
  if (variant !== undefined && installation.variant === undefined) {
    return ambiguous(`an install of path ${installation.path} has no variant`, [installation.path], installation.evidence);
  }
  return { ...answer, installation: { ...installation, path: said } };
}

function ambiguous(because: string, candidates: readonly string[], evidence: readonly string[]): Detection {
  return { type: 'ambiguous', because, candidates, evidence };
}

/**
 * Why the installation is another product under the same names (domain §3.2): by the Installation, or by the agents' image. Undefined
 * without such a sign, or if the profile knows of no other.
 */
function otherProduct(installations: readonly KubeObject[], agents: Agents, profile: Profile): Detection | undefined {
  const others = profile.operator.otherProducts;
  if (!others) return undefined;
  const because = ofInstallations(installations, others, profile) ?? ofAgents(installations, agents, others, profile);
  return because === undefined ? undefined : { type: 'none', because };
}

/** While the operator changes from one product to another, the requested and the running one differ: both must be this one. */
function ofInstallations(installations: readonly KubeObject[], others: OtherProducts, profile: Profile): string | undefined {
  for (const installation of installations) {
    const { kind, metadata, spec, status } = installation;
    const other = [spec, status].map((part) => textAt(part, others.variantField)).find((value) => value && value !== others.variant);
    if (other === undefined) continue;
    return `${kind} ${metadata.name} is of ${others.variantField} ${other}, another product than ${profile.title} (${others.variant})`;
  }
  return undefined;
}

/** Agents of both products side by side are left to the search for agents, which calls them ambiguous. */
function ofAgents(
  installations: readonly KubeObject[],
  { operated, named, custom }: Agents,
  others: OtherProducts,
  profile: Profile,
): string | undefined {
  const meant = installations.length > 0 ? operated : [...named, ...custom, ...operated];
  const [first] = meant;
  if (!first || !meant.every((agent) => runsOther(agent, others))) return undefined;
  return `${agentText(first)} runs ${first.container.image}, the agent of another product than ${profile.title}`;
}

function runsOther({ container }: Agent, { agentImages }: OtherProducts): boolean {
  const { repository, name } = parseImage(container.image ?? '');
  const path = `/${repository}/${name}`;
  return agentImages.some((image) => path.endsWith(`/${image}`));
}

/** The installation, or a clear refusal: stages after preflight cannot do anything without one. */
export async function readInstalled(sources: Sources, context: Context): Promise<Installation> {
  const detection = detect(await readInventory(sources, context.profile), context.profile, context.options);
  if (detection.type === 'found') return detection.installation;
  const next = [look(text`see the evidence with: ${command`kubectl netsvc-upgrade preflight`}`)];
  if (detection.type === 'ambiguous') {
    const { candidates } = detection;
    // Candidates are install paths or variants; parts that could not be read leave none.
    const sayWhich = candidates.length === 0 ? [] : [`say which with ${choiceFlag(candidates)} (${candidates.join(', ')})`];
    throw new Fault('blocked', `what is installed is not clear: ${detection.because}`, [...sayWhich, ...next]);
  }
  throw new Fault('blocked', `${detection.because} (profile ${context.profile.name})`, [
    'leave --profile out to have it found in the cluster, or name the right one',
    ...next,
  ]);
}
