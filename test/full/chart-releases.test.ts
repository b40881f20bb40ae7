import { describeChartRelease } from '../support/describe-chart-release.ts';
import { OLD_CRD } from '../support/old-chart.ts';
import { manifestFile } from '../support/releases.ts';

describeChartRelease({
  release: 'v3.17.1',
  helm: 3,
  install: {
    chart: { version: 'v3.17.1', operator: 'v1.13.0', isNew: false, templates: { 'crd.yaml': OLD_CRD } },
    crds: manifestFile('v3.24.6', 'operator-crds.yaml'),
  },
  killedAt: 'helm',
  keptCrd: 'oldthings.crd.projectcalico.org',
});
describeChartRelease({
  release: 'v3.24.6',
  helm: 4,
  install: { chart: { version: 'v3.24.6', operator: 'v1.28.5', isNew: false }, crds: manifestFile('v3.24.6', 'operator-crds.yaml') },
  killedAt: /goldmanes\.operator\.tigera\.io serverside-applied/,
});
describeChartRelease({
  release: 'v3.30.7',
  helm: 4,
  manageCrds: true,
  install: { chart: { version: 'v3.30.7', operator: 'v1.38.13', isNew: true }, crds: manifestFile('v3.30.7', 'operator-crds.yaml') },
  killedAt: 'helm',
});
