import { command } from '../../kernel/command.ts';
import { Fault } from '../../kernel/fault.ts';
import { DATA_PLANES } from '../../kernel/installation.ts';
import { isIntentKind } from '../../kernel/intent.ts';
import { areTexts, isListOf, isRecord, isText, isTextOrAbsent, type JsonMap } from '../../kernel/json.ts';
import { ownName } from '../../kernel/own-name.ts';
import { isRecordedPath, RUN_RECORD_VERSION, type RunRecord } from '../../kernel/run-record.ts';
import { look, text } from '../../kernel/step.ts';
import { isNoReturnPoint } from '../../kernel/undo.ts';

const TEXTS = ['runId', 'clusterUid', 'profile', 'startedAt', 'startedBy', 'toolVersion'] as const;
const LISTS = ['accepted', 'wrote', 'kept'] as const;
const TEXTS_OR_ABSENT = ['variant', 'oldest', 'backup', 'backupBy', 'resumes', 'plan', 'finishedAt', 'outcome'] as const;

/** The record in a text. Throws Fault('failed') for a newer layout, and for anything that is no record. */
export function parseRecord(text: string, where: string): RunRecord {
  const value = parsed(text, where);
  const { version } = value;
  if (typeof version === 'number' && version > RUN_RECORD_VERSION)
    throw new Fault('failed', `the run record in ${where} has version ${version}; this program knows ${RUN_RECORD_VERSION}`, [
      `use the version of ${ownName()} that wrote it, or a newer one${typeof value.toolVersion === 'string' ? ` (it says ${value.toolVersion})` : ''}`,
    ]);
  const wrong = [
    ...(version === RUN_RECORD_VERSION ? [] : ['version']),
    ...Object.entries(FORMS).flatMap(([field, has]) => (has(value[field]) ? [] : [field])),
    ...TEXTS.filter((field) => !isText(value[field])),
    ...LISTS.filter((field) => !areTexts(value[field])),
    ...TEXTS_OR_ABSENT.filter((field) => !isTextOrAbsent(value[field])),
    ...['flags', 'moved', 'canary', 'owed'].filter((field) => value[field] !== undefined && !areTexts(value[field])),
    ...(isListOf(value.stages, isStage) ? [] : ['stages']),
    ...(value.progress === undefined || isProgress(value.progress) ? [] : ['progress']),
    ...(value.noReturn === undefined || (hasPoint(value.noReturn) && isText(value.noReturn.at)) ? [] : ['noReturn']),
    ...(value.stripped === undefined || isStripped(value.stripped) ? [] : ['stripped']),
    ...(isRecord(value.digests) && areTexts(Object.values(value.digests)) ? [] : ['digests']),
  ];
  if (wrong.length > 0) throw unreadable(where, `wrong or missing: ${wrong.join(', ')}`);
  return value as unknown as RunRecord;
}

const FORMS: Readonly<Record<string, (value: unknown) => boolean>> = {
  intent: isIntent,
  path: isRecordedPath,
  dataPlane: (value) => value === undefined || DATA_PLANES.some((one) => one === value),
  nodes: isCountOrAbsent,
};

function isIntent(value: unknown): boolean {
  if (!isRecord(value) || !isIntentKind(value.kind) || !isText(value.to)) return false;
  const { from, takesBack } = value;
  return isTextOrAbsent(from) && (takesBack === undefined || isTakenBack(takesBack));
}

function isTakenBack(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { runId, since, from, to, startedAt, wrote, kept = [], oldest, isOver = true, backup } = value;
  return (
    [runId, from, to, startedAt].every(isText) &&
    [wrote, kept].every(areTexts) &&
    isOver === true &&
    [since, oldest, backup].every(isTextOrAbsent)
  );
}

function isProgress(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { stage, step, of, last, noReturn } = value;
  const isOf = noReturn === undefined || (hasPoint(noReturn) && Number.isSafeInteger(noReturn.step));
  return isText(stage) && [step, of, last ?? 0].every(Number.isSafeInteger) && isOf;
}

function isCountOrAbsent(value: unknown): boolean {
  return value === undefined || (Number.isSafeInteger(value) && (value as number) >= 0);
}

function hasPoint(value: unknown): value is JsonMap {
  return isRecord(value) && isNoReturnPoint(value.point);
}

function isStripped(value: unknown): boolean {
  return isRecord(value) && Number.isInteger(value.objects) && Number.isInteger(value.references) && areTexts(value.parts);
}

function isStage(value: JsonMap): boolean {
  const { id, state, startedAt, endedAt, because, left, manual, node, pod, undo, watch } = value;
  return (
    isCountOrAbsent(manual) &&
    (watch === undefined || (isRecord(watch) && [watch.since, watch.by].every(isText) && isCountOrAbsent(watch.ms))) &&
    (undo === undefined || undo === true) &&
    (pod === undefined || isPod(pod)) &&
    (node === undefined || isName(node)) &&
    [id, state, startedAt].every(isText) &&
    [endedAt, because, left].every(isTextOrAbsent)
  );
}

/** Its names become part of a command that is shown. */
function isPod(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { namespace, name, log = { container: 'none', of: 'former' } } = value;
  const isLog = isRecord(log) && (log.of === 'former' || log.of === 'running');
  return isLog && [namespace, name, log.container].every(isName);
}

const isName = (value: unknown): boolean => typeof value === 'string' && /^[a-z0-9][a-z0-9.-]{0,252}$/.test(value);

function parsed(text: string, where: string): JsonMap {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unreadable(where, 'it is not JSON');
  }
  if (!isRecord(value)) throw unreadable(where, 'it is not an object');
  return value;
}

function unreadable(where: string, why: string): Fault {
  const [, namespace, name] = where.split('/');
  return new Fault('failed', `the run record in ${where} cannot be read: ${why}`, [
    look(text`look at it: ${command`kubectl -n ${namespace} get secret ${name} -o jsonpath='{.data.record\\.json}' | base64 -d`}`),
    'then restore it from a backup',
  ]);
}
