import type { OperatorInput } from '../../kernel/installation.ts';
import { isCidr } from '../../kernel/ip-text.ts';
import { isRecord, type JsonMap, jsonAt, pointerSteps } from '../../kernel/json.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { OperatorCrossings } from '../../kernel/operator-names.ts';
import type { DefaultValue, FieldRule, Finding, Refusal } from '../../kernel/refusal.ts';
import { isOlder } from '../../kernel/release.ts';
import { passes, valuesAt } from './field-test.ts';

/** What an operator says to its settings. */
export interface RefusedSetting {
  /** Its words. */
  readonly says: string;
  readonly since: string;
}

/** What the operator of a release refuses of an Installation, in its own words, each once. */
export function refusedSettings(
  { resource, overlay, found }: OperatorInput,
  { refused, defaults }: Pick<OperatorCrossings, 'refused' | 'defaults'>,
  release: string,
): readonly RefusedSetting[] {
  const spec = mapOf(resource.spec);
  const inputs = [spec, ...(overlay ? [overlaid(spec, mapOf(overlay.spec))] : [])];
  const settings = inputs.map((one) => withDefaults({ ...one, found }, defaults));
  const ofRelease = refused.filter(({ since, before }) => !isOlder(release, since) && (before === undefined || isOlder(release, before)));
  const all = settings.flatMap((one) => ofRelease.flatMap((refusal) => saidTo(one, refusal)));
  return [...Map.groupBy(all, ({ says }) => says).values()].flatMap(([first]) => first ?? []);
}

function saidTo(settings: JsonMap, { since, says, items, when }: Refusal): readonly RefusedSetting[] {
  return looksAt(settings, items)
    .filter((at) => when.every((rule) => holds(rule, at)))
    .map((at) => ({ since, says: says.replaceAll(/\{([^}]*)\}/g, (_text, field: string) => textOf(field, at)) }));
}

/** The settings, and the item of a list with those before it. */
interface Place {
  readonly settings: JsonMap;
  readonly item: unknown;
  readonly before: readonly unknown[];
}

function looksAt(settings: JsonMap, items: string | undefined): readonly Place[] {
  if (items === undefined) return [{ settings, item: settings, before: [] }];
  const all = valuesAt(settings, pointerSteps(items));
  return all.map((item, index) => ({ settings, item, before: all.slice(0, index) }));
}

const stepsOf = (field: string) => (field === '' ? [] : pointerSteps(`/${field}`));

function valuesOf(field: string, { settings, item }: Pick<Place, 'settings' | 'item'>): readonly unknown[] {
  return field.startsWith('/') ? valuesAt(settings, pointerSteps(field)) : valuesAt(item, stepsOf(field));
}

function isEmpty(field: string, { settings, item }: Place): boolean {
  const found = field.startsWith('/') ? jsonAt(settings, ...pointerSteps(field)) : jsonAt(item, ...stepsOf(field));
  return found === undefined || found === null || (Array.isArray(found) && found.length === 0);
}

const textOf = (field: string, at: Place) => valuesOf(field, at).map(String).join(',');

function holds(rule: FieldRule, at: Place): boolean {
  const values = valuesOf(rule.field, at);
  const texts = values.map(String);
  const some = (isSo: (text: string) => boolean) => texts.some(isSo);
  const { like, unlike, entryUnlike, below, above, network, smallerThan, differsFrom, repeated, several, empty } = rule;
  return (
    (empty === undefined ? passes(texts, rule) : empty === isEmpty(rule.field, at)) &&
    (like === undefined || some((text) => new RegExp(like).test(text))) &&
    (unlike === undefined || some((text) => !new RegExp(unlike).test(text))) &&
    (entryUnlike === undefined || entriesOf(values).some((text) => !new RegExp(entryUnlike).test(text))) &&
    (below === undefined || some((text) => Number(text) < below)) &&
    (above === undefined || some((text) => Number(text) > above)) &&
    (network === undefined || some((text) => NETWORKS[network](text))) &&
    (smallerThan === undefined || some((text) => Number(text.split('/')[1]) > Number(textOf(smallerThan, at)))) &&
    (differsFrom === undefined || some((text) => text !== textOf(differsFrom, at))) &&
    (!repeated || some((text) => at.before.some((item) => textOf(rule.field, { ...at, item }) === text))) &&
    (several === undefined || several.filter((field) => isUsed(values, field)).length > 1)
  );
}

function entriesOf(maps: readonly unknown[]): readonly string[] {
  return maps.flatMap((map) => Object.entries(mapOf(map)).map(([key, value]) => `${key}=${String(value)}`));
}

