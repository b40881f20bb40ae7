import type { KubeObject } from '../../kernel/object.ts';
import type { AddedLabels } from './labels.ts';

/** What actions of the migration and of its undo kept; each item has one of these. */
export interface KeptOfMigration {
  readonly labels?: readonly AddedLabels[];
  readonly configuration?: { readonly name: string; readonly spec?: unknown };
  readonly endpoints?: readonly KubeObject[];
  /** When the command began that was about to delete them. */
  readonly since?: string;
  /** Name of an old endpoint that the undo created again. */
  readonly recreated?: string;
  /** The undo switched automatic endpoints off; older programs do not note it. */
  readonly switchedOff?: true;
  /** What the undo removed from nodes; older programs do not note it. */
  readonly unlabelled?: readonly AddedLabels[];
}

/** What was kept, in the form that the migration gives it: what another account wrote into the record is ignored. */
export function wellFormed(content: unknown): KeptOfMigration {
  const { labels, unlabelled, endpoints, since, recreated, configuration, switchedOff } = record(content);
  const settings = record(configuration);
  return {
    ...(Array.isArray(labels) ? { labels: labels.filter(isAdded) } : {}),
    ...(Array.isArray(unlabelled) ? { unlabelled: unlabelled.filter(isAdded) } : {}),
    ...(Array.isArray(endpoints) ? { endpoints: endpoints.filter(isEndpoint) } : {}),
    ...(typeof since === 'string' ? { since } : {}),
    ...(typeof recreated === 'string' ? { recreated } : {}),
    ...(typeof settings.name === 'string'
      ? { configuration: { name: settings.name, ...(settings.spec === undefined ? {} : { spec: settings.spec }) } }
      : {}),
    ...(switchedOff === true ? { switchedOff } : {}),
  };
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : {};
}

const isText = (value: unknown): value is string => typeof value === 'string';
const areTexts = (value: unknown): boolean => value === undefined || (Array.isArray(value) && value.every(isText));
const isMap = (value: unknown): boolean => value === undefined || (record(value) === value && Object.values(record(value)).every(isText));

function isAdded(value: unknown): value is AddedLabels {
  const { node, uid, labels } = record(value);
  return isText(node) && isText(uid) && labels !== undefined && isMap(labels);
}

function isEndpoint(value: unknown): value is KubeObject {
  const { kind, metadata, spec } = record(value);
  const { name, labels, annotations } = record(metadata);
  const { node, interfaceName, expectedIPs, profiles } = record(spec);
  const places = [node, interfaceName].every((one) => one === undefined || isText(one));
  return (
    kind === 'HostEndpoint' && isText(name) && isMap(labels) && isMap(annotations) && places && areTexts(expectedIPs) && areTexts(profiles)
  );
}
