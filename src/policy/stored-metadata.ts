import type { KubeObject } from '../core/object.ts';
import type { Labels } from './selector.ts';

/** What a person gave an object of the v3 API: its name, labels and annotations, wherever the release stored them. */
export interface StoredMetadata {
  readonly name: string;
  /** The name that the annotation gives; undefined where it gives none, or where there is no such annotation. */
  readonly storedName?: string;
  /** True if the object has the annotation: it was written through the service's API. */
  readonly stored: boolean;
  readonly labels: Labels;
  readonly annotations: Labels;
}

interface Stored {
  readonly name?: string;
  readonly labels?: Labels;
  readonly annotations?: Labels;
}

/**
 * Metadata of a stored custom resource as the newest reader sees it: releases from v3.28 on keep labels and annotations as JSON in
 * the annotation `<group>/metadata`, older ones on the object itself. Both are merged; where they differ the annotation wins.
 * An annotation that is no JSON object counts as absent, as the readers of the service do.
 */
export function storedMetadata(object: KubeObject, apiGroup: string): StoredMetadata {
  const key = `${apiGroup}/metadata`;
  const { [key]: text, ...annotations } = object.metadata.annotations ?? {};
  const stored = text === undefined ? {} : parsed(text);
  return {
    name: stored.name ?? object.metadata.name,
    ...(stored.name === undefined ? {} : { storedName: stored.name }),
    stored: text !== undefined,
    labels: { ...object.metadata.labels, ...stored.labels },
    annotations: { ...annotations, ...stored.annotations },
  };
}

function parsed(text: string): Stored {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Stored) : {};
  } catch {
    return {};
  }
}
