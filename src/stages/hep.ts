import { hepChecks } from '../checks/hep.ts';
import type { HepJudged } from '../checks/hep-facts.ts';
import type { Action, EndpointsExpected } from '../core/action.ts';
import type { Context } from '../core/context.ts';
import { Fault } from '../core/fault.ts';
import { stage } from '../core/stage.ts';
import type { NodeVerdict } from '../policy/host-endpoint-verdicts.ts';
import { endpointsOf, type HepFacts, readHepFacts } from './hep/facts.ts';
import { hepJudged, isMigrated, plannedHost } from './hep/judged.ts';
import { copyLabels } from './hep/labels.ts';
import { migrationNotes } from './hep/notes.ts';
import { undoPlan } from './hep/undo.ts';

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
    const actions = [
      ...copyLabels(read, verdicts),
      ...enable(read, context),
      ...awaitEndpoints(read, verdicts, context),
      ...deleteOld(read, verdicts, context),
    ];
    return {
      actions,
      hosts: verdicts.map(plannedHost),
      notes: migrationNotes({ endpoints: endpointsOf(read, context), verdicts, failsafe: read.failsafe }, context.profile),
    };
  },
});

/** What no acceptance can make good: nobody can act on verdicts that were not read, nor without the CLI. */
const NO_WAY: readonly string[] = ['NS-711', 'NS-712', 'NS-713', 'NS-720'];

function cannotBeDone({ cli, verdicts }: HepFacts, { options }: Context): { readonly skip: string } {
  const because = 'missing' in cli ? cli.missing : 'unread' in verdicts ? verdicts.unread : '';
  const open = 'missing' in cli ? ['NS-720'] : NO_WAY.slice(0, 3);
  const isAccepted = (id: string) => options.accept.some(({ check, subject }) => check === id && subject === undefined);
  if (!open.every(isAccepted)) return { skip: 'see the checks above' };
  throw new Fault('blocked', `host endpoints cannot be migrated: ${because}`, [`leave --accept ${open[0]} out and mend the cause`]);
}

/** The procedure's patch: a merge, other settings stay (§4.7/2). */
function enable({ settings, cli, configuration, installation }: HepFacts, { profile }: Context): readonly Action[] {
  if (settings.autoCreate || 'missing' in cli) return [];
  const { name, plural } = profile.controllersConfiguration;
  const patch = JSON.stringify({ spec: { controllers: { node: { hostEndpoint: { autoCreate: 'Enabled' } } } } });
  const args = ['patch', plural.replace(/s$/, ''), name, '--patch', patch, ...cli.args];
  return [
    {
      id: 'enable',
      title: 'enable automatic host endpoints, on every node at once',
      ref: '§4.7/2',
      undo: 'full',
      afresh: true,
      keep: { datastore: installation.datastore, configuration: { name, spec: configuration?.spec } },
      effect: { type: 'exec', program: cli.program, run: { tool: 'netsvcctl', args } },
    },
  ];
}

/** Five minutes for a restart with back-off, and the old controllers' 2.5 endpoints a second (host endpoint notes 1.2). */
function limitMs(nodes: number): number {
  return 300_000 + nodes * 400;
}

function awaitEndpoints(facts: HepFacts, verdicts: readonly NodeVerdict[], context: Context): readonly Action[] {
  const covered = verdicts.filter(({ uncovered }) => uncovered === undefined);
  if (covered.length === 0) return [];
  const until = expectedOf(facts, covered, context);
  return [
    {
      id: 'endpoints',
      title: `wait for the automatic endpoint of ${covered.length === 1 ? 'one node' : `each of ${covered.length} nodes`}, with the copied labels`,
      ref: '§4.7/2',
      undo: 'full',
      effect: { type: 'wait', until, timeoutMs: context.options.timeoutMs ?? limitMs(covered.length) },
    },
  ];
}

/** What each node has, and what it gets from its old endpoints: nothing less may be on its automatic endpoint. */
function expectedOf(facts: HepFacts, verdicts: readonly NodeVerdict[], { profile }: Context): EndpointsExpected {
  const labelsOf = new Map(facts.nodes.map(({ metadata }) => [metadata.name, metadata.labels ?? {}]));
  return {
    type: 'host-endpoints',
    apiGroup: profile.apiGroup,
    signs: profile.labels,
    from: facts.kind ? { kind: facts.kind } : { cli: 'missing' in facts.cli ? { program: '', args: [] } : facts.cli },
    nodes: verdicts.map(({ node, labels }) => ({
      node,
      labels: { ...labelsOf.get(node), ...Object.fromEntries(labels.copies.map(({ key, value }) => [key, value])) },
    })),
  };
}

/** One node's old endpoints at a time, the first node alone: what is wrong shows there (§4.7/3). */
function deleteOld(facts: HepFacts, verdicts: readonly NodeVerdict[], context: Context): readonly Action[] {
  const { cli, stored, kept } = facts;
  if ('missing' in cli) return [];
  const byName = new Map(stored.map((one) => [one.metadata.name, one]));
  const isFirst = !kept.some(({ id }) => id.includes('/hep/delete-'));
  return verdicts
    .filter(({ old, uncovered }) => old.length > 0 && uncovered === undefined)
    .map((verdict, index) => {
      const names = verdict.old.map(({ name }) => name);
      return {
        id: `delete-${index + 1}`,
        title: `delete the old ${names.length === 1 ? 'host endpoint' : 'host endpoints'} ${names.join(', ')} of ${verdict.node}`,
        ref: '§4.7/3',
        undo: 'full',
        afresh: index === 0 || (index === 1 && isFirst),
        keep: { endpoints: names.map((name) => byName.get(name)) },
        effect: {
          type: 'exec',
          program: cli.program,
          run: { tool: 'netsvcctl', args: ['delete', 'hostendpoint', ...names, ...cli.args] },
          onlyIf: expectedOf(facts, [verdict], context),
        },
      };
    });
}
