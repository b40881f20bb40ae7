import { command } from '../../kernel/argv.ts';
import { notApplicable, ok, read } from '../../kernel/check.ts';
import { evidenceOf, failed, type PreflightCheck, unknownEnd, withInstallation } from '../survey/index.ts';

export const apiNamespaceChecks: readonly PreflightCheck[] = [
  /** The operator moves the API server and deletes the old namespace with all that is in it (domain §11.3). */
  {
    id: 'NS-621',
    title: 'namespace of the API server stays',
    category: 'resources',
    severity: 'warning',
    ref: 'domain §11.3',
    judge: withInstallation((installation, facts, context) => {
      const { profile } = context;
      const api = profile.operator.end?.api;
      const operated = installation.path === 'operator' || installation.path === 'chart';
      if (!operated || !api || !installation.hasApiServer) return notApplicable('no operator runs an API server of the service here');
      if (unknownEnd(installation, context)) return notApplicable('the target is none on this path: see NS-601');
      const old = read(facts.namespaces).find(({ metadata }) => metadata.name === api.oldNamespace);
      if (!old) return ok(`the API server is not in ${api.oldNamespace}`);
      return failed(
        `the API server moves to namespace ${api.namespace}: ${api.oldNamespace} is deleted with everything in it. The v3 API is away until the new pods are ready (10 s to over a minute)`,
        `Change what names ${api.oldNamespace}: network policies, monitors, certificates; keep what you put there yourself.`,
        { evidence: [evidenceOf(old)], next: command`kubectl get networkpolicies,configmaps,secrets -n ${api.oldNamespace}` },
      );
    }),
  },
];
