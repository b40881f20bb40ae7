import type { Detection } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { OtherProducts, Profile } from '../../kernel/profile.ts';
import { parseImage } from '../../kernel/release.ts';
import { type Agent, type Agents, agentText } from './find-agents.ts';

/**
 * Why what is there belongs to another product that goes by the same names (domain §3.2): the Installation says so, or the agents run
 * the other's image. Undefined if nothing says so, or if the profile knows of no other.
 */
export function otherProduct(installations: readonly KubeObject[], agents: Agents, profile: Profile): Detection | undefined {
  const others = profile.operator.otherProducts;
  if (!others) return undefined;
  const because = ofInstallations(installations, others, profile) ?? ofAgents(installations, agents, others, profile);
  return because === undefined ? undefined : { type: 'none', because };
}

/** While the operator changes over from one product to another, what is asked for and what runs differ: both must be this one. */
function ofInstallations(installations: readonly KubeObject[], others: OtherProducts, profile: Profile): string | undefined {
  for (const installation of installations) {
    const { spec, status } = installation as { readonly spec?: Fields; readonly status?: Fields };
    const named = [spec, status].map((part) => part?.[others.variantField]);
    const other = named.find((value) => typeof value === 'string' && value !== '' && value !== others.variant);
    if (other === undefined) continue;
    const { kind, metadata } = installation;
    return `${kind} ${metadata.name} is of ${others.variantField} ${other}, another product than ${profile.title} (${others.variant})`;
  }
  return undefined;
}

type Fields = Readonly<Record<string, unknown>>;

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