const NETWORKS: { readonly [N in NonNullable<FieldRule['network']>]: (text: string) => boolean } = {
  v4: (text) => !text.includes(':'),
  v6: (text) => text.includes(':'),
  invalid: (text) => !isCidr(text),
};

/** A field that is `false` is none that anybody uses. */
function isUsed(values: readonly unknown[], field: string): boolean {
  return valuesAt(values, [field]).some((value) => value !== false);
}

function withDefaults(settings: JsonMap, defaults: readonly DefaultValue[]): JsonMap {
  const filled = structuredClone(settings) as Record<string, unknown>;
  for (const { field, value, items, when = [] } of defaults) {
    for (const at of looksAt(filled, items)) {
      if (valuesOf(field, at).length === 0 && when.every((rule) => holds(rule, at))) put(at.item, stepsOf(field.replace(/^\//, '')), value);
    }
  }
  return filled;
}

function put(into: unknown, [field = '', ...rest]: readonly string[], value: unknown): void {
  if (!isRecord(into)) return;
  const map = into as Record<string, unknown>;
  if (rest.length === 0) map[field] = value;
  else {
    if (!isRecord(map[field])) map[field] = {};
    put(map[field], rest, value);
  }
}

/** The settings that the operator goes by: those of `default`, with those of `overlay` over them. Under the name of the one that has the field. */
export function settingsRead(all: readonly KubeObject[], field: readonly string[]): KubeObject | undefined {
  const [own, overlay] = ['default', 'overlay'].map((name) => all.find(({ metadata }) => metadata.name === name));
  if (!own || !overlay) return own;
  const { metadata } = jsonAt(overlay.spec, ...field) === undefined ? own : overlay;
  return { ...own, metadata, spec: overlaid(mapOf(own.spec), mapOf(overlay.spec)) };
}

/** As the operator lays the resource `overlay` over its settings: lists are replaced. */
function overlaid(under: JsonMap, over: JsonMap): JsonMap {
  const both = Object.entries(over).map(([field, value]) => {
    const own = under[field];
    return [field, isRecord(own) && isRecord(value) ? overlaid(own, value) : value];
  });
  return { ...under, ...Object.fromEntries(both) };
}

function mapOf(value: unknown): JsonMap {
  return isRecord(value) ? value : {};
}

/** Where the operator looks. */
interface Searched extends Record<'configMaps' | 'workloads' | 'services' | 'nodes', readonly KubeObject[]> {
  readonly crds: readonly { readonly name: string }[];
}

/** What the operator finds by itself; the first of a name counts. */
export function findingsOf(rows: readonly Finding[], searched: Searched): JsonMap {
  const seen = rows.flatMap((row) => foundBy(row, searched).map((value) => [row.name, value] as const));
  return Object.fromEntries(seen.toReversed());
}

function foundBy(row: Finding, { crds, configMaps, workloads, services, nodes }: Searched): readonly unknown[] {
  if ('configMap' in row) {
    const map = configMaps.find(({ metadata }) => metadata.name === row.configMap && metadata.namespace === row.namespace);
    if (!map) return [];
    if (!('key' in row)) return [row.value];
    // An empty text is a value: some operators ask for the key alone.
    return [jsonAt(map.data, row.key)].filter((value) => value !== undefined);
  }
  return isThere(row, { crds, workloads, services, nodes }) ? [row.value] : [];
}

function isThere(
  row: Exclude<Finding, { readonly configMap: string }>,
  { crds, workloads, services, nodes }: Omit<Searched, 'configMaps'>,
): boolean {
  if ('crd' in row) return crds.some(({ name }) => name === row.crd);
  if ('workload' in row) return workloads.some((one) => refText(refOf(one)) === row.workload);
  if ('service' in row) {
    const { service, namespace, label } = row;
    const isNamed = ({ metadata: { name, namespace: own } }: KubeObject) => name === service && own === namespace;
    return services.some((one) => isNamed(one) && (label === undefined || one.metadata.labels?.[label] !== undefined));
  }
  const { crdGroup, nodeLabel, beside } = row;
  const isServed = crdGroup === undefined || crds.some(({ name }) => name.endsWith(`.${crdGroup}`));
  return isServed && (nodeLabel === undefined || nodes.some(({ metadata }) => isLabelled(metadata.labels ?? {}, nodeLabel, beside)));
}

function isLabelled(labels: Readonly<Record<string, string>>, prefix: string, beside: string | undefined): boolean {
  return Object.keys(labels).some((key) => key.startsWith(prefix)) && (beside === undefined || labels[beside] !== undefined);
}
