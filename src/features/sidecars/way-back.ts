import { isJsonMap, type JsonMap, jsonAt, textAt } from '../../kernel/json-map.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { KeptItem, Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { keptByRun, readInjectors } from '../survey/index.ts';
import { formerTemplate } from './former-template.ts';
import type { Data } from './merge.ts';
import type { KeptTemplate, KeptWayBack } from './template-actions.ts';
import type { WayBack } from './undo.ts';

/** Injectors of the latest run that changed any, as they are now, whether or not they still have the sidecar. */
export async function readWayBack({ cluster, records }: Pick<Sources, 'cluster' | 'records'>, profile: Profile): Promise<WayBack> {
  const [maps, runs] = await Promise.all([readInjectors(cluster, profile), keptByRun(records, 'alp')]);
  const templates = latestTemplates(runs);
  const found = templates.map((kept) => ({ kept, live: maps.find((one) => isSame(one, kept.map)) }));
  const elsewhere = await Promise.all(found.map(async ({ kept }) => ((await records.keptHere(kept)) ? [] : [nameOf(kept.map)])));
  const former = found.flatMap(({ kept, live }) => (live ? [formerTemplate(live, kept, lastBack(runs, live))] : []));
  return {
    former: former.filter(({ live }) => !isBack(runs, live)),
    edited: former.filter(({ live, patch }) => patch.length > 0 && isBack(runs, live)).map(({ live }) => nameOf(live)),
    gone: found.flatMap(({ kept: { map }, live }) => (live ? [] : [nameOf(map)])),
    elsewhere: elsewhere.flat(),
    recorded: templates.length > 0,
  };
}

const nameOf = ({ metadata }: KubeObject) => `ConfigMap/${metadata.namespace}/${metadata.name}`;

type Runs = readonly (readonly KeptItem[])[];

/** Of several changes of one injector the last. What an undo overwrote is kept by runs as well, and is no change of this kind. */
function latestTemplates(runs: Runs): readonly KeptTemplate[] {
  const latest = runs.map(templatesOf).findLast((templates) => templates.length > 0) ?? [];
  return [...new Map(latest.map((one) => [one.map.metadata.name, one])).values()];
}

function templatesOf(items: readonly KeptItem[]): readonly KeptTemplate[] {
  return items.map(({ content }) => asMap<KeptTemplate>(content)).filter((one): one is KeptTemplate => isObject(one.map));
}

/** What the last undo of an injector left, or would have, had it been performed. */
function lastBack(runs: Runs, live: KubeObject): Data | undefined {
  const back = runs.flat().map(({ content }) => asMap<KeptWayBack>(content));
  return back.findLast(({ replaced }) => isObject(replaced) && isSame(live, replaced))?.given?.data;
}

/** True if an undo is known to have put the former template in since `alp` changed the injector: what is in it now, somebody else put there. */
function isBack(runs: Runs, live: KubeObject): boolean {
  const latest = runs.flat().findLast(({ content }) => {
    const { map, replaced } = asMap<KeptTemplate & KeptWayBack>(content);
    return [map, replaced].some((one) => isObject(one) && isSame(live, one));
  });
  return latest?.outcome?.done === true && asMap<KeptWayBack>(latest.content).replaced !== undefined;
}

/** What is no object, or holds what no ConfigMap can hold, was kept by nobody. */
function asMap<T>(content: unknown): Partial<T> {
  return isJsonMap(content) && partsOf(content).every(areTexts) ? (content as Partial<T>) : {};
}

/** Data and marks in what was kept, as far as they are there. */
function partsOf({ map, replaced, given }: JsonMap): readonly unknown[] {
  const objects = [map, replaced].flatMap((one) => [
    jsonAt(one, 'data'),
    jsonAt(one, 'metadata', 'labels'),
    jsonAt(one, 'metadata', 'annotations'),
  ]);
  return [...objects, ...(given === undefined ? [] : isJsonMap(given) ? [given.data, given.labels, given.annotations] : [given])];
}

function areTexts(value: unknown): boolean {
  return value === undefined || (isJsonMap(value) && Object.values(value).every((one) => typeof one === 'string'));
}

function isObject(value: KubeObject | undefined): value is KubeObject {
  return isJsonMap(value) && textAt(value, 'metadata', 'name') !== undefined;
}

/** By name: whoever made it again may have put the same into it, and what is in it is compared. */
function isSame({ metadata }: KubeObject, kept: KubeObject): boolean {
  return metadata.name === kept.metadata.name && metadata.namespace === kept.metadata.namespace;
}
