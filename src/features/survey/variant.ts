import type { KubeObject } from '../../kernel/object.ts';
import type { Sign, Variant } from '../../kernel/profile.ts';
import type { Agent } from './find-agents.ts';
import type { Setting, Settings } from './workload.ts';
import { hasContainer } from './workload.ts';

/** What a variant's signs are held against. */
export interface VariantFacts {
  readonly agent: Agent;
  readonly settings: Settings;
  /** DaemonSets and Deployments of the agent's namespace. */
  readonly workloads: readonly KubeObject[];
}

export type VariantAnswer =
  | { readonly variant: Variant }
  | { readonly unclear: string; readonly candidates: readonly string[]; readonly evidence: readonly string[] };

/**
 * The one variant whose signs all hold, the more specific one if it includes another's; else unclear, with the missing signs (domain §2.3).
 * `others`, of the other datastore, are only offered: with mixed settings the datastore's name may be the wrong one.
 */
export function chooseVariant(variants: readonly Variant[], facts: VariantFacts, others: readonly Variant[] = []): VariantAnswer {
  const withMissing = (variant: Variant) => ({ variant, missing: missingSigns(variant, facts) });
  const judged = variants.map(withMissing);
  const fitting = judged.filter(({ missing }) => missing.length === 0).map(({ variant }) => variant);
  const best = fitting.filter((variant) => !fitting.some((other) => other !== variant && includesSigns(other, variant)));
  const only = best[0];
  if (only && best.length === 1) return { variant: only };
  if (only) {
    return { unclear: `it looks like ${best.map(({ id }) => id).join(' and like ')}`, candidates: best.map(({ id }) => id), evidence: [] };
  }
  const nearest = [...judged, ...others.map(withMissing)].toSorted((a, b) => a.missing.length - b.missing.length);
  return {
    unclear: 'it fits no manifest variant',
    candidates: nearest.map(({ variant }) => variant.id),
    evidence: nearest.map(({ variant, missing }) => `not ${variant.id}: ${missing.join('; ')}`),
  };
}

function includesSigns(larger: Variant, smaller: Variant): boolean {
  const texts = new Set(larger.signs.map((sign) => JSON.stringify(sign)));
  return larger.signs.length > smaller.signs.length && smaller.signs.every((sign) => texts.has(JSON.stringify(sign)));
}

function missingSigns(variant: Variant, facts: VariantFacts): readonly string[] {
  return variant.signs.flatMap((sign) => missing(sign, variant, facts) ?? []);
}

/** Why a sign does not hold; undefined if it does. */
function missing(sign: Sign, variant: Variant, { agent, settings, workloads }: VariantFacts): string | undefined {
  switch (sign.type) {
    case 'env':
      return missingValue(sign, settings.env(sign.name), `env ${sign.name}`);
    case 'configMapKey':
      return missingValue(sign, settings.key(variant.configMap, sign.key), `key ${sign.key} of ConfigMap ${variant.configMap}`);
    case 'container':
      return missingThing(sign, hasContainer(agent.object, sign.name), `container ${sign.name}`);
    case 'workload':
      return missingThing(
        sign,
        workloads.some(({ kind, metadata }) => kind === sign.kind && metadata.name === sign.name),
        `${sign.kind} ${sign.name}`,
      );
  }
}

type ValueSign = Extract<Sign, { type: 'env' | 'configMapKey' }>;

function missingValue(sign: ValueSign, setting: Setting | undefined, what: string): string | undefined {
  if (setting === undefined) return sign.absent || sign.noneOf ? undefined : `${what} is not set`;
  const value = setting.value;
  const shown = value === undefined ? 'set by a reference that leads nowhere' : `"${value}"`;
  if (sign.oneOf) return value !== undefined && sign.oneOf.includes(value) ? undefined : `${what} is ${shown}`;
  if (sign.noneOf) return value !== undefined && !sign.noneOf.includes(value) ? undefined : `${what} is ${shown}`;
  return sign.absent ? `${what} is ${shown}` : undefined;
}

function missingThing(sign: { readonly absent?: boolean }, there: boolean, what: string): string | undefined {
  if (sign.absent) return there ? `there is a ${what}` : undefined;
  return there ? undefined : `there is no ${what}`;
}
