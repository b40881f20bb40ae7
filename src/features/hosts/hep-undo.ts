import { notApplicable, ok } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { failed, failIfAny, listed, PROGRAM } from '../survey/index.ts';
import type { GoneEndpoint, HepCheck } from './hep-facts.ts';

export const hepUndoChecks: readonly HepCheck[] = [
  /** The undo restores what the migration removed, and nobody else's removals (§4.7/3). */
  {
    id: 'NS-724',
    title: 'old host endpoints removed by the migration',
    category: 'follow-up',
    severity: 'warning',
    ref: '§4.7/3',
    judge({ gone }) {
      if (!gone) return notApplicable('nothing is taken back');
      const [others, untold] = [gone.filter(({ remover }) => remover === 'other'), gone.filter(({ remover }) => remover === 'untold')];
      if (others.length + untold.length === 0) return ok('every old endpoint that is gone was removed by the migration');
      const because = [
        ...(others.length > 0
          ? [`${counted(others.length, 'host endpoint')} removed by somebody else, not created again: ${names(others)}`]
          : []),
        ...(untold.length > 0
          ? [`${counted(untold.length, 'host endpoint')} without a record of who removed them, created again: ${names(untold)}`]
          : []),
      ];
      return failed(because.join('; '), 'Create the former again if you want them back, and delete the latter if they were meant to go.', {
        evidence: [...others, ...untold].map(evidenceOf),
        next: `${PROGRAM} hep --undo --dry-run=client -o wide`,
      });
    },
  },
  /** A record may be somebody else's work: what the migration cannot have made is not touched (§4.7/3). */
  {
    id: 'NS-738',
    title: 'undo touches only what the migration made',
    category: 'follow-up',
    severity: 'error',
    ref: '§4.7/3',
    judge({ gone, refusedBack }) {
      if (!gone) return notApplicable('nothing is taken back');
      return failIfAny(refusedBack, 'the record names only what the migration can have made', (subjects) => ({
        because: `the record names ${counted(refusedBack.length, 'thing')} that the migration cannot have made, or that others own by now; not changed: ${subjects}`,
        hint: 'See who wrote the record. Change these yourself if you want that, and accept them by name: --undo does the rest.',
        next: `${PROGRAM} hep --undo --dry-run=client -o wide`,
      }));
    },
  },
  /** What another machine recorded is undone only where the user has read each part of it (§4.7/3). */
  {
    id: 'NS-016',
    title: 'host endpoint changes kept by this machine',
    category: 'follow-up',
    severity: 'error',
    ref: '§4.7/3',
    judge({ gone, backFromElsewhere }) {
      if (!gone) return notApplicable('nothing is taken back');
      return failIfAny(backFromElsewhere, 'what would be undone was kept by this machine', (subjects) => ({
        because: `another machine kept ${counted(backFromElsewhere.length, 'thing')} that would be undone: ${subjects}`,
        hint: 'Run the command on the machine that migrated. Or read what would be written, then accept each object by its name.',
        next: `${PROGRAM} hep --undo --dry-run=client -o wide`,
        byName: true,
        eachByName: true,
      }));
    },
  },
];

const names = (some: readonly GoneEndpoint[]) => listed(some.map(({ name }) => name));

/** As it was, whole only where it is asked for: the user can create it from that. */
function evidenceOf({ name, node, remover, asItWas }: GoneEndpoint) {
  const who = remover === 'other' ? 'removed by somebody else, stays away' : 'created again, for it cannot be told who removed it';
  return { text: name, brief: `node ${node}; ${who}`, detail: `node ${node}; ${who}; as it was: ${asItWas}` };
}
