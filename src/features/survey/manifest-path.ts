import type { Detection } from '../../kernel/installation.ts';
import type { Profile, Variant } from '../../kernel/profile.ts';
import { datastoreOf } from './datastore.ts';
import { type Agent, agentText } from './find-agents.ts';
import { installed, managers } from './installed-sign.ts';
import type { Inventory } from './inventory-sign.ts';
import type { Readings } from './readings.ts';
import { type Settings, settingsOf } from './settings.ts';
import { chooseVariant, type VariantFacts } from './variant.ts';
import { hasContainer, isNamed } from './workload.ts';

/** Paths C and D: agents by the name of a manifest variant, and no Installation (domain §2.1/4). */
export function detectManifest(agent: Agent, readings: Readings, inventory: Inventory, profile: Profile): Detection {
  const variants = profile.variants.filter((variant) => isNamed(agent.object, variant.agent));
  const { settings, workloads } = factsOf(agent, readings);
  const store = datastoreOf(settings, [...new Set(variants.map(({ configMap }) => configMap))], profile);
  const base = [`agents: ${agentText(agent)}, no Installation`];
  const unclear = (because: string, candidates: readonly string[], evidence: readonly string[]): Detection => ({
    type: 'ambiguous',
    because,
    candidates,
    evidence: [...base, ...evidence],
    managedBy: managers({ agent }, readings, profile),
  });
  if ('unclear' in store) {
    return unclear(
      store.unclear,
      variants.map(({ id }) => id),
      [],
    );
  }
  const fitting = variants.filter((variant) => variant.datastore === store.datastore);
  const others = variants.filter((variant) => !fitting.includes(variant));
  const answer = chooseVariant(fitting, { agent, settings, workloads }, others);
  if ('unclear' in answer) {
    const because = `${agentText(agent)}: ${oddity(agent, variants, settings, profile) ?? answer.unclear}`;
    return unclear(because, answer.candidates, [store.evidence, ...answer.evidence]);
  }
  const evidence = [...base, store.evidence, `variant ${answer.variant.id}: ${answer.variant.signs.length} signs hold`];
  return found(agent, answer.variant, evidence, readings, inventory, profile);
}

/** A person named the variant: that is what it is, with the evidence that they did. */
export function takeVariant(agent: Agent, variant: Variant, readings: Readings, inventory: Inventory, profile: Profile): Detection {
  return found(agent, variant, [`agents: ${agentText(agent)}`, `variant ${variant.id}: named by a person`], readings, inventory, profile);
}

function found(
  agent: Agent,
  variant: Variant,
  evidence: readonly string[],
  readings: Readings,
  inventory: Inventory,
  profile: Profile,
): Detection {
  const { id, datastore } = variant;
  const decision = { path: datastore === 'kvstore' ? 'kvstore' : 'manifest', variant: id, datastore, agent, evidence } as const;
  return { type: 'found', installation: installed(decision, readings, inventory, profile) };
}

function factsOf(agent: Agent, readings: Readings): VariantFacts {
  const namespace = agent.object.metadata.namespace ?? '';
  const settings = settingsOf(agent.container, namespace, readings.configMaps);
  const workloads = [...readings.daemonSets, ...readings.deployments].filter(({ metadata }) => metadata.namespace === namespace);
  return { agent, settings, workloads };
}

/** What makes it unlike every install manifest, in the words of a person who looks at it. */
function oddity(agent: Agent, variants: readonly Variant[], settings: Settings, profile: Profile): string | undefined {
  if (hasContainer(agent.object, profile.cniInstaller)) return undefined;
  const missing = [...new Set(variants.map(({ configMap }) => configMap))].filter((name) => !settings.hasConfigMap(name));
  const noConfig = missing.length > 0 ? ` and there is no ConfigMap ${missing.join(' or ')}` : '';
  return `it installs no CNI plugin (no container ${profile.cniInstaller})${noConfig}: policy beside another network, from no install manifest`;
}
