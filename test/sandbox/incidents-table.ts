/** What this program does about an incident: it cannot happen, it is told before anything is written, the wait or a page explains it, or a platform made it. */
type Verdict = 'PREVENTED' | 'DETECTED' | 'EXPLAINED' | 'OUT';

const RELEASES = 'full/every-release: procedure C from every release and variant, on a real control plane';
const OPERATOR = 'e2e/operator: killed once the operator is applied, and run again, brings every component to the target';
const CHART = 'e2e/chart: has brought the CRDs, the new operator and all its components, and kept the values';
const CERTIFICATES = 'e2e/incidents: reads certificates by the rights that are printed';
const REASONS = 'full/pod-reasons: says what the newest telling event of each pod says, and what it means';
const LOST = 'sandbox/owner-references: would be lost without the strip: the test can fail';
const BACK = 'sandbox/owner-references: are removed, and come back with new UIDs, at their old places, with their flags';
const OWNERS = 'e2e/v3-owned-objects: from v3.26 to v3.32';

/**
 * All that were found, in the order in which they were: threads (`calico#12700`), and tests besides the worlds of its row, on the embedded
 * cluster or a real control plane, as `file: words of its title`. A comment says what these do not show.
 */
const TABLE: readonly (readonly [threads: string, verdict: Verdict, ...tests: readonly string[]])[] = [
  [
    'calico#6491 calico#7826 operator#2295',
    'PREVENTED',
    'e2e/preview: is what kubectl then does',
    'e2e/other-manager: describeOtherManager',
    RELEASES,
  ],
  ['docs#716', 'PREVENTED', RELEASES],
  ['kubespray#10416 calico#4911', 'PREVENTED', RELEASES],
  ['calico#7030 docs#835', 'PREVENTED', CHART],
  ['calico#6880', 'PREVENTED', OPERATOR],
  ['operator#4881 operator#4882', 'PREVENTED', OPERATOR],
  ['cdk-eks-blueprints#1261', 'PREVENTED', CHART],
  ['operator#3995', 'PREVENTED'],
  ['calico#9432', 'PREVENTED', CHART],
  ['calico#9444', 'PREVENTED', RELEASES],
  ['calico#9481', 'PREVENTED', 'full/wave-order: bring every component to the target'],
  ['calico#9527 calico#10110 kubespray#12480', 'PREVENTED', RELEASES],
  ['calico#10073 kops#17424 rancher#50568 kubespray#12035', 'PREVENTED'],
  ['kubespray#11942', 'OUT'],
  ['calico#7971', 'PREVENTED'],
  ['calico#6848 kops#13809', 'PREVENTED', 'e2e/preview: names the init container', 'e2e/procedure-c: leaves nothing of the old release'],
  ['calico#4313 kubespray#7547', 'PREVENTED', RELEASES],
  ['kubespray#7979 calico#5122', 'PREVENTED', RELEASES],
  ['k0s#8200', 'PREVENTED'],
  ['calico#6129 operator#2242 k-orc#196 envoy-gateway#4549', 'PREVENTED', 'e2e/preview: tells new objects from changed ones'],
  ['calico#9385', 'DETECTED'],
  // Only a node of that kind shows it; here a pod ends as it does there.
  ['calico#11352', 'DETECTED'],
  // Only a node of that kind shows it; here a pod ends as it does there.
  ['calico#10479 calico#9562 operator#3461', 'DETECTED'],
  ['calico#11937', 'EXPLAINED', 'sandbox/whole-chain: and the same command continues when it is fixed'],
  ['calico#9738', 'EXPLAINED', 'sandbox/whole-chain: and the same command continues when it is fixed'],
  ['calico#8407 rke2#5663', 'DETECTED'],
  ['calico#11051 calico#10676 calico#8372 calico#9551', 'DETECTED'],
  ['rke2#6633 rke2#6568 rke2#5833 rke2#3940 rke2#4711 calico#7978', 'OUT'],
  ['rke2#7437 microk8s#3157 microk8s#2709 kubespray#8691 calico#6208', 'OUT'],
  ['AKS#1814 AKS#1881 operator#2366', 'OUT'],
  ['rke#2527 rke#3189', 'OUT'],
  ['calico#8669 calico#9016 calico#9028 capz#4435', 'DETECTED'],
  ['operator#5110', 'PREVENTED', 'sandbox/held-typha: never has more agents unavailable than maxUnavailable'],
  ['calico#6294 calico#6526', 'PREVENTED', 'e2e/procedure-c: agents before Typha before controllers'],
  ['calico#6995', 'PREVENTED'],
  ['aws-vpc-cni#1573 calico#1369', 'PREVENTED'],
  ['calico#6442 calico#6144 calico#4958 calico#6901', 'EXPLAINED', REASONS],
  ['calico#12530', 'EXPLAINED'],
  ['calico#4502', 'EXPLAINED'],
  ['kops#10737', 'EXPLAINED', REASONS],
  ['calico#4810', 'DETECTED'],
  ['calico#8452', 'EXPLAINED'],
  ['calico#11750 calico#13068 calico#12726 calico#12654 calico#12472 kops#18759', 'DETECTED'],
  ['calico#13987', 'OUT'],
  ['calico#13263 calico#13323 calico#13328 calico#13579', 'DETECTED'],
  ['calico#13565', 'DETECTED'],
  ['calico#10582 calico#8025', 'DETECTED'],
  ['calico#5760 calico#8243', 'EXPLAINED'],
  ['calico#10569', 'DETECTED'],
  ['calico#5957 calico#7484 calico#8684', 'DETECTED'],
  ['calico#11910 calico#12054', 'DETECTED'],
  ['calico#12876', 'DETECTED'],
  ['calico#10911', 'DETECTED'],
  ['calico#12900', 'DETECTED'],
  ['calico#11302 amazon-eks-ami#2511', 'DETECTED'],
  ['calico#9433 calico#4727', 'EXPLAINED'],
  ['calico#12847 calico#13116', 'DETECTED'],
  ['calico#12858 calico#12953', 'DETECTED'],
  ['calico#6711 calico#6910 calico#8783', 'DETECTED'],
  ['calico#4522 calico#8674', 'DETECTED'],
  // It was fixed before the oldest release that an upgrade begins at.
  ['calico#3642', 'OUT'],
  ['calico#11974', 'EXPLAINED'],
  ['calico#9271 calico#8379 calico#6425 calico#7584', 'EXPLAINED'],
  ['calico#3969 cni-plugin#944', 'EXPLAINED'],
  ['calico#13378 calico#13379', 'DETECTED'],
  // A change of the keys of the API server makes it, whatever the release; v3.31.6 and v3.32.1 recover by themselves.
  ['calico#12940', 'EXPLAINED'],
  ['operator#3428 operator#4253 calico#9100 calico#11402 calico#11158 operator#2340 operator#1044', 'DETECTED'],
  ['operator#3494 operator#4783', 'DETECTED'],
  ['operator#2916 operator#1512', 'DETECTED'],
  ['calico#12131', 'EXPLAINED'],
  ['rke2#11229', 'DETECTED'],
  ['calico#11363', 'DETECTED', CERTIFICATES],
  ['calico#10522', 'DETECTED', CERTIFICATES],
  ['calico#9807 calico#9228', 'DETECTED', CERTIFICATES],
  // It was fixed in v3.30.1. An installation by operator is upgraded to v3.32.0 or later.
  ['calico#10396', 'OUT'],
  ['calico#10707', 'OUT'],
  ['operator#4772 calico#13370 calico#13700', 'DETECTED'],
  ['operator#5087 operator#5103 operator#5143', 'DETECTED'],
  ['operator#3439', 'EXPLAINED', 'full/operator: until the API is served from its new place and the old one is gone'],
  [
    'operator#4702',
    'EXPLAINED',
    'full/operator: is not done, green as it is, where it finds no CRDs',
    'full/operator-late-pods: names node, pod, reason',
  ],
  ['operator#4688', 'PREVENTED'],
  ['calico#4525 calico#6407 calico#6810 operator#1564', 'PREVENTED'],
  ['operator#2249 calico#6980 calico#7802 calico#8168', 'PREVENTED'],
  ['calico#7555', 'DETECTED'],
  ['gateway-api safe-upgrades', 'DETECTED'],
  ['operator#1780 onedr0p#321', 'PREVENTED', 'full/chart-move: killed in the middle of helm and run again'],
  ['calico#8202 calico#6688', 'DETECTED'],
  ['calico#11727 calico#9518', 'DETECTED', 'full/chart-refusals: refuses CRDs that Argo CD tracks'],
  ['calico#12700 calico#12790', 'DETECTED'],
  ['calico#12851 calico#13441 calico#13444', 'DETECTED'],
  ['calico#12890', 'DETECTED'],
  ['calico#12996', 'DETECTED'],
  ['calico#11144', 'PREVENTED'],
  ['calico#11842', 'DETECTED'],
  ['calico#11493', 'PREVENTED', LOST, BACK, OWNERS, 'e2e/held-policies: lose none of them'],
  ['calico#9191 calico#5715', 'PREVENTED', LOST, BACK, OWNERS, 'full/real-v3-owners: live where they are removed'],
  ['calico#13912', 'DETECTED'],
  ['docs#2851 calico#13257 calico#13288', 'EXPLAINED'],
  ['calico#10364 calico#10389 calico#9437 calico#9642', 'DETECTED'],
  ['calico#10476 calico#11251', 'DETECTED'],
  ['calico#11566', 'PREVENTED', 'e2e/incidents: stops for a setting that the definition of the target refuses'],
  ['calico#12532', 'DETECTED'],
  ['calico#7673 calico#5764 calico#6027 kubespray#7873', 'PREVENTED', 'e2e/cli: replaces the old CLI in place'],
  ['calico#4426', 'DETECTED'],
  ['calico#4918 calico#4833 calico#10025', 'DETECTED', 'full/probe-images: names the node that cannot pull'],
  ['moj#7416 moj#7772', 'EXPLAINED'],
  ['kyverno#11122 csm#1958 csm#2023 gatekeeper#1472 calico#9807', 'DETECTED', 'e2e/incidents: stops where a webhook must admit them'],
  [
    'pod-security-admission',
    'DETECTED',
    'e2e/incidents: where pod security refuses the new pods',
    'e2e/preview: has the words of what admission refuses',
  ],
  ['calico#11856 calico#12503 calico#11091', 'DETECTED'],
  // It needs a kubelet that does not report all addresses of a pod: those are older than every server that is accepted.
  ['calico#5044', 'PREVENTED'],
  // Certificates of the API server itself: without it nothing can be asked.
  ['calico#6550', 'EXPLAINED'],
];

export const incidents = TABLE.map(([threads, , ...tests], index) => ({ row: index + 1, threads: threads.split(' '), tests }));
