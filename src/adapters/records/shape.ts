import { Fault } from '../../kernel/fault.ts';
import { isJsonMap, type JsonMap } from '../../kernel/json-map.ts';
import { RUN_RECORD_VERSION, type RunRecord } from '../../kernel/run-record.ts';

const TEXTS = ['runId', 'clusterUid', 'profile', 'target', 'path', 'startedAt', 'startedBy', 'toolVersion'] as const;
const LISTS = ['accepted', 'kept'] as const;
const TEXTS_OR_ABSENT = ['variant', 'source', 'oldest', 'backup', 'plan', 'finishedAt', 'outcome'] as const;
const LISTS_OR_ABSENT = ['wrote', 'flags'] as const;

/** The record in a text. Throws Fault('failed') for a newer layout, and for anything that is no record. */
export function parseRecord(text: string, where: string): RunRecord {
  const value = parsed(text, where);
  const { version } = value;
  if (typeof version === 'number' && version > RUN_RECORD_VERSION)
    throw new Fault('failed', `the run record in ${where} has version ${version}; this program knows ${RUN_RECORD_VERSION}`, [
      `use the version of kubectl netsvc-upgrade that wrote it, or a newer one${typeof value.toolVersion === 'string' ? ` (it says ${value.toolVersion})` : ''}`,
    ]);
  const wrong = [
    ...(version === RUN_RECORD_VERSION ? [] : ['version']),
    ...TEXTS.filter((field) => typeof value[field] !== 'string'),
    ...LISTS.filter((field) => !isTexts(value[field])),
    ...TEXTS_OR_ABSENT.filter((field) => value[field] !== undefined && typeof value[field] !== 'string'),
    ...LISTS_OR_ABSENT.filter((field) => value[field] !== undefined && !isTexts(value[field])),
    ...(Array.isArray(value.stages) && value.stages.every(isStage) ? [] : ['stages']),
    ...(value.stripped === undefined || isStripped(value.stripped) ? [] : ['stripped']),
    ...(isJsonMap(value.digests) && isTexts(Object.values(value.digests)) ? [] : ['digests']),
  ];
  if (wrong.length > 0) throw unreadable(where, `wrong or missing: ${wrong.join(', ')}`);
  return value as unknown as RunRecord;
}

const isText = (value: unknown) => typeof value === 'string';
const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText);

function isStripped(value: unknown): boolean {
  return (
    isJsonMap(value) &&
    Number.isInteger(value.objects) &&
    Number.isInteger(value.references) &&
    isTexts(value.parts) &&
    isText(value.content)
  );
}

function isStage(value: unknown): boolean {
  if (!isJsonMap(value)) return false;
  const { id, state, startedAt, endedAt, because } = value;
  return [id, state, startedAt].every(isText) && [endedAt, because].every((one) => one === undefined || isText(one));
}

function parsed(text: string, where: string): JsonMap {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unreadable(where, 'it is not JSON');
  }
  if (!isJsonMap(value)) throw unreadable(where, 'it is not an object');
  return value;
}

function unreadable(where: string, why: string): Fault {
  const [, namespace, name] = where.split('/');
  return new Fault('failed', `the run record in ${where} cannot be read: ${why}`, [
    `look at it: kubectl -n ${namespace} get secret ${name} -o jsonpath='{.data.record\\.json}' | base64 -d`,
    'then restore it from a backup',
  ]);
}
