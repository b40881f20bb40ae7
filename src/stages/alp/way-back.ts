import type { KubeObject } from '../../core/object.ts';
import type { KeptItem, Records, Sources } from '../../core/ports.ts';
import type { Profile } from '../../core/profile.ts';
import { keptByRun } from '../kept.ts';
import { readInjectors } from '../survey/resources.ts';
import { formerTemplate } from './former-template.ts';
import type { KeptTemplate } from './template-actions.ts';
import type { WayBack } from './undo.ts';

/** Injectors of the latest run that changed any, as they are now, whether or not they still have the sidecar. */
export async function readWayBack({ cluster, records }: Pick<Sources, 'cluster' | 'records'>, profile: Profile): Promise<WayBack> {
  const [maps, templates] = await Promise.all([readInjectors(cluster, profile), latestTemplates(records)]);
  const found = templates.map((kept) => ({ kept, live: maps.find((one) => isSame(one, kept.map)) }));
  return {
    former: found.flatMap(({ kept, live }) => (live ? [formerTemplate(live, kept)] : [])),
    gone: found.flatMap(({ kept: { map }, live }) => (live ? [] : [`ConfigMap/${map.metadata.namespace}/${map.metadata.name}`])),
    recorded: templates.length > 0,
  };
}

/** Of several changes of one injector the last. What a way back overwrote is kept by runs as well, and is no change of this kind. */
async function latestTemplates(records: Pick<Records, 'keptWith'>): Promise<readonly KeptTemplate[]> {
  const runs = (await keptByRun(records, 'alp')).map(templatesOf);
  const latest = runs.findLast((templates) => templates.length > 0) ?? [];
  return [...new Map(latest.map((one) => [one.map.metadata.name, one])).values()];
}

function templatesOf(items: readonly KeptItem[]): readonly KeptTemplate[] {
  return items.map(({ content }) => content as Partial<KeptTemplate>).filter((one): one is KeptTemplate => one.map !== undefined);
}

/** By name: whoever made it anew may have put the same into it, and what is in it is compared. */
function isSame({ metadata }: KubeObject, kept: KubeObject): boolean {
  return metadata.name === kept.metadata.name && metadata.namespace === kept.metadata.namespace;
}
