/**
 * Which `Host` a request may name. A page that rebinds its own name to this
 * address (DNS rebinding) sends that name here, and is refused.
 *
 * Source: MCP 2025-11-25, basic/transports, "Security Warning".
 */

/** What {@link createHostPolicy} allows besides loopback names. */
export interface HostPolicyOptions {
  /** The address listened on, without port. */
  readonly listenHostname?: string;
  readonly resourceUrl?: string;
  /** Host names without port. */
  readonly allowedHosts?: readonly string[];
}

/** Judges a `Host` header or the authority of a URL. */
export interface HostPolicy {
  allows(authority: string): boolean;
  /** Whether the authority names this machine itself. */
  isLoopback(authority: string): boolean;
}

const AUTHORITY = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?$/i;
const LOOPBACK = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])$/;
/** Addresses that mean "every interface" and are no host anyone can name. */
const UNSPECIFIED = new Set(["0.0.0.0", "[::]", ""]);

/** Creates the policy. Ports do not count: port mappings are common. */
export function createHostPolicy(options: HostPolicyOptions): HostPolicy {
  const allowed = new Set<string>();
  const add = (host: string) => {
    const name = host.toLowerCase();
    if (!UNSPECIFIED.has(name)) allowed.add(name);
  };
  add(bracketed(options.listenHostname ?? ""));
  add(URL.parse(options.resourceUrl ?? "")?.hostname ?? "");
  for (const host of options.allowedHosts ?? []) add(bracketed(host));
  const isLoopback = (authority: string) =>
    LOOPBACK.test(hostOf(authority) ?? "");
  return {
    isLoopback,
    allows: (authority) =>
      isLoopback(authority) || allowed.has(hostOf(authority) ?? ""),
  };
}

function hostOf(authority: string): string | undefined {
  return AUTHORITY.exec(authority)?.[1]?.toLowerCase();
}

function bracketed(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
