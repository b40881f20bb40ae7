import { command } from '../../kernel/argv.ts';
import { advice, notApplicable, ok, read } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { choiceFlag, hasFullManifest, isKeyValue, isOperated } from '../../kernel/installation.ts';
import { crosses } from '../../kernel/release.ts';
import { failed, type PreflightCheck, sourceRelease, table, withInstallation } from '../survey/index.ts';

export const installationChecks: readonly PreflightCheck[] = table({ category: 'installation', severity: 'error', ref: '§1/2' }, [
  {
    id: 'NS-101',
    title: 'installation found',
    isNeverWaived: true,
    judge: (facts, { profile, contextName }) => {
      const detection = read(facts.detection);
      if (detection.type === 'found') return ok(`${profile.title} found: ${detection.installation.path} path`);
      if (detection.type !== 'none') return notApplicable('something is installed, but not clear: see NS-102 and NS-103');
      return failed(
        `no installation found in context ${contextName}: ${detection.because}`,
        'Check the context; name another profile with --profile if the service goes by other names here.',
        { next: command`kubectl config get-contexts` },
      );
    },
  },
  {
    id: 'NS-102',
    title: 'installation unambiguous',
    ref: '§4.4/1',
    isNeverWaived: true,
    judge: (facts) => {
      const detection = read(facts.detection);
      if (detection.type === 'none') return notApplicable('nothing is installed');
      if (detection.type !== 'ambiguous') return ok('only one reading of the installation is possible');
      const { candidates } = detection;
      const [first, second] = candidates;
      const flag = choiceFlag(candidates);
      return failed(
        `${second ? `the installation can be read in ${counted(candidates.length, 'way')}` : 'the installation is not clear'}: ${detection.because}`,
        first && flag === '--path'
          ? `Look at the evidence; then say it with --path (${candidates.join(', ')}).`
          : `Say which it is with --variant (${candidates.join(', ')}) or --path.`,
        {
          evidence: detection.evidence.map((text) => ({ text })),
          next: command`kubectl netsvc-upgrade explain NS-102`,
        },
      );
    },
  },
  {
    id: 'NS-103',
    title: 'no half-done migration to the operator',
    ref: 'domain §2.1/2',
    isNeverWaived: true,
    judge: (facts, { profile }) => {
      const detection = read(facts.detection);
      if (detection.type === 'none') return notApplicable('nothing is installed');
      if (detection.type !== 'half-migrated') return ok('no migration to the operator is under way');
      const label = profile.operator.migrationLabel?.key;
      return failed(
        `a migration from the manifest to the operator is half done: ${detection.because}`,
        'Finish that migration or take it back; upgrade afterwards.',
        {
          evidence: detection.evidence.map((text) => ({ text })),
          next: label ? command`kubectl get nodes -L ${label}` : command`kubectl get pods -A -o wide`,
        },
      );
    },
  },
  {
    id: 'NS-104',
    title: 'install path and variant known',
    isNeverWaived: true,
    judge: withInstallation((installation, _facts, { options, profile }) => {
      const { path, variant, datastore } = installation;
      if (options.path && options.path !== path) {
        return failed(
          `--path ${options.path} was given, but the cluster shows the ${path} path`,
          'Leave the flag out, or check that this is the right cluster.',
          { evidence: installation.evidence.map((text) => ({ text })), next: command`kubectl config current-context` },
        );
      }
      const needsVariant = hasFullManifest(installation);
      if (needsVariant && (variant === undefined || !profile.variants.some((one) => one.id === variant))) {
        const known = profile.variants.filter((one) => one.datastore === datastore).map((one) => one.id);
        return failed('the manifest variant is not recognised', `Name it with --variant: ${known.join(', ')}.`, {
          evidence: installation.evidence.map((text) => ({ text })),
          next: command`kubectl netsvc-upgrade explain NS-104`,
        });
      }
      return ok(`${path} path${variant ? `, variant ${variant}` : ''}, ${datastore === 'api' ? 'API' : 'key-value'} datastore`);
    }),
  },
]);

export const adviceChecks: readonly PreflightCheck[] = table({ category: 'installation', severity: 'warning', ref: '§1/3' }, [
  /** Recommendations of the procedure (§1/3): told, never counted against the upgrade. */
  {
    id: 'NS-901',
    title: 'datastore',
    judge: withInstallation(({ datastore }) =>
      isKeyValue({ datastore })
        ? advice('move the data to the API datastore some time after this upgrade (a procedure of its own)')
        : ok('the data is in the API datastore, as recommended'),
    ),
  },
  {
    id: 'NS-902',
    title: 'kind of installation',
    judge: withInstallation((installation, facts, context) => {
      if (!isOperated(installation))
        return advice('move from the combined manifest to the operator some time after this upgrade (a procedure of its own)');
      const { sharedMount } = context.profile.operator;
      const isNew = sharedMount && crosses(sourceRelease(installation, facts, context), context.goal.release, sharedMount.since);
      // Nothing in the cluster shows how a node mounts it.
      const asked = isNew
        ? `; from ${sharedMount.since} on the agents mount ${sharedMount.path} of each node without eBPF too, which must be a shared mount there: findmnt -no PROPAGATION ${sharedMount.path}`
        : '';
      return ok(`managed by the operator, as recommended${asked}`);
    }),
  },
]);
