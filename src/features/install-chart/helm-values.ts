import { isRecord, type JsonMap, jsonAt } from '../../kernel/json.ts';
import type { ChartNames } from '../../kernel/operator-names.ts';

/** One value that we set beside the user's own: `goldmane.enabled=false`. */
export interface Setting {
  readonly value: string;
  readonly to: boolean;
  /** Why, for the plan. */
  readonly because: string;
}

/** What decides the values of the upgraded release. */
export interface ValueFacts {
  readonly names: ChartNames;
  /** What may be there now, as rendered: of the newest revision, and of the one that the upgrade continues from. */
  readonly manifests: readonly string[];
  /** The user's values: those of the revision that the upgrade continues from, with those of a file over them. */
  readonly own: JsonMap;
  /** Values that the target's chart comes with. */
  readonly defaults: JsonMap;
  /** The operator is to apply the CRDs (option 2 of §4.2). */
  readonly manageCrds: boolean;
  /** The installed operator keeps the CRDs as its release has them: so does the new one, unless the values say otherwise. */
  readonly restoresCrds: boolean;
  /** The flow-log aggregator and UI were asked for. */
  readonly flowLogs: boolean;
}

/**
 * The values we set where the target's chart knows them and the user is silent: who applies the CRDs (§4.2), and `false` for new additions
 * that were not on. Requested ones are switched on in any case: an earlier upgrade without the flag left `false` there.
 */
export function settingsFor(facts: ValueFacts): readonly Setting[] {
  return [...crdSetting(facts), ...additionSettings(facts)];
}

function crdSetting({ names, own, defaults, manageCrds, restoresCrds }: ValueFacts): readonly Setting[] {
  const value = names.manageCrds;
  if (chartValue(defaults, value) === undefined) return [];
  if (manageCrds) return [{ value, to: true, because: 'the operator applies the CRDs itself, as asked for' }];
  if (chartValue(own, value) !== undefined) return [];
  if (restoresCrds)
    return [{ value, to: true, because: 'the installed operator puts its own CRDs back: the new one applies those of the target' }];
  return [
    {
      value,
      to: false,
      because: 'the new CRDs come first, so that new fields can be set before the upgrade, and stay under your own tooling',
    },
  ];
}

function additionSettings({ names, manifests, own, defaults, flowLogs }: ValueFacts): readonly Setting[] {
  if (flowLogs) {
    return names.additions
      .filter(({ value }) => chartValue(defaults, value) !== undefined && chartValue(overlaid(defaults, own), value) !== true)
      .map(({ value, kind }) => ({ value, to: true, because: `${kind} is asked for` }));
  }
  return names.additions
    .filter(({ value }) => chartValue(defaults, value) === true && chartValue(own, value) === undefined)
    .filter(({ kind }) => !manifests.some((manifest) => holdsKind(manifest, kind)))
    .map(({ value, kind }) => ({ value, to: false, because: `the new chart would add ${kind}, which is not there now` }));
}

/** Additions that the user's values deny while a flag asks for them. */
export function deniedAdditions(names: ChartNames, file: JsonMap): readonly string[] {
  return names.additions.flatMap(({ value }) => {
    const said = chartValue(file, value);
    return said === undefined || said === true ? [] : value;
  });
}

/** Whether a rendered manifest has an object of the kind; a line of that form inside a text would count as well. */
export function holdsKind(manifest: string, kind: string): boolean {
  return manifest.split('\n').some((line) => line.trimEnd() === `kind: ${kind}`);
}

/** A pinned value, and what the target's chart has there. */
export interface Pin {
  readonly value: string;
  readonly pinned: string;
  readonly target: string | undefined;
}

/** The user's values that hold the operator at another release than the target's own. */
export function pinsOf({ names, own, defaults }: Pick<ValueFacts, 'names' | 'own' | 'defaults'>): readonly Pin[] {
  return names.pins.flatMap((value) => {
    const [pinned, target] = [chartValue(own, value), chartValue(defaults, value)];
    if (typeof pinned !== 'string' || pinned === '' || pinned === target || isOnlyName(pinned, target)) return [];
    return [{ value, pinned, target: typeof target === 'string' ? target : undefined }];
  });
}

/** An image by another name, without a tag or digest, is a mirror's, and takes its tag from elsewhere. */
function isOnlyName(pinned: string, target: unknown): boolean {
  const isImage = typeof target === 'string' && target.includes('/');
  return isImage && !pinned.includes('@') && !/:[^/]*$/.test(pinned);
}

/** What stands under a value's name: `goldmane.enabled`. */
export function chartValue(values: JsonMap, name: string): unknown {
  return jsonAt(values, ...name.split('.'));
}

/** Values with others laid over them, as the chart tool does: maps by key, anything else as a whole. */
export function overlaid(values: JsonMap, over: JsonMap): JsonMap {
  const merged = new Map(Object.entries(values));
  for (const [key, value] of Object.entries(over)) {
    const before = merged.get(key);
    merged.set(key, isRecord(before) && isRecord(value) ? overlaid(before, value) : value);
  }
  // A key may be called `__proto__`: no assignment to a member by its name.
  return Object.fromEntries(merged);
}

/** The settings as values. */
export function settingValues(settings: readonly Setting[]): JsonMap {
  return settings.map(({ value, to }) => nested(value.split('.'), to)).reduce(overlaid, {});
}

function nested([first = '', ...rest]: readonly string[], value: unknown): JsonMap {
  return { [first]: rest.length === 0 ? value : nested(rest, value) };
}

/**
 * Values of the user that the installed chart names and the target's does not: `a.b`. What neither names is not reported: it is in a map
 * that the chart passes on, such as pod labels.
 */
export function forgottenValues(own: JsonMap, installed: JsonMap, target: JsonMap): readonly string[] {
  return Object.entries(own).flatMap(([key, value]) => {
    const [before, after] = [jsonAt(installed, key), jsonAt(target, key)];
    if (before === undefined) return [];
    if (after === undefined) return [key];
    // An empty map is one that the chart passes on, whatever its older form has named in it.
    if (!isRecord(value) || !isRecord(before) || !isRecord(after) || Object.keys(after).length === 0) return [];
    return forgottenValues(value, before, after).map((path) => `${key}.${path}`);
  });
}

/** Names of all values that are set somewhere in these, without their place. */
export function leafNames(values: JsonMap): readonly string[] {
  return Object.entries(values).flatMap(([key, value]) => (isRecord(value) ? leafNames(value) : [key]));
}
