import { parseArgs } from 'node:util';

export type Product = 'calico' | 'netsvc';

export const USAGE = `Usage: npm run control-plane -- COMMAND

  up       start a control plane with simulated nodes in the background; prints the path of its kubeconfig
    --nodes N           nodes (5)
    --install RELEASE   install this release of the service: v3.27.5
    --profile NAME      calico (default) or netsvc
    --variant NAME      the manifest: calico, calico-typha, policy-only, canal; netsvc, overlay, policy-only, kvstore
    --manifests DIR     folder with RELEASE/manifests/VARIANT.yaml, before the usual places
    --max-minutes N     end by itself after so many minutes (120)
    --ready-after MS    time that a pod needs to get ready (300)
    --audit             keep an audit log of every write of tools and people
    --name NAME         several can run at once (default)
  down     end it [--name NAME]
  status   what runs
`;

const OPTIONS = {
  nodes: { type: 'string', default: '5' },
  install: { type: 'string' },
  profile: { type: 'string' },
  variant: { type: 'string' },
  manifests: { type: 'string' },
  'max-minutes': { type: 'string', default: '120' },
  'ready-after': { type: 'string', default: '300' },
  audit: { type: 'boolean', default: false },
  name: { type: 'string', default: 'default' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Reads the command line; what is wrong with it is a `help` with the problem. */
export function parseCommand(argv: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
    const [command, ...rest] = positionals;
    if (values.help || command === undefined) return { type: 'help' as const };
    if (rest.length > 0) return { type: 'help' as const, problem: `unexpected argument "${rest[0]}"` };
    const { name } = values;
    if (!/^[a-z0-9][a-z0-9-]{0,40}$/.test(name)) throw new Error(`--name is made of a-z, 0-9 and "-", not "${name}"`);
    if (command === 'up') return { type: 'up' as const, name, options: upOptions(values) };
    if (command === 'down') return { type: 'down' as const, name };
    return command === 'status' ? { type: 'status' as const } : { type: 'help' as const, problem: `unknown command "${command}"` };
  } catch (thrown) {
    return { type: 'help' as const, problem: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

/** What `up` is to do. */
export type UpOptions = ReturnType<typeof upOptions>;

function upOptions(values: Values) {
  const profile = productOf(values.profile, values.variant);
  return {
    nodes: wholeNumber('nodes', values, 5000),
    profile,
    /** The manifest's file name without `.yaml`. */
    variant: variantOf(profile, values.variant),
    maxMinutes: wholeNumber('max-minutes', values, 7 * 24 * 60 - 60),
    readyAfterMs: wholeNumber('ready-after', values, 3_600_000),
    audit: values.audit,
    ...(values.install === undefined ? {} : { install: values.install }),
    ...(values.manifests === undefined ? {} : { manifests: values.manifests }),
  };
}

function productOf(profile: string | undefined, variant: string | undefined): Product {
  if (profile === 'calico' || profile === 'netsvc') return profile;
  if (profile !== undefined) throw new Error(`--profile is calico or netsvc, not "${profile}"`);
  return variant?.startsWith('netsvc') ? 'netsvc' : 'calico';
}

/** Short names are completed: `policy-only` is `calico-policy-only`; canal's manifests have names of their own. */
function variantOf(profile: Product, variant = profile as string): string {
  if (!/^[a-z0-9-]+$/.test(variant)) throw new Error(`--variant is the name of a manifest, not "${variant}"`);
  const whole = variant.startsWith(profile) || (profile === 'calico' && variant.startsWith('canal'));
  return whole ? variant : `${profile}-${variant}`;
}

function wholeNumber(flag: 'nodes' | 'max-minutes' | 'ready-after', values: Values, most: number): number {
  const value = /^\d+$/.test(values[flag]) ? Number(values[flag]) : 0;
  if (value < 1 || value > most) throw new Error(`--${flag} is a whole number from 1 to ${most}, not "${values[flag]}"`);
  return value;
}
