import type { Refusal } from '../kernel/refusal.ts';
import { CNI, IPAM, is, isNot, isSet, notOfCalico, ofCalico, PROVIDER } from './refusal-rules.ts';

export const cniRefusals: readonly Refusal[] = [
  {
    ...{ since: 'v3.16.0', says: "invalid value '{/cni/type}' for spec.cni.type, it should be one of Calico,GKE,AmazonVPC,AzureVNET" },
    when: [isNot(CNI, 'Calico', 'GKE', 'AmazonVPC', 'AzureVNET')],
  },
  ...(
    [
      ['Calico', ['Calico', 'HostLocal'], undefined],
      ['GKE', ['HostLocal'], 'GKE'],
      ['AmazonVPC', ['AmazonVPC'], 'EKS'],
      ['AzureVNET', ['AzureVNET'], 'AKS'],
    ] as const
  ).flatMap(([plugin, ipam, provider]): readonly Refusal[] => [
    {
      since: 'v3.17.0',
      says: `spec.cni.ipam.type {/cni/ipam/type} is not compatible with spec.cni.type ${plugin}, valid IPAM values ${ipam.join(',')}`,
      when: [is(CNI, plugin), isNot(IPAM, ...ipam)],
    },
    ...(provider === undefined
      ? []
      : [
          {
            since: 'v3.16.0',
            says: `spec.kubernetesProvider {/kubernetesProvider} is not compatible with spec.cni.type ${plugin}`,
            when: [is(CNI, plugin), isSet(PROVIDER), isNot(PROVIDER, provider)],
          },
        ]),
  ]),
  {
    ...{ since: 'v3.26.0', says: 'spec.loggingConfig.cni.logFileMaxCount value should be greater than zero' },
    when: [ofCalico, { field: '/logging/cni/logFileMaxCount', below: 1 }],
  },
  {
    ...{ since: 'v3.26.0', says: 'spec.Logging.cni.logFileMaxSize format is not corrent. Suffix should be Ki | Mi | Gi | Ti | Pi | Ei' },
    when: [ofCalico, { field: '/logging/cni/logFileMaxSize', unlike: '^\\+?(?=.*[1-9])[0-9.]+[KMGTPE]i$' }],
  },
  {
    ...{ since: 'v3.26.0', says: 'spec.Logging.cni.logFileMaxAgeDays should be a positive non-zero integer' },
    when: [ofCalico, { field: '/logging/cni/logFileMaxAgeDays', below: 1 }],
  },
  {
    since: 'v3.26.0',
    says: 'installation spec.Logging.cni is not valid and should not be provided when spec.cni.type is Not Calico',
    when: [notOfCalico, isSet('/logging/cni')],
  },
];
