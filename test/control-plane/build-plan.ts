import { createHash } from 'node:crypto';

/** The programs of a control plane. */
export const PROGRAMS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl', 'kwok', 'etcd'] as const;
export type Program = (typeof PROGRAMS)[number];
/** Where each of them is. */
export type Programs = Readonly<Record<Program, string>>;

const PACKAGES: Readonly<Record<Program, string>> = {
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
  kwok: 'sigs.k8s.io/kwok/cmd/kwok',
  etcd: 'go.etcd.io/etcd/server/v3',
};

/** `platform` as Go names it: `linux/amd64`. */
export function planBuild(goMod: string, goSum: string, platform: string) {
  const versions = {
    kubernetes: pinned(goMod, 'k8s.io/kubernetes'),
    kwok: pinned(goMod, 'sigs.k8s.io/kwok'),
    etcd: pinned(goMod, 'go.etcd.io/etcd/server/v3'),
  };
  return { ...planKubernetes(PROGRAMS, goMod, goSum, platform), versions };
}

export type BuildPlan = Readonly<ReturnType<typeof planBuild>>;

/** Some of the programs, from a module that requires Kubernetes and perhaps nothing else. */
export function planKubernetes(programs: readonly Program[], goMod: string, goSum: string, platform: string): GoBuild {
  return { ...planGo(PACKAGES, linkerFlags(pinned(goMod, 'k8s.io/kubernetes')), goSum, platform), programs };
}

export type GoBuild = Readonly<ReturnType<typeof planGo>>;

/** How all programs of these packages are built from a pinned Go module, and what they are called in a cache. */
export function planGo(packages: Readonly<Record<string, string>>, linker: string, goSum: string, platform: string) {
  const flags = ['-mod=readonly', '-trimpath', '-ldflags', linker];
  const hash = createHash('sha256')
    .update(goSum)
    .update(JSON.stringify([flags, packages, platform]));
  const programs: readonly string[] = Object.keys(packages);
  /** The key changes with any pinned module, flag or platform. */
  return { programs, flags, packages, key: hash.digest('hex').slice(0, 16) };
}

/** The version of a module that go.mod requires. */
export function pinned(goMod: string, module: string): string {
  const version = new RegExp(`^\\s*(?:require )?${module} (v\\S+)`, 'm').exec(goMod)?.[1];
  if (version === undefined) throw new Error(`go.mod does not require ${module}`);
  return version;
}

/** Without them the programs call themselves v0.0.0-master, and clients refuse such a server. */
function linkerFlags(version: string): string {
  const [major = '', minor = ''] = version.slice(1).split('.');
  const facts = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  const packages = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'];
  return ['-s -w', ...packages.flatMap((name) => Object.entries(facts).map(([fact, value]) => `-X ${name}.${fact}=${value}`))].join(' ');
}

/** Node's names of a platform in Go's words. */
export function goPlatform(platform: string, arch: string): string {
  return `${platform === 'win32' ? 'windows' : platform}/${arch === 'x64' ? 'amd64' : arch}`;
}
