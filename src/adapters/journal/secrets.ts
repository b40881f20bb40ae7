import { command } from '../../kernel/argv.ts';
import { type Command, type RepairCommand, repairCommand } from '../../kernel/command.ts';
import { STATE_NAMESPACE } from '../../kernel/run-record.ts';
import type { Suggestion } from '../../kernel/step.ts';
import { look, THEN_AGAIN, text } from '../../kernel/step.ts';
import type { Content } from '../state/entry.ts';
import type { Ledger } from '../state/ledger.ts';
import { isPart, JOURNAL_NAME, type JournalPlace, type Stored } from './head.ts';

const HEAD_KEY = 'journal.json';
const CHUNK_KEY = 'entries.jsonl.gz';

/** The journal in Secrets: the head as text, each chunk immutable, so that the API server itself refuses edits. */
export function journalSecrets(ledger: Ledger): JournalPlace {
  return {
    whereIs: ledger.whereIs,
    async read(name) {
      const entry = await ledger.read(name);
      return entry && { bytes: bytesOf(name, entry.content), version: entry.version };
    },
    async create(name, bytes) {
      await ledger.create(name, contentOf(name, bytes), name !== JOURNAL_NAME);
    },
    async replace(name, bytes, version) {
      await ledger.replace({ name, content: contentOf(name, bytes), uid: '', version });
    },
    remove: ledger.remove,
    names: async () => (await ledger.names()).filter(isPart),
    advice: (name, trouble) => (trouble === 'foreign' ? foreignAdvice() : damagedAdvice(name)),
  };
}

function damagedAdvice(name: string): readonly Suggestion[] {
  return [
    look(text`look at it: ${command`kubectl -n ${STATE_NAMESPACE} get secret ${name} -o yaml`}`),
    text`save what is left: ${wholeJournal().save}`,
    'then restore it from a backup of the cluster, or see the manual recovery in docs/reference/journal.md',
  ];
}

/** Of a backup of another cluster's objects: the instances that it names are not here. */
function foreignAdvice(): readonly Suggestion[] {
  const { save, remove } = wholeJournal();
  return [
    text`nothing was removed in this cluster because of it; the other cluster may need it, so save it: ${save}`,
    text`then delete it here: ${remove}`,
    THEN_AGAIN,
  ];
}

function wholeJournal(): { readonly save: Command; readonly remove: RepairCommand } {
  const parts = `/${JOURNAL_NAME}(-.+-[0-9]{4,}-[0-9]{4,})?$`;
  const save = command`kubectl -n ${STATE_NAMESPACE} get secrets -o name | grep -E ${parts} | xargs kubectl -n ${STATE_NAMESPACE} get -o yaml > owner-references.yaml`;
  const remove = repairCommand`kubectl -n ${STATE_NAMESPACE} get secrets -o name | grep -E ${parts} | xargs kubectl -n ${STATE_NAMESPACE} delete`;
  return { save, remove };
}

function contentOf(name: string, bytes: Uint8Array): Content {
  return { [name === JOURNAL_NAME ? HEAD_KEY : CHUNK_KEY]: Buffer.from(bytes).toString('base64') };
}

/** No bytes where the key is missing: the reader says what is wrong with that. */
function bytesOf(name: string, content: Content): Stored['bytes'] {
  return Buffer.from(content[name === JOURNAL_NAME ? HEAD_KEY : CHUNK_KEY] ?? '', 'base64');
}
