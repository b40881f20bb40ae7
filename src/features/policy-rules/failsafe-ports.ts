/** Ports of a host that the agents leave open whatever the policies say: `tcp:22`. */
export interface FailsafePorts {
  readonly inbound: readonly string[];
  readonly outbound: readonly string[];
}

/** The agents' variables, which override their configuration; undefined where none is set. */
export interface FailsafeVariables {
  readonly inbound?: string | undefined;
  readonly outbound?: string | undefined;
}

interface AgentSpec {
  readonly failsafeInboundHostPorts?: readonly PortSpec[];
  readonly failsafeOutboundHostPorts?: readonly PortSpec[];
}

interface PortSpec {
  readonly protocol?: string;
  readonly port?: number;
  readonly net?: string;
}

/** The ports that are in force: variables, else the agents' configuration, else the defaults. Undefined where neither tells. */
export function failsafePorts(spec: unknown, variables: FailsafeVariables, defaults: FailsafePorts | undefined): FailsafePorts | undefined {
  const { failsafeInboundHostPorts, failsafeOutboundHostPorts } = (spec ?? {}) as AgentSpec;
  const inbound = fromVariable(variables.inbound) ?? failsafeInboundHostPorts?.map(portText) ?? defaults?.inbound;
  const outbound = fromVariable(variables.outbound) ?? failsafeOutboundHostPorts?.map(portText) ?? defaults?.outbound;
  return inbound && outbound ? { inbound, outbound } : undefined;
}

/** `tcp:22,udp:68`, or `none`. */
function fromVariable(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined;
  return text.split(',').flatMap((one) => (one.trim() === '' || one.trim().toLowerCase() === 'none' ? [] : [one.trim()]));
}

function portText({ protocol = 'tcp', port, net }: PortSpec): string {
  return `${protocol.toLowerCase()}:${net === undefined ? '' : `${net}:`}${port ?? '?'}`;
}
