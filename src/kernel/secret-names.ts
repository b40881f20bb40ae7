/**
 * Ends of names whose values are credentials: `ETCD_PASSWORD`, `apiKeys`, `db.pwd`, `client-key-data`. No `PWD` alone, which is a folder, and
 * no `imagePullSecrets`, which are names.
 */
const ENDS = [
  'pass(?:word|wd|phrase|code)s?',
  '(?<=[_-])pass',
  '(?<![a-z])pass(?==)',
  '(?<=[a-z0-9_-])(?<!old)pwds?',
  'tokens?',
  '(?<!pull-?)secrets?',
  'credentials?',
  '(?:api|access|private|secret|encryption|signing|shared|master|auth|account)[-_]?keys?',
  '(?:client[-_]?)?key[-_]?data',
  '(?<![a-z])psk',
  `(?<=["'])_?auth(?=\\\\*["'])`,
].join('|');

/** The end of such a name. Everything that looks for names in a text is made from it. */
export const NAME_END = `(?:${ENDS})(?![A-Za-z0-9_-])`;

const SECRET_NAME = new RegExp(`(?:${ENDS})$`, 'i');

/** As a field it names a Secret. */
const SECRET = /^secrets?$/i;

/** Names that are the credential as a whole, whatever they look like. */
const WHOLE_NAME = /^(?:pass|_?auth|\.?dockerconfigjson|\.?dockercfg|(?:tls|ca|server|client)\.key)$/i;

/** True for the name of a field, a variable or a key whose value is a credential. */
export function isSecretName(name: string): boolean {
  return WHOLE_NAME.test(name) || (SECRET_NAME.test(name) && !SECRET.test(name));
}

/** The last step of a path, and the list or map before it: `env[A_TOKEN].value`, `data.password`, `annotations["x/y-password"]`. */
const LAST_STEP = /(?:\b([A-Za-z]+)\[["']?([^\]"']*)["']?\](\.value)?|([^.[\]]+))$/;
const KEYED = /^(?:env|data|stringData|binaryData|annotations|labels)$/;

/** True for the path of a field whose value is a credential: `spec.template.spec.containers[node].env[FELIX_X_PASSWORD].value`. */
export function isSecretPath(path: string): boolean {
  const [, list = '', item, value, field] = LAST_STEP.exec(path.slice(-LONGEST_STEP)) ?? [];
  if (item === undefined) return field !== undefined && isSecretName(field);
  return (value !== undefined || KEYED.test(list)) && isSecretName(item);
}

/** Of a longer path only the end is looked at: kinds of Kubernetes have no longer names. */
const LONGEST_STEP = 600;
