import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import { stage } from '../../kernel/stage.ts';
import { cliWrite } from '../service-cli/index.ts';
import { hepChecks } from './checks.ts';
import { awaitEndpoints, deleteOld } from './endpoints.ts';
import { endpointsOf, type HepFacts, readHepFacts } from './facts.ts';
import type { HepJudged } from './hep-facts.ts';
import { hepJudged, isMigrated, plannedHost } from './judged.ts';
import { copyLabels } from './labels.ts';
import { migrationNotes } from './notes.ts';
import { undoPlan } from './undo.ts';

interface Opened extends HepJudged {
  readonly read: HepFacts;
}

/** Labels to the nodes, automatic endpoints on, old ones away node by node once their successor stands (§4.7). */
export const hepStage = stage<Opened>({
  id: 'hep',
  title: 'Migrate to automatic host endpoints',
  ref: '§4.7',
  readOnly: false,
  optional: true,
  converges: true,
  checks: hepChecks,
  survey: async (sources, context) => {
    const read = await readHepFacts(sources, context);
    return { ...hepJudged(read, context), read };
  },
  plan({ read }, context) {
    if (context.options.undo) return undoPlan(read, context);
    if (isMigrated(read)) return { skip: 'automatic host endpoints are enabled, and no old one is left' };
    if ('missing' in read.cli || 'unread' in read.verdicts) return cannotBeDone(read, context);
    const verdicts = read.verdicts.value;
    const removals = deleteOld(read, verdicts, context);
    const actions = [...copyLabels(read, verdicts), ...enable(read, context), ...awaitEndpoints(read, verdicts, context), ...removals];
    return {
      actions,
      // The end is judged: what changed while the last endpoints went would be nobody's finding otherwise.
      ...(removals.length > 0 || read.judgesEnd ? { again: true } : {}),
      hosts: verdicts.map(plannedHost),
      notes: migrationNotes({ endpoints: endpointsOf(read, context), verdicts, failsafe: read.failsafe }, context.profile),
    };
  },
});

/** What no acceptance of a whole check can make good: nobody can act on verdicts that were not read, nor without the CLI. */
const NO_WAY: readonly string[] = ['NS-711', 'NS-712', 'NS-713', 'NS-736'];

function cannotBeDone({ cli, verdicts }: HepFacts, { options }: Context): { readonly skip: string } {
  const because = 'missing' in cli ? cli.missing : 'unread' in verdicts ? verdicts.unread : '';
  const open = 'missing' in cli ? [cli.doubt ? 'NS-725' : 'NS-720'] : NO_WAY;
  const isAccepted = (id: string) => options.accept.some(({ check, subject }) => check === id && subject === undefined);
  if (!open.every(isAccepted)) return { skip: 'see the checks above' };
  throw new Fault('blocked', `host endpoints cannot be migrated: ${because}`, [`leave --accept ${open[0]} out and mend the cause`]);
}

/** The procedure's patch: a merge, other settings stay (§4.7/2). */
function enable({ settings, cli, configuration, installation }: HepFacts, { profile }: Context): readonly Action[] {
  if (settings.autoCreate || 'missing' in cli) return [];
  const { name, plural } = profile.controllersConfiguration;
  const patch = JSON.stringify({ spec: { controllers: { node: { hostEndpoint: { autoCreate: 'Enabled' } } } } });
  const words = ['patch', plural.replace(/s$/, ''), name, '--patch', patch];
  return [
    {
      id: 'enable',
      title: 'enable automatic host endpoints, on every node at once',
      ref: '§4.7/2',
      undo: 'full',
      afresh: true,
      keep: { datastore: installation.datastore, configuration: { name, spec: configuration?.spec } },
      effect: cliWrite(cli, words),
    },
  ];
}
